"""The compiled epoch is the epoch that the engine's seam gives, whatever the threads and the memory."""

from concurrent import futures
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.errors import InvalidInputError, MemoryLimitError
from mcquack.kernels import Alignment, CrossEntropy, LogCrossEntropy
from mcquack.simulators.compiled import memory, team
from mcquack.simulators.statevector import base as engine_module
from mcquack.training import TrainingData, TrainingSettings, TrainingState, compiled
from mcquack.training.compiled import CompiledEpochs
from mcquack.training.reference import ReferenceEpochs
from mcquack.training.state import EpochSums
from tests.training.setups import FEATURE_MAP, assert_close_epochs, bits, clusters, copied, engine_of, start_of

both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])
several_centroids = pytest.mark.parametrize(("k", "class_score"), [(2, "max"), (2, "sum"), (3, "max"), (3, "sum")])
N_EPOCHS = 3
# Adam divides small gradients by their own size, and so makes 1e-9 of a difference in the last bit.
TOLERANCE = 1e-8
SETTINGS: dict[str, dict[str, Any]] = {
    "one batch": {"batch_size": 45},
    "batch larger than the data": {"batch_size": 1000},
    "batches with a rest": {"batch_size": 14},
    "batches that lack a class": {"batch_size": 2},
    "single samples": {"batch_size": 1},
    "gradient descent": {"batch_size": 14, "optimizer": "sgd"},
    "alignment only": {"batch_size": 14, "epochs_ka": 2, "epochs_co": 0},
    "centroids only": {"batch_size": 14, "epochs_ka": 0, "epochs_co": 2},
    "two passes each": {"batch_size": 20, "epochs_ka": 2, "epochs_co": 2},
    "all penalties": {
        "batch_size": 20,
        "reg_param_weights": 0.01,
        "reg_param_bias": 0.02,
        "reg_param_co": 0.5,
        "feature_range": (0.2, 0.7),
        "optimizer": "sgd",
    },
    "decay": {"batch_size": 20, "decay_rate": 0.5, "lr_ka": 0.1, "lr_co": 0.05, "seed": 7},
    "joint steps": {"batch_size": 14, "steps": "joint"},
    "noise and drop": {"batch_size": 14, "input_noise": 0.1, "feature_drop": 0.3, "epochs_ka": 2, "epochs_co": 2},
    "noise on centroids alone": {"batch_size": 20, "input_noise": 0.1, "epochs_ka": 0},
    "joint steps with noise": {"batch_size": 14, "steps": "joint", "input_noise": 0.1, "feature_range": (-1.0, 2.0)},
    "joint steps with drop": {"batch_size": 45, "steps": "joint", "epochs_ka": 2, "feature_drop": 0.5},
    "cosine": {"batch_size": 20, "schedule": "cosine", "epochs": 3, "lr_ka": 0.1},
    "decoupled decay": {"batch_size": 14, "optimizer": "adamw", "reg_param_weights": 0.3, "reg_param_bias": 0.2},
    "smoothed labels": {"batch_size": 14, "steps": "joint", "loss": CrossEntropy(smoothing=0.2)},
    "logarithms": {"batch_size": 14, "loss": LogCrossEntropy()},
    "a learned scale": {"batch_size": 14, "steps": "joint", "loss": CrossEntropy(learned=True)},
    "a learned scale, alternating": {"batch_size": 20, "loss": LogCrossEntropy(learned=True), "optimizer": "sgd"},
    "joint steps in one batch": {"batch_size": 45, "steps": "joint", "epochs_ka": 2},
    "joint steps with all penalties": {
        "batch_size": 20,
        "steps": "joint",
        "reg_param_weights": 0.01,
        "reg_param_bias": 0.02,
        "reg_param_co": 0.5,
        "feature_range": (0.2, 0.7),
        "optimizer": "sgd",
    },
}


def epochs(
    state: TrainingState,
    data: TrainingData,
    settings: TrainingSettings,
    *,
    n_threads: int = 1,
    dtype: type = np.float64,
) -> list[EpochSums]:
    run = CompiledEpochs(engine_of(dtype, n_threads), data, settings)
    done = []
    for _ in range(N_EPOCHS):
        done.append(run(state))
        state = done[-1].state
    return done


