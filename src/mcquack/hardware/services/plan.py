"""What a service is asked to do, as a value: enough to open it again on another day."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.metadata import version
from typing import Any, Literal, Self, get_args

import numpy as np

from mcquack.checks import is_number, is_whole_number, require, required_count
from mcquack.errors import InvalidInputError
from mcquack.hardware.jobs.service import Angles
from mcquack.hardware.native import n_angles

# How a service is to run circuits, apart from which.

Decoupling = Literal["XX", "XpXm", "XY4"]
Api = Literal["auto", "v2", "executor"]
Mode = Literal["job", "batch", "session"]
Noise = Literal["full", "pauli", "none"]

# Where the vendor stops to add randomisations of its own accord.
MOST_RANDOMIZATIONS = 32
# With fewer, an error of reading that prefers ones is hardly evened out.
_FEW_RANDOMIZATIONS = 8


@dataclass(frozen=True, kw_only=True)
class Options:
    """What decides, besides the circuits and their place, how they are run.

    ``decoupling`` is the sequence of pulses on qubits that wait, ``measure_twirling`` flips random bits before they are
    read and back afterwards, in ``randomizations`` ways or somewhat fewer. ``api`` is the sampler of the vendor: the
    successor runs before and after a job on this computer, and auto takes it. ``mode`` groups jobs.

    ``max_error`` and ``allow_faulty`` guide the choice of a ring. ``noise`` is that of devices that are simulated here:
    full is Aer's own model, pauli the same errors as Pauli channels, which 124 qubits can afford.
    """

    decoupling: Decoupling | None = None
    measure_twirling: bool = False
    randomizations: int = MOST_RANDOMIZATIONS
    api: Api = "auto"
    mode: Mode = "job"
    max_error: float = 0.5
    allow_faulty: bool = False
    noise: Noise = "pauli"

    def __post_init__(self) -> None:
        _require_one_of("decoupling", self.decoupling, (None, *get_args(Decoupling)))
        _require_one_of("api", self.api, get_args(Api))
        _require_one_of("mode", self.mode, get_args(Mode))
        _require_one_of("noise", self.noise, get_args(Noise))
        for name in ("measure_twirling", "allow_faulty"):
            require(isinstance(getattr(self, name), bool), name, "True or False", getattr(self, name))
        object.__setattr__(self, "randomizations", required_count("randomizations", self.randomizations))
        above_zero = is_number(self.max_error) and 0 < self.max_error <= 1
        require(above_zero, "max_error", "a number above 0 and at most 1", self.max_error)
        object.__setattr__(self, "max_error", float(self.max_error))

    @property
    def settings(self) -> dict[str, str | int | float | bool | None]:
        """As plain JSON."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of(cls, description: dict[str, Any]) -> Self:
        """Those that a service described itself with."""
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


def _require_one_of(name: str, value: object, known: tuple[object, ...]) -> None:
    # A list, say, cannot be looked up in a set.
    require(any(value == one for one in known), name, f"one of {', '.join(map(repr, known))}", value)


Description = dict[str, str | int | float | bool | list[int] | None]

_PACKAGES = ("qiskit", "qiskit-aer", "qiskit-ibm-runtime")
_NEEDED = ("backend", "n_qubits", "n_layers", "ring", "seed")
# How jobs are grouped changes nothing in them, and what led to a ring nothing on it.
_WITHOUT_EFFECT = ("mode", "max_error", "allow_faulty")


@cache
def _installed() -> tuple[tuple[str, str], ...]:
    """The versions of packages, by the names of their modules."""
    return tuple((name.replace("-", "_"), version(name)) for name in _PACKAGES)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Which circuit runs where and how; nothing of an account is in it.

    ``ring`` has the device's qubits in the order of the circuit's. Only simulations have a seed. ``versions`` are those
    of the packages that it was first opened with: results of jobs that were sent outlive an update.
    """

    backend: str
    n_qubits: int
    n_layers: int
    ring: tuple[int, ...]
    options: Options = field(default_factory=Options)
    seed: int | None = None
    versions: tuple[tuple[str, str], ...] = field(default_factory=_installed)

    def __post_init__(self) -> None:
        for name in ("n_qubits", "n_layers"):
            object.__setattr__(self, name, required_count(name, getattr(self, name)))
        fits = all(is_whole_number(qubit) and qubit >= 0 for qubit in self.ring)
        fits = fits and len(set(self.ring)) == len(self.ring) == self.n_qubits
        require(fits, "ring", f"{self.n_qubits} different qubits of the device, one for each of the circuit", self.ring)
        object.__setattr__(self, "ring", tuple(map(int, self.ring)))
        is_seed = self.seed is None or (is_whole_number(self.seed) and self.seed >= 0)
        require(is_seed, "seed", "a whole number of at least 0", self.seed)

    @property
    def n_angles(self) -> int:
        """Of one circuit."""
        return n_angles(self.n_qubits, self.n_layers)

    def checked_angles(self, angles: Angles) -> Angles:
        """A copy of the angles (K, P), refused unless they are those of this circuit."""
        found = np.array(angles, dtype=np.float64)
        if found.ndim != 2 or found.shape[1] != self.n_angles or not len(found) or not np.all(np.isfinite(found)):
            raise InvalidInputError(
                f"angles must be finite and of the shape (circuits, {self.n_angles}) for {self.n_qubits} qubits and "
                f"{self.n_layers} layers, got {found.shape}."
            )
        return found

    def description(self, **details: str | int | float | bool | None) -> Description:
        """All that decides what is measured, with what a service has to add."""
        # Only simulations have a seed, and only their noise can be chosen.
        unsaid = _WITHOUT_EFFECT if self.seed is not None else (*_WITHOUT_EFFECT, "noise")
        settings = {name: value for name, value in self.options.settings.items() if name not in unsaid}
        return {
            "backend": self.backend,
            "n_qubits": self.n_qubits,
            "n_layers": self.n_layers,
            "ring": list(self.ring),
            "seed": self.seed,
            **settings,
            **details,
            **dict(self.versions),
        }

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> Self:
        """Back from a description, say one that was stored with the jobs; what it does not say is as usual."""
        missing = [name for name in _NEEDED if name not in description]
        if missing:
            raise InvalidInputError(
                f"the description of a service must name {', '.join(_NEEDED)}, got none of {', '.join(missing)}; "
                "take it as the service gave it."
            )
        known = {name: description[name] for name in _NEEDED}
        versions = tuple((name, str(description.get(name, installed))) for name, installed in _installed())
        return cls(**{**known, "ring": tuple(known["ring"])}, options=Options.of(dict(description)), versions=versions)
