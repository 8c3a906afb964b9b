"""One rule for ties, whoever asks, and simulated shots that are independent unless the same is asked again."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs

from mcquack import McQuackClassifier, QuackClassifier, load
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.kernels import SampledEngine, Shots
from mcquack.kernels.fidelity import winning_classes, with_winner_first
from mcquack.kernels.losses import Alignment, CrossEntropy, LogCrossEntropy
from mcquack.models import KernelAlignmentClassifier, VariationalEnsembleClassifier
from mcquack.randomness import stream
from mcquack.simulators.engine import Measured
from mcquack.simulators.samplers import SimulatedSampler

SETTINGS = {"n_qubits": 3, "n_repetitions": 1, "epochs": 2, "random_state": 0}
LOSSES = [Alignment(), CrossEntropy(), LogCrossEntropy(), CrossEntropy(beta=1e6), CrossEntropy(softmax=False)]


def blobs(n_classes: int) -> tuple[Any, Any]:
    return make_blobs(60, n_features=4, centers=n_classes, cluster_std=4.0, random_state=1)


def fitted(kind: Any = McQuackClassifier, n_classes: int = 3, **settings: Any) -> Any:
    return kind(**{**SETTINGS, **settings}).fit(*blobs(n_classes))


def n_tied(model: Any, X: Any) -> int:
    K = model.transform(X)
    return int(((K.max(axis=1, keepdims=True) == K).sum(axis=1) > 1).sum())


def assert_one_order(model: Any, X: Any) -> None:
    """What is predicted leads the shares and the scores; the shares are shares, and nothing leaves its range."""
    predicted, shares, decisions = model.predict(X), model.predict_proba(X), model.decision_function(X)
    assert_array_equal(model.classes_[shares.argmax(axis=1)], predicted)
    by_decision = (decisions > 0).astype(int) if decisions.ndim == 1 else decisions.argmax(axis=1)
    assert_array_equal(model.classes_[by_decision], predicted)
    assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    assert ((shares >= 0) & (shares <= 1)).all()


# Ties


@pytest.mark.parametrize("kind", [McQuackClassifier, QuackClassifier])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_two_classes_have_one_order(kind: Any, loss: Any) -> None:
    model, (X, _) = fitted(kind, 2, loss=loss), blobs(2)
    assert_one_order(model, X)
    for engine in (Shots(3), Shots(3, tolerance=1), Shots(tolerance=3), SampledEngine(SimulatedSampler(), shots=3)):
        model.set_params(engine=engine)
        assert n_tied(model, X) > 5
        assert_one_order(model, X)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("settings", [{}, {"n_starts": 3}, {"n_centroids_per_class": 2}], ids=str)
def test_several_classes_have_one_order(loss: Any, settings: dict[str, Any]) -> None:
    if "n_centroids_per_class" in settings and isinstance(loss, Alignment):
        loss = Alignment(class_score="sum")
    model, (X, _) = fitted(loss=loss, **settings), blobs(3)
    assert_one_order(model, X)
    for engine in (Shots(3), Shots(3, tolerance=1), Shots(tolerance=3), SampledEngine(SimulatedSampler(), shots=3)):
        assert_one_order(model.set_params(engine=engine), X)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_classifiers_have_one_order(n_classes: int) -> None:
    X, _ = blobs(n_classes)
    assert_one_order(fitted(VariationalEnsembleClassifier, n_classes), X)
    model = fitted(KernelAlignmentClassifier, n_classes)
    assert_one_order(model, X)
    assert_one_order(model.set_params(engine=Shots(2)), X)


def test_shots_decide_the_same_with_a_tolerance_of_0_and_without_one() -> None:
    model, (X, y) = fitted(n_classes=2, n_qubits=12, engine="ring", feature_map="device"), blobs(2)
    plain, tolerant = (copy.deepcopy(model).set_params(engine=Shots(20, tolerance=b, engine="ring")) for b in (None, 0))
    assert n_tied(plain, X) > 20
    for name in ("transform", "decision_function", "predict_proba", "predict"):
        assert_array_equal(getattr(plain, name)(X), getattr(tolerant, name)(X))
    assert plain.score(X, y) > max(np.mean(y == 0), np.mean(y == 1)) + 0.15, "ties should not go to one class"


class Counting:
    """A sampler that finds as many ones with every centroid as it is told to, in all shots."""

    def __init__(self, *ones: int) -> None:
        self.ones = ones

    def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> Any:
        counts = np.zeros((*circuits.shape, circuits.n_qubits + 1), dtype=np.int64)
        for column, ones in enumerate(self.ones):
            counts[:, column, ones] = shots
        return counts


@pytest.mark.parametrize(("ones", "winner"), [((3, 2, 1), 2), ((2, 1, 1), 1), ((1, 1, 1), 0), ((0, 0, 3), 0)])
def test_fewer_ones_and_then_the_first_class_decide(ones: tuple[int, ...], winner: int) -> None:
    model, (X, _) = fitted(), blobs(3)
    model.set_params(engine=SampledEngine(Counting(*ones), shots=7))
    assert_array_equal(model.predict(X), model.classes_[winner])
    assert_one_order(model, X)
    assert_allclose(model.decision_function(X), model.transform(X), rtol=0, atol=1e-14)


def test_shares_that_differ_stay_as_they_are() -> None:
    scores = stream(0, "scores").uniform(size=(50, 4))
    assert with_winner_first(scores.argmax(axis=1), scores) is scores


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("value", [0.0, 1e-300, 0.25, 1.0])
def test_winners_of_ties_lead_within_the_range(dtype: str, value: float) -> None:
    tied = np.full((3, 3), value, dtype)
    led = with_winner_first(np.array([0, 1, 2]), tied)
    assert_array_equal(led.argmax(axis=1), [0, 1, 2])
    assert_allclose(led, tied, rtol=0, atol=1e-5 if dtype == "float32" else 1e-14)
    assert ((led >= 0) & (led <= 1)).all()


def test_means_that_differ_by_rounding_alone_are_ties() -> None:
    """(0.1 + 0.2) + 0.3 is not (0.3 + 0.2) + 0.1: several starts would else decide by the order of their sums."""
    kernel = np.array([[(0.3 + 0.2) + 0.1, (0.1 + 0.2) + 0.3]])
    assert kernel[0, 0] != kernel[0, 1]
    assert_array_equal(winning_classes(Measured(kernel, np.array([[-1.0, -2.0]])), 2), [0])
    assert_array_equal(winning_classes(Measured(kernel[:, ::-1], np.array([[-2.0, -1.0]])), 2), [1])


# Shots


@pytest.fixture(scope="module")
def model() -> McQuackClassifier:
    return fitted(n_classes=2).set_params(engine=Shots(50))


def test_shots_follow_the_seed_as_it_is_now(model: McQuackClassifier) -> None:
    X, _ = blobs(2)
    before = model.transform(X)
    other = copy.deepcopy(model).set_params(random_state=1)
    assert (other.transform(X) != before).any()
    assert_array_equal(other.set_params(random_state=0).transform(X), before)
    assert_array_equal(other.set_params(random_state=np.int64(0)).transform(X), before)


@pytest.mark.parametrize("n_starts", [1, 2])
@pytest.mark.parametrize("seed", [0, None])
def test_copies_files_and_fits_anew_draw_the_same(n_starts: int, seed: int | None, tmp_path: Path) -> None:
    X, y = blobs(2)
    model = fitted(n_classes=2, n_starts=n_starts, random_state=seed).set_params(engine=Shots(20))
    model.save(tmp_path / "model.mcq")
    copies = [load(tmp_path / "model.mcq"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    if seed is not None:
        copies.append(clone(model).fit(X, y))
    for other in copies:
        for rows in (X[:7], X, X[7:], X):  # whatever was asked before
            assert_array_equal(other.transform(rows), model.transform(rows))


def test_starts_take_the_engine_and_the_seed_of_the_whole() -> None:
    X, _ = blobs(2)
    model = fitted(n_classes=2, n_starts=2)
    exact = model.transform(X)
    counted = model.set_params(engine=Shots(4)).transform(X)
    assert_allclose(counted * 8, np.rint(counted * 8), rtol=0, atol=1e-9)
    assert (counted != exact).any()
    assert (model.set_params(random_state=5).transform(X) != counted).any()


def test_threads_may_ask_at_once(model: McQuackClassifier) -> None:
    X, _ = blobs(2)
    parts = [X[first:] for first in range(20)]
    alone = [model.transform(part) for part in parts]
    with ThreadPoolExecutor(4) as pool:
        for found, expected in zip(pool.map(model.transform, parts), alone, strict=True):
            assert_array_equal(found, expected)


def test_asking_changes_nothing(model: McQuackClassifier) -> None:
    X, _ = blobs(2)
    before = pickle.dumps(model)
    model.predict(X)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("kind", [McQuackClassifier, KernelAlignmentClassifier])
def test_errors_of_different_rows_are_independent(kind: Any) -> None:
    """3.5 standard deviations of the correlation of 1,000 pairs of rows that differ by almost nothing."""
    many = blobs(2)[0][:1] + stream(0, "apart").normal(scale=1e-3, size=(2000, 4))
    model = fitted(kind, 2).set_params(engine=Shots(20))
    ask = model.transform if kind is McQuackClassifier else model.decision_function
    halves = [ask(many[:1000]), ask(many[1000:])]
    errors = [(half if half.ndim == 1 else half[:, 0]) for half in halves]
    assert min(np.std(error) for error in errors) > 0
    assert abs(np.corrcoef(*errors)[0, 1]) < 3.5 / np.sqrt(1000)
    within = np.corrcoef(errors[0][:500], errors[0][500:])[0, 1]
    assert abs(within) < 3.5 / np.sqrt(500)
