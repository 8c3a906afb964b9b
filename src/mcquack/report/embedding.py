"""Samples and centroids in Hilbert space, seen in two dimensions."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import resample

from mcquack.arrays import FloatArray
from mcquack.errors import InvalidInputError
from mcquack.report.protocols import EmbeddingModel, checked_rows, class_indices
from mcquack.report.style import (
    INK,
    MOST_SAMPLES,
    MUTED,
    class_colour,
    draw_class_legend,
    draw_samples,
    figure_of,
    new_axes,
    quiet,
    write_title,
)


def plot_embedding(model: EmbeddingModel, X: Any, y: ArrayLike, *, ax: Axes | None = None) -> Figure:
    """Samples as points and centroids as stars, by the two axes along which the samples' states differ most.

    Of more than 1,000 samples the same 1,000 are drawn every time, in the proportions of their classes.
    """
    labels = class_indices(y, model.classes_)
    rows, labels = _drawn_rows(X, labels)
    states = checked_rows(np.asarray(model.statevectors(rows)), len(labels))
    plane = fidelity_plane(states, np.asarray(model.transform(rows)))
    ax = ax or new_axes(5.6, 4.4)
    _draw_points(ax, plane, labels, n_classes=len(model.classes_))
    star = Line2D([], [], linestyle="", marker="*", color=MUTED, markeredgecolor=INK, markersize=11, label="centroid")
    draw_class_legend(ax, [str(name) for name in model.classes_], others=[star])
    quiet(ax)
    first, second = plane.shares
    ax.set_xlabel(f"principal axis 1 ({first:.0%} of the spread)")
    ax.set_ylabel(f"principal axis 2 ({second:.0%})")
    ax.set_aspect("equal", adjustable="datalim")  # so that distances compare in all directions
    write_title(ax, "Samples and centroids in Hilbert space")
    return figure_of(ax)


class Plane(NamedTuple):
    """Where samples (N, 2) and centroids (M·k, 2) fall, and the share of the samples' variance on each axis."""

    samples: FloatArray
    centroids: FloatArray
    shares: tuple[float, float]


def fidelity_plane(states: NDArray[np.complexfloating], kernel: FloatArray) -> Plane:
    """Principal components of the density matrices |ψ⟩⟨ψ|, whose inner products are the fidelities.

    No global phase enters. ``kernel`` holds the fidelities of the samples with the centroids, which is all it takes to
    project those as well: the samples alone decide on the axes.
    """
    if len(states) < 3:
        raise InvalidInputError(f"{len(states)} samples do not span a plane; plot at least 3.")
    fidelities = np.abs(states.conj() @ states.T) ** 2
    means, mean = fidelities.mean(axis=0), fidelities.mean()
    values, vectors = np.linalg.eigh(fidelities - means - means[:, None] + mean)
    spread, axes = np.maximum(values[:-3:-1], 0), vectors[:, :-3:-1]
    # An eigenvector's sign is arbitrary: its largest entry is made positive, for the same picture on every machine.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    noise = len(states) * np.finfo(fidelities.dtype).eps
    scales = np.divide(1, np.sqrt(spread), out=np.zeros(2), where=spread > noise)
    centred = kernel.T - kernel.T.mean(axis=1, keepdims=True) - means + mean
    shares = spread / max(float(np.maximum(values, 0).sum()), noise)
    return Plane(axes * np.sqrt(spread), centred @ axes * scales, (float(shares[0]), float(shares[1])))


def _drawn_rows(X: Any, labels: NDArray[np.intp]) -> tuple[Any, NDArray[np.intp]]:
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    checked_rows(np.empty(n_rows), len(labels))
    if n_rows <= MOST_SAMPLES:
        return X, labels
    drawn, drawn_labels = resample(X, labels, replace=False, n_samples=MOST_SAMPLES, stratify=labels, random_state=0)
    return drawn, drawn_labels


def _draw_points(ax: Axes, plane: Plane, labels: NDArray[np.intp], *, n_classes: int) -> None:
    for index, centroids in enumerate(np.split(plane.centroids, n_classes)):
        draw_samples(ax, plane.samples[labels == index], index)
        ax.scatter(
            centroids[:, 0],
            centroids[:, 1],
            s=260,
            color=class_colour(index),
            marker="*",
            edgecolor=INK,
            linewidth=1.0,
            zorder=3,
        )
