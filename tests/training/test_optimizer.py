"""Steps of Adam and of gradient descent with momentum, against the textbook."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from mcquack.randomness import stream
from mcquack.training.optimizer import ADAM, SGD, Moments, descend

FloatArray = NDArray[np.floating]


def adam_by_the_book(parameter: FloatArray, gradients: list[FloatArray], rates: list[float]) -> FloatArray:
    """Kingma and Ba, algorithm 1."""
    m = v = np.zeros_like(parameter)
    for t, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), start=1):
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient**2
        parameter = parameter - rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return parameter


def momentum_by_the_book(parameter: FloatArray, gradients: list[FloatArray], rates: list[float]) -> FloatArray:
    velocity = np.zeros_like(parameter)
    for gradient, rate in zip(gradients, rates, strict=True):
        velocity = 0.9 * velocity + gradient
        parameter = parameter - rate * velocity
    return parameter


def descended(parameter: FloatArray, gradients: list[FloatArray], rates: list[float], *, optimizer: int) -> FloatArray:
    """In uneven pieces, as threads share the work."""
    moved, moments = parameter.copy(), Moments(np.zeros_like(parameter), np.zeros_like(parameter))
    for step, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), start=1):
        for first, last in ((0, 2), (2, len(parameter))):
            descend(moved, gradient, *moments, optimizer, rate, step, first, last)
    return moved


@pytest.mark.parametrize(("optimizer", "by_the_book"), [(ADAM, adam_by_the_book), (SGD, momentum_by_the_book)])
@settings(max_examples=20)
@given(n_steps=st.integers(1, 30), scale=st.sampled_from([1e-6, 1.0, 1e4]), seed=st.integers(0, 2**32 - 1))
def test_steps_are_those_of_the_book(optimizer: int, by_the_book: type, n_steps: int, scale: float, seed: int) -> None:
    rng = stream(seed, "descent")
    parameter = rng.normal(size=7)
    gradients = list(scale * rng.normal(size=(n_steps, 7)))
    rates = [float(rate) for rate in rng.uniform(1e-4, 1e-1, size=n_steps)]
    expected = by_the_book(parameter, gradients, rates)
    assert_allclose(
        descended(parameter, gradients, rates, optimizer=optimizer), expected, rtol=1e-11, atol=1e-11 * max(1, scale)
    )


@pytest.mark.parametrize("optimizer", [ADAM, SGD])
def test_single_precision_stays_single(optimizer: int) -> None:
    rng = stream(0, "descent")
    parameter, gradients = rng.normal(size=7), list(rng.normal(size=(20, 7)))
    rates = [0.01] * 20
    double = descended(parameter, gradients, rates, optimizer=optimizer)
    single = descended(
        parameter.astype(np.float32),
        [gradient.astype(np.float32) for gradient in gradients],
        rates,
        optimizer=optimizer,
    )
    assert single.dtype == np.float32
    assert_allclose(single, double, rtol=0, atol=1e-5)


def test_the_first_step_of_adam_has_the_length_of_the_rate() -> None:
    gradient = np.array([1e-3, -5.0, 2.0, 1e4, -1e-2])
    moved = descended(np.zeros(5), [gradient], [0.01], optimizer=ADAM)
    assert_allclose(moved, -0.01 * np.sign(gradient), rtol=1e-4)


@pytest.mark.parametrize("optimizer", [ADAM, SGD])
def test_only_the_given_entries_move(optimizer: int) -> None:
    parameter, moments = np.zeros(6), Moments(np.zeros(6), np.zeros(6))
    descend(parameter, np.ones(6), *moments, optimizer, 0.1, 1, 2, 4)
    for array in (parameter, moments.mean):
        assert_array_equal(array != 0, [False, False, True, True, False, False])


@pytest.mark.parametrize("optimizer", [ADAM, SGD])
def test_without_slope_nothing_moves(optimizer: int) -> None:
    assert_array_equal(descended(np.ones(4), [np.zeros(4)] * 3, [0.1] * 3, optimizer=optimizer), np.ones(4))
