"""From what a user passes to ``fit`` to the rows that training sees."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Number
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from mcquack.arrays import FloatArray
from mcquack.circuits.circuit import Circuit
from mcquack.errors import InvalidInputError, Setting
from mcquack.kernels.fidelity import reach
from mcquack.models.features import Features, Scale, learned_features, scaling_range
from mcquack.training.state import TrainingData

ClassWeight: TypeAlias = Literal["balanced"] | Mapping[Any, float] | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Prepared:
    """All that is settled before the first step of training, without touching the estimator."""

    n_features: int
    feature_names: NDArray[Any] | None
    classes: NDArray[Any]
    seen: NDArray[np.bool_]  # which of them have had samples, now or before
    seed: int
    features: Features | None  # what is made of features before they are scaled
    training: TrainingData
    validation: TrainingData | None = None
    fingerprint: str = ""  # tells whether training is resumed on the samples that it began with
    scaler: MinMaxScaler | None = None
    feature_range: tuple[float, float] = (0.0, 1.0)
    engine: Any = None  # the Engine on the circuit, if the model is told one
    settings: Any = None  # of the training loop, if it has some

    @property
    def n_inputs(self) -> int:
        """The number of features that are left for the circuit."""
        return self.n_features if self.features is None else self.features.n_outputs


def fingerprint(*parts: TrainingData | None) -> str:
    """Return a hash of all samples, labels and weights."""
    digest = hashlib.sha256()
    for part in parts:
        for array in (part.X, part.labels, part.row_weights) if part else ():
            digest.update(repr(array.shape).encode())
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def checked_samples(
    model: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, reset: bool
) -> tuple[FloatArray, NDArray[Any], FloatArray]:
    """Return validated rows, labels and weights, without samples of weight zero; the model gets the features' names."""
    rows, targets = validate_data(model, X, y, dtype=np.float64, reset=reset)
    check_classification_targets(targets)
    weights = checked_sample_weight(sample_weight, len(rows))
    used = weights > 0
    kept = slice(None) if used.all() else used  # no copy of all the data for nothing
    return rows[kept], targets[kept], weights[kept]


