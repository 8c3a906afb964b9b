"""What training makes small: losses on the scores of classes, as Python and as the compiled epoch have them.

A loss takes scores (N, M), class numbers and how much each sample counts, and gives its value and the derivative by the
scores. The alignment of the paper is one; whatever has the same call is another.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray
from mcquack.constraints import POSITIVE, Boolean, Constraints, Custom, Number, OneOf, check_settings
from mcquack.errors import InvalidInputError
from mcquack.kernels.fidelity import CLASS_SCORE_CODES, ClassScore, shares
from mcquack.simulators.compiled.inner import inner

_TINY = 1e-100


@inner
def _unit(K: Any) -> float:
    """What fidelities are measured in: their size does not matter to the alignment, but squares of tiny ones vanish."""
    top = 0.0
    for row in range(K.shape[0]):
        for column in range(K.shape[1]):
            top = max(top, float(K[row, column]))
    return top if 0.0 < top < _TINY else 1.0


@inner
def alignment_slopes(K: Any, labels: Any, row_weights: Any) -> tuple[float, float, float, float]:
    """(A, s, t, u) with ∂A/∂K[i, m] = row_weights[i] * (s * K*[i, m] - t * (u * K[i, m])), K* given by the labels.

    u brings tiny fidelities to the size of 1, and is 1 for others: t · u would overflow where s and t do not.

    A is 0 with zero slopes where it is undefined, because all fidelities or all weights vanish, and where its slopes
    overflow, because all fidelities are subnormal numbers.
    """
    agreement, power, mass = 0.0, 0.0, 0.0
    unit = _unit(K)
    for row in range(K.shape[0]):
        weight = float(row_weights[row])
        along, squared = 0.0, 0.0
        for column in range(K.shape[1]):
            value = float(K[row, column]) / unit
            along += value if column == labels[row] else -value
            squared += value * value
        agreement += weight * along
        power += weight * squared
        mass += weight * K.shape[1]
    if power <= 0.0 or mass <= 0.0:
        return 0.0, 0.0, 0.0, 1.0
    scale = 1.0 / (np.sqrt(power) * np.sqrt(mass))
    alignment = agreement * scale
    toward, away = scale / unit, alignment / power / unit
    if np.isinf(toward) or np.isinf(away):
        return 0.0, 0.0, 0.0, 1.0
    return alignment, toward, away, 1.0 / unit


# By these numbers the compiled epoch knows its losses.
ALIGNMENT, CROSS_ENTROPY, LOG_CROSS_ENTROPY, SQUARED_ERROR = range(4)


class LossRule(NamedTuple):
    """A loss as the compiled epoch knows it; the alignment uses nothing but its number."""

    code: int
    beta: float
    smoothing: float  # the share of a label that is spread over all classes
    floor: float  # what scores are raised by before their logarithm is taken
    learned: bool  # whether training moves β


@inner
def _logit(rule: Any, score: Any) -> float:
    plain = float(score)
    if rule.code == CROSS_ENTROPY:
        return plain
    return math.log(plain + rule.floor)


@inner
def _log_sum(rule: Any, scores: Any) -> float:
    top = _logit(rule, scores[0])
    for score in scores:
        top = max(top, _logit(rule, score))
    total = 0.0
    for score in scores:
        total += math.exp(rule.beta * (_logit(rule, score) - top))
    found: float = rule.beta * top + math.log(total)
    return found


@inner
def loss_terms(rule: Any, scores: Any, labels: Any, row_weights: Any) -> tuple[float, float, float, float]:
    """The value of a loss on a mini-batch, and three numbers that the derivatives of all its rows need.

    For a cross entropy the second of these is its derivative by β, which no row needs.
    """
    if rule.code == ALIGNMENT:
        alignment, toward, away, unit = alignment_slopes(scores, labels, row_weights)
        return 1 - alignment, toward, away, unit
    total, mass, by_beta = 0.0, 0.0, 0.0
    n_classes = scores.shape[1]
    for row in range(scores.shape[0]):
        log_sum = _log_sum(rule, scores[row])
        logit = _logit(rule, scores[row, labels[row]])
        if rule.smoothing > 0.0:
            mean = 0.0
            for of_class in range(n_classes):
                mean += _logit(rule, scores[row, of_class]) / n_classes
            logit += rule.smoothing * (mean - logit)
        total += row_weights[row] * (log_sum - rule.beta * logit)
        mass += row_weights[row]
        if rule.learned:
            expected = 0.0
            for of_class in range(n_classes):
                value = _logit(rule, scores[row, of_class])
                expected += math.exp(rule.beta * value - log_sum) * value
            by_beta += row_weights[row] * (expected - logit)
    share = 1.0 / mass if mass > 0.0 else 0.0
    return total * share, rule.beta * share, by_beta * share, 0.0


@inner
def squared_terms(outputs: Any, targets: Any, row_weights: Any) -> tuple[float, float]:
    """The mean squared error, and the factor of a row's weight and error in its derivatives."""
    total, mass = 0.0, 0.0
    for row in range(outputs.shape[0]):
        for output in range(outputs.shape[1]):
            off = float(outputs[row, output]) - targets[row, output]
            total += row_weights[row] * off * off
        mass += row_weights[row] * outputs.shape[1]
    share = 1.0 / mass if mass > 0.0 else 0.0
    return total * share, 2.0 * share


