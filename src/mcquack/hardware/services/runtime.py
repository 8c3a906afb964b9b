"""Devices of IBM: jobs that run far away, and whose results anybody with the account can fetch by their ids."""

import contextlib
import weakref
from functools import cached_property
from typing import Any, Self

from qiskit.providers import BackendV2
from qiskit_ibm_runtime import Batch, Session
from qiskit_ibm_runtime.exceptions import RuntimeInvalidStateError

from mcquack.checks import required_count
from mcquack.errors import DeviceError, LostJobError
from mcquack.hardware.jobs.service import Angles, Bits, JobState, JobStatus, Limits, Speed
from mcquack.hardware.services.account import device_of, explained, without_secrets
from mcquack.hardware.services.options import Setup
from mcquack.hardware.services.program import DeviceProgram, SetupService, outcomes_of, sent

_STATES: dict[str, JobState] = {
    **dict.fromkeys(("INITIALIZING", "QUEUED", "VALIDATING"), "queued"),
    "RUNNING": "running",
    **dict.fromkeys(("DONE", "COMPLETED"), "done"),
    **dict.fromkeys(("ERROR", "FAILED"), "failed"),
    "CANCELLED": "cancelled",
}


class RuntimeService(SetupService):
    """Sends jobs to a device through the vendor's samplers, in a batch or session if wanted, and asks by their ids."""

    def __init__(self, setup: Setup, backend: BackendV2, account: Any) -> None:
        """``account`` is the vendor's service that ``backend`` belongs to."""
        self._setup = setup
        self._backend = backend
        self._account = account
        self._sent: dict[str, Any] = {}
        self._tags: dict[str, str] = {}
        self._group: Any = None
        self._closing: Any = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @property
    def description(self) -> dict[str, Any]:
        return self._setup.description()

    @property
    def limits(self) -> Limits:
        return Limits()

    @property
    def speed(self) -> Speed:
        """The device is open already, so that nobody logs in again for it."""
        return device_of(self._backend).speed

    def submit(self, angles: Angles, *, shots: int, tag: str) -> str:
        checked = self._setup.checked_angles(angles)
        with explained(f"{self._setup.backend} did not take a job"):
            job = sent(
                self._program,
                checked,
                shots=required_count("shots", shots),
                options=self._setup.options,
                mode=self._mode(),
                tag=tag,
            )
            job_id = str(job.job_id())
        self._sent[job_id], self._tags[tag] = job, job_id
        return job_id

    def find(self, tag: str) -> str | None:
        if tag in self._tags:
            return self._tags[tag]
        if not hasattr(self._account, "jobs"):  # the vendor's service for local mode keeps none
            return None
        # No public name has the instance that the backend was found in; without it, that of the account is asked.
        instance = getattr(self._backend, "_instance", None)
        with explained("the service could not be asked for a job"):
            found = self._account.jobs(limit=1, backend_name=self._backend.name, job_tags=[tag], instance=instance)
        return str(found[0].job_id()) if found else None

    def status(self, job_id: str) -> JobStatus:
        with explained(f"the service could not be asked for the job {job_id}", job_id=job_id):
            job = self._job(job_id)
            state = _state_of(job)
            message = without_secrets(job.error_message() or "") if state == "failed" else ""
        return JobStatus(state=state, message=message)

    def outcomes(self, job_id: str) -> Bits:
        with explained(f"the results of the job {job_id} could not be fetched", job_id=job_id):
            job = self._job(job_id)
            state = _state_of(job)
            if state != "done":
                raise DeviceError(f"the job {job_id} is {state} and has no outcomes; ask for its state first.")
            return outcomes_of(job.result())

    def cancel(self, job_id: str) -> None:
        told = explained(f"the job {job_id} could not be cancelled", job_id=job_id)
        # One that has ended cannot be cancelled, and need not be.
        with told, contextlib.suppress(RuntimeInvalidStateError):
            self._job(job_id).cancel()

    def close(self) -> None:
        """Ends the batch or session, if there is one; the next job opens another."""
        if self._closing is not None:
            self._closing()
        self._group = self._closing = None

    def _job(self, job_id: str) -> Any:
        """The vendor's job: ours, or fetched, for the process that sent it may be long gone."""
        if job_id not in self._sent:
            if not hasattr(self._account, "job"):
                raise LostJobError(f"this process did not send the job {job_id}; simulations end with theirs.")
            self._sent[job_id] = self._account.job(job_id)
        return self._sent[job_id]

    @cached_property
    def _program(self) -> DeviceProgram:
        return DeviceProgram.on(self._backend.target, self._setup.ring, self._setup.circuit)

    def _mode(self) -> Any:
        if self._setup.options.mode == "job":
            return self._backend
        if self._group is not None and (self._group.details() or {}).get("accepting_jobs") is False:
            self.close()
        if self._group is None:
            self._group = (Batch if self._setup.options.mode == "batch" else Session)(backend=self._backend)
            self._closing = weakref.finalize(self, _close, self._group)
        return self._group


def _state_of(job: Any) -> JobState:
    """One vocabulary for the vendor's two: plain words, and members of an enumeration in local mode."""
    told = job.status()
    name = str(getattr(told, "name", told)).upper()
    if name not in _STATES:
        raise DeviceError(f"the service says that a job is {name!r}, which is none of {', '.join(_STATES)}.")
    return _STATES[name]


def _close(group: Any) -> None:
    # An open session is paid for, but it ends by itself soon, and nobody could do anything about a failure here.
    with contextlib.suppress(Exception):
        group.close()
