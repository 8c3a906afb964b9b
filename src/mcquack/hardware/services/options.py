"""What a service is asked to do, as values: which circuit runs on which device, and how; nothing here needs Qiskit.

A setup is enough to open the same service again on another day, and nothing of an account is in it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from importlib.metadata import version
from typing import Any, Literal, Self, get_args

import numpy as np

from mcquack.checks import is_number, is_whole_number, require, required_count
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.overlap import circuit_json, depth_text, n_layers_of
from mcquack.errors import InvalidInputError
from mcquack.hardware.jobs.service import Angles, described_circuit
from mcquack.hardware.native import n_angles

NOISELESS = "aer"
LEAST_BUSY = "least_busy"

Decoupling = Literal["XX", "XpXm", "XY4"]
Api = Literal["auto", "v2", "executor"]
Mode = Literal["job", "batch", "session"]
Noise = Literal["full", "pauli", "none"]

# Where the vendor stops to add randomisations of its own accord.
_MOST_RANDOMIZATIONS = 32
# With fewer, an error of reading that prefers ones is hardly evened out.
_FEW_RANDOMIZATIONS = 8
_CHOICES: dict[str, tuple[object, ...]] = {
    "decoupling": (None, *get_args(Decoupling)),
    "api": get_args(Api),
    "mode": get_args(Mode),
    "noise": get_args(Noise),
    "measure_twirling": (True, False),
    "allow_faulty": (True, False),
}


def is_remote(name: object) -> bool:
    """Whether it is a real device, which takes an account and costs QPU time, or the choice among those."""
    return isinstance(name, str) and (name == LEAST_BUSY or name.startswith("ibm_"))


@dataclass(frozen=True, kw_only=True)
class Options:
    """What decides, besides the circuits and their place, how a device runs them.

    Parameters
    ----------
    decoupling : the sequence of pulses on qubits that wait, or None.
    measure_twirling, randomizations : whether random bits are flipped before they are read, and back afterwards, and in
        how many ways at most.
    api : the sampler of the vendor: "executor" is the successor of "v2", and "auto" takes it where it is installed.
    mode : whether jobs are sent alone, or grouped in a batch or session.
    max_error, allow_faulty : which qubits and couplers a ring may pass; see ``best_ring``. A simulation takes a ring
        with faults also if they are not allowed, and warns; see ``mcquack.hardware.layout.simulated_ring``.
    noise : that of devices that are simulated here: "full" is Aer's own model, "pauli" the same errors as Pauli
        channels, which 124 qubits can afford.

    Examples
    --------
    >>> Options(measure_twirling=True).split(100)
    (25, 4)
    """

    decoupling: Decoupling | None = None
    measure_twirling: bool = False
    randomizations: int = _MOST_RANDOMIZATIONS
    api: Api = "auto"
    mode: Mode = "job"
    max_error: float = 0.5
    allow_faulty: bool = False
    noise: Noise = "pauli"

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            fits = any(value == one and type(value) is type(one) for one in known)
            require(fits, name, f"one of {', '.join(map(repr, known))}", value)
        object.__setattr__(self, "randomizations", required_count("randomizations", self.randomizations))
        above_zero = is_number(self.max_error) and 0 < self.max_error <= 1
        require(above_zero, "max_error", "a number above 0 and at most 1", self.max_error)
        object.__setattr__(self, "max_error", float(self.max_error))

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> Self:
        """The options that a service described itself with; what it does not say is as usual."""
        return cls(**{field.name: description[field.name] for field in fields(cls) if field.name in description})

    def split(self, shots: int) -> tuple[int, int]:
        """In how many random ways a circuit is run, and how often in each, so that just as many shots come back."""
        ways = max(ways for ways in range(1, min(self.randomizations, shots) + 1) if shots % ways == 0)
        return ways, shots // ways

    def twirling_note(self, shots: int) -> str:
        """What to know about twirling so many shots, and which numbers suit better; "" if there is nothing."""
        ways, _ = self.split(shots)
        if not self.measure_twirling or ways >= min(_FEW_RANDOMIZATIONS, self.randomizations, shots):
            return ""
        fewer = shots - shots % self.randomizations
        poor = f"only in {ways} random ways" if ways > 1 else "in one way only, which is no twirling"
        return f"{shots} shots can be twirled {poor}; take {fewer} or {fewer + self.randomizations}"


@cache
def _installed() -> tuple[tuple[str, str], ...]:
    packages = ("qiskit", "qiskit-aer", "qiskit-ibm-runtime")
    return tuple((name.replace("-", "_"), version(name)) for name in packages)


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Which circuit runs on which device, where on it and how."""

    backend: str
    circuit: Circuit
    ring: tuple[int, ...]  # the device's qubits in the order of the circuit's
    options: Options = field(default_factory=Options)
    seed: int | None = None  # of simulations only
    # Of the packages that it was first opened with: results of jobs that were sent outlive an update.
    versions: tuple[tuple[str, str], ...] = field(default_factory=_installed)

    def __post_init__(self) -> None:
        object.__setattr__(self, "circuit", self.circuit.for_overlaps())
        if not n_angles(self.circuit):
            raise InvalidInputError(
                "no angle of the circuit depends on a sample or on a parameter, so there is nothing to measure; its "
                "kernel is 1 everywhere."
            )
        fits = all(is_whole_number(qubit) and qubit >= 0 for qubit in self.ring)
        fits = fits and len(set(self.ring)) == len(self.ring) == self.n_qubits
        require(fits, "ring", f"{self.n_qubits} different qubits of the device, one for each of the circuit", self.ring)
        object.__setattr__(self, "ring", tuple(map(int, self.ring)))
        is_seed = self.seed is None or (is_whole_number(self.seed) and self.seed >= 0)
        require(is_seed, "seed", "a whole number of at least 0", self.seed)

    @property
    def n_qubits(self) -> int:
        return self.circuit.n_qubits

    def checked_angles(self, angles: Angles) -> Angles:
        """A copy of the angles (K, P), refused unless they are those of this circuit."""
        found, expected = np.array(angles, dtype=np.float64), n_angles(self.circuit)
        if found.ndim != 2 or found.shape[1] != expected or not len(found) or not np.all(np.isfinite(found)):
            raise InvalidInputError(
                f"angles must be finite and of the shape (circuits, {expected}) for {self.n_qubits} qubits and "
                f"{depth_text(self.circuit)}, got {found.shape}."
            )
        return found

    def description(self, **details: str | int | float | bool | None) -> dict[str, Any]:
        told = asdict(self.options)
        # How jobs are grouped changes nothing in them, and what led to a ring nothing on it. Only simulations have a
        # seed, and only their noise can be chosen.
        for name in ("mode", "max_error", "allow_faulty", *["noise"][: self.seed is None]):
            del told[name]
        size = {"backend": self.backend, "n_qubits": self.n_qubits, "n_layers": n_layers_of(self.circuit)}
        if (text := circuit_json(self.circuit)) is not None:
            size["circuit"] = text
        return {**size, "ring": list(self.ring), "seed": self.seed, **told, **details, **dict(self.versions)}

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> Self:
        """Back from a description, say one that was stored with the jobs; what it does not say is as usual."""
        needed = ("backend", "n_qubits", "n_layers", "ring", "seed")
        missing = [name for name in needed if name not in description]
        if missing:
            raise InvalidInputError(
                f"the description of a service must name {', '.join(needed)}, got none of {', '.join(missing)}; "
                "take it as the service gave it."
            )
        known = {"backend": description["backend"], "ring": tuple(description["ring"]), "seed": description["seed"]}
        sizes = {name: description[name] for name in ("n_qubits", "n_layers")}
        versions = tuple((name, str(description.get(name, installed))) for name, installed in _installed())
        circuit = described_circuit(description, **sizes)
        return cls(**known, options=Options.of(description), versions=versions, circuit=circuit)