def assert_same_epochs(left: list[EpochSums], right: list[EpochSums]) -> None:
    """To the last bit."""
    for one, other in zip(left, right, strict=True):
        assert bits(one.state) == bits(other.state)
        assert (one.loss_kao, one.loss_co, one.grad_norms) == (other.loss_kao, other.loss_co, other.grad_norms)
        assert one.kernel.tobytes() == other.kernel.tobytes()


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("weighted", [False, True])
def test_compiled_epochs_are_those_of_the_seam(name: str, weighted: bool) -> None:
    data, settings = clusters(weighted=weighted), TrainingSettings(**SETTINGS[name])
    by_seam, by_compiler = ReferenceEpochs(engine_of(), data, settings), CompiledEpochs(engine_of(), data, settings)
    left = right = start_of(data, loss=settings.loss)
    for _ in range(N_EPOCHS):
        slow, fast = by_seam(left), by_compiler(right)
        assert_close_epochs(fast, slow, TOLERANCE)
        left, right = slow.state, fast.state


@pytest.mark.parametrize(
    "name", ["batches with a rest", "batches that lack a class", "two passes each", "all penalties", "joint steps"]
)
@pytest.mark.parametrize("weighted", [False, True])
@several_centroids
def test_so_are_those_of_several_centroids_per_class(name: str, weighted: bool, k: int, class_score: Any) -> None:
    data = clusters(weighted=weighted)
    settings = TrainingSettings(**SETTINGS[name], n_centroids_per_class=k, loss=Alignment(class_score))
    by_seam, by_compiler = ReferenceEpochs(engine_of(), data, settings), CompiledEpochs(engine_of(), data, settings)
    left = right = start_of(data, k=k)
    for _ in range(N_EPOCHS):
        slow, fast = by_seam(left), by_compiler(right)
        assert_close_epochs(fast, slow, TOLERANCE)
        left, right = slow.state, fast.state


@pytest.mark.parametrize("k", [1, 2, 9])
@pytest.mark.parametrize("n_classes", [1, 2, 10, 18])
@pytest.mark.parametrize("steps", ["alternating", "joint"])
def test_compiled_epochs_take_any_number_of_classes(steps: Any, n_classes: int, k: int) -> None:
    data = clusters(n_samples=40, n_classes=n_classes)
    settings, start = TrainingSettings(batch_size=15, n_centroids_per_class=k, steps=steps), start_of(data, k=k)
    slow, fast = (kind(engine_of(), data, settings)(start) for kind in (ReferenceEpochs, CompiledEpochs))
    assert_close_epochs(fast, slow, TOLERANCE)


def test_a_class_without_samples_is_fine() -> None:
    full = clusters()
    lacking = TrainingData(full.X, np.zeros_like(full.labels), full.row_weights, full.n_classes)
    settings, start = TrainingSettings(batch_size=20), start_of(full)
    slow, fast = (kind(engine_of(), lacking, settings)(start) for kind in (ReferenceEpochs, CompiledEpochs))
    assert_close_epochs(fast, slow, TOLERANCE)
    assert np.isfinite(fast.state.parameters.centroids).all()


def test_samples_without_weight_do_not_count() -> None:
    data = clusters(weighted=True)
    row_weights = data.row_weights.copy()
    row_weights[10:] = 0
    settings, start = TrainingSettings(batch_size=100), start_of(data)
    some = TrainingData(data.X, data.labels, row_weights, data.n_classes)
    first = TrainingData(data.X[:10], data.labels[:10], row_weights[:10], data.n_classes)
    left, right = (CompiledEpochs(engine_of(), part, settings)(start) for part in (some, first))
    assert left.kernel.shape == (45, 3)
    for name, array in left.state.to_tensors().items():
        np.testing.assert_allclose(array, right.state.to_tensors()[name], rtol=0, atol=TOLERANCE)


# The same to the last bit


