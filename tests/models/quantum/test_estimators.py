"""What holds for all quantum models of the QML suite: scikit-learn's laws, files, resuming, weights, classes."""

import copy
import pickle
import warnings
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import mcquack
from mcquack.errors import InvalidInputError, ModelFileError
from mcquack.models import (
    CircuitCentricClassifier,
    DataReuploadingClassifier,
    DressedQuantumCircuitClassifier,
    IQPVariationalClassifier,
    QuantumBoltzmannMachine,
    QuantumMetricLearner,
    TreeTensorClassifier,
)
from mcquack.models.quantum.base import DrawnClassifier
from mcquack.simulators import limited_threads
from mcquack.training.draws import KeyStream

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# Small ones, of which a fit takes milliseconds.
SMALL: dict[str, DrawnClassifier] = {
    "dressed": DressedQuantumCircuitClassifier(2, learning_rate=0.05, max_steps=150, n_components=3),
    "one layer": DressedQuantumCircuitClassifier(1, learning_rate=0.05, max_steps=150, n_components=3),
    "boltzmann": QuantumBoltzmannMachine(learning_rate=0.1, max_steps=100, n_components=2),
    "reuploading": DataReuploadingClassifier(2, "full", max_steps=150),
    "iqp": IQPVariationalClassifier(2, learning_rate=0.05, max_steps=150, n_components=3),
    "metric": QuantumMetricLearner(1, learning_rate=0.05, max_steps=100, n_components=3),
    "circuit-centric": CircuitCentricClassifier(1, 2, learning_rate=0.05, max_steps=150),
    "tree": TreeTensorClassifier(0.05, max_steps=150),
}
EACH = pytest.mark.parametrize("model", [pytest.param(model, id=name) for name, model in SMALL.items()])
IRIS, SPECIES = load_iris(return_X_y=True)
TWO = SPECIES < 2


def small(model: DrawnClassifier, **settings: Any) -> DrawnClassifier:
    return clone(model).set_params(**{"random_state": 0, **settings})


@parametrize_with_checks(list(SMALL.values()))
def test_scikit_learns_own_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.campaign
@parametrize_with_checks(
    [
        DressedQuantumCircuitClassifier(n_components=4),
        QuantumBoltzmannMachine(n_components=3),
        DataReuploadingClassifier(),
        # At its own rate of 0.001 its loss stands still before it has learned that one class is nearly all there is.
        IQPVariationalClassifier(n_components=4, learning_rate=0.05),
        QuantumMetricLearner(n_components=4),
        CircuitCentricClassifier(1),
        TreeTensorClassifier(),
    ]
)
def test_scikit_learns_own_checks_with_defaults_but_for_the_qubits(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


# Training


@EACH
def test_the_same_seed_gives_the_same_model_and_another_one_another(model: DrawnClassifier) -> None:
    first, again = (small(model).fit(IRIS[TWO], SPECIES[TWO]) for _ in range(2))
    other = small(model, random_state=1).fit(IRIS[TWO], SPECIES[TWO])
    assert_array_equal(first.parameters_, again.parameters_)
    assert np.abs(first.parameters_ - other.parameters_).max() > 1e-3


@EACH
def test_threads_change_nothing(model: DrawnClassifier) -> None:
    many = small(model, max_steps=20).fit(IRIS, SPECIES)
    with limited_threads(1):
        one = small(model, max_steps=20).fit(IRIS, SPECIES)
        assert_array_equal(one.predict_proba(IRIS), many.predict_proba(IRIS))
    assert_array_equal(one.parameters_, many.parameters_)


@EACH
def test_three_classes_of_text_are_learned(model: DrawnClassifier) -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    fitted = small(model, max_steps=400).fit(X, names)
    assert fitted.score(X, names) > 0.6
    assert fitted.predict_proba(X).shape == fitted.decision_function(X).shape == (150, 3)
    assert_array_equal(fitted.classes_[fitted.predict_proba(X).argmax(axis=1)], fitted.predict(X))


@EACH
@pytest.mark.parametrize("n_classes", [4, 5, 6, 8])
def test_more_classes_have_scores_each(model: DrawnClassifier, n_classes: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)), np.arange(80) % n_classes
    fitted = small(model, max_steps=5).fit(X, y)
    proba = fitted.predict_proba(X)
    assert proba.shape == (80, n_classes)
    assert_allclose(proba.sum(axis=1), 1)
    assert (proba >= 0).all()