@inner
def loss_row(rule: Any, terms: Any, scores: Any, label: int, row_weight: float, slopes: Any, stride: int) -> None:
    """Writes the derivatives of the loss by the scores of one row into every ``stride``-th place of ``slopes``."""
    first, second, third = terms[1], terms[2], terms[3]
    n_classes = scores.shape[0]
    if rule.code == ALIGNMENT:
        for of_class in range(n_classes):
            ideal = 1.0 if label == of_class else -1.0
            along = third * scores[of_class]
            slopes[of_class * stride] = -row_weight * (first * ideal - second * along)
        return
    log_sum = _log_sum(rule, scores)
    for of_class in range(n_classes):
        share = math.exp(rule.beta * _logit(rule, scores[of_class]) - log_sum)
        own = 1.0 if label == of_class else 0.0
        own += rule.smoothing * (1.0 / n_classes - own)
        slope = row_weight * first * (share - own)
        if rule.code == LOG_CROSS_ENTROPY:
            slope /= float(scores[of_class]) + rule.floor
        slopes[of_class * stride] = slope


_CLASS_SCORE = OneOf(*CLASS_SCORE_CODES)


class Loss(Protocol):
    """What training makes small.

    ``class_score`` says how the fidelities of a sample with the centroids of a class make one score. A loss with
    ``scale_free = True`` stays the same when all scores are multiplied by one number: it may be asked in units of the
    largest fidelity, where all of them are smaller than any float. A loss may also have ``compiled``, the number under
    which the compiled epoch knows it, with its numbers ``beta``, ``smoothing`` and ``floor``; without, training takes
    the reference epoch, which calls the loss. With ``shares(scores)`` it says what ``predict_proba`` makes of scores,
    which else are divided by their sum; with ``learned = True`` its ``beta`` is trained by ``slope_by_beta``, which
    takes the same arguments as the call.
    """

    @property
    def class_score(self) -> ClassScore: ...

    def __call__(
        self, scores: FloatArray, labels: NDArray[np.int64], row_weights: FloatArray
    ) -> tuple[float, FloatArray]:
        """Value, and derivative by the scores (N, M)."""
        ...


