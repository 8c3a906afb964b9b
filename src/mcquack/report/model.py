"""Pictures of a fitted model: its training, its kernel, its samples in Hilbert space, and what it looks at.

A picture needs no particular class of model: each function names the attributes that it reads.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import resample

from mcquack.arrays import FloatArray
from mcquack.checks import required_count
from mcquack.errors import InvalidInputError
from mcquack.report import style
from mcquack.report.style import CLASS_COLOURS, FAINT, FIDELITIES, FONT_SIZE, INK, MOST_SAMPLES, MUTED, PAPER, SMALL

_BLUE, _ORANGE = CLASS_COLOURS[:2]


# Columns of the history with label, colour and dashes; validation is dashed, as a grey print shows it.
_ALIGNMENT_LOSS = "1 - alignment"
_LOSS_NAMES = {"alignment": _ALIGNMENT_LOSS, "cross_entropy": "cross entropy", "log_cross_entropy": "log cross entropy"}
_PANELS = {
    "Loss": (
        ("loss_kao", "circuit (KAO)", _BLUE, "-"),
        ("loss_co", "centroids (CO)", _ORANGE, "-."),
        ("joint_loss", "training", _BLUE, "-"),
        ("validation_loss", "validation", MUTED, "--"),
    ),
    "Alignment": (("alignment", "training", _BLUE, "-"), ("validation_alignment", "validation", MUTED, "--")),
    "Accuracy": (("accuracy", "training", _BLUE, "-"), ("validation_accuracy", "validation", MUTED, "--")),
}


def plot_history(model: Any, *, axes: Sequence[Axes] | None = None) -> Figure:
    """Draw the trained loss, the alignment below its ceiling 1/√M, and the accuracy over the epochs.

    Parameters
    ----------
    model : a fitted model with ``classes_`` and ``history_``. If it also has ``best_epoch_``, the epoch whose
        parameters it has kept is marked. ``loss_``, where it has one, names the loss on the axis.
    axes : three axes to draw into, instead of a new figure.

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
    return TrainingDisplay.from_estimator(model, ax=axes).figure_


