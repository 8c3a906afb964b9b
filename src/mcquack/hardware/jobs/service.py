"""The seam between what is to be measured and who measures it: a service far away, or a simulator here."""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from mcquack.checks import required_count

State = Literal["queued", "running", "done", "failed", "cancelled"]
Bits = NDArray[np.uint8]
Angles = NDArray[np.float64]


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
