"""The loop yields epoch after epoch; its reports say what the numbers of each epoch are."""

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from mcquack.circuits.overlap import OverlapCircuits
from mcquack.kernels import Alignment, centroid_kernel, class_scores, target_alignment
from mcquack.simulators.shots import SampledEngine
from mcquack.training import (
    Epoch,
    ParameterShiftEngine,
    SpsaEngine,
    TrainingData,
    TrainingSettings,
    TrainingState,
    class_means,
    initial_embedding,
    train,
)
from mcquack.training.state import Parameters
from tests.training.setups import FEATURE_MAP, bits, clusters, copied, engine_of, start_of


def sensible_start(data: TrainingData, dtype: type = np.float64) -> TrainingState:
    weights, bias = initial_embedding(
        FEATURE_MAP, data.X, init_small=True, init_strategy="default", seed=0, dtype=dtype
    )
    centroids = class_means(data.X, data.labels, data.n_classes, data.row_weights)
    return TrainingState.start(Parameters(weights, bias, centroids.astype(weights.dtype)))


def kernel_of(state: TrainingState, data: TrainingData) -> NDArray[np.floating]:
    parameters = state.parameters
    return centroid_kernel(engine_of(), data.X, parameters.centroids, weights=parameters.weights, bias=parameters.bias)


def epochs(data: TrainingData, state: TrainingState, n_epochs: int, **settings: Any) -> list[Epoch]:
    return list(islice(train(engine_of(), data, state, settings=TrainingSettings(**settings)), n_epochs))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_easy_problem_is_learned(dtype: type) -> None:
    data = clusters(n_samples=90)
    loop = train(engine_of(dtype), data, sensible_start(data, dtype), settings=TrainingSettings(lr_ka=0.05, lr_co=0.05))
    reports = [epoch.report for epoch in islice(loop, 60)]
    losses = np.array([report.loss for report in reports])
    assert losses[-1] < losses[0] - 0.1
    assert (np.diff(losses.reshape(6, 10).mean(axis=1)) < 0).all(), "it falls from one tenth to the next"
    assert reports[-1].accuracy > 0.95
    assert reports[-1].alignment < 1 / np.sqrt(3)


@pytest.mark.parametrize(("k", "class_score"), [(1, "max"), (2, "max"), (3, "sum")])
def test_reports_describe_the_state_they_come_with(k: int, class_score: Any) -> None:
    data, validation = clusters(weighted=True), clusters(n_samples=20, weighted=True, seed=1)
    settings = TrainingSettings(batch_size=20, n_centroids_per_class=k, loss=Alignment(class_score))
    loop = train(engine_of(), data, start_of(data, k=k), settings=settings, validation=validation)
    for state, report in islice(loop, 3):
        for part, alignment, accuracy in (
            (data, report.alignment, report.accuracy),
            (validation, report.validation_alignment, report.validation_accuracy),
        ):
            S = class_scores(kernel_of(state, part), part.n_classes, class_score=class_score)
            assert alignment == pytest.approx(target_alignment(S, part.labels, row_weights=part.row_weights), rel=1e-10)
            hits = S.argmax(axis=1) == part.labels
            assert accuracy == pytest.approx(np.average(hits, weights=part.row_weights), rel=1e-10)
        assert report.epoch == state.epoch
        assert report.seconds >= 0


def test_patience_watches_the_validation_part_if_there_is_one() -> None:
    data, validation = clusters(), clusters(n_samples=20, seed=1)
    settings = TrainingSettings()
    with_part = next(train(engine_of(), data, start_of(data), settings=settings, validation=validation)).report
    without = next(train(engine_of(), data, start_of(data), settings=settings)).report
    assert with_part.validation_alignment is not None
    assert with_part.loss == 1 - with_part.validation_alignment
    assert without.loss == 1 - without.alignment
    assert without.validation_alignment is without.validation_accuracy is None
    assert with_part.as_row()["loss"] == with_part.loss
    assert set(with_part.as_row()) == set(with_part.__dataclass_fields__)


def test_a_phase_that_is_left_out_reports_nothing() -> None:
    data = clusters()
    alignment_only = epochs(data, start_of(data), 1, epochs_co=0)[0].report
    assert alignment_only.loss_co is alignment_only.grad_norm_centroids is None
    assert alignment_only.loss_kao is not None
    centroids_only = epochs(data, start_of(data), 1, epochs_ka=0)[0].report
    assert centroids_only.loss_kao is centroids_only.grad_norm_weights is centroids_only.grad_norm_bias is None
    assert centroids_only.loss_co is not None


@pytest.mark.parametrize(("left_out", "resting"), [("epochs_ka", ["weights", "bias"]), ("epochs_co", ["centroids"])])
def test_what_a_phase_does_not_train_rests(left_out: str, resting: list[str]) -> None:
    data = clusters()
    start = start_of(data)
    done = epochs(data, start, 2, **{left_out: 0})[-1].state
    for name in ("weights", "bias", "centroids"):
        same = np.array_equal(getattr(start.parameters, name), getattr(done.parameters, name))
        assert same == (name in resting)


def test_a_resumed_loop_is_the_same_loop() -> None:
    data = clusters(weighted=True)
    straight = epochs(data, start_of(data), 5, batch_size=14, decay_rate=0.9)
    for stop in range(1, 5):
        resumed = epochs(data, copied(straight[stop - 1].state), 5 - stop, batch_size=14, decay_rate=0.9)
        for left, right in zip(resumed, straight[stop:], strict=True):
            assert bits(left.state) == bits(right.state)


def test_yielded_states_do_not_change_later() -> None:
    data = clusters()
    loop = train(engine_of(), data, start_of(data), settings=TrainingSettings(batch_size=14))
    first = next(loop).state
    before = bits(first)
    next(loop)
    assert bits(first) == before


@pytest.mark.parametrize(("k", "class_score"), [(1, "max"), (2, "max"), (2, "sum")])
def test_engines_without_compiled_epochs_train_alike(k: int, class_score: Any) -> None:
    data = clusters(n_samples=12)
    settings = TrainingSettings(batch_size=8, n_centroids_per_class=k, loss=Alignment(class_score))
    start = start_of(data, k=k)
    shifted = train(ParameterShiftEngine(engine_of()), data, start, settings=settings)
    direct = train(engine_of(), data, start, settings=settings)
    for left, right in islice(zip(shifted, direct, strict=True), 3):
        other = right.state.to_tensors()
        for name, array in left.state.to_tensors().items():
            assert_allclose(array, other[name], rtol=0, atol=1e-8, err_msg=name)
        assert_allclose(left.report.alignment, right.report.alignment, atol=1e-8)


def test_equal_shares_of_shots_are_nobodys() -> None:
    """A kernel that tells nothing has the accuracy of a guess, whichever class comes first."""

    class Blind:
        def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> Any:
            return np.full((*circuits.shape, circuits.n_qubits + 1), shots // (circuits.n_qubits + 1))

    data = clusters(n_samples=30)
    data = replace(data, row_weights=(data.labels > 0).astype(float))  # of the first class there is nothing to guess
    shots = 10 * (FEATURE_MAP.n_qubits + 1)
    engine = SpsaEngine(SampledEngine(Blind(), FEATURE_MAP, shots=shots))
    loop = train(engine, data, sensible_start(data), settings=TrainingSettings(), validation=data)
    report = next(loop).report
    assert [report.accuracy, report.validation_accuracy] == [pytest.approx(1 / data.n_classes)] * 2
