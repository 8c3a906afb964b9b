"""The values that the training loop consumes and produces."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from threadpoolctl import threadpool_limits

from mcquack.arrays import FloatArray
from mcquack.circuits.circuit import Circuit
from mcquack.errors import InvalidInputError
from mcquack.kernels.losses import Loss, is_learned
from mcquack.randomness import stream
from mcquack.simulators.compiled.memory import require_bytes
from mcquack.training.optimizer import Moments
from mcquack.training.settings import TrainingSettings
from mcquack.training.step import GROUPS

InitStrategy = Literal["default", "wx+b=0"]


def _empty() -> NDArray[np.float64]:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Parameters:
    """All that a model trains, by group; a group that a model does not have is empty.

    ``weights`` and ``bias`` are those of the embedding, in the shapes that the circuit says: (L, n, 3) for the paper's.
    ``centroids`` are the rows that samples are compared with: (M, d), or (M·k, d) with k of them per class.
    ``log_beta`` is the logarithm of the β of a loss that learns it, (1,). ``head`` (S + 1, T) is a linear map of S
    scores to T outputs, with a constant in its last row.
    """

    weights: FloatArray
    bias: FloatArray
    centroids: FloatArray = field(default_factory=_empty)
    log_beta: FloatArray = field(default_factory=_empty)
    head: FloatArray = field(default_factory=_empty)

    def copy(self) -> "Parameters":
        return Parameters(*(getattr(self, name).copy() for name in GROUPS))

    def loss(self, given: Loss) -> Loss:
        """Return the loss with its β as it is now."""
        if not is_learned(given):
            return given
        learned: Loss = replace(given, beta=math.exp(float(self.log_beta[0])))  # type: ignore[type-var]
        return learned


def initial_log_beta(loss: Loss, dtype: DTypeLike) -> FloatArray:
    """Where the β of a loss that learns it starts, as the parameter that training moves; empty for other losses."""
    return np.array([math.log(loss.beta)] if is_learned(loss) else [], dtype)  # type: ignore[attr-defined]


def flat_places(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[slice, tuple[int, ...]]]:
    """Return where each group stands in a flat array of all, and its shape."""
    ends = [0, *accumulate(math.prod(shape) for shape in shapes.values())]
    return {name: (slice(*ends[number : number + 2]), shape) for number, (name, shape) in enumerate(shapes.items())}


def check_shapes(parameters: Any, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse parameters of other shapes than compiled code would trust them to have."""
    for name, shape in shapes.items():
        found = getattr(parameters, name).shape
        if found != shape:
            raise InvalidInputError(f"{name} must have the shape {shape}, got {found}.")


def initial_embedding(
    circuit: Circuit,
    first_batch: FloatArray,
    *,
    row_weights: FloatArray | None = None,
    init_small: bool,
    init_strategy: InitStrategy,
    seed: int,
    dtype: DTypeLike,
) -> tuple[FloatArray, FloatArray]:
    """Weights and biases of variance 1/A around the circuit's starts, for A angles with parameters, or all ones.

    ``"wx+b=0"`` chooses biases so that the angles of the first batch vanish on average, where they take both features
    and a bias. One that several such angles share gets the mean of what they ask for.
    """
    table = circuit.angle_table
    shapes = {"weights": circuit.weights_shape, "bias": circuit.bias_shape}
    if init_small:
        n_angles = int(np.count_nonzero((table.weight >= 0) | (table.bias >= 0)))
        deviation = np.sqrt(1 / max(1, n_angles))
        starts = circuit.weight_starts, circuit.bias_starts
        weights, bias = (
            start.reshape(shape) + stream(seed, name).normal(scale=deviation, size=shape)
            for start, (name, shape) in zip(starts, shapes.items(), strict=True)
        )
    else:
        weights, bias = (np.ones(shape) for shape in shapes.values())
    affine = (table.input >= 0) & (table.bias >= 0) & (table.bias_factor != 0)
    if init_strategy == "wx+b=0" and affine.any():
        means = np.average(table.values(first_batch), axis=0, weights=row_weights)
        moved = table.slopes_in_inputs(weights)[affine] * means[table.input[affine]] + table.offset[affine]
        wanted, counts = np.zeros(circuit.n_bias), np.zeros(circuit.n_bias)
        np.add.at(wanted, table.bias[affine], -moved / table.bias_factor[affine])
        np.add.at(counts, table.bias[affine], 1)
        chosen = (wanted / np.maximum(counts, 1)).reshape(bias.shape)
        bias = np.where(counts.reshape(bias.shape) > 0, chosen, bias)
    return weights.astype(dtype), bias.astype(dtype)