@both_types
@pytest.mark.parametrize(
    "name", ["batches with a rest", "two passes each", "batch larger than the data", "joint steps"]
)
def test_threads_change_no_bit(name: str, dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "FLOPS_WORTH_A_THREAD", 1.0)
    data, settings = clusters(n_samples=60, weighted=True), TrainingSettings(**SETTINGS[name])
    start = start_of(data, dtype=dtype)
    assert CompiledEpochs(engine_of(dtype, 2), data, settings).n_threads == 2
    alone, *shared = (epochs(start, data, settings, n_threads=n, dtype=dtype) for n in (1, 2, 3))
    for together in shared:
        assert_same_epochs(together, alone)


@both_types
@several_centroids
def test_threads_change_no_bit_with_several_centroids_either(
    k: int, class_score: Any, dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "FLOPS_WORTH_A_THREAD", 1.0)
    data = clusters(n_samples=60, weighted=True)
    settings = TrainingSettings(batch_size=14, n_centroids_per_class=k, loss=Alignment(class_score))
    alone, shared = (epochs(start_of(data, k=k, dtype=dtype), data, settings, n_threads=n, dtype=dtype) for n in (1, 3))
    assert_same_epochs(shared, alone)


@both_types
@pytest.mark.parametrize("epochs_co", [0, 1, 3])
def test_states_may_be_kept_or_encoded_again(epochs_co: int, dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    data, settings = clusters(weighted=True), TrainingSettings(batch_size=10, epochs_co=epochs_co)
    start = start_of(data, dtype=dtype)
    kept = epochs(start, data, settings, dtype=dtype)
    monkeypatch.setattr(compiled, "KEPT_STATES_LIMIT", 0)
    n_batch_blocks = engine_of(dtype).n_blocks(10) + 1 if epochs_co else 0
    assert len(CompiledEpochs(engine_of(dtype), data, settings).space.own.kept) == n_batch_blocks
    assert_same_epochs(epochs(start, data, settings, dtype=dtype), kept)


def test_little_free_memory_keeps_fewer_states(monkeypatch: pytest.MonkeyPatch) -> None:
    data, settings = clusters(), TrainingSettings(batch_size=10)
    assert len(CompiledEpochs(engine_of(), data, settings).space.own.kept) == engine_of().n_blocks(45)
    monkeypatch.setattr(compiled, "available_bytes", lambda: 1000)
    assert len(CompiledEpochs(engine_of(), data, settings).space.own.kept) == engine_of().n_blocks(10) + 1


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("steps", ["alternating", "joint"])
def test_a_resumed_run_is_the_same_run(steps: Any, optimizer: Any) -> None:
    data, settings = clusters(), TrainingSettings(batch_size=14, decay_rate=0.9, optimizer=optimizer, steps=steps)
    straight = epochs(start_of(data), data, settings)
    for stop in range(N_EPOCHS):
        before = start_of(data) if stop == 0 else straight[stop - 1].state
        resumed = epochs(copied(before), data, settings)
        assert_same_epochs(resumed[: N_EPOCHS - stop], straight[stop:])


def test_buffers_remember_nothing() -> None:
    data, settings = clusters(), TrainingSettings(batch_size=14)
    run, start = CompiledEpochs(engine_of(), data, settings), start_of(data)
    first = run(start)
    run(start_of(data, seed=1))
    assert_same_epochs([run(start)], [first])


def test_the_given_state_stays_as_it_is() -> None:
    data = clusters()
    start = start_of(data)
    before = bits(start)
    CompiledEpochs(engine_of(), data, TrainingSettings(batch_size=14))(start)
    assert bits(start) == before


def test_an_interrupt_leaves_state_and_buffers_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "FLOPS_WORTH_A_THREAD", 1.0)
    monkeypatch.setattr(engine_module, "FLOPS_WORTH_LISTENING", 0.0)
    data, settings = clusters(n_samples=400), TrainingSettings(batch_size=20, epochs_ka=50)
    start = start_of(data)
    run = CompiledEpochs(engine_of(n_threads=2), data, settings)
    expected, before = run(start), bits(start)
    waits = []

    def interrupted_once(members: Any) -> None:
        waits.append(members)
        if len(waits) == 1:
            raise KeyboardInterrupt
        futures.wait(members)

    monkeypatch.setattr(team, "wait", interrupted_once)
    with pytest.raises(KeyboardInterrupt):
        run(start)
    assert bits(start) == before
    assert_same_epochs([run(start)], [expected])


