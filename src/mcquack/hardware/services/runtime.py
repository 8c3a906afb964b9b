"""Devices of IBM: jobs that run far away, and whose results anybody with the account can fetch by their ids."""

import contextlib
import warnings
import weakref
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import Parameter
from qiskit.providers import BackendV2
from qiskit_ibm_runtime import Batch, Session
from qiskit_ibm_runtime.exceptions import RuntimeInvalidStateError

from mcquack.checks import required_count
from mcquack.errors import DeviceError, LostJobError
from mcquack.hardware.jobs.service import Angles, Bits, JobStatus, Limits, State
from mcquack.hardware.native import MEASURED, overlap_template, placed
from mcquack.hardware.services.account import explained, without_secrets
from mcquack.hardware.services.plan import Api, Description, Options, Plan

# The two samplers of the vendor behind one call: SamplerV2, and its successor which is built on the executor.

# To round angles to this many digits is to leave them as they are.
_ALL_DECIMALS = 15


def chosen_api(api: Api) -> Literal["v2", "executor"]:
    """The successor where the installed version has it."""
    if api != "auto":
        return api
    return "executor" if find_spec("qiskit_ibm_runtime.executor_sampler") else "v2"


@dataclass(frozen=True, kw_only=True, eq=False)
class Program:
    """A circuit on a device whose parameters take their angles in the order of ``parameters``."""

    circuit: QuantumCircuit
    parameters: tuple[Parameter, ...]

    def pub(self, angles: Angles) -> tuple[QuantumCircuit, dict[tuple[Parameter, ...], Angles]]:
        """All sets of angles (K, P) for one circuit, which is sent and compiled once."""
        return self.circuit, {self._kept_parameters: angles[:, self._kept]}

    @cached_property
    def _kept(self) -> list[int]:
        """The places of the angles that the circuit still has: a translation may find that some change nothing."""
        kept = set(self.circuit.parameters)
        return [place for place, parameter in enumerate(self.parameters) if parameter in kept]

    @cached_property
    def _kept_parameters(self) -> tuple[Parameter, ...]:
        return tuple(self.parameters[place] for place in self._kept)


def sent(
    program: Program, angles: Angles, *, shots: int, options: Options, mode: Any, tag: str = "", seed: int | None = None
) -> Any:
    """The vendor's job for a device, batch or session; ``seed`` is for simulators."""
    make = _v2_sampler if chosen_api(options.api) == "v2" else _executor_sampler
    sampler = make(mode, sampler_settings(options, shots=shots, tag=tag, seed=seed))
    return sampler.run([program.pub(angles)], shots=shots)


def sampler_settings(options: Options, *, shots: int, tag: str = "", seed: int | None = None) -> dict[str, Any]:
    """The options of both samplers, whose names agree as far as they go here."""
    settings: dict[str, Any] = {"environment": {"job_tags": [tag]}} if tag else {}
    if options.decoupling is not None:
        settings["dynamical_decoupling"] = {
            "enable": True,
            "sequence_type": options.decoupling,
            # A qubit in its ground state waits at no risk, and those beside the ring had better not be driven at all.
            "skip_reset_qubits": True,
        }
    if options.measure_twirling:
        ways, shots_each = options.split(shots)
        # Left to itself, the vendor rounds 100 shots up to 128.
        settings["twirling"] = {
            "enable_gates": False,
            "enable_measure": True,
            "num_randomizations": ways,
            "shots_per_randomization": shots_each,
        }
    if seed is not None:
        settings["simulator"] = {"seed_simulator": seed}
    return settings


def outcomes_of(result: Any, shape: tuple[int, int] | None = None) -> Bits:
    """The packed bits of every shot; ``shape`` is how many circuits and shots are due, None if others know that."""
    measured = getattr(result[0].data, MEASURED)
    bits: Bits = np.ascontiguousarray(measured.array, dtype=np.uint8)
    if shape is not None and (bits.ndim != 3 or bits.shape[:2] != shape):
        raise DeviceError(
            f"a job for {shape[0]} circuits with {shape[1]} shots each came back with outcomes of the shape "
            f"{bits.shape}; have it measured anew."
        )
    return bits


def _v2_sampler(mode: Any, settings: dict[str, Any]) -> Any:
    from qiskit_ibm_runtime import SamplerV2

    with warnings.catch_warnings():
        # Whoever asks for this one knows that it has a successor, or has an older version without it.
        warnings.filterwarnings("ignore", message=".*SamplerV2 class is deprecated", category=DeprecationWarning)
        return SamplerV2(mode=mode, options=settings)


