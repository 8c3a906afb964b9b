import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.studies.trainability.analysis import (
    Directions,
    LossSlice,
    alignment_loss,
    loss_slice,
    path_directions,
    random_directions,
)
from mcquack.training import Parameters, TrainingData, TrainingSettings, TrainingState, train
from tests.problems import random_problem

FEATURE_MAP = FeatureMap(n_qubits=3, n_features=4, n_layers=2)
PROBLEM = random_problem(FEATURE_MAP, n_samples=12, n_classes=2)
DATA = TrainingData(PROBLEM.X, np.arange(12) % 2, np.ones(12), 2)
START = Parameters(PROBLEM.weights, PROBLEM.bias, PROBLEM.centroids)
ENGINES = [StatevectorEngine(FEATURE_MAP, dtype=np.float64), RingEngine(FEATURE_MAP)]


def single(group, place):
    """The direction of one parameter."""
    arrays = {name: np.zeros_like(getattr(START, name)) for name in ("weights", "bias", "centroids")}
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
    assert along.explained[0] >= along.explained[1] > 0
    assert sum(along.explained) <= 1 + 1e-12
    coordinates = along.coordinates(path, path[-1])
    assert_allclose(coordinates[-1], 0, atol=1e-12)
    assert (coordinates[0] >= 0).all()
    near = loss_slice(loss, path[-1], along, reach=0.5 * float(coordinates[0, 0]), n_points=5)
    assert near.minimum[2] == pytest.approx(near.centre, abs=5e-3)


def test_a_bowl_is_a_bowl():
    centre = Parameters(np.zeros((1, 2, 3)), np.zeros((1, 2, 3)), np.zeros((2, 2)))

    def bowl(parameters):
        return float(sum(np.sum(array**2) for array in (parameters.weights, parameters.bias, parameters.centroids)))

    found = loss_slice(bowl, centre, random_directions(centre, norm="unit", groups=["bias"]), reach=2, n_points=5)
    assert_allclose(found.losses, found.first[None, :] ** 2 + found.second[:, None] ** 2, atol=1e-12)
    assert LossSlice.from_json(found.to_json()).minimum == found.minimum == (0.0, 0.0, 0.0)


def test_random_directions_are_orthogonal_and_as_long_as_the_parameters_of_each_group():
    found = random_directions(START, seed=3, groups=["weights", "centroids"])
    for group in ("weights", "centroids"):
        first, second = getattr(found.first, group).ravel(), getattr(found.second, group).ravel()
        assert first @ second == pytest.approx(0, abs=1e-10)
        for direction in (first, second):
            assert np.linalg.norm(direction) == pytest.approx(np.linalg.norm(getattr(START, group)))
    assert not found.first.bias.any()
    assert not np.allclose(random_directions(START, seed=4).first.weights, found.first.weights)


def test_a_path_on_a_line_is_explained_by_one_direction():
    line = random_directions(START, norm="unit")
    path = [line.moved(START, step, 0.0) for step in (3.0, 1.0, 0.5, 0.0)]
    found = path_directions(path)
    assert found.explained[0] == pytest.approx(1)
    assert_allclose(found.coordinates(path, START)[:, 0], np.sqrt(3) * np.array([3.0, 1.0, 0.5, 0.0]))


def test_what_spans_no_plane_is_refused():
    with pytest.raises(InvalidInputError, match="does not move"):
        path_directions([START, START, START])
    with pytest.raises(InvalidInputError, match="three points"):
        path_directions([START, START])
    zero = Parameters(*(np.zeros_like(array) for array in (START.weights, START.bias, START.centroids)))
    with pytest.raises(InvalidInputError, match='norm="unit"'):
        random_directions(zero)
    with pytest.raises(InvalidInputError, match="odd number"):
        loss_slice(lambda _: 0.0, START, random_directions(START), n_points=4)
