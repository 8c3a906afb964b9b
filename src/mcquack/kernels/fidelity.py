"""The kernel matrix itself, in pieces that fit into memory."""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray
from mcquack.circuits.circuit import Circuit
from mcquack.errors import InvalidInputError
from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.engine import Engine, Measured

# Rotations are periodic: where floats lie further apart than this, an angle means nothing any more.
_ANGLE_SPACING = 0.01


def centroid_kernel(
    engine: Engine[Any], X: FloatArray, centroids: FloatArray, *, weights: FloatArray, bias: FloatArray
) -> FloatArray:
    """K[i, m] = |⟨0|U†(c_m) U(x_i)|0⟩|² (paper, eq. 8): N + M circuits in place of N × M, in pieces that fit.

    Parameters
    ----------
    engine : Engine
        Runs the circuits.
    X, centroids : arrays (N, d) and (M, d)
        Features of samples and centroids.
    weights, bias : arrays of the feature map's parameter shape
        Parameters of the embedding.

    Examples
    --------
    >>> import numpy as np
    >>> from mcquack import FeatureMap
    >>> from mcquack.simulators import StatevectorEngine
    >>> circuit = FeatureMap(n_qubits=2, n_features=2, n_layers=1)
    >>> ones = np.ones(circuit.parameter_shape)
    >>> X = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
    >>> engine = StatevectorEngine(circuit, dtype="float64")
    >>> centroid_kernel(engine, X, X[:1], weights=ones, bias=ones).round(4).tolist()
    [[1.0], [0.7838], [0.3532]]
    """
    return engine.kernel(X, centroids, weights=weights, bias=bias)


def reach(dtype: Any, circuit: Circuit) -> float:
    """How large a feature may be before its angle, modulo a turn, is only rounding.

    Features that are amplitudes and no angles may be as large as the square of their norm allows; to cut them off would
    turn their vector.
    """
    if circuit.start == "zeros" or (circuit.angle_table.input >= 0).any():
        return _ANGLE_SPACING / float(np.finfo(dtype).eps)
    return math.sqrt(float(np.finfo(dtype).max) / (2 * circuit.dimension))


# From fidelities with every centroid to one score for each class, and the way back. Centroid j of class m stands in
# column m·k + j of the kernel, k being the number of centroids per class.

ClassScore = Literal["max", "sum"]
MAX, SUM = 0, 1
CLASS_SCORE_CODES = {"max": MAX, "sum": SUM}


def class_scores(K: ArrayLike, n_classes: int, *, class_score: ClassScore = "max") -> FloatArray:
    """S[i, m] = max or Σ over j of K[i, m·k + j]; with one centroid per class, K itself."""
    kernel = np.asarray(K)
    by_class = _by_class(kernel, n_classes, class_score)
    if by_class.shape[2] == 1:
        return kernel
    scores: FloatArray = by_class.max(axis=2) if class_score == "max" else by_class.sum(axis=2)
    return scores


# The one rule for ties. Who decides between classes asks for the winners, and who shows scores or shares of them lets
# these lead, so that the order that is shown begins with the class that is predicted.

_EQUAL = 1e-12  # means and sums of shares round; shares of fewer than 10¹² shots that differ are further apart


def winning_classes(measured: Measured, n_classes: int, *, class_score: ClassScore = "max") -> NDArray[np.intp]:
    """The number of each row's class: of the highest score, of several such the one with the fewest ones on average.

    Few shots tie often, and the first class would win all ties. Where several centroids of a class make one score,
    those decide that are among the highest themselves, unless the loss sums them. What is equal in everything that is
    known, and on exact engines whatever is equal, goes to the first class.

    Parameters
    ----------
    measured : Measured
        A kernel (N, M·k), and what decides between its equal entries.
    n_classes : int
        M.
    class_score : "max" or "sum"
        How several centroids of a class make one score.

    Examples
    --------
    >>> import numpy as np
    >>> kernel, mean_ones = np.array([[0.5, 0.5], [0.5, 0.25]]), np.array([[1.5, 0.5], [1.5, 0.5]])
    >>> winning_classes(Measured(kernel, -mean_ones), 2).tolist()
    [1, 0]
    """
    kernel = np.asarray(measured.kernel)
    scores = class_scores(kernel, n_classes, class_score=class_score)
    winners: NDArray[np.intp] = scores.argmax(axis=1)
    if measured.ties is None:
        return winners
    equal = _among_highest(scores)
    rows = np.flatnonzero(equal.sum(axis=1) > 1)
    ties = measured.ties_of(rows) if len(rows) else None
    if ties is not None:
        if class_score == "max":
            ties = np.where(_among_highest(kernel[rows]), ties, -np.inf)
        deciding = class_scores(ties, n_classes, class_score="max")
        winners[rows] = np.where(equal[rows], deciding, -np.inf).argmax(axis=1)
    return winners