# Several centroids per class


@pytest.mark.parametrize("class_score", ["max", "sum"])
def test_one_centroid_needs_no_score(class_score: Any) -> None:
    data, settings = clusters(weighted=True), TrainingSettings(batch_size=14)
    scored = replace(settings, n_centroids_per_class=1, loss=Alignment(class_score))
    assert_same_epochs(epochs(start_of(data), data, scored), epochs(start_of(data), data, settings))


@several_centroids
def test_centroids_of_a_class_may_change_places(k: int, class_score: Any) -> None:
    data = clusters()
    settings = TrainingSettings(batch_size=14, n_centroids_per_class=k, loss=Alignment(class_score))
    places = np.concatenate([k * number + np.roll(np.arange(k), number + 1) for number in range(data.n_classes)])
    start = start_of(data, k=k)
    moved = replace(start, parameters=replace(start.parameters, centroids=start.parameters.centroids[places]))
    for here, there in zip(epochs(start, data, settings), epochs(moved, data, settings), strict=True):
        left, right = here.state.parameters, there.state.parameters
        assert_allclose(right.weights, left.weights, rtol=0, atol=TOLERANCE)
        assert_allclose(right.centroids, left.centroids[places], rtol=0, atol=TOLERANCE)
        assert_allclose(there.kernel, here.kernel[:, places], rtol=0, atol=TOLERANCE)


def copies_of(state: TrainingState, k: int) -> TrainingState:
    return TrainingState.start(replace(state.parameters, centroids=np.repeat(state.parameters.centroids, k, axis=0)))


@pytest.mark.parametrize("class_score", ["max", "sum"])
def test_copies_of_a_centroid_align_the_kernel_as_one_does(class_score: Any) -> None:
    data, settings = clusters(), TrainingSettings(batch_size=14, epochs_co=0)
    copied_thrice = replace(settings, n_centroids_per_class=3, loss=Alignment(class_score))
    one = epochs(start_of(data), data, settings)
    for left, right in zip(one, epochs(copies_of(start_of(data), 3), data, copied_thrice), strict=True):
        assert_allclose(right.state.parameters.weights, left.state.parameters.weights, rtol=0, atol=TOLERANCE)
        expected = pytest.approx((left.loss_kao, *left.grad_norms[:2]), rel=1e-8)
        assert (right.loss_kao, *right.grad_norms[:2]) == expected


def test_the_sum_moves_copies_together_and_each_by_its_share() -> None:
    data, settings = clusters(), TrainingSettings(batch_size=14, optimizer="sgd", reg_param_co=0.0)
    copied_thrice = replace(settings, lr_co=3 * settings.lr_co, n_centroids_per_class=3, loss=Alignment("sum"))
    one = epochs(start_of(data), data, settings)
    for left, right in zip(one, epochs(copies_of(start_of(data), 3), data, copied_thrice), strict=True):
        expected = copies_of(left.state, 3).parameters
        for name in ("weights", "bias", "centroids"):
            assert_allclose(getattr(right.state.parameters, name), getattr(expected, name), rtol=0, atol=TOLERANCE)


def test_the_maximum_moves_only_the_first_of_equals() -> None:
    data = clusters()
    settings = TrainingSettings(epochs_ka=0, reg_param_co=0.0, n_centroids_per_class=3)
    start = copies_of(start_of(data), 3)
    after = CompiledEpochs(engine_of(), data, settings)(start).state.parameters.centroids
    moved = (after != start.parameters.centroids).any(axis=1)
    assert_array_equal(moved.reshape(data.n_classes, 3), [[True, False, False]] * data.n_classes)


# Shapes and limits


