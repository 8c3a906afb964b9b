"""Laws of the single quantum models: derivatives, closed forms, symmetries, and the published runs of the suite."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack import datasets
from mcquack.arrays import FloatArray
from mcquack.circuits import Circuit, b, x
from mcquack.models import (
    CircuitCentricClassifier,
    DataReuploadingClassifier,
    DressedQuantumCircuitClassifier,
    IQPVariationalClassifier,
    QuantumBoltzmannMachine,
    QuantumMetricLearner,
    TreeTensorClassifier,
)
from mcquack.models.quantum.base import DrawnClassifier, Shapes
from mcquack.models.quantum.iqp import entangling_layers
from mcquack.models.quantum.reuploading import directions_of
from mcquack.simulators.gates import GateEngine
from mcquack.training.draws import KeyStream

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def samples(n_samples: int, n_features: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_features)
    return rng.normal(size=(n_samples, n_features)), np.arange(n_samples) % n_classes


def random_parameters(model: DrawnClassifier, n_inputs: int, n_classes: int) -> np.ndarray:
    first = model._initial_parameters(KeyStream(3), model._parameter_shapes(n_inputs, n_classes))
    drawn = model._flat(first)
    return drawn + 0.3 * np.random.default_rng(0).normal(size=drawn.shape)


# Derivatives


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("n_features", [1, 2, 3, 5])
@pytest.mark.parametrize(
    "model",
    [
        DressedQuantumCircuitClassifier(1),
        DressedQuantumCircuitClassifier(3),
        DataReuploadingClassifier(2, "full"),
        DataReuploadingClassifier(1, "half", circuit="shipped"),
        IQPVariationalClassifier(3, 2),
        QuantumMetricLearner(2),
        CircuitCentricClassifier(2, 2),
        CircuitCentricClassifier(1, 3, padding="fill"),
        TreeTensorClassifier(),
        QuantumBoltzmannMachine(temperature=2.0),
        QuantumBoltzmannMachine("full", zz="each"),
    ],
    ids=str,
)
def test_gradients_are_those_of_finite_differences(model: DrawnClassifier, n_features: int, n_classes: int) -> None:
    X, y = samples(21, n_features, n_classes)
    n_batch = 11  # no multiple of what registers hold
    model = model.set_params(batch_size=n_batch, random_state=0)
    prepared = model._prepared(X, y)
    member = model._n_circuits(n_features, n_classes) - 1
    training: Any = model._training(prepared, member)
    orders = model._draws(prepared)(np.arange(model._keys_per_step(prepared)))
    point = random_parameters(model, n_features, n_classes)
    loss, gradient = training.loss_and_gradient(point, orders[0])
    directions = np.random.default_rng(1).normal(size=(4, len(point)))
    for direction in directions:
        ahead, behind = (training.loss_and_gradient(point + sign * 1e-5 * direction, orders[0])[0] for sign in (1, -1))
        assert_allclose(gradient @ direction, (ahead - behind) / 2e-5, atol=2e-8 * max(1, loss))


# Circuits


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_one_layer_of_a_dressed_circuit_is_a_product_of_cosines(n: int) -> None:
    X, y = samples(30, n, 2)
    model = DressedQuantumCircuitClassifier(1, max_steps=3, random_state=0).fit(X, y)
    rows, parameters = model.scaled(X), model.parameters_[0]
    angles = np.pi / 2 * np.tanh(rows @ model.params_["input_weights"].T) + model.params_["circuit_weights"][0]
    ring = [(qubit, (qubit + 1) % n) for qubit in range(n if n > 2 else n - 1)]
    circuit = Circuit(n, n).h(range(n)).ry(range(n), [x[qubit] for qubit in range(n)]).cnot(ring)
    engine = GateEngine(circuit, dtype="float64")
    expected = engine.expectations(engine.encode(angles, [], []), list(range(n)))
    assert_allclose(model._model(n, 2, 30).measured(rows, parameters), expected, atol=1e-13)


@pytest.mark.parametrize("n_features", [2, 4])
@pytest.mark.parametrize("kind", [CircuitCentricClassifier, TreeTensorClassifier])
def test_amplitudes_see_signs_only_beside_another_amplitude(kind: type[DrawnClassifier], n_features: int) -> None:
    X, y = samples(30, n_features, 2)
    blind = kind(max_steps=3, padding="fill", random_state=0).fit(X, y)
    assert_allclose(blind.decision_function(-X), blind.decision_function(X), atol=1e-12)
    sees = kind(max_steps=3, random_state=0).fit(X, y)
    assert np.abs(sees.decision_function(-X) - sees.decision_function(X)).max() > 1e-3


def test_what_the_suite_calls_entangling_cancels_itself_on_two_qubits() -> None:
    X, y = samples(30, 2, 2)
    model = IQPVariationalClassifier(3, max_steps=3, random_state=0).fit(X, y)
    whole = model._model(2, 2, 30)
    without = Circuit(2, 1)
    for _ in range(3):
        without = without.rot([0, 1], b, b, b)
    rows = model._starts(model.scaled(X))
    alone = replace(whole, circuit=without)
    assert_allclose(alone.measured(rows, model.parameters_[0]), whole.measured(rows, model.parameters_[0]), atol=1e-13)


def test_embedding_before_training_or_in_every_step_gives_the_same_model(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = samples(40, 3, 2)
    stored = IQPVariationalClassifier(2, 2, max_steps=50, learning_rate=0.1, random_state=0).fit(X, y)
    monkeypatch.setattr("mcquack.models.quantum.iqp.MOST_BYTES", 0)
    again = IQPVariationalClassifier(2, 2, max_steps=50, learning_rate=0.1, random_state=0).fit(X, y)
    assert_allclose(again.parameters_, stored.parameters_, atol=1e-9)
    assert_allclose(again.predict_proba(X), stored.predict_proba(X), atol=1e-9)


def test_a_sample_overlaps_with_itself_alone_wholly() -> None:
    X, y = samples(20, 3, 2)
    model = QuantumMetricLearner(2, max_steps=3, random_state=0).fit(X, y)
    engine = GateEngine(model._embedding(3), dtype="float64")
    rows = model.scaled(X)
    kernel = engine.kernel(rows, rows, weights=np.zeros(0), bias=model.parameters_[0])
    assert_allclose(np.diag(kernel), 1)
    assert kernel[~np.eye(20, dtype=bool)].max() < 1
    of_each = np.stack([kernel[:, y == own].mean(axis=1) for own in range(2)], axis=1)
    assert_allclose(model.predict_proba(X), of_each / of_each.sum(axis=1, keepdims=True), atol=1e-12)


def test_fixed_pairs_repeat_the_end_of_the_shorter_class_and_independent_ones_see_all() -> None:
    X, y = samples(30, 2, 2)
    y = (np.arange(30) >= 20).astype(int)
    ways: tuple[Literal["fixed", "independent"], ...] = "fixed", "independent"
    for pairs in ways:
        model = QuantumMetricLearner(1, pairs=pairs, batch_size=64)
        prepared = model._prepared(X, y)
        n_keys = model._keys_per_step(prepared)
        orders = model._draws(prepared)(np.arange(20 * n_keys))
        assert orders.shape == (20, 2, 64)
        assert set(y[orders[:, 0]].ravel()) == {0}
        assert set(y[orders[:, 1]].ravel()) == {1}
        assert len(np.unique(orders[:, 1])) == 10
        last = (orders[:, 1] == 29).mean()
        assert last > 0.4 if pairs == "fixed" else last < 0.2


def test_examples_are_drawn_once_and_of_each_class() -> None:
    X, y = samples(50, 2, 2)
    model = QuantumMetricLearner(1, n_examples_predict=7, max_steps=5, random_state=0).fit(X, y)
    assert np.bincount(model.example_labels_).tolist() == [7, 7]
    assert_array_equal(model.predict_proba(X), model.predict_proba(X))


def test_comparing_every_output_with_every_label_is_what_the_suite_computes_in_chunks() -> None:
    golden = json.loads((Path(__file__).parents[2] / "golden" / "qml_suite_models.json").read_text(encoding="utf-8"))
    for case in golden["models"]["TreeTensorClassifier"].values():
        outputs = 2 * np.array(case["predict_proba"])[:, 1] - 1
        labels = np.array([-1, 1, -1, 1])
        own = np.mean((outputs - labels) ** 2)
        every = np.mean((outputs[:, None] - labels) ** 2)
        assert_allclose(own, case["loss"], atol=1e-10)
        assert_allclose(every, case["loss_broadcast_max_vmap_4"], atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 6])
def test_target_states_lie_apart_alike(n_classes: int) -> None:
    directions = directions_of(n_classes)
    assert directions.shape[0] == n_classes
    assert_allclose(np.linalg.norm(directions, axis=1), 1)
    between = directions @ directions.T
    assert between[~np.eye(n_classes, dtype=bool)].max() < 1e-12


def test_entanglers_reach_one_qubit_farther_in_each_layer() -> None:
    circuit = entangling_layers(Circuit(4, 1), 4, "cz")
    pairs = [gate.qubits for gate in circuit.gates if gate.name == "cz"]
    assert [(right - left) % 4 for left, right in pairs] == [1] * 4 + [2] * 4 + [3] * 4 + [1] * 4
    assert circuit.n_bias == 4 * 4 * 3


# Runs of the suite's own code, and scores that it published, seed by seed (Bowles, Ahmed and Schuld 2024).

RUNS: list[tuple[DrawnClassifier, str, list[int], list[float], list[float]]] = [
    (
        DressedQuantumCircuitClassifier(1, learning_rate=0.01), "hidden_manifold_5", [756, 1069, 772, 872, 708],
        [0.875, 0.871, 0.879, 0.892, 0.875], [0.717, 0.683, 0.717, 0.733, 0.683],
    ),
    (DressedQuantumCircuitClassifier(5, learning_rate=0.01), "linearly_separable_5", [4155], [1.0], [1.0]),
    (
        DataReuploadingClassifier(5, "full", circuit="shipped", learning_rate=0.01), "hidden_manifold_10",
        [1137, 1061, 1023, 1799, 1497], [0.871, 0.842, 0.838, 0.833, 0.846], [0.800, 0.867, 0.783, 0.783, 0.833],
    ),
    (
        DataReuploadingClassifier(5, "full", learning_rate=0.01), "hidden_manifold_10",
        [1023, 1061, 1401], [0.833, 0.817, 0.842], [0.833, 0.800, 0.817],
    ),
    (
        DataReuploadingClassifier(1, "full", learning_rate=0.01), "hidden_manifold_5",
        [519, 726, 571, 778, 830], [0.792, 0.800, 0.796, 0.808, 0.788], [0.717, 0.683, 0.683, 0.667, 0.700],
    ),
    (
        IQPVariationalClassifier(5, learning_rate=0.01), "linearly_separable_5",
        [866, 628, 618], [0.796, 0.796, 0.846], [0.783, 0.750, 0.767],
    ),
    (
        CircuitCentricClassifier(1, 5, learning_rate=0.01), "hidden_manifold_5",
        [468, 427, 418, 527, 457], [0.775, 0.788, 0.808, 0.796, 0.783], [0.717, 0.717, 0.717, 0.717, 0.683],
    ),
    (
        TreeTensorClassifier(0.01), "hidden_manifold_10",
        [498, 551, 578, 913, 711], [0.729, 0.700, 0.738, 0.696, 0.754], [0.800, 0.733, 0.750, 0.700, 0.750],
    ),
    (
        QuantumBoltzmannMachine("half", learning_rate=0.01), "hidden_manifold_5",
        [756, 1263], [0.842, 0.850], [0.700, 0.683],
    ),
]  # fmt: skip


def scores_of(model: DrawnClassifier, data: datasets.Dataset) -> list[float]:
    parts: list[Any] = [data.train, data.test]
    return [float(model.score(X, y)) for X, y in parts]


@pytest.mark.parametrize(("model", "dataset", "steps", "train", "test"), RUNS)
def test_a_seed_gives_the_steps_and_scores_of_the_suite(
    model: DrawnClassifier, dataset: str, steps: list[int], train: list[float], test: list[float]
) -> None:
    data = datasets.load(dataset)
    for seed, (n_steps, *scores) in enumerate(zip(steps, train, test, strict=True)):
        fitted = model.set_params(random_state=seed).fit(*data.train)
        assert fitted.converged_
        assert fitted.n_iter_ == n_steps
        assert scores_of(fitted, data) == pytest.approx(scores, abs=6e-4)


class DrawnTwice(DataReuploadingClassifier):
    """The published circuit with parameters that are drawn a second time, as the public code does."""

    def _initial_parameters(self, keys: KeyStream, shapes: Shapes) -> dict[str, FloatArray]:
        keys.take(2)
        return super()._initial_parameters(keys, shapes)


@pytest.mark.parametrize(
    ("settings", "dataset", "scores"),
    [
        ((1, "full", 0.1), "hidden_manifold_diff_14", [(0.7, 0.6), (0.6833, 0.6167), (0.7, 0.6167)]),
        ((10, "full", 0.01), "hyperplanes_diff_20", [(0.7708, 0.7167), (0.7958, 0.75), (0.8083, 0.6833)]),
        ((10, "single", 0.01), "two_curves_diff_13", [(0.8917, 0.8167), (0.8875, 0.8), (0.9333, 0.8333)]),
    ],
)
def test_from_13_on_the_published_runs_drew_their_parameters_twice(
    settings: tuple[int, Any, float], dataset: str, scores: list[tuple[float, float]]
) -> None:
    data, (n_layers, observables, rate) = datasets.load(dataset), settings
    for seed, published in enumerate(scores):
        model = DrawnTwice(n_layers, observables, learning_rate=rate, random_state=seed).fit(*data.train)
        assert scores_of(model, data) == pytest.approx(published, abs=6e-5)