@dataclass(frozen=True)
class Alignment:
    """1 - A(K, K*), one minus the kernel-target alignment (paper, eq. 5): from 1 - 1/√M to 2.

    Parameters
    ----------
    class_score : "max" or "sum"
        What a class with several centroids makes of a sample's fidelities with them. The score takes the place of the
        fidelity in training and prediction.

    Examples
    --------
    >>> import numpy as np
    >>> value, slopes = Alignment()(np.eye(2), np.array([0, 1]), np.ones(2))
    >>> round(value, 6), slopes.shape
    (0.292893, (2, 2))
    """

    class_score: ClassScore = "max"
    name: ClassVar[str] = "alignment"
    scale_free: ClassVar[bool] = True
    compiled: ClassVar[int] = ALIGNMENT
    _constraints: ClassVar[Constraints] = {"class_score": _CLASS_SCORE}

    def __post_init__(self) -> None:
        check_settings(self)

    def __call__(
        self, scores: FloatArray, labels: NDArray[np.int64], row_weights: FloatArray
    ) -> tuple[float, FloatArray]:
        value = 1 - target_alignment(scores, labels, row_weights=row_weights)
        return value, -alignment_gradient(scores, labels, row_weights=row_weights)


@dataclass(frozen=True)
class CrossEntropy:
    """Mean of -log softmax(β·S)[own class]: the scores are logits, β times.

    Parameters
    ----------
    beta : float
        How much a difference of fidelities says, or where it starts if it is learned.
    smoothing : float
        The share of every label that is spread evenly over all classes, from 0 to below 1; a little of it keeps a model
        from making itself sure of samples that it has learned by heart.
    learned : bool
        Whether β is trained along with the centroids, at their learning rate; ``model.beta_`` is what came of it.
    class_score : "max" or "sum"
        As in :class:`Alignment`.
    softmax : bool
        Whether ``predict_proba`` is the softmax that is trained; False divides scores by their sum, as versions up to
        0.2.0 did.

    Examples
    --------
    >>> import numpy as np
    >>> value, slopes = CrossEntropy(beta=1.0)(np.zeros((1, 2)), np.array([0]), np.ones(1))
    >>> round(value, 6), slopes.round(6).tolist()
    (0.693147, [[-0.5, 0.5]])
    >>> CrossEntropy().shares(np.array([[0.9, 0.5]])).round(3).tolist()
    [[0.982, 0.018]]
    """

    beta: float = 10.0
    class_score: ClassScore = "max"
    smoothing: float = 0.0
    learned: bool = False
    softmax: bool = True
    name: ClassVar[str] = "cross_entropy"
    compiled: ClassVar[int] = CROSS_ENTROPY
    floor: ClassVar[float] = 0.0
    _constraints: ClassVar[Constraints] = {
        "beta": POSITIVE,
        "class_score": _CLASS_SCORE,
        "smoothing": Number(0, 1),
        "learned": Boolean(),
        "softmax": Boolean(),
    }

    def __post_init__(self) -> None:
        check_settings(self)

    def __call__(
        self, scores: FloatArray, labels: NDArray[np.int64], row_weights: FloatArray
    ) -> tuple[float, FloatArray]:
        values, classes, weights = _checked(scores, labels, row_weights)
        logits, counted, apart = self._parts(values, classes, weights)
        log_shares = _log_softmax(self.beta * logits)
        value = -float(np.sum(counted[:, None] * self._targets(classes, values.shape[1]) * log_shares))
        return value, self.beta * counted[:, None] * apart * self._logit_slopes(values)

    def slope_by_beta(self, scores: FloatArray, labels: NDArray[np.int64], row_weights: FloatArray) -> float:
        """The derivative by β, by which it is learned."""
        logits, counted, apart = self._parts(*_checked(scores, labels, row_weights))
        return float(np.sum(counted[:, None] * apart * logits))

    def shares(self, scores: FloatArray) -> FloatArray:
        """What the scores say of the classes, as shares of one: the softmax that this loss trains, if not told else."""
        if not self.softmax:
            return shares(scores)
        found: FloatArray = np.exp(_log_softmax(self.beta * self._logits(np.asarray(scores, dtype=np.float64))))
        return found

    def _parts(
        self, scores: FloatArray, labels: NDArray[np.int64], row_weights: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The logits before β, how much each row counts, and how far the shares are from their targets."""
        logits, mass = self._logits(scores), row_weights.sum()
        apart = np.exp(_log_softmax(self.beta * logits)) - self._targets(labels, scores.shape[1])
        return logits, row_weights / mass if mass > 0 else row_weights, apart

    def _targets(self, labels: NDArray[np.int64], n_classes: int) -> FloatArray:
        own: FloatArray = (np.arange(n_classes) == labels[:, None]).astype(np.float64)
        return own + self.smoothing * (1 / n_classes - own)

    def _logits(self, scores: FloatArray) -> FloatArray:
        return scores

    def _logit_slopes(self, scores: FloatArray) -> FloatArray:
        return np.ones_like(scores)


@dataclass(frozen=True)
class LogCrossEntropy(CrossEntropy):
    """Mean of -log softmax(β·log(S + floor))[own class]: with β = 1 the scores, a little raised, are shares of classes.

    What counts are ratios of fidelities, where :class:`CrossEntropy` goes by their differences. Parameters that are not
    listed are as there.

    Parameters
    ----------
    beta : float
        The power that scores are taken to.
    floor : float
        What is added to every score, so that none is zero; the smaller, the more a fidelity near zero says.

    Examples
    --------
    >>> import numpy as np
    >>> LogCrossEntropy(floor=1e-9).shares(np.array([[0.3, 0.1]])).round(3).tolist()
    [[0.75, 0.25]]
    """

    beta: float = 1.0
    floor: float = 1e-3  # type: ignore[misc]
    name: ClassVar[str] = "log_cross_entropy"
    compiled: ClassVar[int] = LOG_CROSS_ENTROPY
    _constraints: ClassVar[Constraints] = {"floor": POSITIVE}

    def _logits(self, scores: FloatArray) -> FloatArray:
        found: FloatArray = np.log(scores + self.floor)
        return found

    def _logit_slopes(self, scores: FloatArray) -> FloatArray:
        return 1 / (scores + self.floor)


@dataclass(frozen=True)
class SquaredError:
    """Mean of (output - target)², for the linear head of a regression; its ``labels`` are targets (N, T).

    Examples
    --------
    >>> import numpy as np
    >>> value, slopes = SquaredError()(np.array([[1.0], [3.0]]), np.array([[1.0], [1.0]]), np.ones(2))
    >>> value, slopes.tolist()
    (2.0, [[0.0], [2.0]])
    """

    class_score: ClassVar[ClassScore] = "max"
    name: ClassVar[str] = "squared_error"
    compiled: ClassVar[int] = SQUARED_ERROR

    def __call__(self, scores: FloatArray, labels: NDArray[Any], row_weights: FloatArray) -> tuple[float, FloatArray]:
        outputs, targets = np.asarray(scores, np.float64), np.asarray(labels, np.float64)
        if outputs.shape != targets.shape:
            raise InvalidInputError(f"outputs of shape {outputs.shape} do not fit targets of shape {targets.shape}.")
        mass = float(np.sum(row_weights)) * outputs.shape[1]
        weights = np.asarray(row_weights)[:, None] / (mass if mass > 0 else 1.0)
        off = outputs - targets
        return float(np.sum(weights * off**2)), 2 * weights * off


def _log_softmax(logits: FloatArray) -> FloatArray:
    below = logits - logits.max(axis=1, keepdims=True)
    found: FloatArray = below - np.log(np.exp(below).sum(axis=1, keepdims=True))
    return found


LOSSES: Mapping[str, type[Alignment] | type[CrossEntropy]] = MappingProxyType(
    {kind.name: kind for kind in (Alignment, CrossEntropy, LogCrossEntropy)}
)
LossChoice: TypeAlias = Literal["alignment", "cross_entropy", "log_cross_entropy"] | Loss


def _is_loss(choice: Any) -> bool:
    if isinstance(choice, str):
        return choice in LOSSES
    return not isinstance(choice, type) and callable(choice) and hasattr(choice, "class_score")


LOSS = Custom(f"one of {', '.join(map(repr, LOSSES))}, or a loss such as Alignment()", _is_loss)


def loss_of(choice: LossChoice) -> Loss:
    """Return the loss of that name, or the loss itself."""
    LOSS.check("loss", choice)
    return LOSSES[choice]() if isinstance(choice, str) else choice


def loss_rule(loss: Loss) -> LossRule:
    """What the compiled epoch is told of a loss that it knows."""
    of = {name: float(getattr(loss, name, 0.0)) for name in ("beta", "smoothing", "floor")}
    return LossRule(code=int(loss.compiled), **of, learned=is_learned(loss))  # type: ignore[attr-defined]


def is_learned(loss: Loss) -> bool:
    """Whether training moves the β of this loss."""
    return bool(getattr(loss, "learned", False))


def class_shares(scores: FloatArray, loss: Loss) -> FloatArray:
    """Scores (N, M) as shares of one: as the loss sees them, or, where it does not say, divided by their sum."""
    if hasattr(loss, "shares"):
        found: FloatArray = loss.shares(scores)
        return found
    return shares(scores)


def ideal_kernel(labels: ArrayLike, n_classes: int) -> FloatArray:
    """K*[i, m] = 1 where sample i is of class m, else -1 (paper, eq. 3)."""
    classes = np.asarray(labels)
    if classes.ndim != 1 or (classes.size and (classes.min() < 0 or classes.max() >= n_classes)):
        raise InvalidInputError(f"labels must be a list of class numbers from 0 to {n_classes - 1}.")
    return np.where(classes[:, None] == np.arange(n_classes), 1.0, -1.0)


def target_alignment(K: ArrayLike, labels: ArrayLike, *, row_weights: ArrayLike | None = None) -> float:
    """A(K, K*) = ⟨K, K*⟩ / √(⟨K, K⟩⟨K*, K*⟩), at most 1/√M (paper, eq. 5).

    Every sample counts ``row_weights[i]`` times. Renaming the classes along with the columns changes nothing.
    """
    return float(alignment_slopes(*_checked(K, labels, row_weights))[0])


def alignment_gradient(K: ArrayLike, labels: ArrayLike, *, row_weights: ArrayLike | None = None) -> FloatArray:
    """∂A/∂K in closed form."""
    kernel, classes, weights = _checked(K, labels, row_weights)
    _, toward, away, unit = alignment_slopes(kernel, classes, weights)
    gradient: FloatArray = weights[:, None] * (toward * ideal_kernel(classes, kernel.shape[1]) - away * (unit * kernel))
    return gradient


def _checked(
    K: ArrayLike, labels: ArrayLike, row_weights: ArrayLike | None
) -> tuple[FloatArray, NDArray[np.int64], FloatArray]:
    kernel = np.asarray(K)
    classes = np.asarray(labels)
    if kernel.ndim != 2 or classes.shape != kernel.shape[:1]:
        raise InvalidInputError(
            f"kernel of shape {kernel.shape} does not fit labels of shape {classes.shape}; use one row for each label."
        )
    if not np.issubdtype(classes.dtype, np.integer):
        raise InvalidInputError(f"labels must be class numbers 0 … {kernel.shape[1] - 1}, got {classes.dtype}.")
    ideal_kernel(classes, kernel.shape[1])
    weights = np.ones(len(classes)) if row_weights is None else np.asarray(row_weights, dtype=np.float64)
    if weights.shape != classes.shape or not (weights >= 0).all():
        raise InvalidInputError(f"row_weights must be {len(classes)} numbers of at least 0.")
    return kernel.astype(np.float64, copy=False), classes.astype(np.int64, copy=False), weights
