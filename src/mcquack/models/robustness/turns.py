"""How far a circuit can turn a state when features move, and how far features must move to reach another class.

The angle between two states, arccos |⟨ψ|ψ'⟩|, is a length. Three facts certify radii; D is an observable with
eigenvalues from l to h, r = (h - l)/2 and c = (h + l)/2.

1. A gate exp(-iθP/2) with P² = 1, or the same under a control, moves the state behind it by at most half as fast as θ
   changes: the speed is the standard deviation of its generator, whose eigenvalues are not more than 1 apart, and gates
   that follow change no angle between states. Standard deviations add up at most, so the state behind a whole circuit
   moves by at most Λ/2 for a unit of every feature, Λ being the sum of |∂θ/∂x| over all angles. In RZ(ω) RY(θ) RZ(φ)
   the axis of the second rotation is perpendicular to those of the other two, so √(θ'² + (|φ'| + |ω'|)²) takes the
   place of the sum of the three.

2. Along a way of states, ⟨D⟩ changes by at most twice the standard deviation of D for a unit of length, and
   (h - D)(D - l) ≥ 0 makes the variance at most r² - (⟨D⟩ - c)². So the arcsine of (⟨D⟩ - c)/r changes by at most 2 for
   a unit of length, and with 1. by at most Λ for a unit of every feature.

3. A derivative of ⟨D⟩ by an angle is the mean of i[G, D], whose norm is at most r, for G less its middle has at most
   the norm 1/2 and D less c the norm r. The same holds again for a second derivative, so along any direction of unit
   features ⟨D⟩ bends by at most r·Λ₁², Λ₁ being the plain sum of |∂θ/∂x|. If ⟨D⟩ is m at a sample, with the
   derivatives g by its features, it is still positive wherever m > ‖g‖₁ ε + r Λ₁² ε²/2.

4. Of several starts the mean of ⟨D⟩ decides, each with a circuit, a D and an r of its own. By 2. none of them falls
   faster than r sin(α - Λε) + c, where α is its arcsine at the sample, and so their mean falls no faster than the mean
   of these; the first ε at which that is 0 is a radius. It is at least the margin over the mean of all rΛ, which bound
   how fast each can change. A mean bends by at most the mean of all rΛ₁², which takes the place of rΛ₁² in 3.

For the centroids a and b the difference of fidelities is D = |a⟩⟨a| - |b⟩⟨b|, with r = √(1 - |⟨a|b⟩|²) and c = 0. Of 2.
and 3. the larger radius is taken: 2. is better where the margin is nearly r, and 3. for small ones.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray, IntArray
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.gates import GATES
from mcquack.errors import InvalidInputError
from mcquack.kernels.fidelity import ClassScore


class Turn(NamedTuple):
    """How fast a circuit can turn a state when every feature moves: Λ, and the plain sum Λ₁ of all angles' speeds."""

    largest: float
    summed: float


def turn_of(circuit: Circuit, weights: FloatArray) -> Turn:
    """The state behind a circuit turns by at most Λ/2 radians when no feature moves by more than 1.

    Parameters
    ----------
    circuit : One that starts with zeros and whose angles are linear in single features, as the paper's are.
    weights : Its weights.

    Examples
    --------
    >>> import numpy as np
    >>> from mcquack import FeatureMap
    >>> circuit = FeatureMap(n_qubits=2, n_features=2, n_layers=1)
    >>> weights = np.zeros(circuit.weights_shape)
    >>> weights[0, 0, :2] = 3.0, -4.0  # of RZ, then RY
    >>> turn_of(circuit, weights)
    Turn(largest=5.0, summed=7.0)
    """
    table = circuit.angle_table
    linear = all(len(factors) == 1 and factors[0][0] in ("x", "pi_minus") for factors in table.inputs)
    if circuit.start != "zeros" or not linear:
        raise InvalidInputError(
            "radii are certified for circuits that start with zeros and whose angles are linear in single features, "
            f"such as the paper's, and not for {circuit!r}; take another feature_map, or adversarial_radius."
        )
    speeds = np.abs(table.slopes_in_inputs(np.asarray(weights, np.float64)))
    total, place = 0.0, 0
    for gate in circuit.gates:
        own = speeds[place : place + len(gate.angles)]
        own *= GATES[gate.name].turn_speeds
        place += len(gate.angles)
        total += float(np.hypot(own[1], own[0] + own[2])) if gate.name == "rot" else float(own.sum())
    return Turn(total, float(speeds.sum()))


