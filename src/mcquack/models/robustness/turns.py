"""How far a circuit can turn a state when features move, and how far a state must turn to reach another class.

The angle between two states, arccos |⟨ψ|ψ'⟩|, is a length, and two facts about it certify radii.

1. A gate exp(-iθP/2) with P² = 1, or the same under a control, moves the state behind it by at most half as fast as θ
   changes: the speed is the standard deviation of its generator, whose eigenvalues are not more than 1 apart, and gates
   that follow change no angle. Standard deviations add up at most, so the state behind a whole circuit moves at most
   Λ/2 for a unit of every feature, Λ being the sum of |∂θ/∂x| over all gates. In RZ(ω) RY(θ) RZ(φ) the axis of the
   second rotation is perpendicular to those of the other two, so √(θ'² + (|φ'| + |ω'|)²) takes the place of the sum.

2. Let D be an observable with eigenvalues from l to h, r = (h - l)/2 and c = (h + l)/2. Along a way of states, ⟨D⟩
   changes at most by twice the standard deviation of D for a unit of length, and (h - D)(D - l) ≥ 0 makes the variance
   at most r² - (⟨D⟩ - c)². So the arcsine of (⟨D⟩ - c)/r changes by at most 2 for a unit of length.

Both together: the arcsine changes by at most Λ for a unit of every feature. For the centroids a and b the difference of
fidelities is D = |a⟩⟨a| - |b⟩⟨b|, with r = √(1 - |⟨a|b⟩|²) and c = 0, so no perturbation smaller than
arcsin((Sₐ - S_b)/r) / Λ makes b win against a.
"""

import numpy as np

from mcquack.arrays import FloatArray, IntArray
from mcquack.circuits.circuit import Circuit
from mcquack.errors import InvalidInputError
from mcquack.kernels.fidelity import ClassScore, class_scores


def largest_turn(circuit: Circuit, weights: FloatArray) -> float:
    """Λ: the state behind a circuit turns by at most Λ/2 radians when no feature moves by more than 1.

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
    >>> weights[0, :, 1] = 3.0, -4.0  # of RY
    >>> largest_turn(circuit, weights)
    7.0
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
        place += len(gate.angles)
        total += float(np.hypot(own[1], own[0] + own[2])) if gate.name == "rot" else float(own.sum())
    return total


def centroid_arcs(
    kernel: FloatArray, labels: IntArray, *, among: FloatArray, n_classes: int, class_score: ClassScore
) -> FloatArray:
    """How far arcsines must change at least, for each sample, before another class has the largest score (N,).

    ``kernel`` has the fidelities of samples with centroids (N, M·k), and ``among`` those of centroids with each other.
    Not positive where another class has the largest score already.
    """
    k = kernel.shape[1] // n_classes
    if class_score == "max" or k == 1:
        return _arcs_between_centroids(kernel, labels, among=among, k=k)
    scores = class_scores(kernel, n_classes, class_score=class_score)
    # Each row of a class's overlaps bounds the eigenvalues of the sum of its projectors (Gershgorin).
    blocks = among.reshape(n_classes, k, n_classes, k)[np.arange(n_classes), :, np.arange(n_classes)]
    largest = np.minimum(np.sqrt(np.clip(blocks, 0, 1)).sum(axis=2).max(axis=1), k)
    high, low = largest[labels][:, None], -largest[None, :]
    radius, centre = (high - low) / 2, (high + low) / 2
    gap = scores[np.arange(len(scores)), labels][:, None] - scores
    heights = np.arcsin(np.clip((gap - centre) / radius, -1, 1)) - np.arcsin(np.clip(-centre / radius, -1, 1))
    heights[np.arange(len(scores)), labels] = np.inf
    found: FloatArray = heights.min(axis=1)
    return found


def _arcs_between_centroids(kernel: FloatArray, labels: IntArray, *, among: FloatArray, k: int) -> FloatArray:
    """From the best centroid of the own class to each one of all others."""
    owner = np.arange(kernel.shape[1]) // k
    own = owner == labels[:, None]
    best = np.where(own, kernel, -np.inf).argmax(axis=1)
    gap = kernel[np.arange(len(kernel)), best][:, None] - kernel
    radius = np.sqrt(np.clip(1 - among[best], 0, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(gap > 0, gap / radius, np.minimum(gap, 0))
    arcs = np.arcsin(np.clip(ratio, -1, 1))
    arcs[own] = np.inf
    found: FloatArray = arcs.min(axis=1)
    return found
