"""What training minimises, written out from the paper and run on the oracle."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from mcquack.kernels import Alignment
from mcquack.training import Parameters, TrainingData, TrainingSettings
from mcquack.training.batches import epoch_orders
from mcquack.training.compiled import CompiledEpochs
from mcquack.training.reference import ReferenceEpochs
from tests.oracles import gradient, oracle_kernel
from tests.training.setups import FEATURE_MAP, clusters, engine_of, start_of

FloatArray = NDArray[np.float64]
LOW, HIGH = 0.2, 0.7
SETTINGS = TrainingSettings(
    batch_size=100,
    optimizer="sgd",
    lr_ka=0.03,
    lr_co=0.05,
    reg_param_weights=0.01,
    reg_param_bias=0.02,
    reg_param_co=0.3,
    feature_range=(LOW, HIGH),
)
either_way = pytest.mark.parametrize("kind", [CompiledEpochs, ReferenceEpochs])
many_centroids = pytest.mark.parametrize(
    ("k", "class_score"), [(1, "max"), (2, "max"), (2, "sum"), (3, "max"), (3, "sum")]
)


def misalignment(data: TrainingData, parameters: Parameters, class_score: str = "max") -> float:
    """1 - A(S, K*), every row of both counted with its weight."""
    K = oracle_kernel(FEATURE_MAP, data.X, parameters.centroids, weights=parameters.weights, bias=parameters.bias)
    columns = np.arange(len(parameters.centroids)).reshape(data.n_classes, -1)
    S = np.stack([getattr(K[:, own], class_score)(axis=1) for own in columns], axis=1)
    ideal = np.where(np.arange(data.n_classes) == data.labels[:, None], 1.0, -1.0)
    rows = data.row_weights[:, None]
    return float(1 - np.sum(rows * S * ideal) / np.sqrt(np.sum(rows * S**2) * np.sum(rows * ideal**2)))


def kao_loss(data: TrainingData, parameters: Parameters, class_score: str) -> float:
    penalty = 0.01 * np.sum(parameters.weights**2) + 0.02 * np.sum(parameters.bias**2)
    return misalignment(data, parameters, class_score) + float(penalty)


def co_loss(data: TrainingData, parameters: Parameters, class_score: str) -> float:
    """R charges a centroid for every feature outside the range of the data."""
    centroids = parameters.centroids
    outside = np.maximum(centroids - HIGH, 0).sum() + np.maximum(LOW - centroids, 0).sum()
    return misalignment(data, parameters, class_score) + 0.3 * float(outside)


@either_way
@many_centroids
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_are_those_of_the_paper(kind: type, weighted: bool, k: int, class_score: Any) -> None:
    data = clusters(weighted=weighted)
    start = start_of(data, k=k)
    done = kind(engine_of(), data, replace(SETTINGS, n_centroids_per_class=k, loss=Alignment(class_score)))(start)
    moved = done.state.parameters
    assert_allclose(done.loss_kao, kao_loss(data, start.parameters, class_score), rtol=1e-12)
    between = Parameters(moved.weights, moved.bias, start.parameters.centroids)
    assert_allclose(done.loss_co, co_loss(data, between, class_score), rtol=1e-12)


@either_way
@many_centroids
def test_a_step_goes_down_the_slope_of_the_loss(kind: type, k: int, class_score: Any) -> None:
    """The first step of gradient descent is the learning rate times the gradient, and so are the reported norms."""
    data = clusters(n_samples=20, weighted=True)
    start = start_of(data, k=k, seed=13)  # with which no maximum passes from one centroid to another nearby
    old = start.parameters
    done = kind(engine_of(), data, replace(SETTINGS, n_centroids_per_class=k, loss=Alignment(class_score)))(start)
    new = done.state.parameters
    by_weights = gradient(lambda w: kao_loss(data, Parameters(w, old.bias, old.centroids), class_score), old.weights)
    by_bias = gradient(lambda b: kao_loss(data, Parameters(old.weights, b, old.centroids), class_score), old.bias)
    by_centroids = gradient(lambda c: co_loss(data, Parameters(new.weights, new.bias, c), class_score), old.centroids)
    assert_allclose(new.weights, old.weights - 0.03 * by_weights, rtol=0, atol=1e-9)
    assert_allclose(new.bias, old.bias - 0.03 * by_bias, rtol=0, atol=1e-9)
    assert_allclose(new.centroids, old.centroids - 0.05 * by_centroids, rtol=0, atol=1e-9)
    norms = [float(np.linalg.norm(slopes.ravel())) for slopes in (by_weights, by_bias, by_centroids)]
    assert_allclose(done.grad_norms, norms, rtol=1e-7)


@either_way
@many_centroids
def test_a_joint_step_goes_down_both_slopes_from_where_it_begins(kind: type, k: int, class_score: Any) -> None:
    data = clusters(n_samples=20, weighted=True)
    start = start_of(data, k=k, seed=13)
    old = start.parameters
    settings = replace(SETTINGS, n_centroids_per_class=k, loss=Alignment(class_score), steps="joint")
    done = kind(engine_of(), data, settings)(start)
    new = done.state.parameters
    by_weights = gradient(lambda w: kao_loss(data, Parameters(w, old.bias, old.centroids), class_score), old.weights)
    by_bias = gradient(lambda b: kao_loss(data, Parameters(old.weights, b, old.centroids), class_score), old.bias)
    by_centroids = gradient(lambda c: co_loss(data, Parameters(old.weights, old.bias, c), class_score), old.centroids)
    assert_allclose(new.weights, old.weights - 0.03 * by_weights, rtol=0, atol=1e-9)
    assert_allclose(new.bias, old.bias - 0.03 * by_bias, rtol=0, atol=1e-9)
    assert_allclose(new.centroids, old.centroids - 0.05 * by_centroids, rtol=0, atol=1e-9)
    assert_allclose(done.loss_kao, kao_loss(data, old, class_score), rtol=1e-12)
    assert_allclose(done.loss_co, co_loss(data, old, class_score), rtol=1e-12)
    norms = [float(np.linalg.norm(slopes.ravel())) for slopes in (by_weights, by_bias, by_centroids)]
    assert_allclose(done.grad_norms, norms, rtol=1e-7)


@either_way
def test_losses_of_several_steps_are_averaged(kind: type) -> None:
    """With rates too small to move anything, the mean over batches of equal size."""
    data = clusters(n_samples=40)
    settings = TrainingSettings(batch_size=10, lr_ka=1e-12, lr_co=1e-12, optimizer="sgd", reg_param_co=0.0, seed=3)
    start = start_of(data)
    run = kind(engine_of(), data, settings)
    done = run(start)
    assert 0 < done.loss_kao < 2
    assert_allclose(
        [done.loss_kao, done.loss_co],
        [mean_misalignment(data, start.parameters, order) for order in orders_of(data, settings)],
        rtol=1e-8,
    )


def orders_of(data: TrainingData, settings: TrainingSettings) -> list[NDArray[np.int64]]:
    (kao,), co = epoch_orders(len(data.X), 0, settings)
    return [kao, co]


def mean_misalignment(data: TrainingData, parameters: Parameters, order: NDArray[np.int64]) -> float:
    batches = [
        TrainingData(data.X[rows], data.labels[rows], data.row_weights[rows], data.n_classes)
        for rows in order.reshape(-1, 10)
    ]
    return float(np.mean([misalignment(batch, parameters) for batch in batches]))
