"""Both networks are trained by scikit-learn and say what its networks say."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.neural_network import MLPClassifier

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError, ModelFileError
from mcquack.models.classical import MatchedNeuralNetwork, MultilayerPerceptron
from mcquack.models.classical.neural_network import Activation
from mcquack.models.model_file import read_model, write_model
from tests.models.classical.kinds import samples

CLASSES = pytest.mark.parametrize("n_classes", [2, 3, 10])
ACTIVATIONS = pytest.mark.parametrize(("ours", "theirs"), [("relu", "relu"), ("tanh", "tanh"), ("sigmoid", "logistic")])


def assert_same(model: Any, peer: MLPClassifier, X: Any, rows: Any) -> None:
    assert_array_equal(model.predict(X), peer.predict(rows))
    assert_allclose(model.predict_proba(X), peer.predict_proba(rows), rtol=1e-9)
    assert [row["loss"] for row in model.history_] == peer.loss_curve_
    assert [row["epoch"] for row in model.history_] == list(range(1, model.n_iter_ + 1))
    assert model.n_parameters_ == sum(array.size for array in peer.coefs_ + peer.intercepts_)


@CLASSES
@ACTIVATIONS
def test_the_suites_network_is_scikit_learns(n_classes: int, ours: Activation, theirs: str) -> None:
    X, y = samples(n_classes)
    settings: dict[str, Any] = {"alpha": 1e-3, "max_iter": 2000, "batch_size": 32, "random_state": 5}
    model = MultilayerPerceptron((12, 6), learning_rate=0.02, activation=ours, **settings).fit(X, y)
    peer = MLPClassifier((12, 6), learning_rate_init=0.02, activation=theirs, **settings).fit(X, y)
    assert model.hidden_layer_sizes_ == (12, 6)
    assert_same(model, peer, X, X)


@CLASSES
@ACTIVATIONS
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the peer
def test_the_matched_network_is_scikit_learns(n_classes: int, ours: Activation, theirs: str) -> None:
    X, y = samples(n_classes)
    model = MatchedNeuralNetwork(ours, epochs=30, random_state=5).fit(X, y)
    peer = MLPClassifier(
        model.hidden_layer_sizes_, activation=theirs, alpha=0, max_iter=30, tol=0, n_iter_no_change=99,
        batch_size=min(100, len(X)), random_state=5,
    )  # fmt: skip
    rows = model.scaler_.transform(X)
    assert_same(model, peer.fit(rows, y), X, rows)
    assert model.n_iter_ == 30


@CLASSES
def test_parameters_are_as_many_as_mcquacks_or_few_more(n_classes: int) -> None:
    X, y = samples(n_classes)
    for n_qubits, n_repetitions in ((6, 1), (3, 4)):
        feature_map = FeatureMap.with_repetitions(n_qubits=n_qubits, n_features=X.shape[1], n_repetitions=n_repetitions)
        model = MatchedNeuralNetwork(epochs=1, n_qubits=n_qubits, n_repetitions=n_repetitions).fit(X, y)
        assert 0 <= model.n_parameters_ - feature_map.n_parameters(n_classes) < 25
    assert 0 <= MatchedNeuralNetwork(epochs=1, n_parameters=1000).fit(X, y).n_parameters_ - 1000 < 25


def test_training_never_ends_early() -> None:
    X, y = np.zeros((9, 2)), np.arange(9) % 3  # nothing to learn
    assert MatchedNeuralNetwork(epochs=60, random_state=0).fit(X, y).n_iter_ == 60


@pytest.mark.parametrize("kind", [MatchedNeuralNetwork, MultilayerPerceptron])
def test_batches_hold_at_most_all_samples(kind: type) -> None:
    X, y = samples(3)
    large, exact = (kind(batch_size=size, learning_rate=0.1, random_state=0).fit(X, y) for size in (10**9, len(X)))
    assert large.history_ == exact.history_


def test_no_hidden_layer_is_a_linear_model() -> None:
    X, y = samples(3)
    model = MultilayerPerceptron((), learning_rate=0.1, random_state=0).fit(X, y)
    assert_allclose(model.decision_function(X), X @ model.weights_[0] + model.biases_[0])
    assert model.n_parameters_ == 15


@pytest.mark.parametrize("model", [MatchedNeuralNetwork(epochs=20), MultilayerPerceptron(max_iter=20)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_divergence_is_told(model: Any) -> None:
    with pytest.raises(InvalidInputError, match="diverged"):
        clone(model).set_params(learning_rate=1e307, activation="relu", random_state=0).fit(*samples(3))


def test_a_file_has_the_layers_of_its_settings(tmp_path: Path) -> None:
    path = tmp_path / "model.mcq"
    MultilayerPerceptron((3,), learning_rate=0.1).fit(*samples(3)).save(path)
    header, tensors = read_model(path)
    for sizes in ([4], [3, 3], []):
        settings = {**header["settings"], "hidden_layer_sizes": sizes}
        write_model(path, header={**header, "settings": settings}, tensors=tensors)
        with pytest.raises(ModelFileError, match="layers"):
            MultilayerPerceptron.load(path)
