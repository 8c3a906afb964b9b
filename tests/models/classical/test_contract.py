"""What holds for every baseline: scikit-learn's checks, labels, scaling and files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import parametrize_with_checks

from mcquack.errors import InvalidInputError, ModelFileError
from mcquack.models.classical import (
    CentroidKernelClassifier,
    MatchedNeuralNetwork,
    MultilayerPerceptron,
    NystroemSVM,
    SupportVectorClassifier,
)
from mcquack.models.classical.base import ClassicalClassifier
from mcquack.models.model_file import read_model, write_model
from tests.models.classical.kinds import SMALL, samples, small
from tests.models.hostile_files import signed

KINDS = pytest.mark.parametrize("kind", SMALL)
CLASSES = pytest.mark.parametrize("n_classes", [2, 3, 10])
METHODS = ("predict", "decision_function", "predict_proba", "transform")

Kind = type[ClassicalClassifier]


def answers(model: ClassicalClassifier, X: Any) -> dict[str, Any]:
    """All that the model says about these samples."""
    return {name: getattr(model, name)(X) for name in METHODS if hasattr(model, name)}


@parametrize_with_checks(
    [
        CentroidKernelClassifier(),
        SupportVectorClassifier(),
        NystroemSVM(),
        MatchedNeuralNetwork(epochs=100, learning_rate=1e-2),
        MultilayerPerceptron(learning_rate=1e-2),
    ]
)
def test_scikit_learns_own_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# Training


@KINDS
@pytest.mark.parametrize("names", [["a", "b", "c"], [-1.0, 0.0, 7.0], ["", "Käse", "日本"]])
def test_labels_are_only_names(kind: Kind, names: list[Any]) -> None:
    X, y = samples(3)
    classes = np.array(names)
    model, renamed = small(kind).fit(X, y), small(kind).fit(X, classes[y])
    assert_array_equal(renamed.classes_, classes)
    assert_array_equal(renamed.predict(X), classes[model.predict(X)])
    assert_array_equal(renamed.decision_function(X), model.decision_function(X))


@KINDS
def test_units_do_not_matter_where_features_are_scaled(kind: Kind) -> None:
    X, y = samples(3)
    units = np.array([8.0, 0.25, 1024.0, 2.0**-20])  # powers of two: exact
    model, other = small(kind, scale=True).fit(X, y), small(kind, scale=True).fit(X * units, y)
    assert_array_equal(other.decision_function(X * units), model.decision_function(X))
    assert small(kind, scale=False).fit(X, y).scaler_ is None


@KINDS
def test_a_fit_that_fails_changes_nothing(kind: Kind) -> None:
    X, y = samples(3)
    model = small(kind).fit(X, y)
    before = answers(model, X)
    for rows, labels in ((X[:, :2], np.zeros(len(y))), (np.full_like(X[:, :3], np.nan), y), (X[:9], y)):
        with pytest.raises(ValueError, match=r"one class|NaN|inconsistent"):
            model.fit(rows, labels)
        assert_array_equal(model.decision_function(X), before["decision_function"])


WRONG: dict[Kind, dict[str, list[Any]]] = {
    CentroidKernelClassifier: {"width": [0, -1.0, np.nan, np.inf, 1e-300, "x", None, True]},
    SupportVectorClassifier: {"C": [0, -1, np.inf, None], "gamma": [0, -1.0, np.inf, 1e101, "auto", None, [1.0]]},
    NystroemSVM: {"width": [0, "x"], "C": [0, np.nan, "x"], "n_landmarks": [0, -3, 1.5, True, "x"]},
    MatchedNeuralNetwork: {
        "activation": ["logistic", None, ["relu"]],
        "epochs": [0, 1.5],
        "learning_rate": [0, np.inf, None],
        "batch_size": [0, None],
        "n_parameters": [0, 10.0],
        "n_qubits": [0, None],
        "n_repetitions": [0, None],
    },
    MultilayerPerceptron: {
        "hidden_layer_sizes": [100, (0,), (2.5,), "x", None],
        "alpha": [-1, np.nan, "x"],
        "max_iter": [0, None],
        "batch_size": ["auto"],
        "learning_rate": ["constant"],
        "activation": ["identity"],
    },
}


@KINDS
def test_settings_that_mean_nothing_are_refused(kind: Kind) -> None:
    X, y = samples(2)
    common: dict[str, list[Any]] = {"scale": [None, 1, "yes"], "random_state": [-1, 2**32, 1.5, "x"]}
    for name, values in {**common, **WRONG[kind]}.items():
        for value in values:
            with pytest.raises(InvalidInputError, match=name):
                small(kind, **{name: value}).fit(X, y)


# Use


@KINDS
@CLASSES
def test_scores_decide(kind: Kind, n_classes: int) -> None:
    X, y = samples(n_classes)
    model = small(kind).fit(X, y)
    said = answers(model, X)
    scores = said["decision_function"]
    assert scores.shape == ((len(X),) if n_classes == 2 else (len(X), n_classes))
    if kind is not SupportVectorClassifier:  # where votes are equal, scikit-learn takes the first
        assert_array_equal(said["predict"], scores > 0 if n_classes == 2 else scores.argmax(axis=1))
    if "predict_proba" in said:
        assert_array_equal(said["predict"], said["predict_proba"].argmax(axis=1))
        assert_allclose(said["predict_proba"].sum(axis=1), 1)


@KINDS
def test_many_samples_are_predicted_in_blocks(kind: Kind) -> None:
    X, y = samples(10)
    model = small(kind).fit(X, y)
    many = answers(model, np.tile(X, (9, 1)))
    for name, values in answers(model, X).items():
        assert_allclose(many[name], np.concatenate([values] * 9), rtol=1e-9, atol=1e-9)


@KINDS
def test_samples_far_away_have_finite_scores(kind: Kind) -> None:
    X, y = samples(3)
    model = small(kind).fit(X, y)
    for values in answers(model, np.array([[1.7e308] * 4, [-1e200, 1e200, 0, 1.0]])).values():
        assert np.isfinite(values).all()


# Files


@KINDS
@CLASSES
def test_a_saved_model_comes_back_as_it_was(kind: Kind, n_classes: int, tmp_path: Path) -> None:
    X, y = samples(n_classes)
    table = pd.DataFrame(X, columns=[f"feature {number}" for number in range(X.shape[1])])
    model = small(kind, scale=n_classes == 3).fit(table, np.array(list("abcdefghij"))[y])
    model.save(tmp_path / "model.mcq", extra={"why": "test"})
    loaded = kind.load(tmp_path / "model.mcq")
    assert loaded.get_params() == model.get_params()
    assert loaded.extra_ == {"why": "test"}
    assert loaded.n_parameters_ == model.n_parameters_
    assert getattr(loaded, "history_", None) == getattr(model, "history_", None)
    for name, values in answers(model, table).items():
        assert_array_equal(getattr(loaded, name)(table), values, strict=True)


def test_a_file_of_one_kind_is_not_read_as_another(tmp_path: Path) -> None:
    small(NystroemSVM).fit(*samples(2)).save(tmp_path / "model.mcq")
    with pytest.raises(ModelFileError, match="NystroemSVM"):
        SupportVectorClassifier.load(tmp_path / "model.mcq")


def as_other_type(tensor: Any) -> Any:
    return tensor.astype(np.float32 if tensor.dtype == np.float64 else np.float64)


@KINDS
@CLASSES
def test_every_array_must_be_there_and_fit(kind: Kind, n_classes: int, tmp_path: Path) -> None:
    path = tmp_path / "model.mcq"
    small(kind).fit(*samples(n_classes)).save(path)
    header, tensors = read_model(path)
    learned = [name for name in tensors if not name.startswith("scaler")]
    changes = [{name: tensors[name][None]} for name in learned]
    changes += [{name: as_other_type(tensors[name])} for name in learned]
    changes += [{name: tensors[name][..., :-1]} for name in learned if name != "losses"]
    changes += [{name: tensors[name][:0]} for name in learned if name != "losses"]
    changes += [{"more": np.zeros(2)}, {"weights_9": np.zeros((2, 2))}]
    files = [{**tensors, **change} for change in changes]
    files += [{other: tensors[other] for other in tensors if other != name} for name in learned]
    for file in files:
        write_model(path, header=header, tensors=file)
        with pytest.raises(ModelFileError):
            kind.load(path)


@KINDS
def test_numbers_must_be_finite(kind: Kind, tmp_path: Path) -> None:
    path = tmp_path / "model.mcq"
    model = small(kind).fit(*samples(3))
    model.save(path)
    header, tensors = read_model(path)
    for name in [name for name in tensors if tensors[name].dtype == np.float64]:
        broken = {**tensors, name: np.full_like(tensors[name], np.nan)}
        with pytest.raises(InvalidInputError, match=name):
            write_model(path, header=header, tensors=broken)
        path.write_bytes(signed(header, broken))
        with pytest.raises(ModelFileError, match=name):
            kind.load(path)
