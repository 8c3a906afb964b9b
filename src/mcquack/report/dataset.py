"""A dataset at a glance: how its classes are balanced, how they lie, and what their pictures look like."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample

from mcquack.datasets import Dataset, Part
from mcquack.errors import InvalidInputError
from mcquack.report import style
from mcquack.report.style import FONT_SIZE, INK, MOST_SAMPLES, MUTED, SMALL

HEIGHT = 4.0  # inches of a panel, unless many classes need more
CLASS_HEIGHT = 0.26  # inches for the name of a class
MOST_STACKED_BARS = 12  # bars below each other, of all parts together; if there are more, the parts stand side by side
MOST_DEVIATIONS = 5.0
"""Standard deviations at which a feature is cut off, as one far sample would decide on the axes alone."""

LARGEST = 1e100  # beyond this, values are scaled down before anything is computed of them: their squares would overflow
PICTURE_ROWS, PICTURE_COLUMNS = 10, 8  # pictures in a panel, unless more classes need a row each


def plot_dataset(dataset: Dataset) -> Figure:
    """Draw the samples of each class in each part, the training part in a plane, and its pictures if it has any.

    The plane is that of the training part's two principal components. Of more than 1,000 training samples the same
    1,000 are drawn every time, in the proportions of their classes.

    Parameters
    ----------
    dataset : what is drawn, as ``mcquack.datasets.load`` returns it.

    Returns
    -------
    Two panels side by side, or three for a dataset of pictures.

    Examples
    --------
    >>> from mcquack.datasets import load
    >>> figure = plot_dataset(load("linearly_separable_2"))
    >>> figure.axes[0].get_title(loc="left")
    'train'
    """
    if not np.isfinite(dataset.train.X).all():
        raise InvalidInputError(f"{dataset.name} has values that are not finite; fill or drop them to plot it.")
    dataset = _tamed(dataset)
    balances = _balances(dataset)
    widths = [1.4 + 0.8 * len(balances) if _is_wide(balances) else 2.8, 5.2, *([3.6] if dataset.image_shape else [])]
    figure = style.new_figure(sum(widths), 0.5 + max(HEIGHT, 0.9 + CLASS_HEIGHT * dataset.n_classes))
    figure.suptitle(str(dataset), x=0.01, ha="left", size=FONT_SIZE + 2, color=INK)
    left, middle, *right = figure.subfigures(1, len(widths), squeeze=False, width_ratios=widths)[0]
    names = [name.replace("$", r"\$") for name in dataset.class_names]  # a price is no formula
    _draw_balances(left, balances, names)
    _draw_plane(middle.subplots(), dataset, names)
    for panel in right:
        _draw_pictures(panel.subplots(), dataset, names)
    return figure


def _tamed(dataset: Dataset) -> Dataset:
    """The same dataset in smaller numbers: each column of a table has its own scale, pixels share one."""
    X, y = dataset.train
    largest = np.asarray(np.abs(X).max(axis=None if dataset.image_shape else 0), dtype=np.float64)
    if np.all(largest <= LARGEST):
        return dataset
    return replace(dataset, train=Part(X / np.where(largest > LARGEST, largest, 1), y))


def _balances(dataset: Dataset) -> dict[str, tuple[int, ...]]:
    counts: dict[str, tuple[int, ...]] = {name: dataset.class_counts(name) for name in dataset.parts}
    if dataset.validation_is_test:
        return {"train": counts["train"], "validation = test": counts["test"]}
    return counts


def _draw_balances(panel: SubFigure, balances: Mapping[str, Sequence[int]], names: Sequence[str]) -> None:
    shape = (1, len(balances)) if _is_wide(balances) else (len(balances), 1)
    colours = [style.class_colour(index) for index in range(len(names))]
    for ax, (title, counts) in zip(panel.subplots(*shape, squeeze=False).flat, balances.items(), strict=True):
        bars = ax.barh(range(len(names)), counts, height=0.7, color=colours)
        ax.bar_label(bars, [f"{count:,}" for count in counts], padding=3, size=SMALL, color=MUTED)
        ax.set_xlim(0, (1.45 if _is_wide(balances) else 1.2) * max(counts))  # room for the numbers
        ax.set_xticks([])
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.spines[:].set_visible(False)
        ax.tick_params(length=0, labelsize=SMALL, labelcolor=INK)
        if _is_wide(balances):
            ax.label_outer()
        style.write_title(ax, title)


def _is_wide(balances: Mapping[str, Sequence[int]]) -> bool:
    return sum(map(len, balances.values())) > MOST_STACKED_BARS


def principal_plane(X: NDArray[np.floating]) -> tuple[NDArray[np.floating], tuple[float, float]]:
    """Samples (N, 2) on the two axes along which they differ most, and each share of variance; 0 without a second."""
    centred = X - X.mean(axis=0)
    _, spread, axes = np.linalg.svd(centred, full_matrices=False)
    # A direction's sign is arbitrary: its largest entry is made positive, for the same picture on every machine.
    axes = axes[:2] * np.sign(axes[[0, 1][: len(axes)], np.abs(axes[:2]).argmax(axis=1)])[:, None]
    shares = np.pad(spread**2, (0, 2)) / max(float(np.sum(spread**2)), np.finfo(float).tiny)
    points = np.pad(centred @ axes.T, ((0, 0), (0, 2 - len(axes))))
    return points, (float(shares[0]), float(shares[1]))


def _draw_plane(ax: Axes, dataset: Dataset, names: Sequence[str]) -> None:
    X, y = _drawn_samples(dataset)
    points, (first, second) = principal_plane(
        X if dataset.image_shape else np.clip(X, -MOST_DEVIATIONS, MOST_DEVIATIONS)
    )
    # Small classes last, so that no large one hides them.
    for index in np.argsort(np.negative(dataset.class_counts("train")), kind="stable").tolist():
        style.draw_samples(ax, points[y == dataset.labels[index]], index)
    style.quiet(ax)
    ax.set_xlabel(f"principal component 1 ({first:.0%} of the variance)")
    ax.set_ylabel(f"principal component 2 ({second:.0%})")
    ax.set_aspect("equal", adjustable="datalim")  # so that distances compare in all directions
    style.draw_class_legend(ax, names)
    style.write_title(ax, _plane_title(dataset, X))


def _plane_title(dataset: Dataset, X: NDArray[np.floating]) -> str:
    n_train = len(dataset.train.y)
    count = f"{n_train:,}" if len(X) == n_train else f"{len(X):,} of {n_train:,}"
    if dataset.image_shape:
        return f"{count} training samples"
    clipped = f" and clipped at ±{MOST_DEVIATIONS:g}" if np.abs(X).max() > MOST_DEVIATIONS else ""
    return f"{count} training samples, standardised{clipped}"


def _drawn_samples(dataset: Dataset) -> tuple[NDArray[np.float64], NDArray[Any]]:
    X, y = dataset.train
    if len(y) > MOST_SAMPLES:
        X, y = resample(X, y, replace=False, n_samples=MOST_SAMPLES, stratify=y, random_state=0)
    X = X.astype(np.float64)
    return (X, y) if dataset.image_shape else (StandardScaler().fit_transform(X), y)


def _draw_pictures(ax: Axes, dataset: Dataset, names: Sequence[str]) -> None:
    """Show the first training pictures of each class, in one or more rows per class."""
    n_rows = max(1, PICTURE_ROWS // dataset.n_classes)
    blocks = [_block(dataset, label, n_rows=n_rows) for label in dataset.labels]
    height = blocks[0].shape[0]
    ax.imshow(np.vstack(blocks), cmap="Greys", interpolation="nearest")
    ax.set_anchor("N")
    ax.set_yticks((np.arange(len(blocks)) + 0.5) * height - 0.5, names)
    ax.set_xticks([])
    ax.tick_params(length=0, labelsize=SMALL, labelcolor=INK)
    ax.spines[:].set_visible(False)
    style.write_title(ax, "Pictures")


def _block(dataset: Dataset, label: Any, *, n_rows: int) -> NDArray[np.float64]:
    height, width = dataset.image_shape or (1, 1)
    pictures = dataset.train.X[dataset.train.y == label][: n_rows * PICTURE_COLUMNS].reshape(-1, height, width)
    block = np.full((n_rows, PICTURE_COLUMNS, height + 2, width + 2), np.nan)
    for number, picture in enumerate(pictures):
        block[number // PICTURE_COLUMNS, number % PICTURE_COLUMNS, 1:-1, 1:-1] = picture
    return block.transpose(0, 2, 1, 3).reshape(n_rows * (height + 2), PICTURE_COLUMNS * (width + 2))
