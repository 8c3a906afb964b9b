"""What a measurement will take of a device's time, before any of it is spent."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from mcquack.checks import is_number, require, require_positive, required_count
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.hardware.jobs.ledger import Ledger
from mcquack.hardware.jobs.records import Part
from mcquack.hardware.jobs.service import split
from mcquack.hardware.native import n_angles
from mcquack.hardware.sampler import DeviceSampler

# IBM's own rule for one job: 2 seconds, and for each execution its duration and the delay that resets the qubits.
JOB_OVERHEAD_SECONDS = 2.0
# What the paper measured at 124 qubits: about two seconds for each circuit of 100 shots.
PAPER_SECONDS_PER_SHOT = 2.0 / 100


@dataclass(frozen=True, kw_only=True)
class Speed:
    """How fast a device is; what is not given is that of ibm_pittsburgh at the time of the paper.

    ``clops`` are circuit layers per second, None if unknown. Times are in microseconds. ``duration_us`` of one
    execution, measurement included, is estimated from its gates if it is None.
    """

    clops: float | None = 250_000
    rep_delay_us: float = 250.0
    duration_us: float | None = None
    two_qubit_us: float = 0.088
    sx_us: float = 0.032
    readout_us: float = 2.584

    def __post_init__(self) -> None:
        for name in ("clops", "duration_us"):
            if getattr(self, name) is not None:
                require_positive(name, getattr(self, name))
        for name in ("rep_delay_us", "two_qubit_us", "sx_us", "readout_us"):
            value = getattr(self, name)
            require(is_number(value) and 0 <= value < float("inf"), name, "a number of at least 0", value)

    def execution_us(self, *, n_qubits: int, n_layers: int) -> float:
        """One run of the overlap circuit, whose CNOTs follow each other around the ring."""
        if self.duration_us is not None:
            return self.duration_us
        rotations = (2 * n_layers - 1) * 2 * self.sx_us
        return ring_gates(n_qubits, n_layers) * (self.two_qubit_us + self.sx_us) + rotations + self.readout_us


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Seconds on the device by three rules, which rest on different things and may differ much.

    ``by_repetition`` is IBM's rule; ``by_clops`` (None if unknown) takes the speed of its benchmark, whose layers are
    dense, for one CNOT each; ``by_paper`` is the pace of the paper's experiment.
    """

    n_circuits: int
    executions: int
    n_jobs: int
    by_repetition: float
    by_clops: float | None
    by_paper: float
    basis: tuple[str, ...] = field(repr=False)

    @property
    def likely(self) -> float:
        """IBM's rule, as it is that of the vendor who sends the bill."""
        return self.by_repetition

    @property
    def low(self) -> float:
        """The least of the three."""
        return min(self._all)

    @property
    def high(self) -> float:
        """The most of the three: what to have before starting."""
        return max(self._all)

    @property
    def _all(self) -> tuple[float, ...]:
        return tuple(seconds for seconds in (self.by_repetition, self.by_clops, self.by_paper) if seconds is not None)

    def __str__(self) -> str:
        return (
            f"{self.executions:,} executions of {self.n_circuits:,} circuits in {self.n_jobs} "
            f"job{'s' * (self.n_jobs != 1)}: about {readable_seconds(self.likely)} of QPU time, between "
            f"{readable_seconds(self.low)} and {readable_seconds(self.high)}"
        )


def estimate(
    n_circuits: int, shots: int, *, n_qubits: int, n_layers: int, n_jobs: int = 1, speed: Speed | None = None
) -> Estimate:
    """For circuits with the same number of shots each; waiting in the queue is not QPU time."""
    n_circuits, shots = required_count("n_circuits", n_circuits), required_count("shots", shots)
    n_jobs, speed = required_count("n_jobs", n_jobs), speed or Speed()
    executions = n_circuits * shots
    n_gates = ring_gates(required_count("n_qubits", n_qubits), required_count("n_layers", n_layers))
    one_us = speed.execution_us(n_qubits=n_qubits, n_layers=n_layers)
    by_repetition = n_jobs * JOB_OVERHEAD_SECONDS + executions * (one_us + speed.rep_delay_us) * 1e-6
    by_clops = None if speed.clops is None else executions * max(n_gates, 1) / speed.clops
    by_paper = executions * PAPER_SECONDS_PER_SHOT
    return Estimate(
        n_circuits=n_circuits,
        executions=executions,
        n_jobs=n_jobs,
        by_repetition=by_repetition,
        by_clops=by_clops,
        by_paper=by_paper,
        basis=_basis(one_us, n_gates, by_repetition=by_repetition, by_clops=by_clops, by_paper=by_paper, speed=speed),
    )