@EACH
def test_a_sample_of_weight_two_is_a_sample_given_twice(model: DrawnClassifier) -> None:
    X, y = IRIS[TWO][::4], SPECIES[TWO][::4]
    weights = np.arange(len(X)) % 3
    order = np.random.default_rng(0).permutation(len(X))
    weighted = small(model, max_steps=60).fit(X[order], y[order], sample_weight=weights[order])
    repeated = small(model, max_steps=60).fit(X.repeat(weights, axis=0), y.repeat(weights))
    assert_array_equal(weighted.parameters_, repeated.parameters_)
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-12)


@EACH
def test_fractions_of_weights_are_shares_of_what_is_drawn(model: DrawnClassifier) -> None:
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 5.0], [-5.0, 4.0]]), np.array([0, 1, 0, 1])
    tiny = small(model, max_steps=30).fit(X, y, sample_weight=[1.0, 1.0, 1e-13, 1e-13])
    assert np.isfinite(tiny.predict_proba(X)).all()


@EACH
def test_class_weights_are_weights_of_the_samples_of_a_class(model: DrawnClassifier) -> None:
    if not hasattr(model, "class_weight"):
        pytest.skip("it draws as many samples of each class, whatever they weigh")
    X, y = IRIS[TWO][20:], SPECIES[TWO][20:]
    balanced = small(model, max_steps=30, class_weight="balanced").fit(X, y)
    factors = len(y) / (2 * np.bincount(y))
    by_hand = small(model, max_steps=30).fit(X, y, sample_weight=factors[y])
    assert_array_equal(balanced.parameters_, by_hand.parameters_)


@EACH
def test_a_fit_that_fails_changes_nothing(model: DrawnClassifier) -> None:
    fitted = small(model, max_steps=5).fit(IRIS[TWO], SPECIES[TWO])
    before = copy.deepcopy(vars(fitted))
    with pytest.raises(ValueError, match="class"):
        fitted.fit(IRIS[:10], SPECIES[:10])
    assert_array_equal(fitted.parameters_, before["parameters_"])
    assert fitted.n_iter_ == before["n_iter_"]


def test_training_that_has_not_settled_is_told() -> None:
    with pytest.warns(ConvergenceWarning, match=r"\b10\b"):
        model = TreeTensorClassifier(max_steps=10, random_state=0).fit(IRIS[TWO], SPECIES[TWO])
    assert not model.converged_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TreeTensorClassifier(max_steps=10, convergence_interval=None, random_state=0).fit(IRIS[TWO], SPECIES[TWO])


def test_training_ends_by_the_rule_of_the_suite() -> None:
    model = TreeTensorClassifier(random_state=0).fit(IRIS[TWO], SPECIES[TWO])
    losses, n = np.asarray(model.losses_), 200
    assert model.converged_
    assert model.n_iter_ == len(losses)

    def settled(step: int) -> bool:
        last, before = losses[step - n : step], losses[step - 2 * n : step - n]
        return step > 2 * n + 1 and abs(last.mean() - before.mean()) <= last.std() / np.sqrt(n) / 2

    assert [step for step in range(2 * n, len(losses) + 1) if settled(step)] == [len(losses)]


@EACH
def test_training_that_diverges_is_refused(model: DrawnClassifier) -> None:
    if isinstance(model, QuantumBoltzmannMachine | QuantumMetricLearner | IQPVariationalClassifier):
        pytest.skip("its loss is bounded")
    if isinstance(model, DressedQuantumCircuitClassifier):
        rate = 1e308
    else:
        rate = 1e200
    with pytest.raises(InvalidInputError, match="learning_rate"):
        small(model, learning_rate=rate).fit(IRIS[TWO], SPECIES[TWO])