def checked_sample_weight(sample_weight: ArrayLike | None, n_samples: int) -> FloatArray:
    """Return the weight of each sample: 1 by default, one number for all, or as given; never negative."""
    if sample_weight is None:
        return np.ones(n_samples)
    each = np.full(n_samples, sample_weight) if isinstance(sample_weight, Number) else sample_weight
    weights: FloatArray = check_array(each, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight")
    if weights.shape != (n_samples,):
        raise InvalidInputError(
            f"sample_weight has the shape {weights.shape}; give one weight to each of {n_samples} rows."
        )
    if (weights < 0).any():
        raise InvalidInputError(f"sample_weight must not be negative, got {weights.min()}.")
    if not weights.any():
        raise InvalidInputError("all sample weights are zero; give at least one sample a positive weight.")
    return weights


def check_extent(X: FloatArray) -> None:
    """Raise if the values of a feature lie so far apart that their difference overflows."""
    with np.errstate(over="ignore"):
        endless = np.flatnonzero(~np.isfinite(np.ptp(X, axis=0)))
    if len(endless):
        raise InvalidInputError(
            f"the values of feature {endless[0]} lie too far apart to be scaled; correct or drop it."
        )


def fitted_scaler(X: FloatArray, feature_range: tuple[float, float]) -> MinMaxScaler:
    """Return the scaler that maps the extremes of each feature to the ends of the range."""
    check_extent(X)
    return MinMaxScaler(feature_range=tuple(feature_range)).fit(X)


def learned_scaling(
    rows: FloatArray, labels: NDArray[np.int64], weights: FloatArray, *, n_components: int | None, scale: Scale
) -> tuple[Features | None, MinMaxScaler | None]:
    """Return the features and the scaler that the settings ask for; None for what they do not ask for."""
    features = learned_features(rows, labels, weights, n_components=n_components, scale=scale)
    scaling = scaling_range(scale)
    if scaling is None:
        return features, None
    return features, fitted_scaler(rows if features is None else features(rows), scaling)


def beyond_reach(X: FloatArray, scaler: MinMaxScaler | None, dtype: DTypeLike, circuit: Circuit) -> NDArray[np.bool_]:
    """Return which entries lie so far outside the training range that their angle is only rounding."""
    with np.errstate(over="ignore"):
        rows = X if scaler is None or not len(X) else scaler.transform(X)
    near: NDArray[np.bool_] = np.abs(rows) < reach(dtype, circuit)
    return ~near  # so that NaN counts as beyond


def scaled(X: FloatArray, scaler: MinMaxScaler | None, dtype: DTypeLike, circuit: Circuit) -> FloatArray:
    """Return features as the circuit takes them, clipped to its reach."""
    end = reach(dtype, circuit)
    rows = np.empty(X.shape, dtype)
    # In pieces that stay in the cache, as the scaler itself would do it in several passes over all of them.
    size = max(1, 2**15 // max(1, X.shape[1]))
    for start in range(0, len(X), size):
        part = X[start : start + size]
        with np.errstate(over="ignore"):
            values = part if scaler is None else part * scaler.scale_ + scaler.min_
        np.clip(values, -end, end, out=rows[start : start + size])
    return rows


def check_reach(X: FloatArray, dtype: DTypeLike, circuit: Circuit) -> None:
    """Raise if unscaled features are too large for an angle."""
    far = beyond_reach(X, None, dtype, circuit)
    if far.any():
        row, feature = np.argwhere(far)[0]
        raise InvalidInputError(
            f"feature {feature} of sample {row} is {X[row, feature]:g}, too large for an angle in {np.dtype(dtype)}; "
            "use ",
            Setting("scale", True),
            ", or scale the features.",
        )


def class_numbers(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the position of each label in the sorted list of classes."""
    numbers = np.searchsorted(classes, y)
    numbers[numbers == len(classes)] = 0
    unknown = np.unique(y[classes[numbers] != y])
    if len(unknown):
        raise InvalidInputError(
            f"y has the labels {unknown.tolist()}, which are not among {classes.tolist()}; leave them out, or fit anew."
        )
    return numbers


def class_factors(
    class_weight: ClassWeight, classes: NDArray[Any], labels: NDArray[np.int64], row_weights: FloatArray
) -> FloatArray:
    """Return the weight of each class: 1, inverse to its share, or as given (1 for classes not named)."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        mass = np.bincount(labels, weights=row_weights, minlength=len(classes))
        balanced: FloatArray = np.divide(mass.sum(), len(classes) * mass, out=np.zeros(len(classes)), where=mass > 0)
        return balanced
    unknown = [name for name in class_weight if name not in classes]
    if unknown:
        raise InvalidInputError(
            f"class_weight names {unknown}, which are not among the classes {classes.tolist()}; correct the names."
        )
    return np.array([float(class_weight.get(name, 1.0)) for name in classes.tolist()])


def part_of(data: TrainingData, rows: NDArray[Any], row_weights: FloatArray | None = None) -> TrainingData:
    """Return these rows of the data, with weights of their own if they are given."""
    weights = data.row_weights[rows] if row_weights is None else row_weights
    return TrainingData(data.X[rows], data.labels[rows], weights, data.n_classes)


def merged_repeats(data: TrainingData, batch_size: int) -> TrainingData:
    """Return each distinct row once, in a fixed order, with the weight of its repeats, if all fit into one batch.

    There the alignment depends on nothing else, and rounding then does not either: a sample of weight two is a
    sample given twice.
    """
    return data if len(data.X) > batch_size else part_of(data, *_distinct(data.X, data.labels, data.row_weights))


def distinct_rows(data: TrainingData) -> TrainingData:
    """Return each distinct row once, in a fixed order, with the weight of its repeats.

    If no row repeats itself and all weights are 1, the order stays as it is.
    """
    first, weights = _distinct(data.X, data.labels, data.row_weights)
    unchanged = len(first) == len(data.X) and (data.row_weights == 1).all()
    return data if unchanged else part_of(data, first, weights)


def _distinct(rows: FloatArray, labels: NDArray[np.int64], weights: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
    """Return the first row of each distinct sample, ordered by value, and the total weight of its repeats."""
    keyed = np.column_stack([rows.astype(np.float64), labels])
    _, first, inverse = np.unique(keyed, axis=0, return_index=True, return_inverse=True)
    merged = np.zeros(len(first))
    np.add.at(merged, inverse.reshape(-1), weights)
    return first, merged
