"""Pictures of a fitted model: its training, its kernel between samples and centroids, and what it looks at.

A picture needs no particular class of model: each function names the attributes that it reads.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray
from mcquack.checks import required_count
from mcquack.errors import InvalidInputError
from mcquack.report import style
from mcquack.report.style import CLASS_COLOURS, FAINT, FIDELITIES, FONT_SIZE, INK, MUTED, PAPER, SMALL

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
        labels = class_indices(y, model.classes_)
        kernel = np.asarray(model.transform(X))
        check_rows(len(kernel), len(labels))
        return cls(kernel=kernel, labels=labels, class_names=[str(name) for name in model.classes_]).plot(ax=ax)

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


def class_indices(y: ArrayLike, classes: NDArray[Any]) -> NDArray[np.intp]:
    """The number of each label's class; InvalidInputError for labels that the model does not know."""
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


def check_rows(n_rows: int, n_labels: int) -> None:
    """Refuses samples and labels that do not belong together."""
    if n_rows != n_labels:
        raise InvalidInputError(f"X has {n_rows} rows but y has {n_labels} labels; use one split for both.")


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
