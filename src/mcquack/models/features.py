"""The features that a model learns from: another transformer, principal components, and scales with a name.

Whatever is affine is kept as a matrix and an offset, so that a model file holds it without code: that includes any
transformer of another library that is affine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from mcquack.arrays import FloatArray
from mcquack.checks import is_number
from mcquack.constraints import Custom, Optional
from mcquack.errors import InvalidInputError
from mcquack.models.model_file import ModelFile, require_field, require_tensor, require_that

Scale: TypeAlias = bool | tuple[float, float] | Literal["common", "standard", "quantile"]
COMMON, STANDARD, QUANTILE = "common", "standard", "quantile"
MAX_BOUND = 1e4  # of the feature range; angles beyond it would lose digits in float32
FEATURES = "features."  # before the names of its tensors in a model file
_N_QUANTILES = 200
_FAR = 1e12  # what lies farther off is taken to here: neither an angle nor a square could hold it
_TENSORS = ("center", "matrix", "factor", "offset", "quantiles")
_REDUCED = ("components", "center", "shift", "divisor")  # the tensors of reduced features
_AFFINE_ROWS = 64  # by which it is checked that a transformer is affine


@dataclass(frozen=True, kw_only=True, eq=False)
class Features:
    """What a model makes of features, as learned from its training samples.

    A row x becomes ``((x - center) @ matrix) * factor + offset``, without the product if there is no matrix. With
    ``divides`` it becomes ``((x - center) @ matrix - offset) / factor``, as in the QML benchmark suite; this rounds
    differently. If there are quantiles, every column is then replaced by the share of training samples below it.
    ``other`` is a fitted transformer in front of all that. It is not affine, and no file can hold it.
    """

    center: FloatArray  # (d,)
    matrix: FloatArray | None = None  # (d, k)
    factor: FloatArray  # (k,)
    offset: FloatArray  # (k,)
    divides: bool = False
    quantiles: FloatArray | None = None  # (q, k), in ascending order
    other: Any = None

    @classmethod
    def of(cls, n_features: int) -> Features:
        """Return the identity on so many features."""
        return cls(center=np.zeros(n_features), factor=np.ones(n_features), offset=np.zeros(n_features))

    def __call__(self, rows: FloatArray) -> FloatArray:
        if self.other is not None:
            rows = np.asarray(self.other.transform(rows), dtype=np.float64)
        made = self._affine_part(rows)
        return made if self.quantiles is None else _levels(made, self.quantiles)

    def _affine_part(self, rows: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            rows = rows - self.center
            rows = rows if self.matrix is None else rows @ self.matrix
            rows = (rows - self.offset) / self.factor if self.divides else rows * self.factor + self.offset
            made: FloatArray = np.nan_to_num(np.clip(rows, -_FAR, _FAR))
        return made

    def pulled(self, rows: FloatArray, slopes: FloatArray) -> FloatArray:
        """Return derivatives by the features of these rows (N, d), from those by the outputs (N, k).

        Examples
        --------
        >>> halved = replace(Features.of(2), factor=np.array([0.5, 0.5]))
        >>> halved.pulled(np.zeros((1, 2)), np.array([[1.0, 4.0]])).tolist()
        [[0.5, 2.0]]
        """
        if self.other is not None:
            raise InvalidInputError(
                f"{type(self.other).__name__} is not affine, and its derivatives are not known; put it before the "
                "model in a pipeline, and ask for the derivatives by what it makes."
            )
        if self.quantiles is not None:
            slopes = slopes * _level_slopes(self._affine_part(rows), self.quantiles)
        slopes = slopes / self.factor if self.divides else slopes * self.factor
        return slopes if self.matrix is None else slopes @ self.matrix.T

    @property
    def n_outputs(self) -> int:
        return len(self.factor)

    def to_file(self) -> dict[str, NDArray[Any]]:
        """Return the tensors of a model file."""
        if self.other is not None:
            raise InvalidInputError(
                f"a model file holds no code, and {type(self.other).__name__} is not affine, so that no matrix stands "
                "for it; put it before the model in a pipeline, and save that with joblib."
            )
        if self.divides:
            components = np.zeros((0, len(self.center))) if self.matrix is None else self.matrix.T
            return dict(zip(_REDUCED, (components, self.center, self.offset, self.factor), strict=True))
        return {FEATURES + name: array for name in _TENSORS if (array := getattr(self, name)) is not None}

    @classmethod
    def from_file(cls, file: ModelFile, n_features: int) -> Features | None:
        """Return what a model file holds; None if the features stay as they are."""
        if "divisor" in file.tensors:
            return cls._reduced_from(file, n_features)
        names = require_field(file.header, "features", list) if "features" in file.header else []
        if not names:
            return None
        known = [name for name in _TENSORS if name in names] == names and {"center", "factor", "offset"} <= {*names}
        require_that(known, "what it makes of features is nothing that this mcquack knows; upgrade it.")
        n_outputs = len(file.tensors.get(FEATURES + "factor", ())) or 1
        shapes = {
            "center": (n_features,),
            "matrix": (n_features, n_outputs),
            "factor": (n_outputs,),
            "offset": (n_outputs,),
            "quantiles": (None, n_outputs),
        }
        found = {name: require_tensor(file, FEATURES + name, shape=shapes[name], dtype=np.float64) for name in names}
        require_that("matrix" in found or n_outputs == n_features, "its features do not fit their scales.")
        if "quantiles" in found:
            levels = found["quantiles"]
            in_order = len(levels) >= 2 and (np.diff(levels, axis=0) >= 0).all()
            require_that(in_order, "its quantiles of features are not in order.")
        return cls(**found)  # type: ignore[arg-type]

    @classmethod
    def _reduced_from(cls, file: ModelFile, n_features: int) -> Features:
        n_components = len(file.tensors.get("components", ()))
        n_outputs = n_components or n_features
        shapes = ((n_components, n_features), (n_features,), (n_outputs,), (n_outputs,))
        components, center, shift, divisor = (
            require_tensor(file, name, shape=shape, dtype=np.float64)
            for name, shape in zip(_REDUCED, shapes, strict=True)
        )
        require_that((divisor > 0).all(), "its scaling divides by what is not positive.")
        return cls(
            center=center, matrix=components.T if n_components else None, factor=divisor, offset=shift, divides=True
        )


def reduced_features(
    rows: FloatArray, weights: FloatArray, *, n_components: int, scale: Literal["standard", "angles", "none"]
) -> Features:
    """Return principal components of more than ``n_components`` features, scaled, as learned from training samples.

    The columns are scaled to mean 0 and variance 1 ("standard"), to [-π/2, π/2] ("angles"), or not at all.
    """
    n_features = rows.shape[1]
    center: FloatArray = np.zeros(n_features)
    matrix = None
    if n_features > n_components:
        center = np.average(rows, axis=0, weights=weights)
        matrix = principal_components(rows - center, weights, n_components).T
        rows = (rows - center) @ matrix
    shift: FloatArray = np.zeros(rows.shape[1])
    divisor: FloatArray = np.ones(rows.shape[1])
    if scale == STANDARD:
        shift, divisor = _mean_and_deviation(rows, weights)
    elif scale == "angles":
        low, high = rows.min(axis=0), rows.max(axis=0)
        shift, divisor = (low + high) / 2, (high - low) / math.pi
        shift = np.where(high > low, shift, low + math.pi / 2)  # a constant column is put to the lower end
    return Features(center=center, matrix=matrix, factor=_nonzero(divisor, rows), offset=shift, divides=True)


def _mean_and_deviation(rows: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean = np.average(rows, axis=0, weights=weights)
    return mean, np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=weights))


def _nonzero(widths: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the widths of columns, with 1 for those that are only rounding."""
    rounding = 10 * np.finfo(np.float64).eps * np.abs(rows).max(axis=0)
    return np.where(widths > rounding, widths, 1.0)


