"""Devices on this computer: snapshots of real ones and a simulator without errors, run by the vendor's samplers."""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import Delay
from qiskit.providers import BackendV2
from qiskit.transpiler import PassManager, Target
from qiskit.transpiler.passes import ALAPScheduleAnalysis, PadDelay, TimeUnitConversion
from qiskit_aer import AerSimulator
from qiskit_aer.noise import NoiseModel, QuantumError, ReadoutError, depolarizing_error, pauli_error

from mcquack.checks import required_count
from mcquack.errors import DeviceError, LostJobError
from mcquack.hardware.jobs.service import Angles, Bits, JobStatus, Limits, State
from mcquack.hardware.native import overlap_template, placed
from mcquack.hardware.services.plan import Description, Noise, Options, Plan
from mcquack.hardware.services.ring_device import RingDevice, noiseless_ring, ring_device
from mcquack.hardware.services.runtime import Program, chosen_api, outcomes_of, sent
from mcquack.randomness import stream

# The errors of a ring for Aer: its own model, or the same errors as Pauli channels, which large rings can afford.

_MICROSECONDS = 1e6
Change = Callable[[QuantumCircuit], QuantumCircuit]


def noise_model(device: RingDevice, noise: Noise) -> NoiseModel | None:
    """The errors of gates and of the readout; those of waiting qubits are ``idle_noise``."""
    if noise == "none":
        return None
    if noise == "full":
        return NoiseModel.from_backend(AerSimulator(target=device.target))
    values = device.properties.values
    model = NoiseModel()
    for qubit, (sx_error, readout_error) in enumerate(zip(values["sx_error"], values["readout_error"], strict=True)):
        pulse = depolarizing_error(_depolarizing(sx_error, n_qubits=1), 1)
        model.add_quantum_error(pulse, ["sx", "x"], [qubit])
        right, wrong = 1 - readout_error, readout_error
        model.add_readout_error(ReadoutError([[right, wrong], [wrong, right]]), [qubit])
    for pair in device.pairs:
        error = _depolarizing(values["two_qubit_error"][device.coupler(pair)], n_qubits=2)
        model.add_quantum_error(depolarizing_error(error, 2), device.two_qubit_gate, list(pair))
    return model


def idle_noise(device: RingDevice, noise: Noise) -> Change:
    """What puts the waiting times into a circuit: as delays for Aer's own model, or as the Pauli errors that happen."""
    target = device.target
    values = device.properties.values
    keeps_coherence = all(math.isinf(time) for name in ("t1_us", "t2_us") for time in values[name])
    if noise == "none" or keeps_coherence:
        return lambda circuit: circuit
    if noise == "full":
        return lambda circuit: scheduled(circuit, target)

    # By qubit and time, so that Aer gets each error once.
    @cache
    def error(qubit: int, microseconds: float) -> QuantumError:
        return relaxation(microseconds, t1_us=values["t1_us"][qubit], t2_us=values["t2_us"][qubit])

    def with_errors(circuit: QuantumCircuit) -> QuantumCircuit:
        timed = scheduled(circuit, target)
        noisy = timed.copy_empty_like()
        started: set[int] = set()
        for instruction in timed.data:
            qubits = [timed.find_bit(qubit).index for qubit in instruction.qubits]
            if isinstance(instruction.operation, Delay):
                # Before its first gate a qubit is in its ground state, where nothing happens to it.
                if qubits[0] in started:
                    time = _microseconds(instruction.operation, target)
                    noisy.append(error(qubits[0], time), instruction.qubits)
                continue
            if instruction.operation.name != "barrier":
                started.update(qubits)
            noisy.append(instruction)
        return noisy

    return with_errors


def scheduled(circuit: QuantumCircuit, target: Target) -> QuantumCircuit:
    """The circuit with every wait as a delay, and every gate as late as possible, as devices do."""
    passes = [TimeUnitConversion(target=target), ALAPScheduleAnalysis(target=target), PadDelay(target=target)]
    return PassManager(passes).run(circuit)


def relaxation(microseconds: float, *, t1_us: float, t2_us: float) -> QuantumError:
    """Relaxation and dephasing over some time, twirled over the Paulis."""
    coherence, population = np.exp(-microseconds / t2_us), np.exp(-microseconds / t1_us)
    flip = (1 - population) / 4
    phase = max((1 - 2 * coherence + population) / 4, 0.0)  # rounding may leave less than nothing
    return pauli_error([("X", flip), ("Y", flip), ("Z", phase), ("I", 1 - 2 * flip - phase)])


def _depolarizing(error: float, *, n_qubits: int) -> float:
    """The weight of the fully mixed state in a gate of this average infidelity."""
    dimension = 2**n_qubits
    return float(error * dimension / (dimension - 1))


def _microseconds(delay: Delay, target: Target) -> float:
    scale = {"dt": target.dt, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}[delay.unit]
    return float(delay.duration * scale * _MICROSECONDS)


# Aer as a ring of qubits that err and wait.

# Up to two layers entangle little beyond neighbours, so that tensors soon are faster than all amplitudes.
_LARGEST_WHOLE_STATE = 12
_LARGEST_WHOLE_STATE_OF_MORE_LAYERS = 20


class RingSimulator(AerSimulator):  # type: ignore[misc]
    """Puts the errors of waiting qubits into circuits when they are run.

    Only then are they complete: samplers decouple and twirl just before.
    """

    _waiting: Change | None = None

    @classmethod
    def of(cls, device: RingDevice, *, noise: Noise, method: str) -> "RingSimulator":
        """For a ring, by one of Aer's methods."""
        model = noise_model(device, noise)
        simulator = cls(
            target=device.target,
            method=method,
            # Circuits side by side, but not shots: these would be other ones with another number of threads.
            max_parallel_experiments=0,
            max_parallel_shots=1,
            **({} if model is None else {"noise_model": model}),
        )
        simulator._waiting = idle_noise(device, noise)
        return simulator

    def run(self, circuits: QuantumCircuit | Sequence[QuantumCircuit], **options: Any) -> Any:
        """Of Aer, for circuits with their waiting times."""
        wait = self._waiting or (lambda circuit: circuit)
        changed = [wait(circuit) for circuit in ([circuits] if isinstance(circuits, QuantumCircuit) else circuits)]
        return super().run(changed, **options)


def method_for(n_qubits: int, n_layers: int) -> str:
    """The method of Aer that suits the size of a circuit."""
    largest = _LARGEST_WHOLE_STATE if n_layers <= 2 else _LARGEST_WHOLE_STATE_OF_MORE_LAYERS
    return "automatic" if n_qubits <= largest else "matrix_product_state"


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
