"""From what a user passes to ``fit`` to the rows that training sees."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from mcquack.errors import InvalidInputError
from mcquack.training.state import TrainingData

FloatArray = NDArray[np.floating]
ClassWeight = Literal["balanced"] | Mapping[Any, float] | None
# Looking for repeated rows is worth it only where they may all fit into one batch.
_REPEATS_LOOKED_FOR = 16


def class_factors(
    class_weight: ClassWeight, classes: NDArray[Any], labels: NDArray[np.int64], row_weights: FloatArray
) -> FloatArray:
    """How much each class counts: all alike, inversely to its share, or as given (classes not named count 1)."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise InvalidInputError(f'class_weight must be None, "balanced" or a dict, got {class_weight!r}.')
        mass = np.bincount(labels, weights=row_weights, minlength=len(classes))
        balanced: FloatArray = np.divide(mass.sum(), len(classes) * mass, out=np.zeros(len(classes)), where=mass > 0)
        return balanced
    unknown = [name for name in class_weight if name not in classes]
    if unknown:
        raise InvalidInputError(f"class_weight names {unknown}, which are not among the classes {list(classes)}.")
    factors = np.array([float(class_weight.get(name, 1.0)) for name in classes.tolist()])
    if not np.isfinite(factors).all() or (factors < 0).any():
        raise InvalidInputError(f"class_weight must hold numbers of at least 0, got {dict(class_weight)}.")
    return factors


def merged_repeats(data: TrainingData, batch_size: int) -> TrainingData:
    """Where all distinct rows fit into one batch: each once, in a fixed order, with the weight of its repeats.

    There the alignment depends on nothing else, and rounding then does not either: a sample of weight two is a
    sample given twice.
    """
    if len(data.X) > _REPEATS_LOOKED_FOR * batch_size:
        return data
    keyed = np.column_stack([data.X.astype(np.float64), data.labels])
    _, first, inverse = np.unique(keyed, axis=0, return_index=True, return_inverse=True)
    if len(first) > batch_size:
        return data
    weights = np.zeros(len(first))
    np.add.at(weights, inverse.reshape(-1), data.row_weights)
    return TrainingData(data.X[first], data.labels[first], weights, data.n_classes)


def validation_rows(
    labels: NDArray[np.int64], fraction: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(training, validation) row numbers, stratified where every class has enough samples."""
    rows = np.arange(len(labels))
    counts = np.bincount(labels)
    n_validation = int(np.ceil(fraction * len(labels)))
    n_classes = int(np.count_nonzero(counts))
    possible = counts[counts > 0].min() >= 2 and min(n_validation, len(labels) - n_validation) >= n_classes
    if n_validation >= len(labels):
        raise InvalidInputError(
            f"validation_fraction={fraction} of {len(labels)} samples leaves none to train on; lower it."
        )
    training, validation = train_test_split(
        rows, test_size=n_validation, random_state=seed, stratify=labels if possible else None
    )
    return np.sort(training), np.sort(validation)
