"""The seam between what is to be measured and who measures it: a service far away, or a simulator here."""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.checks import required_count
from mcquack.errors import InvalidInputError

State = Literal["queued", "running", "done", "failed", "cancelled"]
Bits = NDArray[np.uint8]
Angles = FloatArray


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one job of a service may hold: circuits times shots, and numbers that angles are."""

    executions: int = 10_000_000
    parameters: int = 10_000_000

    def __post_init__(self) -> None:
        required_count("executions", self.executions)
        required_count("parameters", self.parameters)


@dataclass(frozen=True, kw_only=True)
class JobStatus:
    """How far a job is, and what the service has to say about it."""

    state: State
    message: str = ""


class Service(Protocol):
    """Runs one circuit with many sets of angles; it knows the circuit, its place on the device and all options.

    Nothing of an account ever passes this seam. Any call may raise an OSError, such as ConnectionError, while the
    service cannot be reached, and is then made again; a DeviceError is a refusal, which is not.
    """

    @property
    def description(self) -> dict[str, str | int | float | bool | list[int] | None]:
        """All that decides what is measured beside angles and shots, as plain JSON: device, ring, options, versions."""
        ...

    @property
    def limits(self) -> Limits: ...

    def submit(self, angles: Angles, *, shots: int, tag: str) -> str:
        """Sends a job for each row of angles (K, P); returns its id. Its results come later."""
        ...

    def find(self, tag: str) -> str | None:
        """The id of the job that was sent with this tag, if the service knows of one."""
        ...

    def status(self, job_id: str) -> JobStatus:
        """Raises LostJobError for a job that the service does not know."""
        ...

    def outcomes(self, job_id: str) -> Bits:
        """The bits of every shot of a job that is done, (K, shots, ceil(n / 8)), packed as Qiskit packs them.

        Big-endian, and qubit 0 of the circuit is the lowest bit of the last byte.
        """
        ...

    def cancel(self, job_id: str) -> None:
        """Asks for the end of a job; one that has ended stays as it is."""
        ...


# How many circuits go into one job.


def split(n_circuits: int, *, shots: int, n_parameters: int, limits: Limits) -> tuple[range, ...]:
    """The circuits 0 to ``n_circuits`` in as few jobs as the limits allow, in order and of about equal size."""
    shots = required_count("shots", shots)
    by_shots, by_parameters = limits.executions // shots, limits.parameters // max(n_parameters, 1)
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