@dataclass(kw_only=True)
class TrainingDisplay:
    """The training of a model as scikit-learn's displays are: values that can be drawn again.

    Parameters
    ----------
    history : the rows of ``history_``.
    n_classes : how many classes there are, which the ceiling of the alignment follows from.
    best_epoch : the epoch whose parameters were kept, or None.
    loss_name : the name of the loss that was trained, which labels its axis.
    is_joint : whether circuit and centroids were moved by the same steps, so that there is one loss and not two.

    Attributes
    ----------
    ax_ : array of the three axes. figure_ : their figure.

    Examples
    --------
    >>> from mcquack import McQuackClassifier
    >>> X, y = [[0.0, 0.1], [0.2, 0.0], [0.9, 1.0], [1.0, 0.8]], ["a", "a", "b", "b"]
    >>> model = McQuackClassifier(n_qubits=2, epochs=3, random_state=0).fit(X, y)
    >>> TrainingDisplay.from_estimator(model).ax_[2].get_title(loc="left")
    'Accuracy'
    """

    history: Sequence[Mapping[str, Any]]
    n_classes: int
    best_epoch: int | None = None
    loss_name: str = _ALIGNMENT_LOSS
    is_joint: bool = False

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Sequence[Axes] | None = None) -> Self:
        """The display of a fitted model, drawn as :func:`plot_history` does."""
        display = cls(
            history=list(model.history_),
            n_classes=len(model.classes_),
            best_epoch=getattr(model, "best_epoch_", None),
            loss_name=_loss_name(getattr(model, "loss_", None)),
            is_joint=getattr(model, "steps_", None) == "joint",
        )
        return display.plot(ax=ax)

    def plot(self, ax: Sequence[Axes] | None = None) -> Self:
        """Draws into three axes, or into a new figure; sets ``ax_`` and ``figure_``."""
        if not self.history:
            raise InvalidInputError("the model has no training history; plot it after fit.")
        history = [self._with_drawn_losses(row) for row in self.history]
        panels = style.new_figure(9.6, 2.9).subplots(1, len(_PANELS)) if ax is None else np.ravel(np.asarray(ax))
        if len(panels) != len(_PANELS):
            raise InvalidInputError(f"a training is drawn into {len(_PANELS)} axes, got {len(panels)}; give as many.")
        for panel, (title, curves) in zip(panels, _PANELS.items(), strict=True):
            _draw_curves(panel, history, curves)
            if title == "Loss":
                panel.set_ylabel(self.loss_name)
            if title == "Alignment":
                ceiling = 1 / math.sqrt(self.n_classes)
                label = f"ceiling 1/√{self.n_classes} = {ceiling:.2f}"
                panel.axhline(ceiling, color=MUTED, linewidth=0.9, linestyle=":", label=label)
            if self.best_epoch is not None:
                label = f"kept: epoch {self.best_epoch}"
                panel.axvline(self.best_epoch, color=FAINT, linewidth=1.4, zorder=0, label=label)
            style.write_title(panel, title)
            style.legend_of(panel, handlelength=2.2)
        self.ax_: NDArray[Any] = panels
        self.figure_ = style.figure_of(panels[0])
        return self

    def _with_drawn_losses(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row of the history with the loss on the validation part, and with one loss for joint steps.

        The two losses of joint steps differ by their penalties alone; the one with the smaller penalty is drawn.
        """
        drawn = dict(row, validation_loss=_validation_loss(row, self.loss_name))
        if self.is_joint and row.get("loss_kao") is not None and row.get("loss_co") is not None:
            drawn |= {"joint_loss": min(row["loss_kao"], row["loss_co"]), "loss_kao": None, "loss_co": None}
        return drawn


def _loss_name(loss: Any) -> str:
    """The name of a loss on an axis; a loss without a name is called by its class."""
    if loss is None:
        return _ALIGNMENT_LOSS
    name = getattr(loss, "name", type(loss).__name__)
    return _LOSS_NAMES.get(name, str(name))


def _validation_loss(row: Mapping[str, Any], loss_name: str) -> float | None:
    """``loss`` is that of the validation part wherever there is one."""
    alignment: float | None = row.get("validation_alignment")
    if alignment is None:
        return None
    loss: float | None = row.get("loss")
    return 1 - alignment if loss is None and loss_name == _ALIGNMENT_LOSS else loss


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
    return KernelDisplay.from_estimator(model, X, y, ax=ax).figure_


@dataclass(kw_only=True)
class KernelDisplay:
    """The kernel between samples and centroids as scikit-learn's displays are: values that can be drawn again.

    Parameters
    ----------
    kernel : array (N, M·k), the fidelities of samples with centroids.
    labels : array (N,), the number of each sample's class.
    class_names : the names of the M classes.

    Attributes
    ----------
    ax_ : the axes. figure_ : their figure.

    Examples
    --------
    >>> from mcquack import McQuackClassifier
    >>> X, y = [[0.0, 0.1], [0.2, 0.0], [0.9, 1.0], [1.0, 0.8]], ["a", "a", "b", "b"]
    >>> model = McQuackClassifier(n_qubits=2, epochs=1, random_state=0).fit(X, y)
    >>> KernelDisplay.from_estimator(model, X, y).ax_.get_title(loc="left")
    'Kernel'
    """

    kernel: FloatArray
    labels: NDArray[np.intp]
    class_names: Sequence[str]

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: ArrayLike, *, ax: Axes | None = None) -> Self:
        """The display of a fitted model and samples, drawn as :func:`plot_kernel` does."""
        labels = _class_indices(X, y, model.classes_)
        return cls(
            kernel=np.asarray(model.transform(X)), labels=labels, class_names=[str(name) for name in model.classes_]
        ).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draws into axes, or into a new figure; sets ``ax_`` and ``figure_``."""
        kernel, names = self.kernel, self.class_names
        ax = ax or style.new_axes(max(3.6, 2.4 + 0.32 * kernel.shape[1]), 4.6)
        image = ax.imshow(
            kernel[np.argsort(self.labels, kind="stable")],
            aspect="auto",
            interpolation="nearest",  # any other would also blend neighbouring columns, that is, classes
            cmap=FIDELITIES,
            vmin=0,
            vmax=float(kernel.max()) or 1.0,
        )
        per_class = kernel.shape[1] // len(names)
        _mark_classes(ax, np.bincount(self.labels, minlength=len(names)), names, n_columns=per_class)
        ax.set_xlabel("centroid of class" if per_class == 1 else "centroids of class", color=MUTED, size=FONT_SIZE)
        ax.set_ylabel(f"{len(self.labels):,} samples by class", color=MUTED, size=FONT_SIZE)
        style.write_title(ax, "Kernel")
        style.colour_bar(ax, image, shrink=0.5, aspect=18, anchor=(0, 1), label="fidelity")
        self.ax_, self.figure_ = ax, style.figure_of(ax)
        return self


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


def _class_indices(X: Any, y: ArrayLike, classes: NDArray[Any]) -> NDArray[np.intp]:
    """The number of each label's class; InvalidInputError for labels that the model or the samples do not fit."""
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
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows != len(labels):
        raise InvalidInputError(f"X has {n_rows} rows but y has {len(labels)} labels; use one split for both.")
    return np.searchsorted(classes, labels)


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
        labels = _class_indices(X, y, model.classes_)
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


_MOST_FEATURES = 20


def plot_importances(
    importances: ArrayLike, names: Sequence[str] | None = None, *, most: int = _MOST_FEATURES, ax: Axes | None = None
) -> Figure:
    """Draw how much each feature matters as bars, the largest on top.

    Parameters
    ----------
    importances : one number for each feature, as :func:`mcquack.models.feature_importances` gives them, or the
        ``importances_mean`` of scikit-learn's ``permutation_importance``.
    names : of the features, such as ``model.feature_names_in_``; by default their numbers.
    most : how many features are drawn at most.
    ax : axes to draw into, instead of a new figure.

    Examples
    --------
    >>> figure = plot_importances([0.1, 0.7, 0.2], ["length", "width", "weight"], most=2)
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['width', 'weight']
    """
    sizes = np.asarray(importances, dtype=np.float64)
    if sizes.ndim != 1 or not sizes.size or not np.isfinite(sizes).all():
        raise InvalidInputError(f"importances must be a finite number for each feature, got {sizes!r}.")
    given = [f"feature {number}" for number in range(len(sizes))] if names is None else [str(name) for name in names]
    if len(given) != len(sizes):
        raise InvalidInputError(f"there are {len(sizes)} importances but {len(given)} names; give as many.")
    order = np.argsort(-sizes, kind="stable")[: required_count("most", most)]
    ax = ax or style.new_axes(5.2, 0.9 + 0.24 * len(order))
    ax.barh(np.arange(len(order)), sizes[order], height=0.7, color=_BLUE)
    ax.set_yticks(np.arange(len(order)), [given[number] for number in order])
    ax.invert_yaxis()
    style.quiet(ax)
    ax.grid(axis="x", color=style.GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", colors=INK, length=0)
    left_out = len(sizes) - len(order)
    ax.set_xlabel("importance" + (f" ({left_out:,} smaller left out)" if left_out else ""))
    style.write_title(ax, "Features")
    return style.figure_of(ax)
