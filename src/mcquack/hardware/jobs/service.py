"""What runs jobs, seen from here: a device far away or a simulator, how much one job may hold, and what jobs cost."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.checks import is_number, is_whole_number, require, require_positive, required_count
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError, StoreError
from mcquack.hardware.native import n_angles, two_qubit_depth

Bits = NDArray[np.uint8]
Angles = FloatArray
JobState = Literal[
    "noted",  # about to be sent; whether it was, only the service knows
    "queued",
    "running",
    "done",  # and, in a ledger, its bits are kept
    "failed",
    "cancelled",
    "lost",  # the service does not know it any more
]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much one job of a service may hold: circuits times shots, and circuits times the angles of a circuit."""

    executions: int = 10_000_000
    parameters: int = 10_000_000

    def __post_init__(self) -> None:
        required_count("executions", self.executions)
        required_count("parameters", self.parameters)


@dataclass(frozen=True, kw_only=True)
class Speed:
    """How fast a device is; what is not given is that of ibm_pittsburgh at the time of the paper.

    Parameters
    ----------
    clops : layers of IBM's benchmark circuit that it runs in a second, None if nobody says.
    rep_delay_us : microseconds between two executions, in which the qubits are reset.
    two_qubit_us, sx_us, readout_us : microseconds of a two-qubit gate, of an SX gate and of the readout.

    Examples
    --------
    >>> round(Speed().execution_us(FeatureMap(n_qubits=124, n_features=248, n_layers=2)), 1)
    32.5
    """

    clops: float | None = 250_000
    rep_delay_us: float = 250.0
    two_qubit_us: float = 0.088
    sx_us: float = 0.032
    readout_us: float = 2.584

    def __post_init__(self) -> None:
        if self.clops is not None:
            require_positive("clops", self.clops)
        for name in ("rep_delay_us", "two_qubit_us", "sx_us", "readout_us"):
            value = getattr(self, name)
            require(is_number(value) and 0 <= value < float("inf"), name, "a number of at least 0", value)

    def execution_us(self, circuit: Circuit) -> float:
        """The microseconds of one run of an overlap circuit, whose CNOTs follow each other around the ring."""
        depth = 2 * circuit.n_layers - 1 if isinstance(circuit, FeatureMap) else 2 * circuit.depth
        two_qubit_us = two_qubit_depth(circuit) * (self.two_qubit_us + self.sx_us)
        return two_qubit_us + depth * 2 * self.sx_us + self.readout_us


@dataclass(frozen=True, kw_only=True)
class JobStatus:
    """How far a job is, and what the service has to say about it."""

    state: JobState
    message: str = ""


class Service(Protocol):
    """Runs one circuit with many sets of angles; it knows the circuit, its place on the device and all options.

    If the circuit is not the feature map of the paper, its description says it as ``circuit``, by ``circuit_json``.

    Nothing of an account ever passes this seam. Any call may raise an OSError, such as ConnectionError, while the
    service cannot be reached, and is then made again; a DeviceError is a refusal, which is not.
    """

    @property
    def description(self) -> Mapping[str, Any]:
        """All that decides what is measured beside angles and shots, as plain JSON: device, ring, options, versions."""

    @property
    def limits(self) -> Limits:
        """How much one job may hold."""

    @property
    def speed(self) -> Speed:
        """How fast the device is, as far as it says, so that a cost is estimated without opening it again."""

    def submit(self, angles: Angles, *, shots: int, tag: str) -> str:
        """Sends a job for each row of angles (K, P) and returns its id; its results come later."""

    def find(self, tag: str) -> str | None:
        """The id of the job that was sent with this tag, if the service knows of one."""

    def status(self, job_id: str) -> JobStatus:
        """How far the job is; raises LostJobError for a job that the service does not know."""

    def outcomes(self, job_id: str) -> Bits:
        """The bits of every shot of a job that is done, (K, shots, ceil(n / 8)), big-endian, qubit 0 the lowest."""

    def cancel(self, job_id: str) -> None:
        """Asks for the end of a job; one that has ended stays as it is."""


def described_circuit(description: Mapping[str, Any], *, n_qubits: int, n_layers: int) -> Circuit:
    """The circuit that a service says it runs: the paper's of so many qubits and layers, unless it names another."""
    text = description.get("circuit")
    if text is None:
        return FeatureMap.of_angles(n_qubits=n_qubits, n_layers=n_layers)
    try:
        return Circuit.from_json(json.loads(text))
    except (TypeError, ValueError, LookupError, RecursionError) as error:
        raise StoreError(
            f"the circuit in the description of a service cannot be read ({error}): it was damaged, or written by "
            "another version of mcquack; use that version, or a copy of the ledger."
        ) from error


def job_ranges(
    n_circuits: int,
    *,
    shots: int,
    circuit: Circuit,
    limits: Limits | None = None,
) -> tuple[range, ...]:
    """The overlap circuits 0 to ``n_circuits`` in as few jobs as the limits allow, in order and of about equal size."""
    shots, limits = required_count("shots", shots), limits or Limits()
    n_parameters = n_angles(circuit)
    by_shots, by_parameters = limits.executions // shots, limits.parameters // n_parameters
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


# What a measurement will take of a device's time, before any of it is spent.

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
