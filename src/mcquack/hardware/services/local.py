"""Devices on this computer: snapshots of real ones and a simulator without errors, run by the vendor's samplers."""

import hashlib
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any
from uuid import uuid4

from qiskit.providers import BackendV2

from mcquack.checks import required_count
from mcquack.errors import DeviceError, LostJobError
from mcquack.hardware.circuit.template import overlap_template, placed
from mcquack.hardware.jobs.service import Angles, Bits, JobStatus, Limits, State
from mcquack.hardware.services.options import Options
from mcquack.hardware.services.plan import Description, Plan
from mcquack.hardware.services.ring_device import noiseless_ring, ring_device
from mcquack.hardware.services.samplers import Program, chosen_api, outcomes_of, sent
from mcquack.hardware.services.simulator import RingSimulator, method_for
from mcquack.randomness import stream

# So that a job takes a minute or so, and what was measured before an interruption is kept.
_CIRCUITS_OF_A_JOB = {"automatic": 2_000, "matrix_product_state": 100}
_NOISY_CIRCUITS_OF_A_JOB = {"automatic": 500, "matrix_product_state": 4}


@dataclass(kw_only=True)
class _Job:
    """One that waits has angles, one that is done has bits."""

    tag: str
    shots: int
    angles: Angles | None
    bits: Bits | None = None
    state: State = "queued"
    message: str = ""


class LocalService:
    """Runs a job here when its state is first asked for, and forgets all when the process ends.

    The same seed and tag give the same outcomes.
    """

    def __init__(self, plan: Plan, backend: BackendV2 | None) -> None:
        """``backend`` is the snapshot that the ring is on, None for no device and no errors."""
        self._plan = _as_simulated(plan, is_device=backend is not None)
        self._method = method_for(plan.n_qubits, plan.n_layers)
        self._device_version = None if backend is None else str(backend.backend_version)
        self._device = (
            noiseless_ring(plan.n_qubits)
            if backend is None
            else ring_device(backend, plan.ring, n_layers=plan.n_layers)
        )
        self._options, notes = _applied(self._plan.options)
        self._notes = (*notes, *self._device.properties.notes)
        self._prepared: tuple[Program, RingSimulator] | None = None
        self._jobs: dict[str, _Job] = {}
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._plan!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Jobs stay where they are: a copy in another process could not go on with one that is running.
        from mcquack.hardware.services.opening import opened

        return opened, (self._plan,)

    @property
    def description(self) -> Description:
        """See ``Service``; ``notes`` say what the simulation leaves out or replaces."""
        return self._plan.description(
            device_version=self._device_version,
            method=self._method,
            notes="; ".join(self._notes),
        )

    @property
    def limits(self) -> Limits:
        """Jobs of a minute or so."""
        by_method = _CIRCUITS_OF_A_JOB if self._plan.options.noise == "none" else _NOISY_CIRCUITS_OF_A_JOB
        return Limits(parameters=by_method[self._method] * self._plan.n_angles)

    def submit(self, angles: Angles, *, shots: int, tag: str) -> str:
        """See ``Service``."""
        # A ledger may remember jobs of a process that has ended: a number would be that of one of them.
        job_id = f"local-{uuid4().hex[:12]}"
        with self._lock:
            self._jobs[job_id] = _Job(
                tag=tag, shots=required_count("shots", shots), angles=self._plan.checked_angles(angles)
            )
        return job_id

    def find(self, tag: str) -> str | None:
        """See ``Service``; the latest, if there are several."""
        jobs = list(self._jobs.items())  # another thread may add one meanwhile
        return next((job_id for job_id, job in reversed(jobs) if job.tag == tag), None)

    def status(self, job_id: str) -> JobStatus:
        """See ``Service``; this is where a job that waits is run."""
        job = self._job(job_id)
        with self._lock:
            if job.state == "queued":
                self._run(job)
        return JobStatus(state=job.state, message=job.message)

    def outcomes(self, job_id: str) -> Bits:
        """See ``Service``."""
        status = self.status(job_id)
        bits = self._job(job_id).bits
        if bits is None:
            raise DeviceError(f"the job {job_id} is {status.state} and has no outcomes. {status.message}".rstrip())
        return bits

    def cancel(self, job_id: str) -> None:
        """See ``Service``."""
        job = self._job(job_id)
        if job.state == "queued":
            job.state, job.angles = "cancelled", None

    def _job(self, job_id: str) -> _Job:
        if job_id not in self._jobs:
            raise LostJobError(
                f"this process did not send the job {job_id}: simulations end with the process that runs them, so "
                "have it sent again."
            )
        return self._jobs[job_id]

    def _run(self, job: _Job) -> None:
        assert job.angles is not None
        program, simulator = self._program()
        try:
            run = sent(
                program,
                job.angles,
                shots=job.shots,
                options=self._options,
                mode=simulator,
                seed=self._seed_of(job),
            )
            job.bits = outcomes_of(run.result(), (len(job.angles), job.shots))
            job.state = "done"
        except Exception as error:  # whatever a simulator stumbles over, jobs fail one by one
            job.state, job.message = "failed", f"{type(error).__name__}: {error}"
        job.angles = None

    def _program(self) -> tuple[Program, RingSimulator]:
        """Made when the first job is run: to describe a service takes none of it."""
        if self._prepared is None:
            template = overlap_template(self._plan.n_qubits, self._plan.n_layers)
            circuit = placed(template, range(self._plan.n_qubits), self._device.target)
            simulator = RingSimulator.of(self._device, noise=self._options.noise, method=self._method)
            self._prepared = Program(circuit=circuit, parameters=tuple(template.parameters)), simulator
        return self._prepared

    def _seed_of(self, job: _Job) -> int:
        assert job.angles is not None
        # The last part of a tag counts the attempts: a job that is sent again shall give what it would have given.
        purpose = job.tag.rpartition("-")[0] or job.tag
        digest = hashlib.sha256(job.angles.astype("<f8").tobytes()).hexdigest()
        draws = stream(self._plan.seed or 0, "local service", purpose, str(job.shots), digest)
        return int(draws.integers(1, 2**31))


def _as_simulated(plan: Plan, *, is_device: bool) -> Plan:
    """The plan with what is left to choose chosen, and without what means nothing here."""
    options = replace(plan.options, api=chosen_api(plan.options.api), mode="job")
    return replace(
        plan,
        options=options if is_device else replace(options, noise="none"),
        seed=0 if plan.seed is None else plan.seed,
    )


def _applied(options: Options) -> tuple[Options, tuple[str, ...]]:
    """What the vendor's local mode does of the options, and what to note about the rest."""
    if options.api != "v2" or (options.decoupling is None and not options.measure_twirling):
        return options, ()
    note = "decoupling and twirling are left out here: with the sampler v2 only the service applies them"
    return replace(options, decoupling=None, measure_twirling=False), (note,)