def test_the_kernel_belongs_to_the_samples_in_their_own_order() -> None:
    data, settings = clusters(), TrainingSettings(batch_size=7)
    done = CompiledEpochs(engine_of(), data, settings)(start_of(data))
    parameters, engine = done.state.parameters, engine_of()
    samples = engine.encode(data.X, parameters.weights, parameters.bias)
    centroids = engine.encode(parameters.centroids, parameters.weights, parameters.bias)
    np.testing.assert_allclose(done.kernel, engine.fidelities(samples, centroids), rtol=0, atol=1e-14)


@pytest.mark.parametrize("epochs_co", [0, 1])
def test_without_the_kernel_training_is_the_same(epochs_co: int) -> None:
    data, settings = clusters(), TrainingSettings(batch_size=7, epochs_co=epochs_co)
    run, start = CompiledEpochs(engine_of(), data, settings), start_of(data)
    assert bits(run(start, with_kernel=False).state) == bits(run(start).state)


def test_steps_and_epochs_are_counted() -> None:
    data, settings = clusters(), TrainingSettings(batch_size=14, epochs_ka=2, epochs_co=3)
    done = epochs(start_of(data), data, settings)
    assert [epoch.state.epoch for epoch in done] == [1, 2, 3]
    assert_array_equal(
        [epoch.state.steps for epoch in done], [[8, 8, 12, 0, 12], [16, 16, 24, 0, 24], [24, 24, 36, 0, 36]]
    )


def test_each_joint_step_is_one_of_either_kind() -> None:
    data, settings = clusters(), TrainingSettings(batch_size=14, epochs_ka=2, epochs_co=3, steps="joint")
    done = epochs(start_of(data), data, settings)
    assert_array_equal(
        [epoch.state.steps for epoch in done], [[8, 8, 8, 0, 8], [16, 16, 16, 0, 16], [24, 24, 24, 0, 24]]
    )


def test_training_beyond_memory_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    engine = engine_of().on(replace(FEATURE_MAP, n_qubits=8))  # of fewer the system is not asked
    with pytest.raises(MemoryLimitError, match=r"\b8 qubits .*\b45\b"):
        CompiledEpochs(engine, clusters(), TrainingSettings())


def test_samples_must_fit_the_feature_map() -> None:
    data = clusters()
    with pytest.raises(InvalidInputError, match=r"\b5\b"):
        CompiledEpochs(engine_of(), TrainingData(data.X[:, :4], data.labels, data.row_weights, 3), TrainingSettings())


@pytest.mark.parametrize("name", ["weights", "bias", "centroids"])
@pytest.mark.parametrize("shape", [(40, 3, 3), (1, 3, 3), (1, 5), (4, 5), (3, 4)])
def test_parameters_of_another_shape_are_refused(name: str, shape: tuple[int, ...]) -> None:
    data = clusters()
    state = start_of(data)
    wrong = replace(state, parameters=replace(state.parameters, **{name: np.ones(shape)}))
    with pytest.raises(InvalidInputError, match=name):
        CompiledEpochs(engine_of(), data, TrainingSettings())(wrong)


def test_there_are_as_many_centroids_as_the_settings_say() -> None:
    data = clusters()
    with pytest.raises(InvalidInputError, match=r"centroids .*\(6, 5\).*\(3, 5\)"):
        CompiledEpochs(engine_of(), data, TrainingSettings(n_centroids_per_class=2))(start_of(data))


def test_a_state_goes_on_in_the_type_of_the_engine() -> None:
    data = clusters()
    after = CompiledEpochs(engine_of(np.float32), data, TrainingSettings())(start_of(data, dtype=np.float64)).state
    assert all(array.dtype == np.float32 for array in after.to_tensors().values() if array.dtype.kind == "f")


@pytest.mark.parametrize("labels", [[-1, 0], [0, 2]])
def test_labels_are_class_numbers(labels: list[int]) -> None:
    with pytest.raises(InvalidInputError, match="0 to 1"):
        TrainingData(np.zeros((2, 5)), np.array(labels), np.ones(2), 2)