def _among_highest(scores: NDArray[Any]) -> NDArray[np.bool_]:
    highest: NDArray[np.bool_] = scores >= scores.max(axis=1, keepdims=True) - _EQUAL
    return highest


def with_winner_first(winners: NDArray[np.intp], scores: FloatArray) -> FloatArray:
    """Return the scores (N, M), changed as little as possible so that argmax finds the winner of every row.

    Rows whose first highest entry is the winner's stay as they are. Others are mixed, by a few units in the last digit,
    with a row that is 1 for the winner and 0 elsewhere: scores from 0 to 1 stay in that range, and shares sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> with_winner_first(np.array([1, 0]), np.array([[0.5, 0.5], [0.75, 0.25]])).argmax(axis=1).tolist()
    [1, 0]
    """
    rows = np.flatnonzero(scores.argmax(axis=1) != winners)
    if not len(rows):
        return scores
    found: FloatArray = scores.copy()
    step = 8 * np.finfo(scores.dtype).eps
    found[rows] *= 1 - step
    found[rows, winners[rows]] += step
    return found


def centroid_slopes(K: ArrayLike, slopes: ArrayLike, *, class_score: ClassScore = "max") -> FloatArray:
    """∂f/∂K from ``slopes`` = ∂f/∂S (N, M): all centroids of a class get it, or only the first of the highest."""
    kernel, by_score = np.asarray(K), np.asarray(slopes)
    if by_score.ndim != 2 or by_score.shape[0] != len(kernel):
        raise InvalidInputError(f"slopes of shape {by_score.shape} do not fit a kernel of shape {kernel.shape}.")
    by_class = _by_class(kernel, by_score.shape[1], class_score)
    if class_score == "sum":
        return np.repeat(by_score, by_class.shape[2], axis=1)
    highest = by_class.argmax(axis=2)[:, :, None] == np.arange(by_class.shape[2])
    return np.where(highest, by_score[:, :, None], 0).reshape(kernel.shape)


def _by_class(kernel: NDArray[Any], n_classes: int, class_score: str) -> NDArray[Any]:
    if kernel.ndim != 2 or n_classes < 1 or not kernel.shape[1] or kernel.shape[1] % n_classes:
        raise InvalidInputError(
            f"a kernel of shape {kernel.shape} has not the same number of columns for each of {n_classes} classes."
        )
    if class_score not in CLASS_SCORE_CODES:
        raise InvalidInputError(f'class_score must be "max" or "sum", got {class_score!r}.')
    return kernel.reshape(len(kernel), n_classes, kernel.shape[1] // n_classes)


@inner
def pool_rows(kernel: Any, class_score: int, scores: Any) -> None:
    """``class_scores`` for rows of a mini-batch, into ``scores``."""
    k = kernel.shape[1] // scores.shape[1]
    for row in range(kernel.shape[0]):
        for of_class in range(scores.shape[1]):
            score = kernel[row, of_class * k]
            for centroid in range(of_class * k + 1, (of_class + 1) * k):
                value = kernel[row, centroid]
                score = score + value if class_score == SUM else max(score, value)
            scores[row, of_class] = score


@inner
def spread_rows(kernel: Any, k: int, class_score: int, slopes: Any) -> None:
    """``centroid_slopes`` in place: what stands at the first centroid of a class goes to those it belongs to."""
    for row in range(kernel.shape[0]):
        for first in range(0, kernel.shape[1], k):
            slope, highest = slopes[row, first], first
            for centroid in range(first, first + k):
                if kernel[row, centroid] > kernel[row, highest]:
                    highest = centroid
                slopes[row, centroid] = slope if class_score == SUM else 0
            if class_score == MAX:
                slopes[row, highest] = slope


def shares(scores: FloatArray) -> FloatArray:
    """Scores of at least 0 divided by their sum in each row; where all of them are zero, the same for each class."""
    S = scores.astype(np.float64)
    total = S.sum(axis=1, keepdims=True)
    divided: FloatArray = np.divide(S, total, out=np.full_like(S, 1 / S.shape[1]), where=total > 0)
    return divided