def learned_features(
    rows: FloatArray,
    labels: NDArray[np.int64],
    weights: FloatArray,
    *,
    n_components: int | None = None,
    transformer: Any = None,
    scale: Any = True,
) -> Features | None:
    """Return what the settings ask for, learned from training samples; None if features stay as they are.

    Parameters
    ----------
    rows, labels, weights : samples (N, d), the numbers of their classes, and how much each counts.
    n_components : principal components that take the place of more features than so many.
    transformer : a transformer with scikit-learn's ``fit`` and ``transform``, which comes first; it is cloned.
    scale : as that of :class:`~mcquack.models.McQuackClassifier`; what is no range is done here.
    """
    made = Features.of(rows.shape[1])
    changed = False
    if transformer is not None:
        made, changed = _of_transformer(clone(transformer), rows, labels, weights), True
    if n_components is not None and made.n_outputs > n_components:
        made, changed = _with_components(made, rows, weights, n_components), True
    if isinstance(scale, str):
        made, changed = _with_scale(made, rows, weights, scale), True
    return made if changed else None


def _of_transformer(transformer: Any, rows: FloatArray, labels: NDArray[np.int64], weights: FloatArray) -> Features:
    options = {"sample_weight": weights} if has_fit_parameter(transformer, "sample_weight") else {}
    transformer.fit(rows, labels, **options)
    made = np.asarray(transformer.transform(rows), dtype=np.float64)
    if made.ndim != 2 or len(made) != len(rows) or not made.shape[1] or not np.isfinite(made).all():
        raise InvalidInputError(
            f"transformer must make finite numbers (N, k) of {len(rows)} samples; {type(transformer).__name__} made "
            f"an array of the shape {made.shape}, or one with NaN or infinity; choose another one."
        )
    return _affine(transformer, rows, made) or replace(Features.of(made.shape[1]), other=transformer)