def class_means(X: FloatArray, labels: NDArray[np.int64], n_classes: int, row_weights: FloatArray) -> FloatArray:
    """Mean of each class; a class without samples (or weight) starts in the middle of all."""
    sums = np.zeros((n_classes, X.shape[1]))
    np.add.at(sums, labels, X * row_weights[:, None])
    mass = np.bincount(labels, weights=row_weights, minlength=n_classes)[:, None]
    overall = sums.sum(axis=0) / max(float(mass.sum()), np.finfo(float).tiny)
    return np.where(mass > 0, sums / np.where(mass > 0, mass, 1), overall)


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Samples (N, d) with class numbers 0 … M-1, or with targets (N, T), and how much each of them counts."""

    X: FloatArray
    labels: NDArray[Any]
    row_weights: FloatArray
    n_classes: int

    def __post_init__(self) -> None:
        if not len(self.X) == len(self.labels) == len(self.row_weights):
            raise InvalidInputError(
                f"{len(self.X)} samples, {len(self.labels)} labels and {len(self.row_weights)} weights do not match."
            )
        if len(self.X) == 0:
            raise InvalidInputError("training needs at least one sample.")
        if self.is_regression:
            return
        if self.labels.min() < 0 or self.labels.max() >= self.n_classes:
            raise InvalidInputError(f"labels must be class numbers from 0 to {self.n_classes - 1}.")

    @classmethod
    def regression(
        cls, X: FloatArray, targets: FloatArray, row_weights: FloatArray | None = None, *, n_scores: int
    ) -> "TrainingData":
        """Return samples with targets (N, T), for a head on ``n_scores`` scores."""
        return cls(X, np.asarray(targets), np.ones(len(X)) if row_weights is None else row_weights, n_scores)

    @property
    def is_regression(self) -> bool:
        return self.labels.ndim == 2


@dataclass(frozen=True, eq=False)
class TrainingState:
    """Everything that decides how training goes on: save it, and the resumed run is the same to the last bit."""

    epoch: int
    parameters: Parameters
    mean: FloatArray  # (P,) the optimizer's memory of all groups, one after the other: see Moments
    square: FloatArray  # (P,)
    steps: NDArray[np.int64]  # (G,) how often each group was moved
    losses: NDArray[np.float64] = field(default_factory=_empty)  # of all steps, where training ends by convergence
    outcome: int = 0  # GOING, CONVERGED or DIVERGED

    @classmethod
    def start(cls, parameters: Parameters) -> "TrainingState":
        size = sum(getattr(parameters, name).size for name in GROUPS)
        mean, square = np.zeros((2, size), parameters.weights.dtype)
        return cls(0, parameters, mean, square, np.zeros(len(GROUPS), dtype=np.int64))

    @property
    def moments(self) -> dict[str, Moments]:
        """The optimizer's memory by group, in the shapes of the parameters."""
        places = flat_places({name: getattr(self.parameters, name).shape for name in GROUPS})
        return {
            name: Moments(self.mean[place].reshape(shape), self.square[place].reshape(shape))
            for name, (place, shape) in places.items()
        }

    @property
    def n_steps(self) -> int:
        """The number of recorded losses."""
        return len(self.losses)

    def to_tensors(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name, for a checkpoint; ``steps`` are those of the embedding and of the centroids."""
        counts, moments = dict(zip(GROUPS, self.steps.tolist(), strict=True)), self.moments
        steps = np.array([counts["weights"], counts["centroids"]], dtype=np.int64)
        tensors: dict[str, NDArray[Any]] = {"steps": steps, "epoch": np.array([self.epoch])}
        for name in GROUPS:
            parameter = getattr(self.parameters, name)
            if name in ("log_beta", "head") and not parameter.size:  # files from before them have none either
                continue
            tensors[name] = parameter
            tensors[f"{name}_mean"], tensors[f"{name}_square"] = moments[name]
        return tensors

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]], *, joint: bool = False) -> "TrainingState":
        """Return the state of a checkpoint; ``joint`` says whether every step moved embedding and centroids.

        The steps of a learned β follow from that: in joint steps they are those of the embedding, else all steps.
        """
        of_embedding, of_centroids = np.array(tensors["steps"], dtype=np.int64).tolist()
        counts = {"weights": of_embedding, "bias": of_embedding, "centroids": of_centroids, "head": of_centroids}
        counts["log_beta"] = of_embedding if joint else of_embedding + of_centroids
        nothing = np.zeros(0, tensors["weights"].dtype)
        parameters = Parameters(*(tensors.get(name, nothing) for name in GROUPS))
        mean, square = (
            np.concatenate([np.ravel(tensors.get(f"{name}_{moment}", nothing)) for name in GROUPS])
            for moment in Moments._fields
        )
        steps = np.array([counts[name] for name in GROUPS], dtype=np.int64)
        return cls(int(tensors["epoch"][0]), parameters, mean, square, steps)


@dataclass(frozen=True)
class HistoryRow:
    """What there is to say about an epoch, in plain numbers."""

    def as_row(self) -> dict[str, float | int | None]:
        """By name; None for what is not finite."""
        return {name: value if value is None or math.isfinite(value) else None for name, value in vars(self).items()}


@dataclass(frozen=True, kw_only=True)
class EpochReport(HistoryRow):
    """One row of a training history.

    ``loss`` is what patience watches: without penalties, on the validation part where there is one, else on the
    training part. The losses of KAO and CO are means over the epoch's steps, each with the penalties on what it moves
    (a joint step moves both); the rest is at its end.
    """

    epoch: int
    loss: float
    loss_kao: float | None
    loss_co: float | None
    alignment: float
    accuracy: float
    validation_alignment: float | None
    validation_accuracy: float | None
    grad_norm_weights: float | None
    grad_norm_bias: float | None
    grad_norm_centroids: float | None
    seconds: float


class Scores(NamedTuple):
    """What there is to say about a kernel and the labels of its samples."""

    loss: float
    alignment: float
    accuracy: float


@dataclass(frozen=True, eq=False)
class EpochSums:
    """What an epoch leaves behind, whichever engine ran it."""

    state: TrainingState
    loss_kao: float | None
    loss_co: float | None
    grad_norms: tuple[float | None, float | None, float | None]
    kernel: FloatArray  # of the training samples, up to one factor for all entries if the loss allows
    scores: Scores | None = None  # of that kernel, where the epoch has found them itself


# Of the feature range. With equal centroids of a class, every step of the sum would move them alike, for ever.
_STEP_ASIDE = 0.01


def initial_centroids(data: TrainingData, settings: TrainingSettings) -> FloatArray:
    """The means of the classes (M, d); for several centroids per class, those of k-means within it (M·k, d).

    A class of no more than k distinct samples starts at these and, for the rest, close to its mean.
    """
    means = class_means(data.X, data.labels, data.n_classes, data.row_weights)
    if settings.n_centroids_per_class == 1:
        return means
    n_centroids = means.size * settings.n_centroids_per_class // means.shape[1]
    # They themselves, what the optimizer remembers of them, and a kernel with them.
    n_numbers = 8 * n_centroids * means.shape[1] + n_centroids * len(data.X)
    require_bytes(8 * n_numbers, f"a kernel of {n_centroids:,} centroids")
    return np.concatenate([_of_class(data, settings, number, mean) for number, mean in enumerate(means)])


def _of_class(data: TrainingData, settings: TrainingSettings, number: int, mean: FloatArray) -> FloatArray:
    n_centroids = settings.n_centroids_per_class
    rng = stream(settings.seed, "centroids", str(number))
    own = (data.labels == number) & (data.row_weights > 0)
    # Each row once with the mass of its repeats, in an order that does not depend on theirs.
    rows, inverse = np.unique(data.X[own].astype(np.float64), axis=0, return_inverse=True)
    if len(rows) > n_centroids:
        from sklearn.cluster import KMeans  # not above: with it come most of scikit-learn's models

        mass = np.bincount(inverse.reshape(-1), weights=data.row_weights[own], minlength=len(rows)).astype(np.float64)
        model = KMeans(n_centroids, n_init=1, random_state=int(rng.integers(2**31)))
        # Several threads would add up in an order of their own, and the same seed would not give the same bits.
        with threadpool_limits(1):
            found: FloatArray = model.fit(rows, sample_weight=mass / mass.max()).cluster_centers_
        return found
    low, high = settings.feature_range
    aside = rng.normal(scale=_STEP_ASIDE * (high - low), size=(n_centroids - len(rows), len(mean)))
    return np.concatenate([rows, mean + aside])
