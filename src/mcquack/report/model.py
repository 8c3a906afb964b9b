"""Pictures of a fitted model: its training, its kernel between samples and centroids, and both in Hilbert space.

A picture needs no particular class of model: each function names the attributes that it reads.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import resample

from mcquack.arrays import FloatArray
from mcquack.errors import InvalidInputError
from mcquack.report import style
from mcquack.report.style import CLASS_COLOURS, FAINT, FIDELITIES, FONT_SIZE, INK, MOST_SAMPLES, MUTED, PAPER, SMALL

_BLUE, _ORANGE = CLASS_COLOURS[:2]


# Columns of the history with label, colour and dashes; validation is dashed, as a grey print shows it.
_PANELS = {
    "Loss": (
        ("loss_kao", "alignment (KAO)", _BLUE, "-"),
        ("loss_co", "centroids (CO)", _ORANGE, "-."),
        ("validation_loss", "validation", MUTED, "--"),
    ),
    "Alignment": (("alignment", "training", _BLUE, "-"), ("validation_alignment", "validation", MUTED, "--")),
    "Accuracy": (("accuracy", "training", _BLUE, "-"), ("validation_accuracy", "validation", MUTED, "--")),
}


def plot_history(model: Any) -> Figure:
    """Draw the losses, the alignment below its ceiling 1/√M, and the accuracy over the epochs.

    Parameters
    ----------
    model : a fitted model with ``classes_`` and ``history_``. If it also has ``best_epoch_``, the epoch whose
        parameters it has kept is marked.

    Returns
    -------
    Three panels side by side, with the validation part where there was one.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> rows = [{"epoch": epoch, "loss_co": 1 / epoch, "alignment": 0.2, "accuracy": 0.7} for epoch in (1, 2, 3)]
    >>> figure = plot_history(SimpleNamespace(classes_=["cat", "dog"], history_=rows))
    >>> [ax.get_title(loc="left") for ax in figure.axes]
    ['Loss', 'Alignment', 'Accuracy']
    """
    history = [{**row, "validation_loss": _loss(row.get("validation_alignment"))} for row in model.history_]
    if not history:
        raise InvalidInputError("the model has no training history; plot it after fit.")
    figure = style.new_figure(9.6, 2.9)
    for ax, (title, curves) in zip(figure.subplots(1, len(_PANELS)), _PANELS.items(), strict=True):
        _draw_curves(ax, history, curves)
        if title == "Alignment":
            n_classes = len(model.classes_)
            ceiling = 1 / math.sqrt(n_classes)
            label = f"ceiling 1/√{n_classes} = {ceiling:.2f}"
            ax.axhline(ceiling, color=MUTED, linewidth=0.9, linestyle=":", label=label)
        if (epoch := getattr(model, "best_epoch_", None)) is not None:
            ax.axvline(epoch, color=FAINT, linewidth=1.4, zorder=0, label=f"kept: epoch {epoch}")
        style.write_title(ax, title)
        style.legend_of(ax, handlelength=2.2)
    return figure


def _loss(alignment: float | None) -> float | None:
    return None if alignment is None else 1 - alignment


def _draw_curves(ax: Axes, history: Sequence[Mapping[str, Any]], curves: Sequence[tuple[str, str, str, str]]) -> None:
    epochs = [row["epoch"] for row in history]
    marker = "o" if len(history) == 1 else None  # a line of one epoch has no length; a dot shows it
    for column, label, colour, dashes in curves:
        values = np.array([row.get(column) for row in history], dtype=float)
        if not np.isnan(values).all():
            ax.plot(epochs, values, color=colour, linestyle=dashes, linewidth=1.6, marker=marker, label=label)
    style.quiet(ax)
    style.grid_lines(ax)
    ax.set_xlabel("epoch")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6, min_n_ticks=1))


_LEAST_LABELLED_SHARE = 0.025  # of the height: the rows of a class below it leave no room for its name
_LEVEL_CHARACTERS = 30
"""Of all class names in a row together; where the longest needs more than its part, the names are turned."""


def plot_kernel(model: Any, X: Any, y: ArrayLike, *, ax: Axes | None = None) -> Figure:
    """Draw the kernel between samples and centroids as a heat map, with the samples of a class below each other.

    A perfect model is dark on the staircase from top left to bottom right and white elsewhere.

    Parameters
    ----------
    model : a fitted model with ``classes_`` and ``transform``, which gives the kernel (N, M·k).
    X, y : samples and their labels.
    ax : axes to draw into, instead of a new figure.

    Examples
    --------
    >>> from mcquack import McQuackClassifier
    >>> X, y = [[0.0, 0.1], [0.2, 0.0], [0.9, 1.0], [1.0, 0.8]], ["a", "a", "b", "b"]
    >>> model = McQuackClassifier(n_qubits=2, epochs=1, random_state=0).fit(X, y)
    >>> plot_kernel(model, X, y).axes[0].get_ylabel()
    '4 samples by class'
    """
    labels = _class_indices(y, model.classes_)
    kernel = np.asarray(model.transform(X))
    _check_rows(len(kernel), len(labels))
    ax = ax or style.new_axes(max(3.6, 2.4 + 0.32 * kernel.shape[1]), 4.6)
    image = ax.imshow(
        kernel[np.argsort(labels, kind="stable")],
        aspect="auto",
        interpolation="nearest",  # any other would also blend neighbouring columns, that is, classes
        cmap=FIDELITIES,
        vmin=0,
        vmax=float(kernel.max()) or 1.0,
    )
    names = [str(name) for name in model.classes_]
    per_class = kernel.shape[1] // len(names)
    _mark_classes(ax, np.bincount(labels, minlength=len(names)), names, n_columns=per_class)
    ax.set_xlabel("centroid of class" if per_class == 1 else "centroids of class", color=MUTED, size=FONT_SIZE)
    ax.set_ylabel(f"{len(labels):,} samples by class", color=MUTED, size=FONT_SIZE)
    style.write_title(ax, "Kernel")
    style.colour_bar(ax, image, shrink=0.5, aspect=18, anchor=(0, 1), label="fidelity")
    return style.figure_of(ax)


def _mark_classes(ax: Axes, counts: NDArray[np.intp], names: Sequence[str], *, n_columns: int) -> None:
    ends = np.cumsum(counts)
    right = n_columns * np.arange(1, len(names) + 1) - 0.5  # edge of each class's columns
    boundaries = np.unique(ends[(ends > 0) & (ends < ends[-1])])
    ax.hlines(boundaries - 0.5, -0.5, right[-1], color=INK, linewidth=0.6)
    ax.vlines(right[:-1], -0.5, ends[-1] - 0.5, color=PAPER, linewidth=1.2)
    roomy = counts >= max(1, _LEAST_LABELLED_SHARE * ends[-1])
    ax.set_yticks((ends - counts / 2 - 0.5)[roomy], [name for name, room in zip(names, roomy, strict=True) if room])
    ax.set_xticks(right - n_columns / 2, names)
    if max(map(len, names)) > max(3, _LEVEL_CHARACTERS // len(names)):
        ax.tick_params(axis="x", labelrotation=90)
    ax.tick_params(colors=INK, labelsize=SMALL, length=0)
    ax.spines[:].set_color(INK)
    ax.spines[:].set_linewidth(0.6)


def plot_embedding(model: Any, X: Any, y: ArrayLike, *, ax: Axes | None = None) -> Figure:
    """Draw samples as points and centroids as stars, on the two axes along which the samples' states differ most.

    Of more than 1,000 samples the same 1,000 are drawn every time, in the proportions of their classes.

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
    labels = _class_indices(y, model.classes_)
    _check_rows(X.shape[0] if hasattr(X, "shape") else len(X), len(labels))
    if len(labels) > MOST_SAMPLES:
        X, labels = resample(X, labels, replace=False, n_samples=MOST_SAMPLES, stratify=labels, random_state=0)
    points, stars, (first, second) = fidelity_plane(np.asarray(model.statevectors(X)), np.asarray(model.transform(X)))
    ax = ax or style.new_axes(5.6, 4.4)
    for index, centroids in enumerate(np.split(stars, len(model.classes_))):
        style.draw_samples(ax, points[labels == index], index)
        x, y = centroids.T
        ax.scatter(x, y, s=260, color=style.class_colour(index), marker="*", edgecolor=INK, linewidth=1.0, zorder=3)
    star = Line2D([], [], linestyle="", marker="*", color=MUTED, markeredgecolor=INK, markersize=11, label="centroid")
    style.draw_class_legend(ax, [str(name) for name in model.classes_], others=[star])
    style.quiet(ax)
    ax.set_xlabel(f"principal axis 1 ({first:.0%} of the spread)")
    ax.set_ylabel(f"principal axis 2 ({second:.0%})")
    ax.set_aspect("equal", adjustable="datalim")  # so that distances compare in all directions
    style.write_title(ax, "Samples and centroids in Hilbert space")
    return style.figure_of(ax)


def fidelity_plane(
    states: NDArray[np.complexfloating], kernel: FloatArray
) -> tuple[FloatArray, FloatArray, tuple[float, float]]:
    """Samples (N, 2) and centroids (M·k, 2) on two axes, and the share of the samples' variance on each.

    Axes are principal components of the samples' density matrices |ψ⟩⟨ψ|, whose inner products are the fidelities, so
    that no global phase enters. ``kernel`` holds the fidelities of samples with centroids, which is all it takes to
    project those as well.
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
    return axes * np.sqrt(spread), centred @ axes * scales, (float(shares[0]), float(shares[1]))


def _class_indices(y: ArrayLike, classes: NDArray[Any]) -> NDArray[np.intp]:
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


def _check_rows(n_rows: int, n_labels: int) -> None:
    if n_rows != n_labels:
        raise InvalidInputError(f"X has {n_rows} rows but y has {n_labels} labels; use one split for both.")