def _affine(transformer: Any, rows: FloatArray, made: FloatArray) -> Features | None:
    """Return a transformer as a matrix if it is affine: probed at one point and one step along each feature."""
    center = rows.mean(axis=0)
    steps = np.where(np.ptp(rows, axis=0) > 0, np.ptp(rows, axis=0), 1.0)
    asked = np.concatenate([center[None], center + np.diag(steps)])
    found = np.asarray(transformer.transform(asked), dtype=np.float64)
    offset, matrix = found[0], (found[1:] - found[0]) / steps[:, None]
    features = Features(center=center, matrix=matrix, factor=np.ones(len(offset)), offset=offset)
    some = np.linspace(0, len(rows) - 1, min(len(rows), _AFFINE_ROWS)).astype(np.intp)
    # Between two samples and beyond them too, where whatever clips, sorts or rounds gives itself away.
    mixed = np.concatenate([rows[some], 2.5 * rows[some] - 1.5 * rows[some[::-1]]])
    truth = np.concatenate([made[some], np.asarray(transformer.transform(mixed[len(some) :]), dtype=np.float64)])
    return features if np.allclose(features(mixed), truth, rtol=1e-6, atol=1e-8 * (1 + np.abs(made).max())) else None


def _with_components(features: Features, rows: FloatArray, weights: FloatArray, count: int) -> Features:
    """Return the features reduced to principal components."""
    made = features(rows)
    center = np.average(made, axis=0, weights=weights)
    directions = principal_components(made - center, weights, count).T
    if features.matrix is None:  # they are as they came
        return replace(features, center=center, matrix=directions, factor=np.ones(count), offset=np.zeros(count))
    offset = (features.offset - center) @ directions
    return replace(features, matrix=features.matrix @ directions, factor=np.ones(count), offset=offset)


def principal_components(apart: FloatArray, weights: FloatArray, count: int) -> FloatArray:
    """Return directions (count, d) of largest variance of centred rows; zeros if only rounding is left."""
    apart = apart * np.sqrt(weights / weights.sum())[:, None]
    _, sizes, directions = np.linalg.svd(apart, full_matrices=False)
    known = sizes > max(apart.shape) * np.finfo(np.float64).eps * sizes[0]
    found = np.zeros((count, apart.shape[1]))
    n_known = min(count, int(known.sum()))
    found[:n_known] = directions[:n_known]
    largest = np.take_along_axis(found, np.abs(found).argmax(axis=1)[:, None], axis=1)
    return np.asarray(np.where(largest < 0, -found, found))  # a sign would be chance


