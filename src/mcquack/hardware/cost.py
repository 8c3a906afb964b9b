"""What a measurement will take of a device's time, before any of it is spent."""

from dataclasses import dataclass

from mcquack.checks import is_whole_number, require, required_count
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.hardware.jobs.service import Speed
from mcquack.hardware.native import two_qubit_depth

# IBM's own rule for one job: 2 seconds, and for each execution its duration and the delay that resets the qubits.
_JOB_OVERHEAD_SECONDS = 2.0
# What the paper measured at 124 qubits: about two seconds for each circuit of 100 shots.
_PAPER_SECONDS_PER_SHOT = 2.0 / 100


_ABOUT_LAYERS = {
    True: "as the CNOTs of a ring follow each other; layers of one CNOT are shorter than those of the benchmark behind "
    "the number, so this is on the high side.",
    False: "as so many two-qubit gates wait for each other; SWAPs that the device needs come on top.",
}


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Seconds of QPU time by three rules, which rest on different things and may differ much.

    Parameters
    ----------
    n_circuits, executions, n_jobs : what is to be run: circuits, circuits times shots, and the jobs that hold them.
    by_repetition : IBM's rule.
    by_clops : the speed of IBM's benchmark, whose layers are dense, for one CNOT each; None if the device does not tell
        it.
    by_paper : the pace of the paper's experiment.
    basis : in words, what each of the numbers rests on.
    """

    n_circuits: int
    executions: int
    n_jobs: int
    by_repetition: float
    by_clops: float | None
    by_paper: float
    basis: tuple[str, ...]

    @property
    def low(self) -> float:
        return min(seconds for seconds in (self.by_repetition, self.by_clops, self.by_paper) if seconds is not None)

    @property
    def high(self) -> float:
        """The most of the three: what to have before starting."""
        return max(self.by_repetition, self.by_clops or 0, self.by_paper)

    def __str__(self) -> str:
        likely, low, high = (readable_seconds(seconds) for seconds in (self.by_repetition, self.low, self.high))
        jobs = f"{self.n_jobs} job{'s' * (self.n_jobs != 1)}"
        circuits = f"{self.executions:,} executions of {self.n_circuits:,} circuits in {jobs}"
        return f"{circuits}: about {likely} of QPU time, between {low} and {high}"


def estimate(
    n_circuits: int,
    shots: int,
    *,
    circuit: Circuit,
    n_jobs: int = 1,
    speed: Speed | None = None,
) -> Estimate:
    """The QPU time of circuits with the same number of shots each; waiting in the queue is not QPU time.

    Parameters
    ----------
    n_circuits, shots, n_jobs : how many circuits there are, how often each is run, and how many jobs hold them; no
        circuits take no time.
    circuit : the feature map, the paper's or any other; SWAPs that a device needs are not counted.
    speed : that of the device; None for that of the paper's.

    Examples
    --------
    >>> print(estimate(300, 100, circuit=FeatureMap(n_qubits=124, n_features=248, n_layers=2)))
    30,000 executions of 300 circuits in 1 job: about 10 s of QPU time, between 10 s and 10.0 min
    """
    require(is_whole_number(n_circuits) and n_circuits >= 0, "n_circuits", "a whole number of at least 0", n_circuits)
    shots, speed = required_count("shots", shots), speed or Speed()
    n_jobs = required_count("n_jobs", n_jobs) if n_circuits else 0
    n_layers_run = max(two_qubit_depth(circuit), 1)
    one_us = speed.execution_us(circuit)
    executions = n_circuits * shots
    by_repetition = n_jobs * _JOB_OVERHEAD_SECONDS + executions * (one_us + speed.rep_delay_us) * 1e-6
    by_clops = None if speed.clops is None else executions * n_layers_run / speed.clops
    by_paper = executions * _PAPER_SECONDS_PER_SHOT
    by_rule = (
        f"IBM's rule: {readable_seconds(by_repetition)}, from {_JOB_OVERHEAD_SECONDS:g} s for a job and, for each "
        f"execution, {one_us:.1f} µs for the circuit and {speed.rep_delay_us:g} µs to reset the qubits."
    )
    by_benchmark = by_clops is not None and (
        f"CLOPS: {readable_seconds(by_clops)}, from {speed.clops:,.0f} layers per second and {n_layers_run} layers, "
        + _ABOUT_LAYERS[isinstance(circuit, FeatureMap)]
    )
    by_experiment = (
        f"The paper's pace: {readable_seconds(by_paper)}, from two seconds per 100 shots at 124 qubits; that is about "
        "what IBM's rule gives for one job per circuit, and here many circuits share a job."
    )
    return Estimate(
        n_circuits=int(n_circuits),
        executions=executions,
        n_jobs=n_jobs,
        by_repetition=by_repetition,
        by_clops=by_clops,
        by_paper=by_paper,
        basis=tuple(text for text in (by_rule, by_benchmark, by_experiment) if text),
    )


def readable_seconds(seconds: float) -> str:
    """Such as 12 s, 5.2 min, 3.1 h or 34 d."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