def _executor_sampler(mode: Any, settings: dict[str, Any]) -> Any:
    from qiskit_ibm_runtime.executor_sampler import Sampler

    sampler = Sampler(mode=mode, options=settings)
    if hasattr(sampler.options.simulator, "angle_decimals"):
        # Simulations round angles by default, so that some become those of Clifford gates.
        sampler.options.simulator.angle_decimals = _ALL_DECIMALS
    return sampler


_STATES: dict[str, State] = {
    "INITIALIZING": "queued",
    "QUEUED": "queued",
    "VALIDATING": "queued",
    "RUNNING": "running",
    "DONE": "done",
    "COMPLETED": "done",
    "ERROR": "failed",
    "FAILED": "failed",
    "CANCELLED": "cancelled",
}
# What a batch or session says when it takes no more jobs.
_CLOSED = ("Closed", "In progress, not accepting new jobs")


class RuntimeService:
    """Sends jobs to a device through the vendor's samplers, and asks for them by their ids.

    A batch or a session is opened with the first job; ``close``, ``with`` or the end of the process ends it, while jobs
    that were sent run on.
    """

    def __init__(self, plan: Plan, backend: BackendV2, account: Any) -> None:
        """``account`` is the vendor's service that ``backend`` belongs to."""
        self._plan = plan
        self._backend = backend
        self._account = account
        self._sent: dict[str, Any] = {}
        self._tags: dict[str, str] = {}
        self._program_made: Program | None = None
        self._group: Any = None
        self._closing: Any = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._plan!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # With the plan alone the account is opened anew, so no copy or file ever has its token.
        from mcquack.hardware.services.opening import opened

        return opened, (self._plan,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def description(self) -> Description:
        """See ``Service``."""
        return self._plan.description()

    @property
    def limits(self) -> Limits:
        """Of the vendor's documentation."""
        return Limits()

    def submit(self, angles: Angles, *, shots: int, tag: str) -> str:
        """See ``Service``."""
        checked = self._plan.checked_angles(angles)
        with explained(f"{self._plan.backend} did not take a job"):
            job = sent(
                self._program(),
                checked,
                shots=required_count("shots", shots),
                options=self._plan.options,
                mode=self._mode(),
                tag=tag,
            )
            job_id = str(job.job_id())
        self._sent[job_id], self._tags[tag] = job, job_id
        return job_id

    def find(self, tag: str) -> str | None:
        """See ``Service``; the latest, if there are several."""
        if tag in self._tags:
            return self._tags[tag]
        if not hasattr(self._account, "jobs"):  # the vendor's service for local mode keeps none
            return None
        instance = getattr(self._backend, "_instance", None)
        with explained("the service could not be asked for a job"):
            found = self._account.jobs(limit=1, backend_name=self._backend.name, job_tags=[tag], instance=instance)
        return str(found[0].job_id()) if found else None

    def status(self, job_id: str) -> JobStatus:
        """See ``Service``."""
        with explained(f"the service could not be asked for the job {job_id}", job_id=job_id):
            job = self._job(job_id)
            state = _state_of(job)
            message = without_secrets(job.error_message() or "") if state == "failed" else ""
        return JobStatus(state=state, message=message)

    def outcomes(self, job_id: str) -> Bits:
        """See ``Service``."""
        with explained(f"the results of the job {job_id} could not be fetched", job_id=job_id):
            job = self._job(job_id)
            state = _state_of(job)
            if state != "done":
                raise DeviceError(f"the job {job_id} is {state} and has no outcomes; ask for its state first.")
            return outcomes_of(job.result())

    def cancel(self, job_id: str) -> None:
        """See ``Service``."""
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

    def _program(self) -> Program:
        """Compiled once, with the first job."""
        if self._program_made is None:
            template = overlap_template(self._plan.n_qubits, self._plan.n_layers)
            circuit = placed(template, self._plan.ring, self._backend)
            self._program_made = Program(circuit=circuit, parameters=tuple(template.parameters))
        return self._program_made

    def _mode(self) -> Any:
        """What samplers run in: the device itself, or a batch or session on it that takes jobs."""
        if self._plan.options.mode == "job":
            return self._backend
        if self._group is not None and self._group.status() in _CLOSED:
            self.close()
        if self._group is None:
            self._group = (Batch if self._plan.options.mode == "batch" else Session)(backend=self._backend)
            self._closing = weakref.finalize(self, _close, self._group)
        return self._group


def _state_of(job: Any) -> State:
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
