"""What every loss promises, and what training promises every loss. A new loss adds one line to ``LOSSES``."""

from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.datasets import load_iris

from mcquack import McQuackClassifier, load
from mcquack.arrays import FloatArray
from mcquack.kernels import Alignment, ClassScore, CrossEntropy, LogCrossEntropy, Loss
from mcquack.randomness import stream
from mcquack.simulators import RingEngine, StatevectorEngine
from mcquack.training import ParameterShiftEngine, TrainingSettings, train
from mcquack.training.compiled import CompiledEpochs
from mcquack.training.reference import ReferenceEpochs
from tests.oracles import gradient
from tests.training.setups import FEATURE_MAP, bits, clusters, engine_of, start_of

IntArray = NDArray[np.int64]
X, Y = load_iris(return_X_y=True)


class SquaredHinge:
    """A loss from outside: a plain object, which knows no other loss."""

    def __init__(self, margin: float = 0.3, class_score: ClassScore = "max") -> None:
        self.margin = margin
        self.class_score = class_score
        self.n_calls = 0

    def __call__(self, scores: FloatArray, labels: IntArray, row_weights: FloatArray) -> tuple[float, FloatArray]:
        self.n_calls += 1
        rows = np.arange(len(scores))
        excess = np.maximum(self.margin + scores - scores[rows, labels][:, None], 0)
        excess[rows, labels] = 0
        share = row_weights / row_weights.sum()
        slopes = 2 * share[:, None] * excess
        slopes[rows, labels] = -slopes.sum(axis=1)
        return float(np.sum(share[:, None] * excess**2)), slopes


@dataclass(frozen=True)
class AlignmentByHand:
    """The paper's loss once more, as NumPy has it."""

    class_score: ClassScore = "max"

    def __call__(self, scores: FloatArray, labels: IntArray, row_weights: FloatArray) -> tuple[float, FloatArray]:
        ideal = np.where(np.arange(scores.shape[1]) == labels[:, None], 1.0, -1.0)
        rows = row_weights[:, None]
        power, size = np.sum(rows * scores**2), np.sqrt(np.sum(rows * scores**2) * np.sum(rows * ideal**2))
        alignment = np.sum(rows * scores * ideal) / size
        return float(1 - alignment), -rows * (ideal / size - alignment * scores / power)


LOSSES: tuple[Any, ...] = (
    Alignment(),
    CrossEntropy(),
    CrossEntropy(beta=1.5),
    CrossEntropy(smoothing=0.2),
    LogCrossEntropy(),
    LogCrossEntropy(beta=2.0, floor=0.05, smoothing=0.1),
    SquaredHinge(),
    AlignmentByHand(),
)
BUILT_IN = LOSSES[:6]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
built_in = pytest.mark.parametrize("loss", BUILT_IN, ids=lambda loss: type(loss).__name__)
many_centroids = pytest.mark.parametrize(("k", "class_score"), [(1, "max"), (2, "max"), (2, "sum"), (3, "sum")])


def scored(loss: Any, class_score: str) -> Any:
    """The same loss with another score."""
    if isinstance(loss, SquaredHinge):
        return SquaredHinge(loss.margin, class_score)  # type: ignore[arg-type]
    return replace(loss, class_score=class_score)


@st.composite
def questions(draw: st.DrawFn) -> tuple[FloatArray, IntArray, FloatArray]:
    """Scores between 0.1 and 1, labels and weights."""
    n_samples, n_classes = draw(st.integers(1, 6)), draw(st.integers(2, 5))
    rng = stream(draw(st.integers(0, 2**32 - 1)), "scores")
    scores = rng.uniform(0.1, 1, size=(n_samples, n_classes))
    return scores, rng.integers(n_classes, size=n_samples), rng.uniform(0.1, 3, size=n_samples)


# The loss itself


@every_loss
@given(question=questions())
def test_slopes_meet_finite_differences(loss: Loss, question: Any) -> None:
    scores, labels, weights = question
    value, slopes = loss(scores, labels, weights)
    assert np.isfinite(value)
    assert slopes.shape == scores.shape
    expected = gradient(lambda moved: loss(moved, labels, weights)[0], scores)
    # The squared hinge has a bend in its slope, where differences of fourth order are of none.
    assert_allclose(slopes, expected, rtol=0, atol=2e-3 if isinstance(loss, SquaredHinge) else 1e-7)


