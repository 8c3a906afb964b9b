"""A vendor's service without a vendor: it keeps jobs, and answers or fails as it is told to."""

from dataclasses import dataclass, field
from typing import Any

from qiskit.providers.exceptions import QiskitBackendNotFoundError
from qiskit_ibm_runtime.exceptions import RuntimeInvalidStateError, RuntimeJobNotFound


@dataclass
class FarJob:
    """One that was sent from anywhere, in the words of the vendor."""

    id: str
    tags: list[str] = field(default_factory=list)
    state: str = "QUEUED"
    error: str | None = None
    outcome: Any = None
    was_cancelled: bool = False

    def job_id(self) -> str:
        return self.id

    def status(self) -> str:
        return self.state

    def error_message(self) -> str | None:
        return self.error

    def result(self) -> Any:
        return self.outcome

    def cancel(self) -> None:
        if self.state in ("DONE", "ERROR", "CANCELLED"):
            raise RuntimeInvalidStateError("Job cannot be cancelled")
        self.was_cancelled = True
        self.state = "CANCELLED"


@dataclass
class FarAccount:
    """``trouble`` is raised by whatever is asked."""

    devices: tuple[Any, ...] = ()
    sent: list[FarJob] = field(default_factory=list)
    trouble: Exception | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    token: str = ""

    def job(self, job_id: str) -> FarJob:
        self._answer()
        for job in self.sent:
            if job.id == job_id:
                return job
        raise RuntimeJobNotFound(f"Job not found: {job_id}")

    def jobs(self, **filters: Any) -> list[FarJob]:
        self._answer(**filters)
        wanted = set(filters["job_tags"])
        found = [job for job in reversed(self.sent) if wanted <= set(job.tags)]
        return found[: filters["limit"]]

    def backend(self, name: str) -> Any:
        self._answer()
        for device in self.devices:
            if device.name == name:
                return device
        raise QiskitBackendNotFoundError("No backend matches the criteria.")

    def backends(self, **filters: Any) -> list[Any]:
        self._answer(**filters)
        return list(self.devices)

    def least_busy(self, *, min_num_qubits: int, **filters: Any) -> Any:
        self._answer(min_num_qubits=min_num_qubits, **filters)
        return next(device for device in self.devices if device.num_qubits >= min_num_qubits)

    def _answer(self, **asked: Any) -> None:
        self.asked.append(asked)
        if self.trouble is not None:
            raise self.trouble
