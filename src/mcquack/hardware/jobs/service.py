"""What runs jobs, seen from here: a device far away or a simulator, and how many circuits one job of it may hold."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.checks import is_number, require, require_positive, required_count
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError, StoreError
from mcquack.hardware.native import n_angles, two_qubit_depth

Bits = NDArray[np.uint8]
Angles = FloatArray
JobState = Literal[
    "noted",  # about to be sent; whether it was, only the service knows
    "queued",
    "running",
    "done",  # and, in a ledger, its bits are kept
    "failed",
    "cancelled",
    "lost",  # the service does not know it any more
]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much one job of a service may hold: circuits times shots, and circuits times the angles of a circuit."""

    executions: int = 10_000_000
    parameters: int = 10_000_000

    def __post_init__(self) -> None:
        required_count("executions", self.executions)
        required_count("parameters", self.parameters)


@dataclass(frozen=True, kw_only=True)
class Speed:
    """How fast a device is; what is not given is that of ibm_pittsburgh at the time of the paper.

    Parameters
    ----------
    clops : layers of IBM's benchmark circuit that it runs in a second, None if nobody says.
    rep_delay_us : microseconds between two executions, in which the qubits are reset.
    two_qubit_us, sx_us, readout_us : microseconds of a two-qubit gate, of an SX gate and of the readout.

    Examples
    --------
    >>> round(Speed().execution_us(FeatureMap(n_qubits=124, n_features=248, n_layers=2)), 1)
    32.5
    """

    clops: float | None = 250_000
    rep_delay_us: float = 250.0
    two_qubit_us: float = 0.088
    sx_us: float = 0.032
    readout_us: float = 2.584

    def __post_init__(self) -> None:
        if self.clops is not None:
            require_positive("clops", self.clops)
        for name in ("rep_delay_us", "two_qubit_us", "sx_us", "readout_us"):
            value = getattr(self, name)
            require(is_number(value) and 0 <= value < float("inf"), name, "a number of at least 0", value)

    def execution_us(self, circuit: Circuit) -> float:
        """The microseconds of one run of an overlap circuit, whose CNOTs follow each other around the ring."""
        depth = 2 * circuit.n_layers - 1 if isinstance(circuit, FeatureMap) else 2 * circuit.depth
        two_qubit_us = two_qubit_depth(circuit) * (self.two_qubit_us + self.sx_us)
        return two_qubit_us + depth * 2 * self.sx_us + self.readout_us


@dataclass(frozen=True, kw_only=True)
class JobStatus:
    """How far a job is, and what the service has to say about it."""

    state: JobState
    message: str = ""


class Service(Protocol):
    """Runs one circuit with many sets of angles; it knows the circuit, its place on the device and all options.

    If the circuit is not the feature map of the paper, its description says it as ``circuit``, by ``circuit_json``.

    Nothing of an account ever passes this seam. Any call may raise an OSError, such as ConnectionError, while the
    service cannot be reached, and is then made again; a DeviceError is a refusal, which is not.
    """

    @property
    def description(self) -> dict[str, str | int | float | bool | list[int] | None]:
        """All that decides what is measured beside angles and shots, as plain JSON: device, ring, options, versions."""

    @property
    def limits(self) -> Limits:
        """How much one job may hold."""

    @property
    def speed(self) -> Speed:
        """How fast the device is, as far as it says, so that a cost is estimated without opening it again."""

    def submit(self, angles: Angles, *, shots: int, tag: str) -> str:
        """Sends a job for each row of angles (K, P) and returns its id; its results come later."""

    def find(self, tag: str) -> str | None:
        """The id of the job that was sent with this tag, if the service knows of one."""

    def status(self, job_id: str) -> JobStatus:
        """How far the job is; raises LostJobError for a job that the service does not know."""

    def outcomes(self, job_id: str) -> Bits:
        """The bits of every shot of a job that is done, (K, shots, ceil(n / 8)), big-endian, qubit 0 the lowest."""

    def cancel(self, job_id: str) -> None:
        """Asks for the end of a job; one that has ended stays as it is."""


def described_circuit(description: Mapping[str, Any], *, n_qubits: int, n_layers: int) -> Circuit:
    """The circuit that a service says it runs: the paper's of so many qubits and layers, unless it names another."""
    text = description.get("circuit")
    if text is None:
        return FeatureMap.of_angles(n_qubits=n_qubits, n_layers=n_layers)
    try:
        return Circuit.from_json(json.loads(text))
    except (TypeError, ValueError, LookupError, RecursionError) as error:
        raise StoreError(
            f"the circuit in the description of a service cannot be read ({error}): it was damaged, or written by "
            "another version of mcquack; use that version, or a copy of the ledger."
        ) from error


def job_ranges(
    n_circuits: int,
    *,
    shots: int,
    circuit: Circuit,
    limits: Limits | None = None,
) -> tuple[range, ...]:
    """The overlap circuits 0 to ``n_circuits`` in as few jobs as the limits allow, in order and of about equal size."""
    shots, limits = required_count("shots", shots), limits or Limits()
    n_parameters = n_angles(circuit)
    by_shots, by_parameters = limits.executions // shots, limits.parameters // n_parameters
    if not by_shots:
        raise InvalidInputError(
            f"a circuit with {shots} shots is more than a job of this service may hold, {limits.executions} "
            f"executions: take at most {limits.executions} shots, and other runs for more of them."
        )
    if not by_parameters:
        raise InvalidInputError(
            f"a circuit with {n_parameters} angles is more than a job of this service may hold, {limits.parameters}: "
            "take fewer qubits or layers."
        )
    n_jobs = -(-n_circuits // min(by_shots, by_parameters))
    # Equal parts wait and are lost alike; a last one of a few circuits would cost the overhead of a job for them.
    return tuple(range(n_circuits * number // n_jobs, n_circuits * (number + 1) // n_jobs) for number in range(n_jobs))
