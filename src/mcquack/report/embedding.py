"""Samples and centroids in Hilbert space, on the plane on which classes lie farthest apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import resample

from mcquack.arrays import FloatArray
from mcquack.errors import InvalidInputError
from mcquack.report import style
from mcquack.report.model import check_rows, class_indices
from mcquack.report.style import INK, MOST_SAMPLES, MUTED


def plot_embedding(model: Any, X: Any, y: ArrayLike, *, ax: Axes | None = None) -> Figure:
    """Draw samples as points and centroids as stars, on the two axes along which the states of classes differ most.

    Distances on the plane are never longer than those of the states. Two classes differ along one axis; the other is
    then the one along which samples differ most besides. Of more than 1,000 samples the same 1,000 are drawn every
    time, in the proportions of their classes.

    Parameters
    ----------
    model : a fitted model with ``classes_``, ``transform`` and ``statevectors``.
    X, y : at least three samples, and their labels.
    ax : axes to draw into, instead of a new figure.

    Examples
    --------
    >>> from mcquack import McQuackClassifier
    >>> X, y = [[0.0, 0.1], [0.2, 0.0], [0.9, 1.0], [1.0, 0.8]], ["a", "a", "b", "b"]
    >>> model = McQuackClassifier(n_qubits=2, epochs=1, random_state=0).fit(X, y)
    >>> plot_embedding(model, X, y).axes[0].get_title(loc="left")
    'Samples and centroids in Hilbert space'
    """
    return EmbeddingDisplay.from_estimator(model, X, y, ax=ax).figure_


@dataclass(kw_only=True)
class EmbeddingDisplay:
    """Samples and centroids in Hilbert space as scikit-learn's displays are: values that can be drawn again.

    Parameters
    ----------
    points : array (N, 2), the samples on the plane.
    centroids : array (M·k, 2), the centroids, class after class.
    labels : array (N,), the number of each sample's class.
    class_names : the names of the M classes.
    shares : which part of the samples' variance is along each axis.

    Attributes
    ----------
    ax_ : the axes. figure_ : their figure.

    Examples
    --------
    >>> from mcquack import McQuackClassifier
    >>> X, y = [[0.0, 0.1], [0.2, 0.0], [0.9, 1.0], [1.0, 0.8]], ["a", "a", "b", "b"]
    >>> model = McQuackClassifier(n_qubits=2, epochs=1, random_state=0).fit(X, y)
    >>> EmbeddingDisplay.from_estimator(model, X, y).points.shape
    (4, 2)
    """

    points: FloatArray
    centroids: FloatArray
    labels: NDArray[np.intp]
    class_names: Sequence[str]
    shares: tuple[float, float]

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: ArrayLike, *, ax: Axes | None = None) -> Self:
        """The display of a fitted model and samples, drawn as :func:`plot_embedding` does."""
        labels = class_indices(y, model.classes_)
        check_rows(X.shape[0] if hasattr(X, "shape") else len(X), len(labels))
        if len(labels) > MOST_SAMPLES:
            X, labels = resample(X, labels, replace=False, n_samples=MOST_SAMPLES, stratify=labels, random_state=0)
        states, kernel = np.asarray(model.statevectors(X)), np.asarray(model.transform(X))
        points, stars, shares = fidelity_plane(states, kernel, labels)
        names = [str(name) for name in model.classes_]
        return cls(points=points, centroids=stars, labels=labels, class_names=names, shares=shares).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draws into axes, or into a new figure; sets ``ax_`` and ``figure_``."""
        ax = ax or style.new_axes(5.6, 4.4)
        for index, centroids in enumerate(np.split(self.centroids, len(self.class_names))):
            style.draw_samples(ax, self.points[self.labels == index], index)
            colour = style.class_colour(index)
            look: dict[str, Any] = {"marker": "*", "edgecolor": INK, "linewidth": 1.0, "zorder": 3}
            ax.scatter(centroids[:, 0], centroids[:, 1], s=260, color=colour, **look)
        star = Line2D([], [], linestyle="", marker="*", color=MUTED, markeredgecolor=INK, markersize=11)
        star.set_label("centroid")
        style.draw_class_legend(ax, self.class_names, others=[star])
        style.quiet(ax)
        n_between = len(np.unique(self.labels)) - 1
        kinds = ["class axis" if number < n_between else "principal axis" for number in range(2)]
        ax.set_xlabel(f"{kinds[0]} 1 ({self.shares[0]:.0%} of the spread)")
        ax.set_ylabel(f"{kinds[1]} 2 ({self.shares[1]:.0%})")
        ax.set_aspect("equal", adjustable="datalim")  # so that distances compare in all directions
        style.write_title(ax, "Samples and centroids in Hilbert space")
        self.ax_, self.figure_ = ax, style.figure_of(ax)
        return self


def fidelity_plane(
    states: NDArray[np.complexfloating], kernel: FloatArray, labels: NDArray[np.intp] | None = None
) -> tuple[FloatArray, FloatArray, tuple[float, float]]:
    """Samples (N, 2) and centroids (M·k, 2) on two axes, and the share of the samples' variance on each.

    Points are the samples' density matrices |ψ⟩⟨ψ|, whose inner products are the fidelities, so that no global phase
    enters. Axes are the principal components of the means of the classes; where there are no labels, or no further
    axis along which means differ, those of the samples. They are orthonormal, and not stretched to part classes as
    those of a discriminant analysis: with more dimensions than samples that would part even classes at random.
    ``kernel`` holds the fidelities of samples with centroids, which is all it takes to project those as well.
    """
    if len(states) < 3:
        raise InvalidInputError(f"{len(states)} samples do not span a plane; plot at least 3.")
    fidelities = np.abs(states.conj() @ states.T).astype(np.float64) ** 2
    means, mean = fidelities.mean(axis=0), fidelities.mean()
    centred = kernel.T - kernel.T.mean(axis=1, keepdims=True) - means + mean
    inner = fidelities - means - means[:, None] + mean  # products of what is left of the samples, less their mean
    noise = len(states) * np.finfo(states.dtype).eps
    total = max(float(np.trace(inner)), noise)
    # An axis is a sum of samples with these coefficients.
    coefficients, points = np.zeros((2, len(states))), np.zeros((2, len(states)))
    for number in range(2):
        found = _steepest(inner, labels, noise=noise)
        place = inner @ found
        # A direction's sign is arbitrary: its largest entry is made positive, for the same picture on every machine.
        sign = np.sign(place[np.abs(place).argmax()])
        points[number] = sign * place
        coefficients[number] = sign * found - points[:number] @ (sign * found) @ coefficients[:number]
        inner = inner - np.outer(place, place)
    shares = (points**2).sum(axis=1) / total
    return points.T, centred @ coefficients.T, (float(shares[0]), float(shares[1]))


def _steepest(inner: FloatArray, labels: NDArray[np.intp] | None, *, noise: float) -> FloatArray:
    """Coefficients (N,) of the unit vector along which class means differ most, or else samples, or else of none."""
    if labels is not None:
        of_classes = (labels[:, None] == np.unique(labels)).astype(np.float64)
        of_classes /= np.sqrt(of_classes.sum(axis=0))  # so that a class counts by its samples
        values, vectors = np.linalg.eigh(of_classes.T @ inner @ of_classes)
        if values[-1] > noise:
            return np.asarray(of_classes @ vectors[:, -1] / np.sqrt(values[-1]))
    values, vectors = np.linalg.eigh(inner)
    scale = 1 / np.sqrt(values[-1]) if values[-1] > noise else 0.0
    return np.asarray(vectors[:, -1] * scale)