def way_at_speed(ways: FloatArray, speed: FloatArray | float) -> FloatArray:
    """How far one gets before a way is used up at this speed: 0 if it is not positive, and forever at rest."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: FloatArray = np.where(ways > 0, ways / speed, 0.0)
    return found


def way_with_bend(gaps: FloatArray, slopes: FloatArray, bend: FloatArray | float) -> FloatArray:
    """The ε at which gap = slope·ε + bend·ε²/2; 0 where the gap is not positive."""
    positive = np.maximum(gaps, 0)
    return way_at_speed(2 * positive, slopes + np.sqrt(slopes**2 + 2 * bend * positive))


class Rival(NamedTuple):
    """What may win against the own classes of some samples: D for each of them, and bounds of its eigenvalues."""

    slopes: FloatArray  # (N, M·k): ⟨D⟩ is their sum with the fidelities of a sample
    high: FloatArray  # (N,)
    low: FloatArray
    is_own: NDArray[np.bool_]  # (N,): where the rival is of the own class, and none

    @property
    def radius(self) -> FloatArray:
        return (self.high - self.low) / 2

    @property
    def centre(self) -> FloatArray:
        return (self.high + self.low) / 2

    def gaps(self, kernel: FloatArray) -> FloatArray:
        """⟨D⟩ of samples with these fidelities."""
        found: FloatArray = (self.slopes * kernel).sum(axis=1)
        return found

    def radii(self, kernel: FloatArray, steepness: FloatArray, turn: Turn) -> FloatArray:
        """How far the rival is away from each sample at least; ``steepness`` is ‖g‖₁ of ⟨D⟩."""
        gaps = self.gaps(kernel)
        radius, centre = self.radius, self.centre
        safe = np.where(radius > 0, radius, 1.0)
        arcs = np.arcsin(np.clip((gaps - centre) / safe, -1, 1)) - np.arcsin(np.clip(-centre / safe, -1, 1))
        by_arc = way_at_speed(np.where(gaps > 0, arcs, 0.0), turn.largest)
        by_bend = way_with_bend(gaps, steepness, radius * turn.summed**2)
        return np.where(self.is_own, np.inf, np.maximum(by_arc, by_bend))


def mean_radii(
    each: Sequence[Rival], kernels: Sequence[FloatArray], steepness: FloatArray, turns: Sequence[Turn]
) -> FloatArray:
    """How far a rival is away at least if the mean of several kernels decides; ``steepness`` is ‖g‖₁ of the mean."""
    if len(each) == 1:
        return each[0].radii(kernels[0], steepness, turns[0])
    gaps = np.array([rival.gaps(kernel) for rival, kernel in zip(each, kernels, strict=True)])
    radius, centre = (np.array([getattr(rival, name) for rival in each]) for name in ("radius", "centre"))
    heights = np.arcsin(np.clip((gaps - centre) / np.where(radius > 0, radius, 1.0), -1, 1))
    by_arc = _way_of_arcs(heights, radius, centre, np.array([turn.largest for turn in turns]))
    bend = np.mean([rival.radius * turn.summed**2 for rival, turn in zip(each, turns, strict=True)], axis=0)
    by_bend = way_with_bend(gaps.mean(axis=0), steepness, bend)
    return np.where(each[0].is_own, np.inf, np.maximum(by_arc, by_bend))


def _way_of_arcs(heights: FloatArray, radius: FloatArray, centre: FloatArray, speeds: FloatArray) -> FloatArray:
    """Up to which ε the mean over starts of r sin(α - Λε) + c stays positive, (N,); 0 where it never is."""

    def least(ways: FloatArray) -> FloatArray:
        arcs = np.maximum(heights - speeds[:, None] * ways, -np.pi / 2)  # deeper none of them falls
        found: FloatArray = (centre + radius * np.sin(arcs)).sum(axis=0)
        return found

    falling = speeds[speeds > 0]
    low = np.zeros(heights.shape[1])
    if not falling.size:
        return np.where(least(low) > 0, np.inf, 0.0)
    high = np.full_like(low, np.pi / falling.min())  # by then each has turned from the very top to the bottom
    resists = least(high) > 0
    for _ in range(60):
        middle = (low + high) / 2
        holds = least(middle) > 0
        low, high = np.where(holds, middle, low), np.where(holds, high, middle)
    return np.where(resists, np.inf, low)


def rivals(
    kernel: FloatArray, labels: IntArray, *, among: FloatArray, n_classes: int, class_score: ClassScore
) -> Iterator[Rival]:
    """All that may win against the own classes, of samples with these fidelities (N, M·k) with the centroids.

    ``among`` has the fidelities of centroids with each other. Where the largest fidelity decides, rivals are centroids,
    and the best centroid of the own class stands for it; where their sum does, rivals are classes.
    """
    k = kernel.shape[1] // n_classes
    owner = np.arange(kernel.shape[1]) // k
    own = owner == labels[:, None]
    if class_score == "max" or k == 1:
        best = np.where(own, kernel, -np.inf).argmax(axis=1)
        chosen = np.eye(kernel.shape[1])[best]
        for number, unit in enumerate(np.eye(kernel.shape[1])):
            radius = np.sqrt(np.clip(1 - among[best, number], 0, 1))
            yield Rival(chosen - unit, radius, -radius, own[:, number])
        return
    # Each row of a class's overlaps bounds the eigenvalues of the sum of its projectors (Gershgorin).
    blocks = among.reshape(n_classes, k, n_classes, k)[np.arange(n_classes), :, np.arange(n_classes)]
    largest = np.minimum(np.sqrt(np.clip(blocks, 0, 1)).sum(axis=2).max(axis=1), k)
    for number in range(n_classes):
        low = np.full(len(labels), -largest[number])
        yield Rival(own * 1.0 - (owner == number), largest[labels], low, labels == number)
