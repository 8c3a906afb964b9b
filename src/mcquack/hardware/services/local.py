"""Devices on this computer: snapshots of real ones and a simulator without errors, run by the vendor's samplers on Aer.

Aer gets a device that is nothing but the ring, as the qubits beside it would only take memory, with its errors by Aer's
own model, or as Pauli channels, which large rings can afford.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import Delay, Gate, Measure, Parameter, Reset
from qiskit.circuit.library import CXGate, CZGate, ECRGate, RZGate, SXGate, XGate
from qiskit.providers import BackendV2
from qiskit.transpiler import InstructionProperties, PassManager, QubitProperties, Target
from qiskit.transpiler.passes import ALAPScheduleAnalysis, PadDelay, TimeUnitConversion
from qiskit_aer import AerSimulator
from qiskit_aer.noise import NoiseModel, QuantumError, pauli_error

from mcquack.checks import required_count
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.gates import all_to_all, ring
from mcquack.errors import DeviceError, LostJobError
from mcquack.hardware.jobs.service import Angles, Bits, JobState, JobStatus, Limits, Speed
from mcquack.hardware.layout.coupling import RingProperties, properties_along
from mcquack.hardware.native import n_angles
from mcquack.hardware.services.account import coupling_of, device_of
from mcquack.hardware.services.general import USUAL_DT, CutDevice, cut_out
from mcquack.hardware.services.options import Noise, Setup
from mcquack.hardware.services.program import DeviceProgram, SetupService, chosen_api, outcomes_of, sent
from mcquack.randomness import stream

_GATES: dict[str, type[Gate]] = {"cz": CZGate, "ecr": ECRGate, "cx": CXGate}

# Up to two layers entangle little beyond neighbours, so that tensors soon are faster than all amplitudes.
_LARGEST_WHOLE_STATE = 12
_LARGEST_WHOLE_STATE_OF_MORE_LAYERS = 20

# So that a job takes a minute or so, and what was measured before an interruption is kept.
_CIRCUITS_OF_A_JOB = {"automatic": 2_000, "matrix_product_state": 100}
_NOISY_CIRCUITS_OF_A_JOB = {"automatic": 500, "matrix_product_state": 4}


@dataclass(kw_only=True)
class _Job:
    """A job that waits has angles, one that is done has bits."""

    tag: str
    shots: int
    angles: Angles | None
    bits: Bits | None = None
    state: JobState = "queued"
    message: str = ""


class LocalService(SetupService):
    """Runs a job when its state is first asked for, and forgets all with the process; seed and tag decide the bits."""

    def __init__(self, setup: Setup, backend: BackendV2 | None) -> None:
        """``backend`` is the snapshot that the ring is on, None for no device and no errors."""
        circuit = setup.circuit
        # What is left to choose is chosen, and what means nothing here is left out.
        options = replace(setup.options, api=chosen_api(setup.options.api), mode="job")
        self._setup = replace(
            setup,
            options=options if backend is not None else replace(options, noise="none"),
            seed=0 if setup.seed is None else setup.seed,
        )
        self._backend = backend
        is_shallow = isinstance(circuit, FeatureMap) and circuit.n_layers <= 2
        largest = _LARGEST_WHOLE_STATE if is_shallow else _LARGEST_WHOLE_STATE_OF_MORE_LAYERS
        self._method = "automatic" if circuit.n_qubits <= largest else "matrix_product_state"
        if backend is None:
            all_pairs = not isinstance(circuit, FeatureMap)
            self._ring: RingDevice | None = noiseless_ring(circuit.n_qubits, all_pairs=all_pairs)
        elif isinstance(circuit, FeatureMap):
            self._ring = ring_device(backend, setup.ring, n_layers=circuit.n_layers)
        else:
            self._ring = None  # which qubits any other circuit uses, its gates tell
        self._notes = () if self._ring is None else self._ring.properties.notes
        self._options = self._setup.options
        if options.api == "v2" and (options.decoupling is not None or options.measure_twirling):
            # The vendor's local mode does nothing of them.
            self._options = replace(self._options, decoupling=None, measure_twirling=False)
            left_out = "decoupling and twirling are left out here: with the sampler v2 only the service applies them"
            self._notes = (left_out, *self._notes)
        self._jobs: dict[str, _Job] = {}
        self._lock = Lock()

    @property
    def description(self) -> dict[str, Any]:
        """Its ``notes`` say what the simulation leaves out or replaces."""
        version = None if self._backend is None else str(self._backend.backend_version)
        return self._setup.description(device_version=version, method=self._method, notes="; ".join(self._notes))

    @property
    def limits(self) -> Limits:
        by_method = _CIRCUITS_OF_A_JOB if self._setup.options.noise == "none" else _NOISY_CIRCUITS_OF_A_JOB
        return Limits(parameters=by_method[self._method] * n_angles(self._setup.circuit))

    @property
    def speed(self) -> Speed:
        return Speed() if self._backend is None else device_of(self._backend).speed

    def submit(self, angles: Angles, *, shots: int, tag: str) -> str:
        # A ledger may remember jobs of a process that has ended: a number would be that of one of them.
        job_id = f"local-{uuid4().hex[:12]}"
        with self._lock:
            self._jobs[job_id] = _Job(
                tag=tag, shots=required_count("shots", shots), angles=self._setup.checked_angles(angles)
            )
        return job_id

    def find(self, tag: str) -> str | None:
        jobs = list(self._jobs.items())  # another thread may add one meanwhile
        return next((job_id for job_id, job in reversed(jobs) if job.tag == tag), None)

    def status(self, job_id: str) -> JobStatus:
        """This is where a job that waits is run."""
        job = self._job(job_id)
        with self._lock:
            if job.state == "queued":
                self._run(job)
        return JobStatus(state=job.state, message=job.message)

    def outcomes(self, job_id: str) -> Bits:
        status = self.status(job_id)
        bits = self._job(job_id).bits
        if bits is None:
            raise DeviceError(f"the job {job_id} is {status.state} and has no outcomes. {status.message}".rstrip())
        return bits

    def cancel(self, job_id: str) -> None:
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
        program, simulator = self._prepared
        # The last part of a tag counts the attempts: a job that is sent again shall give what it would have given.
        purpose = job.tag.rpartition("-")[0] or job.tag
        digest = hashlib.sha256(job.angles.astype("<f8").tobytes()).hexdigest()
        draws = stream(self._setup.seed or 0, "local service", purpose, str(job.shots), digest)
        seed = int(draws.integers(1, 2**31))
        try:
            run = sent(program, job.angles, shots=job.shots, options=self._options, mode=simulator, seed=seed)
            job.bits = outcomes_of(run.result(), (len(job.angles), job.shots))
            job.state = "done"
        except Exception as error:  # whatever a simulator stumbles over, jobs fail one by one
            job.state, job.message = "failed", f"{type(error).__name__}: {error}"
        job.angles = None

    @cached_property
    def _prepared(self) -> tuple[DeviceProgram, "RingSimulator"]:
        """Made when the first job is run: to describe a service takes none of it."""
        how: Any = {"noise": self._options.noise, "method": self._method}
        if self._ring is not None:
            program = DeviceProgram.on(self._ring.target, range(self._setup.n_qubits), self._setup.circuit)
            return program, RingSimulator.of(self._ring, **how)
        assert self._backend is not None
        whole = DeviceProgram.on(self._backend.target, self._setup.ring, self._setup.circuit)
        circuit, device = cut_out(whole.circuit, self._backend.target)
        return replace(whole, circuit=circuit), RingSimulator.of(device, **how)


# The ring of a device as Qiskit and Aer want it.


@dataclass(frozen=True, kw_only=True, eq=False)
class RingDevice:
    """The qubits of a ring under the numbers 0 to n - 1, what is known of them, and the gates between them."""

    properties: RingProperties
    two_qubit_gate: str = "cz"
    pairs: tuple[tuple[int, int], ...]  # the directions in which the two-qubit gate is offered
    dt: float = USUAL_DT

    @property
    def n_qubits(self) -> int:
        return len(self.properties.values["sx_error"])

    @property
    def target(self) -> Target:
        values = self.properties.values
        coherence = zip(values["t1_us"], values["t2_us"], strict=True)
        target = Target(
            num_qubits=self.n_qubits,
            dt=self.dt,
            qubit_properties=[QubitProperties(t1=t1 * 1e-6, t2=t2 * 1e-6) for t1, t2 in coherence],
        )
        pulses, readout = ({(q,): self._known(what, q) for q in range(self.n_qubits)} for what in ("sx", "readout"))
        pairs = {pair: self._known("two_qubit", self.coupler(pair)) for pair in self.pairs}
        # Turns about z are made by the clock.
        instant = InstructionProperties(error=0.0, duration=0.0)
        target.add_instruction(RZGate(Parameter("angle")), dict.fromkeys(pulses, instant))
        target.add_instruction(SXGate(), pulses)
        target.add_instruction(XGate(), pulses)
        if pairs:
            target.add_instruction(_GATES[self.two_qubit_gate](), pairs)
        target.add_instruction(Measure(), readout)
        target.add_instruction(Reset(), dict.fromkeys(readout))
        target.add_instruction(Delay(Parameter("time")), dict.fromkeys(readout))
        return target

    def coupler(self, pair: tuple[int, int]) -> int:
        """Number q for the qubits q and q+1 mod n, either way round; of two qubits both are one."""
        first, second = pair
        return first if (first + 1) % self.n_qubits == second else second

    def _known(self, what: str, place: int) -> InstructionProperties:
        duration = round(self.properties.values[f"{what}_us"][place] * 1e-6 / self.dt) * self.dt
        return InstructionProperties(error=self.properties.values[f"{what}_error"][place], duration=duration)


def ring_device(backend: BackendV2, ring: tuple[int, ...], *, n_layers: int = 2) -> RingDevice:
    """A ring cut out of a snapshot; faults in it count as the median of the others, which the notes of it say."""
    target = backend.target
    offered = [name for name in _GATES if name in target.operation_names]
    gate = offered[0] if offered else "cz"
    places = {qubit: place for place, qubit in enumerate(ring)}
    within = [pair for pair in (target[gate] if offered else ()) if pair[0] in places and pair[1] in places]
    pairs = [(places[first], places[second]) for first, second in within]
    # On the device there may be couplers beside the ring, which it does not use.
    next_to = (1, len(ring) - 1)
    return RingDevice(
        properties=properties_along(coupling_of(backend), ring, n_layers=n_layers),
        two_qubit_gate=gate,
        pairs=tuple(pair for pair in pairs if (pair[0] - pair[1]) % len(ring) in next_to),
        dt=target.dt or USUAL_DT,
    )


def noiseless_ring(n_qubits: int, *, all_pairs: bool = False) -> RingDevice:
    """A ring without any errors, as fast as a real one, if wanted with a coupler between every pair of its qubits."""
    everywhere = {
        **dict.fromkeys(("sx_error", "two_qubit_error", "readout_error"), 0.0),
        **dict.fromkeys(("t1_us", "t2_us"), math.inf),
        # Decoupling needs times.
        **{name: getattr(Speed(), name) for name in ("sx_us", "two_qubit_us", "readout_us")},
    }
    values = {name: (value,) * n_qubits for name, value in everywhere.items()}
    steps = all_to_all(n_qubits) if all_pairs else ring(n_qubits)
    pairs = dict.fromkeys(pair for first, second in steps for pair in ((first, second), (second, first)))
    return RingDevice(properties=RingProperties(values, ()), pairs=tuple(pairs))


def noise_model(device: RingDevice | CutDevice, noise: Noise) -> NoiseModel | None:
    """The errors of gates, as Pauli channels depolarizing ones, and of the readout; see also ``idle_noise``."""
    if noise == "none":
        return None
    return NoiseModel.from_backend(AerSimulator(target=device.target), thermal_relaxation=noise == "full")


def idle_noise(device: RingDevice | CutDevice, noise: Noise) -> Callable[[QuantumCircuit], QuantumCircuit]:
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
                    time = float(instruction.operation.duration * target.dt * 1e6)  # scheduling counts in its ticks
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


class RingSimulator(AerSimulator):  # type: ignore[misc]
    """Puts the errors of waiting qubits into circuits when they are run, as samplers decouple and twirl just before."""

    _waiting: Callable[[QuantumCircuit], QuantumCircuit] | None = None

    @classmethod
    def of(cls, device: RingDevice | CutDevice, *, noise: Noise, method: str) -> "RingSimulator":
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
        wait = self._waiting or (lambda circuit: circuit)
        changed = [wait(circuit) for circuit in ([circuits] if isinstance(circuits, QuantumCircuit) else circuits)]
        return super().run(changed, **options)