@EACH
def test_an_interrupt_keeps_the_model_so_far(model: DrawnClassifier, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = small(model, max_steps=100).fit(IRIS[TWO], SPECIES[TWO])
    calls = iter([None])
    prepare = KeyStream.take

    def take(keys: KeyStream, count: int) -> Any:
        if count >= 100 and next(calls, "no more") == "no more":
            raise KeyboardInterrupt
        return prepare(keys, count)

    monkeypatch.setattr(KeyStream, "take", take)
    stopped = small(model, max_steps=300)
    with pytest.raises(KeyboardInterrupt, match=r"\b100\b"):
        stopped.fit(IRIS[TWO], SPECIES[TWO])
    assert_array_equal(stopped.parameters_, whole.parameters_)
    assert_array_equal(stopped.predict(IRIS), whole.predict(IRIS))


@EACH
def test_settings_that_change_later_change_nothing_until_the_next_fit(model: DrawnClassifier, tmp_path: Path) -> None:
    fitted = small(model, max_steps=20).fit(IRIS, SPECIES)
    settings, answers = fitted.get_params(), fitted.predict_proba(IRIS)
    changes = {"n_layers": 5, "n_components": 2, "dtype": "float32", "scaling": 0.3, "n_input_copies": 3, "zz": "each"}
    fitted.set_params(**{name: value for name, value in changes.items() if name in settings})
    assert_array_equal(fitted.predict_proba(IRIS), answers)
    fitted.save(tmp_path / "model.mcq")
    loaded = mcquack.load(tmp_path / "model.mcq")
    assert loaded.get_params() == settings
    assert_array_equal(loaded.predict_proba(IRIS), answers)
    with pytest.raises(InvalidInputError, match="resume"):
        fitted.fit_iter(IRIS, SPECIES, resume=True)


@EACH
def test_settings_and_copies_do_not_disturb_a_training_that_goes_on(model: DrawnClassifier) -> None:
    whole = small(model, max_steps=250).fit(IRIS, SPECIES)
    going = small(model, max_steps=250)
    rows = going.fit_iter(IRIS, SPECIES)
    next(rows)
    copied = copy.copy(going)
    before, n_rows = copied.parameters_.copy(), len(copied.history_)
    changes = {"n_layers": 50, "learning_rate": 5.0, "n_components": 1, "temperature": 50.0, "padding": "fill"}
    going.set_params(**{name: value for name, value in changes.items() if name in going.get_params()})
    for _ in rows:
        assert np.isfinite(going.predict_proba(IRIS)).all()
    assert_array_equal(going.parameters_, whole.parameters_)
    assert_array_equal(copied.parameters_, before)
    assert len(copied.history_) == n_rows


@EACH
def test_weights_that_no_sum_can_hold_are_refused(model: DrawnClassifier) -> None:
    with pytest.raises(InvalidInputError, match="inf"):
        small(model).fit(IRIS, SPECIES, sample_weight=np.full(150, 1e308))
    if hasattr(model, "class_weight"):
        with pytest.raises(InvalidInputError, match=r"\b0\.0"):
            small(model, class_weight={0: 0.0, 1: 0.0, 2: 0.0}).fit(IRIS, SPECIES)
    with pytest.raises(InvalidInputError, match="too far apart"):
        small(model).fit(np.vstack([[[1.7e308, 0, 0, 0], [-1.7e308, 0, 0, 0]], IRIS[2:]]), SPECIES)


def test_fixed_pairs_take_no_weights() -> None:
    with pytest.raises(InvalidInputError, match="independent"):
        QuantumMetricLearner(pairs="fixed").fit(IRIS, SPECIES, sample_weight=np.arange(150) + 1.0)


# Files and resuming


@EACH
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_file_gives_the_same_model(model: DrawnClassifier, n_classes: int, tmp_path: Path) -> None:
    chosen = n_classes > SPECIES
    fitted = small(model, max_steps=120).fit(IRIS[chosen], SPECIES[chosen])
    fitted.save(tmp_path / "model.mcq", extra={"of": "tests"})
    loaded = mcquack.load(tmp_path / "model.mcq")
    assert type(loaded) is type(fitted)
    assert loaded.get_params() == fitted.get_params()
    assert loaded.extra_ == {"of": "tests"}
    for name in ("n_iter_", "converged_", "history_"):
        assert getattr(loaded, name) == getattr(fitted, name)
    for method in ("predict", "predict_proba", "decision_function"):
        assert_array_equal(getattr(loaded, method)(IRIS), getattr(fitted, method)(IRIS))
    with pytest.raises(InvalidInputError, match="resumable=True"):
        next(loaded.fit_iter(IRIS, SPECIES, resume=True))


@EACH
@pytest.mark.parametrize("n_classes", [2, 3])
def test_training_resumes_from_a_file_to_the_same_model(model: DrawnClassifier, n_classes: int, tmp_path: Path) -> None:
    chosen = n_classes > SPECIES
    X, y = IRIS[chosen], SPECIES[chosen]
    whole = small(model, max_steps=250).fit(X, y)
    for n_rows in {1, len(whole.history_) // 2 + 1, len(whole.history_)}:
        begun = small(model, max_steps=250)
        for _ in islice(begun.fit_iter(X, y), n_rows):
            pass
        begun.save(tmp_path / "begun.mcq", resumable=True)
        resumed = mcquack.load(tmp_path / "begun.mcq")
        for _ in resumed.fit_iter(X, y, resume=True):
            pass
        assert_array_equal(resumed.parameters_, whole.parameters_)
        assert [row["loss"] for row in resumed.history_] == [row["loss"] for row in whole.history_]
        with pytest.raises(InvalidInputError, match="samples"):
            next(mcquack.load(tmp_path / "begun.mcq").fit_iter(X + 1e-3 * X**2, y, resume=True))


@EACH
def test_models_can_be_copied_and_pickled(model: DrawnClassifier) -> None:
    fitted = small(model, max_steps=20).fit(IRIS, SPECIES)
    for twin in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        assert_array_equal(twin.predict_proba(IRIS), fitted.predict_proba(IRIS))


@EACH
def test_damaged_files_are_refused(model: DrawnClassifier, tmp_path: Path) -> None:
    fitted = small(model, max_steps=5).fit(IRIS, SPECIES)
    path = tmp_path / "model.mcq"
    fitted.parameters_ = fitted.parameters_[:, :-1]
    fitted.save(path)
    with pytest.raises(ModelFileError, match="parameters"):
        mcquack.load(path)


# Features


def test_more_features_than_components_are_reduced_as_principal_components_are() -> None:
    from sklearn.decomposition import PCA

    X, y = load_wine(return_X_y=True)
    model = DressedQuantumCircuitClassifier(1, n_components=4, max_steps=5, random_state=0).fit(X, y)
    ours = model.preparation_(X)
    theirs = PCA(4, svd_solver="full").fit_transform(X)
    theirs = theirs / theirs.std(axis=0)
    assert_allclose(np.abs(ours), np.abs(theirs), rtol=1e-9, atol=1e-9)
    assert model.params_["input_weights"].shape == (4, 4)


def test_components_without_variance_are_zero() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)) @ rng.normal(size=(5, 30))
    y = (X[:, 0] > 0).astype(int)
    model = DressedQuantumCircuitClassifier(1, n_components=12, max_steps=5, random_state=0).fit(X[:30], y[:30])
    assert_array_equal(model.preparation_(X)[:, 5:], 0)
    assert np.abs(model.preparation_(X)).max() < 10
    few = IQPVariationalClassifier(1, n_components=9, max_steps=5, random_state=0).fit(X[:4], [0, 1, 0, 1])
    assert few.predict(X).shape == (40,)


