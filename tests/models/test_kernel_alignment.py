"""The kernel alignment classifier is scikit-learn's SVC on the square kernel of a circuit that McQuack trained."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import mcquack
from mcquack import FeatureMap, McQuackClassifier
from mcquack.errors import InvalidInputError, MemoryLimitError, ModelFileError, ShotBudgetError
from mcquack.kernels import QuantumKernel, SampledEngine, Shots
from mcquack.models.kernel_alignment import KernelAlignmentClassifier
from mcquack.models.model_file import read_model, write_model
from mcquack.randomness import stream
from mcquack.simulators import SimulatedSampler
from mcquack.simulators.compiled import memory

IRIS_X, IRIS_Y = load_iris(return_X_y=True)
QUICK: dict[str, Any] = {"n_qubits": 3, "n_repetitions": 2, "epochs": 5, "random_state": 0}


@parametrize_with_checks([KernelAlignmentClassifier(2, 3, epochs=20, lr_ka=0.05, lr_co=0.05)])
def test_scikit_learns_own_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.campaign
@parametrize_with_checks([KernelAlignmentClassifier()])
def test_scikit_learns_own_checks_with_the_defaults(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def few(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_iris(return_X_y=True) if n_classes < 4 else load_digits(return_X_y=True)
    chosen = np.flatnonzero(y < n_classes)[:400:2]
    return X[chosen], y[chosen]


# The machine


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_it_is_scikit_learns_machine_on_the_trained_kernel(n_classes: int, C: float) -> None:
    X, y = few(n_classes)
    model = KernelAlignmentClassifier(**QUICK, C=C).fit(X, y)
    trained = McQuackClassifier(**QUICK, loss="alignment", steps="alternating").fit(X, y)
    assert_array_equal(model.weights_, trained.weights_)
    assert model.history_[-1]["loss"] == trained.history_[-1]["loss"]
    assert model.kernel_ == trained.kernel_
    peer = SVC(C=C, kernel=model.kernel_, break_ties=n_classes > 2, decision_function_shape="ovr").fit(X, y)
    expected, predicted = peer.decision_function(X), peer.predict(X)
    margins = peer.set_params(decision_function_shape="ovo").decision_function(X).reshape(len(X), -1)
    sure = np.abs(margins).min(axis=1) > 5e-3  # the solver stops at 1e-3, and a vote is that of the sign of a margin
    assert np.mean(sure) > 0.9
    assert_allclose(model.decision_function(X)[sure], expected[sure], atol=2e-2)
    assert np.mean(model.predict(X) == predicted) > 0.98
    assert model.n_parameters_ == model.weights_.size + model.bias_.size + model.dual_coef_.size
    assert len(model.support_vectors_) == model.n_support_.sum() <= len(X)


def test_where_a_class_is_more_than_one_point_it_learns_sooner_than_mcquack_and_training_helps() -> None:
    X = stream(0, "X").uniform(-1, 1, size=(400, 2))
    y = X[:, 0] * X[:, 1] > 0  # opposite quadrants
    settings: dict[str, Any] = {"n_qubits": 2, "n_repetitions": 4, "epochs": 10, "random_state": 0}
    machine, untrained = (KernelAlignmentClassifier(**settings | more, C=10.0) for more in ({}, {"epochs": 0}))
    scores = [
        model.fit(X[:250], y[:250]).score(X[250:], y[250:])
        for model in (machine, McQuackClassifier(**settings), untrained)
    ]
    assert scores[0] > 0.9 > max(scores[1:])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shares_order_the_classes_as_scores_do(n_classes: int) -> None:
    X, y = few(n_classes)
    model = KernelAlignmentClassifier(**QUICK).fit(X, y)
    shares, scores = model.predict_proba(X), model.decision_function(X)
    assert scores.shape == ((len(X),) if n_classes == 2 else (len(X), n_classes))
    assert_allclose(shares.sum(axis=1), 1)
    assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))
    if n_classes == 2:
        assert_array_equal(np.argsort(shares[:, 1]), np.argsort(scores))


def test_a_sample_of_weight_two_is_a_sample_given_twice() -> None:
    weights = np.arange(len(IRIS_Y)) % 3
    settings = {**QUICK, "batch_size": 1000}
    weighted = KernelAlignmentClassifier(**settings).fit(IRIS_X, IRIS_Y, weights)
    repeated = KernelAlignmentClassifier(**settings).fit(np.repeat(IRIS_X, weights, 0), np.repeat(IRIS_Y, weights))
    assert_allclose(weighted.decision_function(IRIS_X), repeated.decision_function(IRIS_X), atol=1e-9)


def test_weights_of_classes_are_weights_of_their_samples() -> None:
    settings = {**QUICK, "batch_size": 1000}
    by_class = KernelAlignmentClassifier(**settings, class_weight={0: 1.0, 1: 5.0}).fit(IRIS_X, IRIS_Y)
    by_sample = KernelAlignmentClassifier(**settings).fit(IRIS_X, IRIS_Y, np.where(IRIS_Y == 1, 5.0, 1.0))
    assert_array_equal(by_class.decision_function(IRIS_X), by_sample.decision_function(IRIS_X))
    rare = np.flatnonzero((IRIS_Y == 1) | ((IRIS_Y == 2) & (np.arange(150) % 7 == 0)))
    plain, balanced = (
        KernelAlignmentClassifier(**QUICK, C=0.1, class_weight=how).fit(IRIS_X[rare], IRIS_Y[rare])
        for how in (None, "balanced")
    )
    of_rare = IRIS_X[IRIS_Y == 2]
    assert (balanced.predict(of_rare) == 2).sum() > (plain.predict(of_rare) == 2).sum()


def test_a_class_without_weight_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"class_weight .* \[2\]"):
        KernelAlignmentClassifier(**QUICK, class_weight={2: 0.0}).fit(IRIS_X, IRIS_Y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0.0}, "C must be"),
        ({"C": "1"}, "C must be"),
        ({"lr_ka": -1.0}, "lr_ka"),
        ({"engine": "abacus"}, "engine"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_and_change_nothing(settings: Any, message: str) -> None:
    model = KernelAlignmentClassifier(**QUICK).fit(IRIS_X, IRIS_Y)
    before = model.decision_function(IRIS_X)
    wrong = KernelAlignmentClassifier(**{**QUICK, **settings})
    with pytest.raises(InvalidInputError, match=message):
        wrong.fit(IRIS_X, IRIS_Y)
    with pytest.raises(InvalidInputError, match="one class"):
        model.fit(IRIS_X, np.zeros(150))
    assert_array_equal(model.decision_function(IRIS_X), before)


class InSmallBlocks(KernelAlignmentClassifier):
    """The same with blocks of forty rows."""

    _entries_at_once = 1
    _least_rows = 40


class InBlocks(InSmallBlocks):
    _least_rows = 800


def test_prediction_goes_by_blocks_against_support_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, model = (kind(**QUICK).fit(IRIS_X, IRIS_Y) for kind in (KernelAlignmentClassifier, InSmallBlocks))
    asked: list[tuple[int, int]] = []
    compute = QuantumKernel.kernel

    def noted(self: QuantumKernel, X: Any, Y: Any = None) -> Any:
        asked.append((len(X), len(Y)))
        return compute(self, X, Y)

    monkeypatch.setattr(QuantumKernel, "kernel", noted)
    found = model.decision_function(IRIS_X)
    n_vectors = len(model.support_vectors_)
    assert n_vectors < len(IRIS_X)
    assert asked == [(40, n_vectors)] * 3 + [(30, n_vectors)]
    assert_allclose(found, whole.decision_function(IRIS_X), atol=1e-12)


def test_memory_of_prediction_does_not_grow_with_samples_times_vectors() -> None:
    X = stream(0, "X").normal(size=(400, 3))
    model = InBlocks(**QUICK, C=0.01).fit(X, np.arange(400) % 2)
    assert len(model.support_vectors_) > 350
    many = np.tile(X, (20, 1))
    model.predict(many[:400])
    tracemalloc.start()
    model.predict(many)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < len(many) * len(model.support_vectors_) * 8 / 2


# Engines and circuits


def test_it_takes_engines_and_circuits_as_mcquack_does() -> None:
    circuit = FeatureMap(n_qubits=4, n_features=4, n_layers=1, final_entangler=False)
    exact = KernelAlignmentClassifier(**{**QUICK, "epochs": 10}, feature_map=circuit).fit(IRIS_X, IRIS_Y)
    assert exact.feature_map_ == circuit
    ring = KernelAlignmentClassifier(**{**QUICK, "epochs": 10}, feature_map=circuit, engine="ring").fit(IRIS_X, IRIS_Y)
    assert_allclose(ring.decision_function(IRIS_X), exact.decision_function(IRIS_X), atol=2e-2)
    sampled = exact.set_params(engine=Shots(2000))
    assert sampled.score(IRIS_X, IRIS_Y) > 0.85


def test_a_budget_of_shots_is_that_of_training_and_of_the_square_kernel() -> None:
    X, y = IRIS_X[::10], IRIS_Y[::10]
    sampler = SimulatedSampler(seed=0)
    taken: list[int] = []

    class Counting:
        def hamming_counts(self, circuits: Any, *, shots: int) -> Any:
            taken.append(circuits.shape[0] * circuits.shape[1] * shots)
            return sampler.hamming_counts(circuits, shots=shots)

    def model(budget: int, epochs: int = 5) -> KernelAlignmentClassifier:
        engine = SampledEngine(Counting(), shots=10, budget=budget)
        return KernelAlignmentClassifier(n_qubits=2, n_repetitions=1, epochs=epochs, random_state=0, engine=engine)

    model(10**6, epochs=0).fit(X, y)
    kernel = sum(taken)
    assert kernel > 10 * 15 * 14 // 2
    epoch = model(1)._alignment().epoch_shots(X, y)
    taken.clear()
    with pytest.raises(ShotBudgetError, match=f"{kernel:,} shots.* {epoch:,}"):
        model(kernel + epoch - 1).fit(X, y)
    assert not taken
    found = model(kernel + 2 * epoch + 1).fit(X, y)
    assert found.n_iter_ == 2
    assert found.shots_ == sum(taken) == kernel + 2 * epoch


def test_a_square_kernel_without_room_is_refused_before_training(monkeypatch: pytest.MonkeyPatch) -> None:
    n = len(np.unique(np.column_stack([IRIS_X, IRIS_Y]), axis=0))
    monkeypatch.setattr(memory, "available_bytes", lambda: n * n * 8 - 1)
    monkeypatch.setattr(McQuackClassifier, "fit", None)
    with pytest.raises(MemoryLimitError, match=rf"a kernel of {n} × {n} entries needs"):
        KernelAlignmentClassifier(**QUICK).fit(IRIS_X, IRIS_Y)


# The trained kernel of a model


@pytest.mark.parametrize("scale", [True, (-1.0, 2.0), False])
def test_the_kernel_of_a_model_takes_features_as_the_model_does(scale: Any) -> None:
    model = McQuackClassifier(**QUICK, scale=scale).fit(IRIS_X, IRIS_Y)
    unscaled = model.centroids_ if model.scaler_ is None else model.scaler_.inverse_transform(model.centroids_)
    assert_allclose(model.kernel_(IRIS_X, unscaled), model.transform(IRIS_X), atol=1e-5)
    assert SVC(kernel=model.kernel_).fit(IRIS_X[::2], IRIS_Y[::2]).score(IRIS_X, IRIS_Y) > 0.9
    assert GaussianProcessClassifier(model.kernel_).fit(IRIS_X[::2], IRIS_Y[::2]).score(IRIS_X, IRIS_Y) > 0.85


def test_only_a_fitted_model_has_a_kernel() -> None:
    for model in (McQuackClassifier(), KernelAlignmentClassifier()):
        assert not hasattr(model, "kernel_")


# Files


@pytest.fixture
def path(tmp_path: Path) -> Path:
    KernelAlignmentClassifier(**QUICK).fit(IRIS_X, IRIS_Y).save(tmp_path / "model.mcq")
    return tmp_path / "model.mcq"


def test_a_file_has_all_that_it_takes(path: Path) -> None:
    model = KernelAlignmentClassifier(**QUICK).fit(IRIS_X, IRIS_Y)
    loaded = mcquack.load(path)
    assert_array_equal(loaded.decision_function(IRIS_X), model.decision_function(IRIS_X))
    assert loaded.kernel_ == model.kernel_
    assert loaded.history_[0].keys() == model.history_[0].keys()


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("n_support", np.array([1, 1, 1]), "add up"),
        ("n_support", np.array([-1, 1, 1]), "add up"),
        ("dual_coef", np.ones((2, 1)), "dual_coef"),
        ("dual_coef", np.ones((1, 3), np.float32), "dual_coef"),
        ("intercept", np.ones(2), "intercept"),
        ("support_vectors", np.ones((3, 5), np.float32), "support_vectors"),
        ("weights", np.ones((1, 3, 3), np.float32), "weights"),
    ],
)
def test_a_file_whose_parts_do_not_go_together_is_refused(path: Path, name: str, array: Any, message: str) -> None:
    header, tensors = read_model(path)
    write_model(path, header=header, tensors={**tensors, name: array})
    with pytest.raises(ModelFileError, match=message):
        mcquack.load(path)
