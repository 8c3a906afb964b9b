"""What is written as an angle is the angle that one expects, and only what has the form w·t(x) + b can be written."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mcquack.circuits import Angle, Circuit, arccos, arcsin, arctan, b, pi_minus, w, x
from mcquack.circuits.angles import FUNCTIONS
from mcquack.errors import InvalidInputError
from tests.circuits.strategies import circuits, numbers, parameters_of

WEIGHT, BIAS, ROW = 0.7, -0.3, np.array([0.4, -0.9])


def value(angle: Angle | float) -> float:
    """The angle of one sample, with one number for all weights and one for all biases."""
    circuit = Circuit(1, 2).rx(0, angle)
    parameters = np.full(circuit.weights_shape, WEIGHT), np.full(circuit.bias_shape, BIAS)
    return float(circuit.angles(ROW[None], *parameters)[0, 0])


@given(factor=numbers, bias_factor=numbers, offset=numbers, scale=numbers)
def test_expressions_mean_what_they_say(factor: float, bias_factor: float, offset: float, scale: float) -> None:
    dependent, constant = factor * w * x[0] * arccos(x[1]), bias_factor * b - offset
    expected = factor * WEIGHT * 0.4 * math.acos(-0.9), bias_factor * BIAS - offset
    assert value(dependent + constant) == pytest.approx(sum(expected))
    assert value(constant - dependent) == pytest.approx(expected[1] - expected[0])
    assert value(scale * (dependent + constant)) == pytest.approx(scale * sum(expected))
    assert value(-(dependent + constant) * scale) == pytest.approx(-scale * sum(expected))
    assert value(offset - dependent) == pytest.approx(offset - expected[0])
    assert value((dependent + offset) / 4) == pytest.approx((expected[0] + offset) / 4)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (pi_minus, lambda v: math.pi - v),
        (arcsin, math.asin),
        (arccos, math.acos),
        (arctan, math.atan),
    ],
)
def test_functions_of_features(function: Any, expected: Any) -> None:
    assert value(function(x[1])) == pytest.approx(expected(-0.9))
    assert value(2 * function(x[0]) * function(x[1])) == pytest.approx(2 * expected(0.4) * expected(-0.9))


def test_numpy_numbers_are_numbers() -> None:
    for number in (np.float64(2), np.float32(2), np.int64(2)):
        assert number * x[0] == x[0] * number == 2 * x[0]  # type: ignore[operator]
        assert number + x[0] == x[0] + 2  # type: ignore[operator]
        assert number - x[0] == 2 - x[0]  # type: ignore[operator]


def test_equal_angles_are_equal_however_they_are_written() -> None:
    assert x[0] * x[1] == x[1] * x[0]
    assert w * x[0] == x[0] * w
    assert (x[0] + 1) * 2 == 2 * x[0] + 2
    assert hash(x[0] * x[1] * w) == hash(w * x[1] * x[0])
    assert Angle(offset=1.0) * 2 == Angle(offset=2.0)


@pytest.mark.parametrize(
    ("angle", "text"),
    [
        (w * x[0] + b, "w·x0 + b"),
        (2 * (w * x[0] + b) - 1, "2·w·x0 + 2·b - 1"),
        (-arccos(x[3]), "-arccos(x3)"),
        (pi_minus(x[1]) * pi_minus(x[0]), "(π-x0)·(π-x1)"),
        (w("gain") * x[0] - b("tilt"), "gain·x0 - tilt"),
        (Angle(offset=0.0), "0"),
    ],
)
def test_text(angle: Angle, text: str) -> None:
    assert str(angle) == text


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: x[0] + x[1],
        lambda: b + b,
        lambda: w * w,
        lambda: b * x[0],
        lambda: (x[0] + 1) * x[1],
        lambda: x[-1],
        lambda: x[1.5],  # type: ignore[index]
        lambda: x[True],
        lambda: x[0] + "1",  # type: ignore[operator]
        lambda: x[0] * None,  # type: ignore[operator]
        lambda: x[0] * math.inf,
        lambda: x[0] + math.nan,
        lambda: x[0] * 10**400,
        lambda: 1e308 * x[0] * 1e308,
        lambda: x[0] / 0,
        lambda: x[0] / x[1],  # type: ignore[operator]
        lambda: np.ones(2) * x[0],  # type: ignore[operator]
        lambda: arccos(2 * x[0]),
        lambda: arccos(arccos(x[0])),
        lambda: arccos(0.5),  # type: ignore[arg-type]
        lambda: w("w0"),
        lambda: b("b12"),
        lambda: w(""),
        lambda: w("two words"),
        lambda: w("_hidden"),
        lambda: w(3),  # type: ignore[arg-type]
        lambda: w(start=math.nan),
        lambda: w("a" * 61),
    ],
)
def test_what_is_no_angle_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInputError):
        wrong()


def test_features_have_no_end_so_there_is_no_loop_over_them() -> None:
    with pytest.raises(TypeError, match="not iterable"):
        list(x)  # type: ignore[call-overload]
    with pytest.raises(InvalidInputError, match="takes an angle"):
        Circuit(2, 2).rx([0, 1], x)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes_are_those_of_the_functions(name: str) -> None:
    values, step = np.linspace(-0.95, 0.95, 21), 1e-6
    function = FUNCTIONS[name]
    differences = (function.value(values + step) - function.value(values - step)) / (2 * step)
    assert_allclose(function.slope(values), differences, rtol=1e-6)


def test_arcs_stay_at_their_last_value_beyond_one_and_have_finite_slopes() -> None:
    beyond = np.array([-3.0, -1.0, 1.0, 2.0])
    for name in ("arcsin", "arccos"):
        assert_allclose(FUNCTIONS[name].value(beyond), FUNCTIONS[name].value(np.clip(beyond, -1, 1)))
        slopes = FUNCTIONS[name].slope(beyond)
        assert (slopes[[0, 3]] == 0).all()
        assert np.isfinite(slopes).all()


@given(circuit=circuits(), seed=st.integers(0, 9))
def test_the_table_has_the_angles_of_the_gates(circuit: Circuit, seed: int) -> None:
    """Angle by angle, from the expression that each gate keeps."""
    weights, bias = parameters_of(circuit, seed)
    rows = np.random.default_rng(seed).uniform(-0.9, 0.9, size=(3, circuit.n_features))
    expected = []
    for angle in (angle for gate in circuit.gates for angle in gate.angles):
        product = np.full(3, angle.factor if angle.inputs else 0.0)
        for name, feature in angle.inputs:
            product = product * FUNCTIONS[name].value(rows[:, feature])
        product = product * (1 if angle.weight is None else weights[angle.weight])  # type: ignore[index]
        expected.append(product + (0 if angle.bias is None else angle.bias_factor * bias[angle.bias]) + angle.offset)  # type: ignore[index]
    found = circuit.angles(rows, weights, bias)
    assert found.shape == (3, circuit.n_angles)
    assert_allclose(found.T, np.reshape(expected, (-1, 3)), atol=1e-12)


@given(circuit=circuits(), seed=st.integers(0, 9))
def test_derivatives_of_angles_are_those_of_differences(circuit: Circuit, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, bias = parameters_of(circuit, seed)
    rows = rng.uniform(-0.9, 0.9, size=(2, circuit.n_features))
    cotangent = rng.normal(size=(2, circuit.n_angles))
    table, step = circuit.angle_table, 1e-5

    def total(X: Any, w: Any, b: Any) -> float:
        return float(np.sum(cotangent * circuit.angles(X, w, b)))

    def slopes(place: int) -> Any:
        point = [rows, weights, bias]
        found = np.zeros(point[place].shape)
        for entry in np.ndindex(found.shape):
            moved = [[array.copy() for array in point] for _ in range(2)]
            moved[0][place][entry] += step
            moved[1][place][entry] -= step
            found[entry] = (total(*moved[0]) - total(*moved[1])) / (2 * step)
        return found

    by_weights, by_bias = table.by_parameters(rows, cotangent, circuit.n_weights, circuit.n_bias)
    assert_allclose(by_weights, slopes(1), rtol=1e-5, atol=1e-6)
    assert_allclose(by_bias, slopes(2), rtol=1e-5, atol=1e-6)
    assert_allclose(table.by_features(rows, weights, cotangent), slopes(0), rtol=1e-4, atol=1e-5)
