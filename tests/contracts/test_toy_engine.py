"""An engine from outside is one class: the contract of all engines holds for it, and every model takes it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score

from mcquack import FeatureMap, McQuackClassifier, QuackClassifier, load
from mcquack.errors import InvalidInputError
from mcquack.kernels import Shots
from mcquack.models.model_file import read_model
from mcquack.simulators import StatevectorEngine
from tests.contracts.toy_engine import ToyEngine
from tests.models.sameness import assert_same_model, assert_same_training

ROWS = slice(None, None, 5)
X, Y = (array[ROWS] for array in load_iris(return_X_y=True))


def small(engine: Any, **settings: Any) -> McQuackClassifier:
    settings = {"n_qubits": 2, "n_repetitions": 1, "epochs": 3, "batch_size": 10, "random_state": 0, **settings}
    return McQuackClassifier(**settings, engine=engine)


@pytest.fixture(scope="module")
def trained() -> McQuackClassifier:
    return small(ToyEngine(dtype="float64")).fit(X, Y)


def test_it_trains_the_model_that_others_train(trained: McQuackClassifier) -> None:
    expected = small(StatevectorEngine(dtype="float64")).fit(X, Y)
    for name in ("weights_", "bias_", "centroids_"):
        # Adam makes steps of slopes that are nothing but rounding.
        assert_allclose(getattr(trained, name), getattr(expected, name), rtol=0, atol=2e-8)
    assert_allclose(trained.transform(X), expected.transform(X), rtol=0, atol=1e-9)
    assert_allclose([row["loss"] for row in trained.history_], [row["loss"] for row in expected.history_], rtol=1e-9)
    assert_array_equal(trained.predict(X), expected.predict(X))
    assert trained.shots_ == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_parameters_have_its_type(dtype: str) -> None:
    assert small(ToyEngine(dtype=dtype), epochs=1).fit(X, Y).weights_.dtype == dtype


def test_a_file_names_another_engine_in_its_place(trained: McQuackClassifier, tmp_path: Path) -> None:
    trained.save(tmp_path / "model.mcq", resumable=True)
    plain = read_model(tmp_path / "model.mcq").header["settings"]["engine"]
    assert plain == {"name": "statevector", "dtype": "float64", "n_threads": None}
    loaded = load(tmp_path / "model.mcq")
    assert_same_model(loaded, trained)
    assert_allclose(loaded.transform(X), trained.transform(X), rtol=0, atol=1e-12)
    assert_array_equal(loaded.predict(X), trained.predict(X))
    assert_array_equal(loaded.set_params(engine=ToyEngine(dtype="float64")).transform(X), trained.transform(X))


def test_training_is_resumed_on_it(tmp_path: Path) -> None:
    toy = ToyEngine(dtype="float64")
    small(toy, epochs=1).fit(X, Y).save(tmp_path / "part.mcq", resumable=True)
    resumed = load(tmp_path / "part.mcq").set_params(engine=toy, epochs=3)
    for _ in resumed.fit_iter(X, Y, resume=True):
        pass
    assert_same_training(resumed, small(toy).fit(X, Y))


@pytest.mark.parametrize("feature_map", ["paper", "device", FeatureMap(n_qubits=3, n_features=4, n_layers=1)])
@pytest.mark.parametrize("n_repetitions", [None, 2])
def test_the_circuit_that_was_trained_comes_back(feature_map: Any, n_repetitions: int | None, tmp_path: Path) -> None:
    model = small(ToyEngine(), feature_map=feature_map, n_repetitions=n_repetitions, epochs=0).fit(X, Y)
    model.save(tmp_path / "model.mcq")
    loaded = load(tmp_path / "model.mcq")
    assert loaded.feature_map_ == model.feature_map_
    loaded.set_params(warm_start=True).fit(X[:20], Y[:20])  # with settings that ask for the same circuit


def test_scikit_learns_tools_take_it() -> None:
    model = small(ToyEngine(), epochs=1)
    assert clone(model).get_params() == model.get_params()
    assert "ToyEngine(dtype='float32')" in repr(model)
    assert cross_val_score(model, X, Y, cv=2).shape == (2,)


def test_it_is_asked_what_it_takes() -> None:
    with pytest.raises(InvalidInputError, match=r"toy.*10.*11"):
        small(ToyEngine(), n_qubits=11).fit(X, Y)


@pytest.mark.parametrize("gradient", ["exact", "parameter_shift"])
def test_shots_are_drawn_from_it_too(gradient: Any, tmp_path: Path) -> None:
    model = small(Shots(40, engine=ToyEngine(dtype="float64"), gradient=gradient)).fit(X, Y)
    expected = small(Shots(40, engine=StatevectorEngine(dtype="float64"), gradient=gradient)).fit(X, Y)
    assert_allclose(model.weights_, expected.weights_, rtol=0, atol=1e-8)
    assert_allclose(40 * model.transform(X), np.rint(40 * model.transform(X)), rtol=0, atol=1e-9)
    model.save(tmp_path / "model.mcq")
    assert load(tmp_path / "model.mcq").engine == expected.engine


def test_so_does_the_binary_predecessor() -> None:
    two = Y < 2
    model = QuackClassifier(2, 1, epochs=1, engine=ToyEngine(dtype="float64"), random_state=0).fit(X[two], Y[two])
    assert model.predict(X[two]).shape == (two.sum(),)