def _with_scale(features: Features, rows: FloatArray, weights: FloatArray, scale: str) -> Features:
    made = features(rows)
    if scale == QUANTILE:
        levels = np.linspace(0, 1, _n_quantiles(rows, weights))
        return replace(features, quantiles=np.quantile(made, levels, axis=0, weights=weights, method="inverted_cdf"))
    middle, wide = _mean_and_deviation(made, weights)
    if scale == COMMON:
        wide = np.full(made.shape[1], 2 * np.abs(made - middle).max())
    wide = _nonzero(wide, made)
    return replace(features, factor=features.factor / wide, offset=(features.offset - middle) / wide)


def _n_quantiles(rows: FloatArray, weights: FloatArray) -> int:
    """Return the number of quantiles to keep: the total weight, between 2 and 200.

    A row of weight two therefore gives the quantiles of a row given twice, and a row of weight zero those of a row left
    out. Weights that add up to less than the number of distinct rows, such as shares of 1, are not numbers of rows; the
    distinct rows are counted then.
    """
    n_rows = max(round(float(weights.sum())), 2)
    if n_rows >= _N_QUANTILES:
        return _N_QUANTILES
    distinct: set[bytes] = set()
    for row in rows[weights > 0] + 0.0:  # -0.0 equals 0.0
        distinct.add(row.tobytes())
        if len(distinct) >= _N_QUANTILES:
            break
    return max(n_rows, len(distinct))


def _levels(rows: FloatArray, quantiles: FloatArray) -> FloatArray:
    """Return in each column the share of training samples below, interpolated between the quantiles."""
    grid = np.linspace(0, 1, len(quantiles))
    made = np.empty_like(rows)
    for column in range(rows.shape[1]):
        known = quantiles[:, column]
        # Where many samples have the same value, the middle of the shares below and not above it.
        below = np.interp(rows[:, column], known, grid)
        above = -np.interp(-rows[:, column], -known[::-1], -grid[::-1])
        made[:, column] = (below + above) / 2
    return made


def _level_slopes(rows: FloatArray, quantiles: FloatArray) -> FloatArray:
    """Return derivatives of the levels; at a quantile the mean of both sides, and 0 for jumps."""
    step = 1 / (len(quantiles) - 1)
    found = np.zeros_like(rows)
    for column in range(rows.shape[1]):
        known = quantiles[:, column]
        widths = np.append(np.diff(known), np.inf)  # nothing rises beyond the last one, nor before the first
        for side in ("left", "right"):
            below = np.searchsorted(known, rows[:, column], side=side) - 1
            found[:, column] += step / widths[below] / 2
    return found


def _is_transformer(value: Any) -> bool:
    methods = (getattr(value, name, None) for name in ("fit", "transform", "get_params"))
    return not isinstance(value, type) and all(map(callable, methods))


def _is_scale(value: Any) -> bool:
    if isinstance(value, str):
        return value in (COMMON, STANDARD, QUANTILE)
    if isinstance(value, bool | np.bool_):
        return True
    if not isinstance(value, tuple | list) or len(value) != 2 or not all(map(is_number, value)):
        return False
    return bool(-MAX_BOUND <= value[0] < value[1] <= MAX_BOUND)


TRANSFORMER = Optional(Custom("a transformer of scikit-learn", _is_transformer))
SCALE = Custom(
    f'True, False, "{COMMON}", "{STANDARD}", "{QUANTILE}" or an increasing pair of numbers between -{MAX_BOUND:g} and '
    f"{MAX_BOUND:g}",
    _is_scale,
)


def scaling_range(scale: Scale) -> tuple[float, float] | None:
    """Return the range that the extremes of each feature are scaled to, (0, 1) for True.

    It is None for False, and for the scales with a name, which are no range.
    """
    if isinstance(scale, str):
        return None
    if isinstance(scale, bool | np.bool_):
        return (0.0, 1.0) if scale else None
    return float(scale[0]), float(scale[1])