@EACH
def test_units_of_features_do_not_matter_to_those_who_scale(model: DrawnClassifier) -> None:
    if isinstance(model, CircuitCentricClassifier | TreeTensorClassifier):
        pytest.skip("it does not scale")
    plain = small(model, max_steps=30).fit(IRIS, SPECIES)
    tiny = small(model, max_steps=30).fit(IRIS * 2.0**-70, SPECIES)
    assert_allclose(tiny.predict_proba(IRIS * 2.0**-70), plain.predict_proba(IRIS), atol=1e-6)


@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 5, 7, 9, 17, 70])
@EACH
def test_any_number_of_features_can_be_learned_from(model: DrawnClassifier, n_features: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, n_features)), np.arange(40) % 2
    X[:, 0] += y
    X[0] = 0
    fitted = small(model, max_steps=20).fit(X, y)
    assert np.isfinite(fitted.predict_proba(X)).all()
    assert np.isfinite(fitted.predict_proba(1e300 * X)).all()


@EACH
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning_rate", 0),
        ("learning_rate", "fast"),
        ("batch_size", 0),
        ("max_steps", 1.5),
        ("convergence_interval", 0),
        ("scaling", 0.0),
        ("random_state", -1),
        ("n_layers", 0),
        ("n_components", 0),
        ("n_components", 10**6),
        ("class_weight", "none"),
        ("dtype", "float16"),
        ("dtype", np.float32),
        ("dtype", None),
    ],
)
def test_bad_settings_are_refused_by_name(model: DrawnClassifier, name: str, value: object) -> None:
    if name not in model.get_params():
        pytest.skip("it has no such setting")
    with pytest.raises(InvalidInputError, match=f"^{name} "):
        small(model, **{name: value}).fit(IRIS, SPECIES)


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        (DataReuploadingClassifier, {"observable_type": "most"}),
        (DataReuploadingClassifier, {"circuit": "paper"}),
        (QuantumMetricLearner, {"pairs": "all"}),
        (QuantumMetricLearner, {"n_examples_predict": 0}),
        (IQPVariationalClassifier, {"repeats": 0}),
        (IQPVariationalClassifier, {"repeats": 10**7}),
        (QuantumBoltzmannMachine, {"visible_qubits": "most"}),
        (QuantumBoltzmannMachine, {"temperature": 1e-200}),
        (TreeTensorClassifier, {"padding": "none"}),
        (CircuitCentricClassifier, {"n_input_copies": 0}),
    ],
)
def test_bad_settings_of_one_model_are_refused_by_name(model: type[DrawnClassifier], settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=f"^{next(iter(settings))} "):
        model(**settings).fit(IRIS, SPECIES)


def test_copies_that_no_engine_takes_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="n_input_copies"):
        CircuitCentricClassifier(n_input_copies=11).fit(IRIS, SPECIES)
