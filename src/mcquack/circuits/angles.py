"""Angles of gates as expressions: w·t(x) + b, with weights and biases that are trained, shared, or fixed.

``x[3]`` is a feature, ``w`` and ``b`` are a weight and a bias that the gate has for itself, ``w("name")`` is one that
all gates share who name it. They are put together as one would write them: ``w * x[0] + b``, ``2 * x[0] * x[1]``,
``arccos(x[2]) - 0.5``, ``b``, ``0.25``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.checks import is_number, is_whole_number, require
from mcquack.errors import InvalidInputError

# Where the slopes of arcsin and arccos would be infinite, at ±1, they stay below 1/√SLOPE_LIMIT.
SLOPE_LIMIT = 1e-6


class Function(NamedTuple):
    """A function of one feature, its derivative, and the number by which compiled code knows it."""

    value: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]
    code: int


def _arc_slope(x: FloatArray) -> FloatArray:
    inside = np.abs(x) <= 1
    return np.where(inside, 1 / np.sqrt(np.maximum(1 - np.square(x), SLOPE_LIMIT)), 0)


FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        "x": Function(lambda x: x, np.ones_like, 0),
        "pi_minus": Function(lambda x: math.pi - x, lambda x: -np.ones_like(x), 1),
        "arcsin": Function(lambda x: np.arcsin(np.clip(x, -1, 1)), _arc_slope, 2),
        "arccos": Function(lambda x: np.arccos(np.clip(x, -1, 1)), lambda x: -_arc_slope(x), 3),
        "arctan": Function(np.arctan, lambda x: 1 / (1 + np.square(x)), 4),
    }
)
"""What a feature may pass before it enters an angle. Outside [-1, 1] arcsin and arccos stay at their last value."""

Factor: TypeAlias = tuple[str, int]  # the name of a function, and the number of a feature


@dataclass(frozen=True)
class Parameter:
    """A weight or a bias as an expression names it: one that the gate has alone, or one that a name is shared by."""

    name: str | None = None
    start: float = 0.0


@dataclass(frozen=True)
class Angle:
    """factor · w · t(x) + bias_factor · b + offset, where each part may be missing.

    Parameters
    ----------
    inputs : The functions of features whose product t(x) is; without any, the angle does not depend on the sample.
    weight : The weight w; None is 1. In a circuit it is a number, the weight's place among all weights.
    factor : What w·t(x) is multiplied by.
    bias : The bias b; None is 0. In a circuit it is a number, the place among all biases.
    bias_factor : What b is multiplied by.
    offset : What is added.

    Examples
    --------
    >>> from mcquack.circuits import b, w, x
    >>> print(2 * (w * x[0] + b) - 1)
    2·w·x0 + 2·b - 1
    """

    inputs: tuple[Factor, ...] = ()
    weight: Parameter | int | None = None
    factor: float = 1.0
    bias: Parameter | int | None = None
    bias_factor: float = 1.0
    offset: float = 0.0

    __array_ufunc__ = None  # so that a NumPy number times an angle is an angle

    def __post_init__(self) -> None:
        for number in (self.factor, self.bias_factor, self.offset):
            if not is_finite(number):
                raise InvalidInputError(f"the numbers in an angle must be finite, got {number!r}.")
        for name, feature in self.inputs:
            if name not in FUNCTIONS or not (is_whole_number(feature) and feature >= 0):
                raise InvalidInputError(
                    f"an angle takes functions ({', '.join(FUNCTIONS)}) of features from 0 on, got {name!r} of "
                    f"{feature!r}."
                )
        # Equal angles are written alike: what multiplies nothing is 1, and factors have an order.
        if len(self.inputs) > 1:
            object.__setattr__(self, "inputs", tuple(sorted(self.inputs, key=lambda factor: factor[::-1])))
        if self.factor != 1 and not self.inputs and self.weight is None:
            object.__setattr__(self, "factor", 1.0)
        if self.bias_factor != 1 and self.bias is None:
            object.__setattr__(self, "bias_factor", 1.0)

    @property
    def is_constant(self) -> bool:
        """Whether it is the same number for all samples and parameters."""
        return not self.inputs and self.bias is None

    @property
    def _is_product(self) -> bool:
        return self.bias is None and self.offset == 0 and (bool(self.inputs) or self.weight is not None)

    def changed(self, **values: Any) -> Angle:
        """The same angle but for some parts."""
        return Angle(**{**vars(self), **values})

    def __mul__(self, other: Angle | float) -> Angle:
        if isinstance(other, Angle):
            if not (self._is_product and other._is_product) or (self.weight is not None and other.weight is not None):
                raise InvalidInputError(
                    f"({self}) · ({other}) is not of the form w·t(x) + b; multiply features, functions of features, "
                    "numbers and at most one weight w, and add what else there is."
                )
            weight = self.weight if other.weight is None else other.weight
            return Angle(self.inputs + other.inputs, weight, self.factor * other.factor)
        by = _number(other)
        return self.changed(factor=by * self.factor, bias_factor=by * self.bias_factor, offset=by * self.offset)

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> Angle:
        require(_number(other) != 0, "what an angle is divided by", "a number other than 0", other)
        return self * (1 / float(other))

    def __neg__(self) -> Angle:
        return self * -1

    def __add__(self, other: Angle | float) -> Angle:
        if not isinstance(other, Angle):
            return self.changed(offset=self.offset + _number(other))
        depend = [angle for angle in (self, other) if angle.inputs or angle.weight is not None]
        biased = [angle for angle in (self, other) if angle.bias is not None]
        if len(depend) > 1 or len(biased) > 1:
            raise InvalidInputError(
                f"({self}) + ({other}) is not of the form w·t(x) + b; take two gates with an angle each in its place."
            )
        start = depend[0] if depend else Angle()
        bias, factor = (biased[0].bias, biased[0].bias_factor) if biased else (None, 1.0)
        return start.changed(bias=bias, bias_factor=factor, offset=self.offset + other.offset)

    __radd__ = __add__

    def __sub__(self, other: Angle | float) -> Angle:
        return self + (-other if isinstance(other, Angle) else -_number(other))

    def __rsub__(self, other: float) -> Angle:
        return -self + other

    def __str__(self) -> str:
        parts = []
        if self.inputs or self.weight is not None:
            symbols = [*([_symbol("w", self.weight)] if self.weight is not None else []), *map(_written, self.inputs)]
            parts.append(_times(self.factor, "·".join(symbols)))
        if self.bias is not None:
            parts.append(_times(self.bias_factor, _symbol("b", self.bias)))
        if self.offset or not parts:
            parts.append(f"{self.offset:.6g}")
        return " + ".join(parts).replace("+ -", "- ")


def is_finite(value: Any) -> bool:
    """Whether the value is a number that is finite as a float, too: 10**400 is not."""
    try:
        return (type(value) is float or is_number(value)) and math.isfinite(value)
    except OverflowError:
        return False


def _number(value: Any) -> float:
    require(is_finite(value), "what stands in an angle", "a finite number", value)
    return float(value)


def _times(factor: float, symbol: str) -> str:
    return symbol if factor == 1 else f"-{symbol}" if factor == -1 else f"{factor:.6g}·{symbol}"


def _symbol(letter: str, parameter: Parameter | int) -> str:
    if isinstance(parameter, int):
        return f"{letter}{parameter}"
    return letter if parameter.name is None else parameter.name


def _written(factor: Factor) -> str:
    name, feature = factor
    return f"x{feature}" if name == "x" else f"(π-x{feature})" if name == "pi_minus" else f"{name}(x{feature})"


def angle_of(value: Angle | float) -> Angle:
    """The expression that was given, or a number as one."""
    return value if isinstance(value, Angle) else Angle(offset=_number(value))


class _Features:
    """``x[i]`` is feature i."""

    def __getitem__(self, feature: int) -> Angle:
        require(is_whole_number(feature) and feature >= 0, "x[…]", "a feature's number, counted from 0", feature)
        return Angle((("x", int(feature)),))

    __iter__ = None  # there is no last feature to stop at


class _Weight(Angle):
    """The weight that a gate has for itself; called with a name, one that is shared; ``start`` is where it begins."""

    def __call__(self, name: str | None = None, *, start: float = 0.0) -> Angle:
        return Angle(weight=_parameter(name, start))


class _Bias(Angle):
    """The bias that a gate has for itself; called with a name, one that is shared; ``start`` is where it begins."""

    def __call__(self, name: str | None = None, *, start: float = 0.0) -> Angle:
        return Angle(bias=_parameter(name, start))


def _parameter(name: Any, start: Any) -> Parameter:
    if name is not None:
        require(isinstance(name, str) and is_parameter_name(name), "a parameter's name", PARAMETER_NAMES, name)
    return Parameter(name, _number(start))


PARAMETER_NAMES = "a text of 1 to 60 letters, digits and underscores that begins with a letter, and not w0, b1 and such"


def is_parameter_name(name: str) -> bool:
    """Whether a parameter may be called so; those without a name are called w0, w1, … and b0, b1, …."""
    own = name[:1] in ("w", "b") and name[1:].isdecimal()
    return name.isidentifier() and name[0] != "_" and len(name) <= 60 and not own


x = _Features()
w = _Weight(weight=Parameter())
b = _Bias(bias=Parameter())


def _applied(name: str, feature: Angle) -> Angle:
    plain = isinstance(feature, Angle) and len(feature.inputs) == 1 and feature == Angle(feature.inputs)
    require(plain and feature.inputs[0][0] == "x", f"the argument of {name}", "a feature such as x[0]", feature)
    return Angle(((name, feature.inputs[0][1]),))


def pi_minus(feature: Angle) -> Angle:
    """π - x, as in ``pi_minus(x[0]) * pi_minus(x[1])``; products take functions of features, not sums."""
    return _applied("pi_minus", feature)


def arcsin(feature: Angle) -> Angle:
    """The arc sine of a feature, which should lie in [-1, 1]; beyond, the last value stays."""
    return _applied("arcsin", feature)


def arccos(feature: Angle) -> Angle:
    """The arc cosine of a feature, which should lie in [-1, 1]; beyond, the last value stays."""
    return _applied("arccos", feature)


def arctan(feature: Angle) -> Angle:
    """The arc tangent of a feature."""
    return _applied("arctan", feature)


class AngleTable(NamedTuple):
    """All angles of a circuit as arrays, in the order of its gates: what simulators compute with.

    Angle a is ``factor[a] · w[weight[a]] · t[input[a]] + bias_factor[a] · b[bias[a]] + offset[a]``. A -1 in ``weight``
    stands for w = 1, in ``bias`` for b = 0, and in ``input`` for an angle that depends on no feature (factor 0).
    """

    inputs: tuple[tuple[Factor, ...], ...]  # the different products t of functions of features
    input: Any
    weight: Any
    factor: Any
    bias: Any
    bias_factor: Any
    offset: Any

    def values(self, X: FloatArray) -> FloatArray:
        """t(x) of every row, (N, T)."""
        found = np.ones((len(X), len(self.inputs)), dtype=X.dtype)
        for place, factors in enumerate(self.inputs):
            for name, feature in factors:
                found[:, place] *= FUNCTIONS[name].value(X[:, feature])
        return found

    def pulled(self, X: FloatArray, by_values: FloatArray) -> FloatArray:
        """Derivatives by the features (N, d), from those by all t(x) (N, T)."""
        found = np.zeros(X.shape, dtype=by_values.dtype)
        for place, factors in enumerate(self.inputs):
            for own, (name, feature) in enumerate(factors):
                slope = FUNCTIONS[name].slope(X[:, feature])
                for other, (other_name, other_feature) in enumerate(factors):
                    if other != own:
                        slope = slope * FUNCTIONS[other_name].value(X[:, other_feature])
                found[:, feature] += by_values[:, place] * slope
        return found

    def slopes_in_inputs(self, weights: FloatArray) -> FloatArray:
        """factor · w of every angle (A,): what its t(x) is multiplied by."""
        return np.asarray(self.factor * _taken(weights, self.weight, missing=1.0))

    def constants(self, bias: FloatArray) -> FloatArray:
        """bias_factor · b + offset of every angle (A,): what does not depend on the sample."""
        return np.asarray(self.bias_factor * _taken(bias, self.bias, missing=0.0) + self.offset)

    def angles(self, X: FloatArray, weights: FloatArray, bias: FloatArray) -> FloatArray:
        """The angles of every row, (N, A)."""
        constant = self.constants(bias)
        slopes = self.slopes_in_inputs(weights)
        found = np.empty((len(X), len(self.input)), np.result_type(X, slopes, constant))
        found[:] = constant
        if self.inputs:
            depends = self.input >= 0
            found[:, depends] += slopes[depends] * self.values(X)[:, self.input[depends]]
        return found

    def by_parameters(
        self, X: FloatArray, by_angles: FloatArray, n_weights: int, n_bias: int
    ) -> tuple[FloatArray, FloatArray]:
        """Derivatives by all weights and by all biases, from those by the angles of every row (N, A)."""
        by_weights, by_bias = np.zeros(n_weights), np.zeros(n_bias)
        weighted, biased = self.weight >= 0, self.bias >= 0
        slopes = np.sum(by_angles[:, weighted] * self.values(X)[:, self.input[weighted]], axis=0)
        np.add.at(by_weights, self.weight[weighted], self.factor[weighted] * slopes)
        np.add.at(by_bias, self.bias[biased], self.bias_factor[biased] * by_angles[:, biased].sum(axis=0))
        return by_weights, by_bias

    def by_features(self, X: FloatArray, weights: FloatArray, by_angles: FloatArray) -> FloatArray:
        """Derivatives by the features of every row (N, d), from those by its angles (N, A)."""
        depends = self.input >= 0
        by_values = np.zeros((len(X), len(self.inputs)))
        slopes = (by_angles * self.slopes_in_inputs(weights))[:, depends]
        np.add.at(by_values.T, self.input[depends], slopes.T)
        return self.pulled(X, by_values)


def _taken(values: FloatArray, index: Any, *, missing: float) -> FloatArray:
    extended = np.append(np.asarray(values).reshape(-1), missing)  # -1 takes the last
    return extended[index]


def angle_table(angles: list[Angle]) -> AngleTable:
    """The table of angles that have their places in a circuit."""
    inputs: dict[tuple[Factor, ...], int] = {}
    depends = [bool(angle.inputs) for angle in angles]
    places = [inputs.setdefault(angle.inputs, len(inputs)) if angle.inputs else -1 for angle in angles]

    def index(name: str) -> Any:
        return np.array([-1 if (at := getattr(angle, name)) is None else at for angle in angles], dtype=np.int64)

    def numbers(values: list[float]) -> Any:
        return np.array(values, dtype=np.float64)

    return AngleTable(
        inputs=tuple(inputs),
        input=np.array(places, dtype=np.int64),
        weight=index("weight"),
        factor=numbers([angle.factor if own else 0.0 for angle, own in zip(angles, depends, strict=True)]),
        bias=index("bias"),
        bias_factor=numbers([angle.bias_factor for angle in angles]),
        offset=numbers([angle.offset for angle in angles]),
    )