def shots_estimate(
    n_shots: int, *, shots_per_circuit: int, n_qubits: int, n_layers: int, n_jobs: int = 1, speed: Speed | None = None
) -> Estimate:
    """For a number of shots in all, such as training takes (``mcquack.training.total_shots``, the paper's formula)."""
    n_shots = required_count("n_shots", n_shots)
    n_circuits = -(-n_shots // required_count("shots_per_circuit", shots_per_circuit))
    return estimate(n_circuits, shots_per_circuit, n_qubits=n_qubits, n_layers=n_layers, n_jobs=n_jobs, speed=speed)


def ring_gates(n_qubits: int, n_layers: int) -> int:
    """Two-qubit gates of an overlap circuit, 2n(L - 1), each of which waits for the one before."""
    return 2 * (n_layers - 1) * n_qubits if n_qubits > 1 else 0


def readable_seconds(seconds: float) -> str:
    """Such as 12 s, 5.2 min, 3.1 h or 34 d."""
    for size, unit, least in ((86_400, "d", 2), (3_600, "h", 2), (60, "min", 2)):
        if seconds >= least * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def _basis(
    one_us: float, n_gates: int, *, by_repetition: float, by_clops: float | None, by_paper: float, speed: Speed
) -> tuple[str, ...]:
    """In words, what each number rests on."""
    repetition = (
        f"IBM's rule: {readable_seconds(by_repetition)}, from {JOB_OVERHEAD_SECONDS:g} s for a job and, for each "
        f"execution, {one_us:.1f} µs for the circuit and {speed.rep_delay_us:g} µs to reset the qubits."
    )
    paper = (
        f"The paper's pace: {readable_seconds(by_paper)}, from two seconds per 100 shots at 124 qubits; that is about "
        "what IBM's rule gives for one job per circuit, and here many circuits share a job."
    )
    if by_clops is None:
        return repetition, paper
    clops = (
        f"CLOPS: {readable_seconds(by_clops)}, from {speed.clops:,.0f} layers per second and {max(n_gates, 1)} "
        "layers, as the CNOTs of a ring follow each other; layers of one CNOT are shorter than those of the "
        "benchmark behind the number, so this is on the high side."
    )
    return repetition, clops, paper


# What is still to be sent of what is wanted, so that nobody is asked to pay for what a ledger has.


@dataclass(frozen=True, kw_only=True)
class Outstanding:
    """Circuits that are neither measured nor on their way, and the jobs that they take."""

    n_circuits: int = 0
    n_jobs: int = 0

    def __add__(self, other: "Outstanding") -> "Outstanding":
        return Outstanding(n_circuits=self.n_circuits + other.n_circuits, n_jobs=self.n_jobs + other.n_jobs)


def outstanding(sampler: DeviceSampler, asked: Sequence[OverlapCircuits], *, shots: int) -> Outstanding:
    """Of all that is asked of the sampler, what its ledger lacks."""
    found = (_outstanding(sampler, circuits, shots=shots) for circuits in asked)
    return sum(found, start=Outstanding())


def unsent(parts: Sequence[Part]) -> Outstanding:
    """Of what a ledger has noted, what is neither measured nor on its way."""
    left = [part for part in parts if not part.is_measured and not part.is_on_its_way]
    return Outstanding(n_circuits=sum(part.n_circuits for part in left), n_jobs=len(left))


def _outstanding(sampler: DeviceSampler, circuits: OverlapCircuits, *, shots: int) -> Outstanding:
    measurement = sampler.measurement(circuits, shots=shots)
    if sampler.ledger is not None and sampler.ledger.is_file():
        with Ledger.open(sampler.ledger) as ledger:
            if measurement.id in ledger:
                return unsent(ledger.parts(measurement.id))
    n_parameters = n_angles(circuits.n_qubits, circuits.n_layers)
    jobs = split(measurement.n_circuits, shots=shots, n_parameters=n_parameters, limits=sampler.service.limits)
    return Outstanding(n_circuits=measurement.n_circuits, n_jobs=len(jobs))