@every_loss
@given(question=questions())
def test_a_step_down_the_slope_lowers_it(loss: Loss, question: Any) -> None:
    scores, labels, weights = question
    value, slopes = loss(scores, labels, weights)
    steepness = np.sum(slopes**2)
    if steepness > 1e-10:
        assert loss(scores - 1e-5 * slopes / np.sqrt(steepness), labels, weights)[0] < value


@every_loss
@given(question=questions(), data=st.data())
def test_names_of_classes_and_order_of_samples_change_nothing(loss: Loss, question: Any, data: st.DataObject) -> None:
    scores, labels, weights = question
    new_name = np.array(data.draw(st.permutations(range(scores.shape[1]))))
    order = np.array(data.draw(st.permutations(range(len(labels)))))
    renamed = np.empty_like(scores)
    renamed[:, new_name] = scores
    value, slopes = loss(renamed[order], new_name[labels][order], weights[order])
    expected, of_old_names = loss(scores, labels, weights)
    assert_allclose(value, expected, rtol=1e-10, atol=1e-14)
    assert_allclose(slopes[:, new_name], of_old_names[order], rtol=0, atol=1e-12)


@every_loss
@given(question=questions())
def test_a_weight_of_two_is_a_sample_given_twice(loss: Loss, question: Any) -> None:
    scores, labels, _ = question
    value, slopes = loss(scores, labels, np.full(len(labels), 2.0))
    twice, of_twice = loss(np.repeat(scores, 2, axis=0), np.repeat(labels, 2), np.ones(2 * len(labels)))
    assert_allclose(value, twice, rtol=1e-10, atol=1e-14)
    assert_allclose(slopes, of_twice[::2] + of_twice[1::2], rtol=0, atol=1e-12)


@every_loss
def test_inputs_stay_as_they_are(loss: Loss) -> None:
    rng = stream(0, "inputs")
    arrays = rng.uniform(size=(5, 3)), rng.integers(3, size=5), rng.uniform(size=5)
    before = [array.copy() for array in arrays]
    loss(*arrays)
    for array, copy in zip(arrays, before, strict=True):
        assert_array_equal(array, copy)


# Training


def close(left: Any, right: Any, *, optimizer: str) -> None:
    """All that two epochs leave behind, to the ninth digit."""
    # Adam divides a slope by its size and 1e-8: of one that is nothing but rounding it makes steps of up to 1e-9.
    least = 5e-9 if optimizer == "adam" else 1e-12
    tensors = right.state.to_tensors()
    for name, array in left.state.to_tensors().items():
        assert_allclose(array, tensors[name], rtol=1e-9, atol=least, err_msg=name)
    assert_allclose(left.kernel, right.kernel, rtol=1e-9, atol=1e-12)
    assert_allclose([left.loss_kao, left.loss_co], [right.loss_kao, right.loss_co], rtol=1e-9)
    assert_allclose(left.grad_norms, right.grad_norms, rtol=1e-9)


