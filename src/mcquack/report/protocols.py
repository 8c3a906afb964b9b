"""What a plot needs to know of a model; any object with these attributes will do."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.errors import InvalidInputError


class TrainedModel(Protocol):
    """A model that remembers its training."""

    @property
    def classes_(self) -> NDArray[Any]: ...
    @property
    def history_(self) -> Sequence[Mapping[str, Any]]: ...


class KernelModel(Protocol):
    """A model with a kernel between samples and class centroids."""

    @property
    def classes_(self) -> NDArray[Any]: ...
    def transform(self, X: Any, /) -> NDArray[np.floating]:
        """K[i, m] = |⟨c_m|x_i⟩|²; where a class has several centroids, their columns stand side by side."""
        ...


class EmbeddingModel(KernelModel, Protocol):
    """A model whose samples have statevectors that can be looked at."""

    def statevectors(self, X: Any, /) -> NDArray[np.complexfloating]:
        """One unit row per sample."""
        ...


def class_indices(y: ArrayLike, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Position of each label in ``classes``, which are sorted as in scikit-learn."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InvalidInputError(f"y must be one label per sample, got an array of shape {labels.shape}.")
    if not labels.size:
        raise InvalidInputError("there are no samples to plot; pass at least one.")
    unknown = sorted({str(label) for label in labels[~np.isin(labels, classes)]})
    if unknown:
        known = ", ".join(map(str, classes))
        raise InvalidInputError(
            f"y has the labels {', '.join(unknown[:5])}, which the model was not trained on; leave out those "
            f"samples, it knows {known}."
        )
    return np.searchsorted(classes, labels)


def checked_rows(matrix: NDArray[Any], n_labels: int) -> NDArray[Any]:
    """The matrix itself if it has one row for each label."""
    if len(matrix) != n_labels:
        raise InvalidInputError(f"X has {len(matrix)} rows but y has {n_labels} labels; use one split for both.")
    return matrix
