"""Attacks on fitted models through exact derivatives, and the radii that attacks find or cannot get below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from mcquack.arrays import FloatArray
from mcquack.checks import is_number, is_whole_number, require, require_positive, required_count
from mcquack.errors import InvalidInputError
from mcquack.models.preparation import class_numbers
from mcquack.models.robustness.surfaces import Labels, Surface, surface_of

Bounds: TypeAlias = tuple[float, float] | None


def margins(model: Any, X: ArrayLike, y: ArrayLike) -> FloatArray:
    """The score of each sample's own class minus the largest of the others (N,): negative where it is misclassified.

    Scores are what the model decides by: of McQuack the fidelities, of variational classifiers ⟨Z₀⟩, of networks the
    outputs of the last layer, and of support vector machines the smallest margin of the pairs of a class.

    Parameters
    ----------
    model : A fitted model that :func:`surface_of` knows.
    X, y : Samples as they are passed to ``fit``, and their true labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mcquack.models import SupportVectorClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SupportVectorClassifier().fit(X, y)
    >>> bool(((margins(model, X, y) > 0) == (model.predict(X) == y)).all())
    True
    """
    surface, rows, labels = _problem(model, X, y)
    return _margins(surface, rows, labels)


def feature_gradients(model: Any, X: ArrayLike, y: ArrayLike) -> FloatArray:
    """Derivatives of :func:`margins` by the scaled features (N, d), exact for every kind of model.

    Parameters
    ----------
    model : A fitted model that :func:`surface_of` knows; a McQuack runs on a simulator.
    X, y : Samples as they are passed to ``fit``, and their true labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mcquack import McQuackClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = McQuackClassifier(3, 2, epochs=5, random_state=0).fit(X, y)
    >>> feature_gradients(model, X, y).shape
    (150, 4)
    """
    surface, rows, labels = _problem(model, X, y)
    return _margins_and_slopes(surface, rows, labels)[1]


def feature_importances(model: Any, X: ArrayLike, *, per: Literal["spread", "unit"] = "spread") -> FloatArray:
    """How much the margin of a model's decisions changes with each of its original features, on average (d,).

    The margin of a sample is the score of its predicted class less the largest of the others, as in
    :func:`mcquack.models.robustness.margins`. Its derivatives by the features are exact, through scaling, principal
    components and affine transformers, and of several starts those of their mean; what is returned is the mean of their
    absolute values over samples. They say what moves decisions nearby;
    ``sklearn.inspection.permutation_importance(model, X, y)`` says what the score loses without a feature, and works
    with any model.

    Parameters
    ----------
    model : A fitted model that :func:`mcquack.models.robustness.surface_of` knows, such as McQuackClassifier.
    X : Samples as they are passed to ``fit``.
    per : "spread" or "unit". What a feature is moved by: its standard deviation in ``X``, so that units do not matter
        and features compare, or one unit of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from mcquack import McQuackClassifier
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> model = McQuackClassifier(2, 2, epochs=30, random_state=0).fit(X, X[:, 1] > 0)
    >>> int(feature_importances(model, X).argmax())
    1
    """
    require(per in ("spread", "unit"), "per", '"spread" or "unit"', per)
    check_is_fitted(model, "classes_")
    rows = validate_data(model, X, dtype=np.float64, reset=False)
    named = X if hasattr(model, "feature_names_in_") else rows  # as the model wants to see names again
    slopes = feature_gradients(model, named, model.predict(named))
    if model.scaler_ is not None:
        slopes = slopes * model.scaler_.scale_
    if model.features_ is not None:
        slopes = model.features_.pulled(rows, slopes)
    sizes: FloatArray = np.abs(slopes).mean(axis=0)
    return sizes * rows.std(axis=0) if per == "spread" else sizes


def fgsm(model: Any, X: ArrayLike, y: ArrayLike, *, eps: ArrayLike, bounds: Bounds = None) -> FloatArray:
    """Samples moved by one step against their margin, the fast gradient sign method: scaled rows (N, d).

    Parameters
    ----------
    model : A fitted model that :func:`surface_of` knows.
    X, y : Samples as they are passed to ``fit``, and their true labels.
    eps : How far each scaled feature may move; one number, or one for each sample.
    bounds : pair of float, optional. Scaled features stay between these, such as (0, 1), where they were before.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mcquack.models import MatchedNeuralNetwork
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MatchedNeuralNetwork(random_state=0).fit(X, y)
    >>> moved = fgsm(model, X, y, eps=0.2)
    >>> bool((predict_scaled(model, moved) == y).mean() < model.score(X, y))
    True
    """
    surface, rows, labels = _problem(model, X, y)
    box = _box(rows, _sizes(eps, len(rows)), bounds)
    steps = _sizes(eps, len(rows)) * np.sign(_margins_and_slopes(surface, rows, labels)[1])
    return np.clip(rows - steps, *box)


def pgd(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    eps: ArrayLike,
    steps: int = 20,
    step_size: float | None = None,
    bounds: Bounds = None,
    seed: int | None = None,
) -> FloatArray:
    """Samples moved by many small steps against their margin, projected gradient descent: scaled rows (N, d).

    Of all places on its way, the start among them, each sample is left where its margin is smallest.

    Parameters
    ----------
    model : A fitted model that :func:`surface_of` knows.
    X, y : Samples as they are passed to ``fit``, and their true labels.
    eps : How far each scaled feature may move; one number, or one for each sample.
    steps : How many steps there are.
    step_size : How far a step moves each feature, as a share of ``eps``; None is 2.5 / steps.
    bounds : pair of float, optional. Scaled features stay between these, such as (0, 1), where they were before.
    seed : Where samples start: None is where they are, a number draws a place within ``eps``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mcquack import McQuackClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = McQuackClassifier(3, 2, epochs=5, random_state=0).fit(X, y)
    >>> moved = pgd(model, X, y, eps=0.1, bounds=(0, 1))
    >>> bool(abs(moved - model.scaled(X)).max() < 0.1 + 1e-6)
    True
    """
    surface, rows, labels = _problem(model, X, y)
    if step_size is not None:
        require_positive("step_size", step_size)
    known = seed is None or (is_whole_number(seed) and seed >= 0)
    require(known, "seed", "None or a whole number of at least 0", seed)
    share = 2.5 / required_count("steps", steps) if step_size is None else step_size
    sizes = _sizes(eps, len(rows))
    start = rows if seed is None else rows + sizes * np.random.default_rng(seed).uniform(-1, 1, rows.shape)
    return _descended(surface, start, labels, box=_box(rows, sizes, bounds), lengths=share * sizes, steps=steps)


def adversarial_radius(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    largest: float = 1.0,
    rounds: int = 8,
    steps: int = 20,
    bounds: Bounds = None,
) -> FloatArray:
    """How near :func:`pgd` finds a sample of another prediction, an upper bound (N,) of the true radius.

    Samples that are misclassified as they are have 0; those that resist within ``largest`` have infinity.

    Parameters
    ----------
    model : A fitted model that :func:`surface_of` knows.
    X, y : Samples as they are passed to ``fit``, and their true labels.
    largest : Where the search begins.
    rounds : How often the interval is halved.
    steps : Steps of every attack.
    bounds : As in :func:`pgd`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mcquack.models import SupportVectorClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SupportVectorClassifier().fit(X, y)
    >>> bool((certified_radius(model, X, y) <= adversarial_radius(model, X, y)).all())
    True
    """
    require_positive("largest", largest)
    required_count("steps", steps)
    surface, rows, labels = _problem(model, X, y)
    held = np.where(_in_blocks(surface, surface.predicted, rows) == labels, 0.0, -1.0)  # resisted up to here
    found = np.where(held < 0, 0.0, np.inf)
    tried = np.full(len(rows), float(largest))
    for _ in range(1 + required_count("rounds", rounds)):
        open_ = np.flatnonzero((held >= 0) & (tried > 0))
        sizes = tried[open_, None]
        moved = _descended(
            surface,
            rows[open_],
            labels[open_],
            box=_box(rows[open_], sizes, bounds),
            lengths=2.5 / steps * sizes,
            steps=steps,
        )
        broken = _in_blocks(surface, surface.predicted, moved) != labels[open_]
        ways = np.abs(moved - rows[open_]).max(axis=1, initial=0)
        found[open_[broken]] = np.minimum(found[open_[broken]], ways[broken])
        held[open_[~broken]] = tried[open_[~broken]]
        # What resists all of the largest radius is not asked again.
        held[np.isinf(found) & (held >= largest)] = -1.0
        tried = np.where(np.isfinite(found), (np.maximum(held, 0) + found) / 2, 0.0)
    return found


def certified_radius(model: Any, X: ArrayLike, y: ArrayLike) -> FloatArray:
    """A radius (N,) within which no perturbation of the scaled features changes a right prediction; 0 for wrong ones.

    It follows from how fast scores can change at all: of circuits from the sum of their weights' sizes, see
    :mod:`mcquack.models.robustness.turns`, of support vector machines from the norm of their separating planes in the
    space of the kernel, and of networks from the products of their weights' sizes. It holds in exact arithmetic, and is
    a lower bound of the true radius, which may be many times larger.

    Parameters
    ----------
    model : A fitted model that :func:`surface_of` knows; circuits have angles that are linear in single features.
    X, y : Samples as they are passed to ``fit``, and their true labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mcquack import McQuackClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = McQuackClassifier(3, 2, epochs=5, random_state=0).fit(X, y)
    >>> certified = certified_radius(model, X, y)
    >>> bool((certified[model.predict(X) != y] == 0).all() and (certified >= 0).all())
    True
    """
    surface, rows, labels = _problem(model, X, y)
    found: FloatArray = _in_blocks(surface, surface.radii, rows, labels)
    return found


def predict_scaled(model: Any, rows: ArrayLike) -> NDArray[Any]:
    """What ``model.predict`` gives for samples in scaled features, such as attacks give them.

    Parameters
    ----------
    model : A fitted model that :func:`surface_of` knows.
    rows : array (N, d). Samples in scaled features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mcquack import McQuackClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = McQuackClassifier(3, 2, epochs=5, random_state=0).fit(X, y)
    >>> bool((predict_scaled(model, model.scaled(X)) == model.predict(X)).all())
    True
    """
    surface = surface_of(model)
    array = np.asarray(rows, np.float64)
    if array.ndim != 2 or array.shape[1] != surface.n_features:
        raise InvalidInputError(
            f"rows must have the shape (N, {surface.n_features}) of scaled samples, got {array.shape}."
        )
    predicted: NDArray[Any] = model.classes_[_in_blocks(surface, surface.predicted, array)]
    return predicted


def _problem(model: Any, X: ArrayLike, y: ArrayLike) -> tuple[Surface, FloatArray, Labels]:
    surface = surface_of(model)
    rows, targets = surface.rows(X), np.asarray(y)
    if targets.shape != (len(rows),):
        raise InvalidInputError(f"y has the shape {targets.shape}; give one label to each of {len(rows)} samples.")
    return surface, rows, class_numbers(targets, model.classes_)


def _in_blocks(surface: Surface, function: Callable[..., Any], rows: FloatArray, *others: Any) -> Any:
    """A function of rows, computed for as many at a time as fit into memory."""
    size = surface.rows_at_once
    parts = [slice(first, first + size) for first in range(0, max(len(rows), 1), size)]
    return np.concatenate([function(rows[part], *(other[part] for other in others)) for part in parts])


def _margins(surface: Surface, rows: FloatArray, labels: Labels) -> FloatArray:
    def of_block(rows: FloatArray, labels: Labels) -> FloatArray:
        return _gap(surface.scores(rows)[0], labels)[0]

    found: FloatArray = _in_blocks(surface, of_block, rows, labels)
    return found


def _gap(scores: FloatArray, labels: Labels) -> tuple[FloatArray, Labels]:
    """Own score minus the largest other one, and which that is."""
    own = np.arange(scores.shape[1]) == labels[:, None]
    rival = np.where(own, -np.inf, scores).argmax(axis=1)
    each = np.arange(len(scores))
    return scores[each, labels] - scores[each, rival], rival


def _margins_and_slopes(surface: Surface, rows: FloatArray, labels: Labels) -> tuple[FloatArray, FloatArray]:
    """Margins (N,) and their derivatives by the features (N, d), from one pass forward and one back."""

    def of_block(rows: FloatArray, labels: Labels) -> FloatArray:
        scores, pull = surface.scores(rows)
        gap, rival = _gap(scores, labels)
        slopes, each = np.zeros_like(scores), np.arange(len(scores))
        slopes[each, labels], slopes[each, rival] = 1.0, -1.0
        return np.column_stack([gap, pull(slopes)])

    found = _in_blocks(surface, of_block, rows, labels)
    return found[:, 0], found[:, 1:]


def _descended(
    surface: Surface,
    start: FloatArray,
    labels: Labels,
    *,
    box: tuple[FloatArray, FloatArray],
    lengths: FloatArray,
    steps: int,
) -> FloatArray:
    """Where the margin was smallest on a way of so many steps of signs, each taken back into the box."""
    place = best = np.clip(start, *box)
    least = np.full(len(start), np.inf)
    for _ in range(steps):
        gap, slopes = _margins_and_slopes(surface, place, labels)
        better = gap < least
        best, least = np.where(better[:, None], place, best), np.where(better, gap, least)
        place = np.clip(place - lengths * np.sign(slopes), *box)
    better = _margins(surface, place, labels) < least
    return np.where(better[:, None], place, best)


def _sizes(eps: ArrayLike, n_rows: int) -> FloatArray:
    """The radius of each sample's ball as a column, (N, 1)."""
    array = np.asarray(eps)
    numbers = array.dtype.kind in "iuf" and array.shape in ((), (n_rows,))
    usable = numbers and np.isfinite(array).all() and (array >= 0).all()
    require(usable, "eps", f"a number of at least 0, or one for each of {n_rows} samples", eps)
    return np.broadcast_to(array.astype(np.float64), (n_rows,))[:, None]


def _box(rows: FloatArray, sizes: FloatArray, bounds: Bounds) -> tuple[FloatArray, FloatArray]:
    """The ball around each row within the bounds; a row that lies outside of these may stay where it is."""
    low, high = rows - sizes, rows + sizes
    if bounds is None:
        return low, high
    pair = isinstance(bounds, tuple | list) and len(bounds) == 2 and all(map(is_number, bounds))
    require(pair and bounds[0] < bounds[1], "bounds", "None or an increasing pair of numbers", bounds)
    return np.maximum(low, np.minimum(bounds[0], rows)), np.minimum(high, np.maximum(bounds[1], rows))