@built_in
@many_centroids
@pytest.mark.parametrize("changed", [{}, {"batch_size": 14, "optimizer": "sgd", "reg_param_weights": 0.01}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_compiled_epoch_is_the_reference_epoch(
    loss: Any, k: int, class_score: str, changed: dict[str, Any], weighted: bool
) -> None:
    data = clusters(weighted=weighted)
    settings = TrainingSettings(n_centroids_per_class=k, loss=scored(loss, class_score), **changed)
    start = start_of(data, k=k, spread=0.5)
    runs = [kind(engine_of(), data, settings)(start) for kind in (CompiledEpochs, ReferenceEpochs)]
    close(*runs, optimizer=settings.optimizer)


@built_in
@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_change_nothing(loss: Any, n_threads: int) -> None:
    data = clusters(n_samples=90)
    settings = TrainingSettings(batch_size=40, loss=loss)
    alone, together = (
        CompiledEpochs(engine_of(n_threads=threads), data, settings)(start_of(data)) for threads in (1, n_threads)
    )
    assert bits(alone.state) == bits(together.state)


@every_loss
@many_centroids
def test_every_engine_trains_by_it_alike(loss: Any, k: int, class_score: str) -> None:
    data = clusters(n_samples=12)
    settings = TrainingSettings(batch_size=8, n_centroids_per_class=k, loss=scored(loss, class_score))
    start = start_of(data, k=k, spread=0.5)
    engines = engine_of(), RingEngine(FEATURE_MAP, dtype="float64"), ParameterShiftEngine(engine_of())
    runs = [list(islice(train(engine, data, start, settings=settings), 2)) for engine in engines]
    for epochs in zip(*runs, strict=True):
        for other in epochs[1:]:
            assert_allclose(other.report.loss, epochs[0].report.loss, rtol=1e-7)
            tensors = epochs[0].state.to_tensors()
            for name, array in other.state.to_tensors().items():
                assert_allclose(array, tensors[name], rtol=0, atol=1e-7, err_msg=name)


@every_loss
def test_patience_watches_it(loss: Any) -> None:
    """Its own value, without penalties, at the end of the epoch."""
    data, validation = clusters(weighted=True), clusters(n_samples=20, seed=1)
    settings = TrainingSettings(loss=loss, reg_param_weights=0.1)
    for part in (None, validation):
        state, report = next(train(engine_of(), data, start_of(data), settings=settings, validation=part))
        watched, p = part or data, state.parameters
        kernel = engine_of().kernel(watched.X, p.centroids, weights=p.weights, bias=p.bias)
        assert_allclose(report.loss, loss(kernel, watched.labels, watched.row_weights)[0], rtol=1e-9)


# The classifier


def classifier(loss: Any, **settings: Any) -> McQuackClassifier:
    engine = StatevectorEngine(dtype="float64")
    settings = {"n_qubits": 2, "n_repetitions": 4, "epochs": 40, "lr_ka": 0.05, "lr_co": 0.05, **settings}
    return McQuackClassifier(**settings, loss=loss, engine=engine, random_state=0)


@every_loss
@many_centroids
def test_a_classifier_learns_by_it(loss: Any, k: int, class_score: str) -> None:
    model = classifier(scored(loss, class_score), n_centroids_per_class=k).fit(X, Y)
    losses = [row["loss"] for row in model.history_]
    assert min(losses) < 0.9 * losses[0]
    assert model.score(X, Y) > 0.85
    assert_allclose(model.history_[model.best_epoch_ - 1]["accuracy"], model.score(X, Y))


@many_centroids
def test_one_from_outside_trains_as_the_same_one_inside(k: int, class_score: Any) -> None:
    """Through the reference epoch, which calls it; the other one is compiled."""
    settings = {"n_centroids_per_class": k, "epochs": 3, "batch_size": 40}
    inside = classifier(Alignment(class_score), **settings).fit(X, Y)
    outside = classifier(AlignmentByHand(class_score), **settings).fit(X, Y)
    for name in ("weights_", "bias_", "centroids_"):
        assert_allclose(getattr(outside, name), getattr(inside, name), rtol=0, atol=1e-8)
    assert_array_equal(outside.predict(X), inside.predict(X))


def test_one_from_outside_is_called() -> None:
    loss = SquaredHinge()
    classifier(loss, epochs=2, batch_size=50, steps="alternating").fit(X, Y)
    assert loss.n_calls == 2 * (3 + 3 + 1)  # batches of KAO and of CO, and the loss that patience watches
    classifier(loss, epochs=2, batch_size=50, steps="joint").fit(X, Y)
    assert loss.n_calls == 2 * (3 + 3 + 1) + 2 * (3 + 1)


@pytest.mark.parametrize("class_score", ["max", "sum"])
def test_a_file_keeps_how_one_from_outside_scores(class_score: Any, tmp_path: Any) -> None:
    """Its code is in no file; predictions need nothing else of it."""
    model = classifier(SquaredHinge(class_score=class_score), n_centroids_per_class=2, epochs=2).fit(X, Y)
    model.save(tmp_path / "model.mcq")
    loaded = load(tmp_path / "model.mcq")
    assert loaded.loss == Alignment(class_score)
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
