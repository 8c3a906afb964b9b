"""Oscillation of curves, and slices of the loss."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.engine import Engine
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.studies.trainability.analysis import oscillation
from mcquack.studies.trainability.analysis.losses import (
    Directions,
    LossSlice,
    alignment_loss,
    loss_slice,
    path_directions,
    random_directions,
)
from mcquack.training import Parameters, TrainingData, TrainingSettings, TrainingState, train
from tests.problems import random_problem

curves = st.lists(st.integers(-1000, 1000).map(lambda k: k / 64), min_size=2, max_size=40)


def numbers(found):
    return [found.rises, found.uphill, found.amplitude]


@given(curve=curves)
def test_a_curve_that_never_rises_does_not_oscillate(curve):
    falling = sorted(curve, reverse=True)
    found = oscillation(falling)
    assert [found.rises, found.uphill] == [0, 0]
    assert found.amplitude == pytest.approx(0, abs=1e-12)


@given(curve=curves, scale=st.sampled_from([0.25, 2.0, 64.0]), offset=st.sampled_from([-8.0, 0.0, 3.0]))
def test_neither_scale_nor_offset_of_the_loss_matter(curve, scale, offset):
    moved = [scale * loss + offset for loss in curve]
    assert_allclose(numbers(oscillation(moved)), numbers(oscillation(curve)), rtol=1e-9, atol=1e-9)


@given(curve=curves)
def test_shares_are_shares(curve):
    found = oscillation(curve)
    assert all(0 <= share <= 1 for share in numbers(found))


@given(curve=curves)
def test_backwards_every_rise_is_a_descent(curve):
    there, back = oscillation(curve), oscillation(curve[::-1])
    if any(one != two for one, two in itertools.pairwise(curve)):
        assert there.uphill + back.uphill == pytest.approx(1)


def test_a_zigzag_goes_nowhere():
    found = oscillation([0.0, 1.0] * 10 + [0.0])
    assert found.uphill == found.rises == pytest.approx(0.5)
    assert found.amplitude == pytest.approx(0.5, abs=0.03)


def test_more_oscillation_on_the_same_descent_is_measured_as_more():
    epochs = np.arange(60)
    trend = np.exp(-epochs / 15)
    found = [oscillation((trend + size * np.sin(epochs)).tolist()) for size in (0.0, 0.02, 0.1, 0.4)]
    for earlier, later in itertools.pairwise(found):
        assert later.uphill > earlier.uphill
        assert later.amplitude > earlier.amplitude
        assert later.rises >= earlier.rises


@pytest.mark.parametrize("losses", [[], [1.0], [1.0, None], [1.0, float("nan")], [[1.0, 2.0]]])
def test_what_is_no_curve_is_refused(losses):
    with pytest.raises(InvalidInputError):
        oscillation(losses)


FEATURE_MAP = FeatureMap(n_qubits=3, n_features=4, n_layers=2)
PROBLEM = random_problem(FEATURE_MAP, n_samples=12, n_classes=2)
DATA = TrainingData(PROBLEM.X, np.arange(12) % 2, np.ones(12), 2)
START = Parameters(PROBLEM.weights, PROBLEM.bias, PROBLEM.centroids)
ENGINES: list[Engine[Any]] = [StatevectorEngine(FEATURE_MAP, dtype=np.float64), RingEngine(FEATURE_MAP)]


def single(group, place, like=START):
    """The direction of one parameter."""
    arrays = {name: np.zeros_like(getattr(like, name)) for name in ("weights", "bias", "centroids")}
    arrays[group][place] = 1.0
    return Parameters(**arrays)


@pytest.mark.parametrize("engine", ENGINES, ids=["statevector", "ring"])
def test_the_landscape_is_periodic_in_biases(engine):
    directions = Directions(first=single("bias", (0, 0, 1)), second=single("bias", (1, 2, 0)))
    found = loss_slice(alignment_loss(engine, DATA), START, directions, reach=2 * math.pi, n_points=9)
    assert_allclose(found.losses[:, :4], found.losses[:, 4:8], atol=1e-12)
    assert_allclose(found.losses[:4], found.losses[4:8], atol=1e-12)
    assert np.ptp(found.losses) > 1e-3


def test_all_engines_see_the_same_landscape():
    directions = random_directions(START)
    one, other = (
        loss_slice(alignment_loss(engine, DATA), START, directions, reach=0.5, n_points=5) for engine in ENGINES
    )
    assert_allclose(one.losses, other.losses, atol=1e-10)


def test_the_centre_is_the_loss_of_training_with_its_penalties():
    settings = TrainingSettings(reg_param_weights=0.1, reg_param_bias=0.02, batch_size=12)
    loss = alignment_loss(ENGINES[1], DATA, settings)
    first = next(train(ENGINES[1], DATA, TrainingState.start(START), settings=settings))
    assert loss(START) == pytest.approx(first.report.loss_kao, abs=1e-9)
    assert loss_slice(loss, START, random_directions(START), n_points=3).centre == loss(START)


def test_the_optimum_of_a_training_is_the_lowest_point_around():
    settings = TrainingSettings(lr_ka=0.05, lr_co=0.05, reg_param_co=0.0, batch_size=12)
    epochs = train(ENGINES[0], DATA, TrainingState.start(START), settings=settings)
    path = [START, *(epoch.state.parameters for _, epoch in zip(range(200), epochs, strict=False))]
    loss = alignment_loss(ENGINES[0], DATA)
    found = loss_slice(loss, path[-1], random_directions(path[-1]), reach=0.2, n_points=5)
    assert found.minimum == (0.0, 0.0, found.centre)

    along = path_directions(path)
    coordinates = along.coordinates(path, path[-1])
    assert_allclose(coordinates[-1], 0, atol=1e-12)
    assert (coordinates[0] >= 0).all()
    near = loss_slice(loss, path[-1], along, reach=0.5 * float(coordinates[0, 0]), n_points=5)
    assert near.minimum[2] == pytest.approx(near.centre, abs=5e-3)


def test_a_bowl_is_a_bowl():
    centre = Parameters(np.zeros((1, 2, 3)), np.zeros((1, 2, 3)), np.zeros((2, 2)))

    def bowl(parameters):
        return float(sum(np.sum(array**2) for array in (parameters.weights, parameters.bias, parameters.centroids)))

    unit = Directions(first=single("bias", (0, 0, 1), like=centre), second=single("bias", (0, 1, 2), like=centre))
    found = loss_slice(bowl, centre, unit, reach=2, n_points=5)
    assert_allclose(found.losses, found.first[None, :] ** 2 + found.second[:, None] ** 2, atol=1e-12)
    assert LossSlice.from_json(found.to_json()).minimum == found.minimum == (0.0, 0.0, 0.0)


def test_random_directions_are_orthogonal_and_as_long_as_the_parameters_of_each_group():
    found = random_directions(START, seed=3)
    for group in ("weights", "bias", "centroids"):
        first, second = getattr(found.first, group).ravel(), getattr(found.second, group).ravel()
        assert first @ second == pytest.approx(0, abs=1e-10)
        for direction in (first, second):
            assert np.linalg.norm(direction) == pytest.approx(np.linalg.norm(getattr(START, group)))
    assert not np.allclose(random_directions(START, seed=4).first.weights, found.first.weights)


def test_a_path_on_a_line_has_its_direction():
    line = random_directions(START)
    path = [line.moved(START, step, 0.0) for step in (3.0, 1.0, 0.5, 0.0)]
    found = path_directions(path)
    length = np.sqrt(sum(np.sum(getattr(line.first, group) ** 2) for group in ("weights", "bias", "centroids")))
    assert_allclose(found.coordinates(path, START)[:, 0], length * np.array([3.0, 1.0, 0.5, 0.0]), atol=1e-10)
    assert_allclose(found.coordinates(path, START)[:, 1], 0, atol=1e-10)


def test_what_spans_no_plane_is_refused():
    with pytest.raises(InvalidInputError, match="does not move"):
        path_directions([START, START, START])
    with pytest.raises(InvalidInputError, match="three points"):
        path_directions([START, START])
    zero = Parameters(*(np.zeros_like(array) for array in (START.weights, START.bias, START.centroids)))
    with pytest.raises(InvalidInputError, match="are zero"):
        random_directions(zero)
    with pytest.raises(InvalidInputError, match="odd number"):
        loss_slice(lambda _: 0.0, START, random_directions(START), n_points=4)
