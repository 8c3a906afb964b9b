"""What McQuack promises a user: it learns, takes any label, and the same seed gives the same model to the last bit."""

import itertools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal, assert_equal
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import recall_score
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mcquack import McQuackClassifier, QuackClassifier
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.kernels.losses import Alignment, CrossEntropy, target_alignment
from mcquack.models import PRESETS
from mcquack.models import mcquack as module
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training import loop
from tests.models.sameness import assert_same_model, assert_same_state, assert_same_training, own_map, timeless

IRIS_X, IRIS_Y = load_iris(return_X_y=True)


def small(**settings: Any) -> McQuackClassifier:
    """An estimator that trains in milliseconds."""
    of_the_paper = {"loss": "alignment", "steps": "alternating"}
    usual = {"n_qubits": 2, "n_repetitions": 2, "epochs": 5, "random_state": 0}
    return McQuackClassifier(**{**usual, **of_the_paper, **settings})


def eager(**settings: Any) -> McQuackClassifier:
    """An estimator that learns iris in a tenth of a second."""
    return small(**{"n_repetitions": 4, "epochs": 60, "lr_ka": 0.05, "lr_co": 0.05, **settings})


def blobs(n_samples: int = 90, n_classes: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(n_samples, n_features=3, centers=n_classes, cluster_std=1.0, random_state=seed)


def loss_of(model: McQuackClassifier, X: np.ndarray, y: np.ndarray) -> float:
    """1 - A, computed from the finished model."""
    return 1 - target_alignment(model.transform(X), np.searchsorted(model.classes_, y))


# What is learned


@pytest.mark.parametrize("seed", range(3))
def test_iris_is_learned(seed: int) -> None:
    X, X_test, y, y_test = train_test_split(IRIS_X, IRIS_Y, test_size=0.3, stratify=IRIS_Y, random_state=seed)
    assert eager(random_state=seed).fit(X, y).score(X_test, y_test) > 0.9


@pytest.mark.parametrize(
    ("data", "least"),
    [((IRIS_X, IRIS_Y), 0.9), (load_wine(return_X_y=True), 0.9), (load_digits(n_class=3, return_X_y=True), 0.95)],
)
def test_the_defaults_learn(data: tuple[np.ndarray, np.ndarray], least: float) -> None:
    X, X_test, y, y_test = train_test_split(*data, test_size=0.3, stratify=data[1], random_state=0)
    assert McQuackClassifier(random_state=0).fit(X, y).score(X_test, y_test) > least


def corners(n_samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four clouds whose classes alternate: the means of both classes coincide."""
    random = np.random.default_rng(seed)
    signs = random.integers(0, 2, (n_samples, 2))
    return signs + random.normal(scale=0.15, size=(n_samples, 2)), signs[:, 0] ^ signs[:, 1]


@pytest.mark.parametrize("seed", range(3))
def test_what_no_nearest_centroid_can_tell_apart(seed: int) -> None:
    (X, y), (X_test, y_test) = corners(200, seed), corners(200, 100 + seed)
    assert NearestCentroid().fit(X, y).score(X_test, y_test) < 0.7
    assert eager(random_state=seed, epochs=100).fit(X, y).score(X_test, y_test) > 0.95


@pytest.mark.parametrize(
    "settings",
    [
        {"optimizer": "sgd", "lr_ka": 0.5, "lr_co": 0.1},
        {"steps": "joint"},
        {"engine": StatevectorEngine(dtype="float64")},
        {"loss": "cross_entropy"},
        {"loss": CrossEntropy(beta=5.0)},
        {"init_strategy": "wx+b=0"},
        {"init_small": False},
        {"feature_map": "device"},
        {"feature_map": FeatureMap(n_qubits=2, n_features=4, n_layers=8)},
        {"epochs_ka": 2, "epochs_co": 3, "epochs": 30},
        {"batch_size": 16},
        {"scale": False},
        {"scale": (-1.0, 1.0)},
        {"n_qubits": 1, "n_repetitions": 2},
        {"n_qubits": 3},
        {"reg_param_weights": 1e-3, "reg_param_bias": 1e-3},
        {"validation_fraction": 0.2},
        {"n_centroids_per_class": 2},
        {"n_centroids_per_class": 3, "loss": Alignment("sum")},
        {"n_centroids_per_class": 2, "loss": CrossEntropy(class_score="sum")},
    ],
    ids=str,
)
def test_every_way_to_train_learns(settings: dict[str, Any]) -> None:
    model = eager(**settings).fit(IRIS_X, IRIS_Y)
    assert model.score(IRIS_X, IRIS_Y) > 0.85
    losses = [row["loss"] for row in model.history_]
    assert min(losses) < 0.8 * losses[0]


@pytest.mark.parametrize("phase", ["epochs_ka", "epochs_co"])
def test_a_phase_left_out_leaves_its_parameters(phase: str) -> None:
    first, *_, last = [
        model.training_state_.parameters for model in [small(**{phase: 0})] for _ in model.fit_iter(IRIS_X, IRIS_Y)
    ]
    resting = ["centroids"] if phase == "epochs_co" else ["weights", "bias"]
    for name in ("weights", "bias", "centroids"):
        assert (name in resting) == np.array_equal(getattr(first, name), getattr(last, name))


# Labels

NAMES = {
    "numbers": np.array([0, 1, 2]),
    "negative numbers": np.array([-7, -3, 40]),
    "huge numbers": np.array([0, 1, 2], np.uint64) + np.uint64(2**63),
    "bytes of numbers": np.array([1, 2, 3], np.uint8),
    "whole floats": np.array([-1.0, 0.0, 2.0]),
    "text": np.array(["cat", "dog", "émeu"]),
    "objects": np.array(["a", "b", "longer than the others"], object),
    "a list": ["x", "y", "z"],
}


@pytest.mark.parametrize("kind", NAMES)
def test_names_of_classes_only_name(kind: str) -> None:
    given: Any = NAMES[kind]
    names = np.asarray(given)
    y = [given[label] for label in IRIS_Y] if isinstance(given, list) else names[IRIS_Y]
    plain, named = small().fit(IRIS_X, IRIS_Y), small().fit(IRIS_X, y)
    assert_array_equal(named.classes_, names, strict=True)
    assert_array_equal(named.weights_, plain.weights_)
    assert_array_equal(named.centroids_, plain.centroids_)
    predicted = named.predict(IRIS_X)
    assert_array_equal(predicted, names[plain.predict(IRIS_X)], strict=True)
    assert named.score(IRIS_X, y) == plain.score(IRIS_X, IRIS_Y)


def test_truth_is_a_label() -> None:
    X, y = blobs(n_classes=2)
    plain, named = small().fit(X, y), small().fit(X, y == 1)
    assert named.predict(X).dtype == bool
    assert_array_equal(named.predict(X), plain.predict(X) == 1)


def test_the_order_of_classes_decides_nothing_but_the_order_of_columns() -> None:
    model = small(engine=StatevectorEngine(dtype="float64")).fit(IRIS_X, IRIS_Y)
    renamed = small(engine=StatevectorEngine(dtype="float64")).fit(IRIS_X, np.array([2, 0, 1])[IRIS_Y])
    assert_allclose(renamed.transform(IRIS_X)[:, [2, 0, 1]], model.transform(IRIS_X), atol=1e-9)


def test_measurements_are_no_labels() -> None:
    with pytest.raises(ValueError, match="Unknown label type"):
        small().fit(IRIS_X, IRIS_X[:, 0] + 0.123)


@pytest.mark.parametrize("kind", [McQuackClassifier, QuackClassifier])
def test_one_class_is_no_problem_to_learn(kind: type[McQuackClassifier]) -> None:
    with pytest.raises(InvalidInputError, match="one class"):
        kind(n_qubits=2).fit(IRIS_X, np.zeros(len(IRIS_X)))
    with pytest.raises(InvalidInputError, match="two classes"):
        kind(n_qubits=2).partial_fit(IRIS_X, np.zeros(len(IRIS_X)), classes=[0])
    weights = (IRIS_Y == 1).astype(float)
    with pytest.raises(InvalidInputError, match="two classes"):
        kind(n_qubits=2).fit(IRIS_X, IRIS_Y, weights)


# What is predicted


@pytest.fixture(scope="module", params=[2, 3])
def fitted(request: pytest.FixtureRequest) -> McQuackClassifier:
    return eager(epochs=20).fit(*blobs(n_classes=request.param))


EVERYWHERE = np.random.default_rng(1).normal(scale=20, size=(300, 3))


def test_the_class_is_that_of_the_centroid_of_highest_fidelity(fitted: McQuackClassifier) -> None:
    K = fitted.transform(EVERYWHERE)
    assert K.shape == (300, len(fitted.classes_))
    assert K.min() >= 0
    assert K.max() <= 1
    assert_array_equal(fitted.predict(EVERYWHERE), fitted.classes_[K.argmax(axis=1)])


def test_shares_are_fidelities_divided_by_their_sum(fitted: McQuackClassifier) -> None:
    K, shares = fitted.transform(EVERYWHERE), fitted.predict_proba(EVERYWHERE)
    assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    assert_allclose(shares * K.sum(axis=1, keepdims=True), K, rtol=1e-5)
    in_order = np.take_along_axis(shares, K.argsort(axis=1), axis=1)
    assert (np.diff(in_order, axis=1) >= 0).all()


def test_decisions_have_the_shape_scikit_learn_wants(fitted: McQuackClassifier) -> None:
    K, decisions = fitted.transform(EVERYWHERE), fitted.decision_function(EVERYWHERE)
    if len(fitted.classes_) == 2:
        assert decisions.shape == (300,)
        assert_allclose(decisions, (K[:, 1] - K[:, 0]) / K.sum(axis=1), atol=1e-6)
        assert_array_equal(fitted.predict(EVERYWHERE), fitted.classes_[(decisions > 0).astype(int)])
    else:
        assert_array_equal(decisions, K)


def test_fidelities_are_those_of_the_states(fitted: McQuackClassifier) -> None:
    states, centroids = fitted.statevectors(EVERYWHERE), fitted.statevectors()
    assert states.shape == (300, 4)
    assert_allclose(np.linalg.norm(states, axis=1), 1, atol=1e-6)
    assert_allclose(np.abs(states @ centroids.conj().T) ** 2, fitted.transform(EVERYWHERE), atol=1e-6)


def test_a_centroid_is_its_own_nearest(fitted: McQuackClassifier) -> None:
    centroids = fitted.scaler_.inverse_transform(fitted.centroids_)
    assert_allclose(np.diag(fitted.transform(centroids)), 1, atol=1e-5)
    assert_array_equal(fitted.predict(centroids), fitted.classes_)


def test_a_sample_is_judged_alone(fitted: McQuackClassifier) -> None:
    together = fitted.transform(EVERYWHERE)
    assert_array_equal(np.vstack([fitted.transform(EVERYWHERE[row : row + 1]) for row in range(20)]), together[:20])
    assert_array_equal(fitted.transform(EVERYWHERE[::-1])[::-1], together)


@pytest.mark.parametrize(
    ("n_qubits", "n_repetitions", "n_features", "n_classes"), [(1, 1, 4, 3), (2, 3, 3, 2), (4, 2, 9, 5)]
)
def test_parameters_are_counted_as_in_the_paper(
    n_qubits: int, n_repetitions: int, n_features: int, n_classes: int
) -> None:
    X = np.random.default_rng(0).normal(size=(40, n_features))
    model = small(n_qubits=n_qubits, n_repetitions=n_repetitions, epochs=1).fit(X, np.arange(40) % n_classes)
    n_layers = n_repetitions * -(-n_features // n_qubits)
    assert model.weights_.shape == model.bias_.shape == (n_layers, n_qubits, 3)
    assert model.centroids_.shape == (n_classes, n_features)
    assert model.n_parameters_ == 6 * n_qubits * n_layers + n_classes * n_features
    assert model.n_parameters_ == model.weights_.size + model.bias_.size + model.centroids_.size


@pytest.mark.parametrize(("n_features", "n_layers"), [(1, 20), (4, 20), (6, 21), (38, 38), (120, 60)])
def test_few_features_are_repeated_until_the_circuit_is_deep(n_features: int, n_layers: int) -> None:
    """Whole passes over the features, as many as make at least twenty layers."""
    X = np.random.default_rng(0).normal(size=(20, n_features))
    n_qubits = 1 if n_features == 38 else 2
    model = small(n_qubits=n_qubits, n_repetitions=None, epochs=1).fit(X, np.arange(20) % 2)
    assert own_map(model).n_layers == n_layers


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_have_the_type_asked_for(dtype: str) -> None:
    model = small(engine=StatevectorEngine(dtype=dtype)).fit(IRIS_X, IRIS_Y)
    for array in (model.weights_, model.bias_, model.centroids_, model.transform(IRIS_X)):
        assert array.dtype == dtype


def test_both_precisions_agree() -> None:
    engines = (StatevectorEngine(dtype=dtype) for dtype in ("float32", "float64"))
    single, double = (small(engine=engine).fit(IRIS_X, IRIS_Y).transform(IRIS_X) for engine in engines)
    assert_allclose(single, double, atol=1e-3)


# Scaling


def test_scaling_is_learned_from_the_training_part_alone() -> None:
    model = small().fit(IRIS_X, IRIS_Y, validation_data=(1000 * IRIS_X, IRIS_Y))
    assert_array_equal(model.scaler_.data_min_, IRIS_X.min(axis=0))
    assert_array_equal(model.scaler_.data_max_, IRIS_X.max(axis=0))
    model.predict(-1000 * IRIS_X)
    assert_array_equal(model.scaler_.data_min_, IRIS_X.min(axis=0))


def test_samples_held_out_do_not_reach_the_scaler() -> None:
    """A row that is moved far away shows in the scaling just if it is one of those trained on."""
    X, y = blobs(40, 2)

    def shows(row: int) -> bool:
        moved = X.copy()
        moved[row, 0] = 100
        return bool(small(epochs=1, validation_fraction=0.25).fit(moved, y).scaler_.data_max_[0] == 100)

    assert sum(shows(row) for row in range(40)) == 30


def test_units_do_not_matter_when_features_are_scaled() -> None:
    model = small(engine=StatevectorEngine(dtype="float64")).fit(IRIS_X, IRIS_Y)
    other_units = IRIS_X * [1e-3, 2, 1e6, 5] + [3, 0, -1e3, 1]
    assert_allclose(
        small(engine=StatevectorEngine(dtype="float64")).fit(other_units, IRIS_Y).transform(other_units),
        model.transform(IRIS_X),
        atol=1e-6,
    )


def test_features_are_taken_as_they_are_on_demand() -> None:
    scaled = small().fit(IRIS_X, IRIS_Y)
    by_hand = scaled.scaler_.transform(IRIS_X)
    model = small(scale=False).fit(by_hand, IRIS_Y)
    assert model.scaler_ is None
    assert_array_equal(model.centroids_, scaled.centroids_)
    assert_array_equal(model.transform(by_hand), scaled.transform(IRIS_X))
    means = small(scale=False, epochs_co=0).fit(IRIS_X, IRIS_Y).centroids_
    assert_allclose(means, [IRIS_X[label == IRIS_Y].mean(axis=0) for label in range(3)], rtol=1e-6)


def test_features_are_scaled_to_the_range_asked_for() -> None:
    model = small(scale=(-2.0, 3.0), epochs_co=0).fit(IRIS_X, IRIS_Y)
    scaled = model.scaler_.transform(IRIS_X)
    assert_allclose([scaled.min(), scaled.max()], [-2, 3])


def test_a_constant_feature_is_no_obstacle() -> None:
    model = small().fit(np.column_stack([IRIS_X, np.full(len(IRIS_X), 7.0)]), IRIS_Y)
    assert np.isfinite(model.centroids_).all()


# History, patience, the best model

COLUMNS = {
    "epoch",
    "loss",
    "loss_kao",
    "loss_co",
    "alignment",
    "accuracy",
    "validation_alignment",
    "validation_accuracy",
    "grad_norm_weights",
    "grad_norm_bias",
    "grad_norm_centroids",
    "seconds",
}


def test_the_history_has_a_row_for_each_epoch() -> None:
    model = small().fit(IRIS_X, IRIS_Y)
    assert model.n_iter_ == len(model.history_) == 5
    assert [row["epoch"] for row in model.history_] == [1, 2, 3, 4, 5]
    for row in model.history_:
        assert row.keys() >= COLUMNS
        assert row["validation_alignment"] is row["validation_accuracy"] is None
        assert row["loss"] == pytest.approx(1 - row["alignment"])
        assert -1 / np.sqrt(3) <= row["alignment"] <= 1 / np.sqrt(3)
        assert all(row[f"grad_norm_{part}"] > 0 for part in ("weights", "bias", "centroids"))
        assert all(value is None or type(value) in (int, float) for value in row.values())


@pytest.mark.parametrize("explicit", [False, True])
def test_validation_has_its_columns_and_is_what_patience_watches(explicit: bool) -> None:
    if explicit:
        model = small().fit(IRIS_X[::2], IRIS_Y[::2], validation_data=(IRIS_X[1::2], IRIS_Y[1::2]))
        assert model.history_[-1]["validation_accuracy"] is not None
    else:
        model = small(validation_fraction=0.2).fit(IRIS_X, IRIS_Y)
    for row in model.history_:
        assert row["loss"] == pytest.approx(1 - row["validation_alignment"])
        assert row["validation_alignment"] != row["alignment"]
        assert 0 <= row["validation_accuracy"] <= 1


def test_watching_decides_when_to_stop_and_nothing_else() -> None:
    watched = small(patience=None).fit(IRIS_X, IRIS_Y, validation_data=(IRIS_X[::3], IRIS_Y[::3]))
    alone = small(patience=None).fit(IRIS_X, IRIS_Y)
    assert_same_state(watched, alone)
    assert [row["alignment"] for row in watched.history_] == [row["alignment"] for row in alone.history_]


def test_a_fraction_is_held_out_of_every_class() -> None:
    model = small(validation_fraction=0.5, epochs=1, epochs_ka=0, lr_co=1e-12).fit(IRIS_X, IRIS_Y)
    shares = [row["accuracy"] * 75 for row in model.history_] + [
        row["validation_accuracy"] * 75 for row in model.history_
    ]
    assert_allclose(shares, np.round(shares), atol=1e-9)  # both parts have 75 rows


def test_patience_ends_training_and_the_best_epoch_is_kept() -> None:
    X, y = blobs(60)
    restless = {"lr_ka": 0.6, "lr_co": 0.6, "epochs": 200, "decay_rate": 1.0}
    for seed in range(4):
        model = small(**restless, patience=4, random_state=seed).fit(X, y)
        losses = [row["loss"] for row in model.history_]
        best = int(np.argmin(losses))
        assert model.best_epoch_ == model.history_[best]["epoch"]
        assert model.n_iter_ == best + 1 + 4 < 200
        assert loss_of(model, X, y) == pytest.approx(losses[best], abs=1e-5)
        assert abs(losses[-1] - losses[best]) > 1e-3  # so the line above can tell the best from the last


def test_the_best_epoch_is_that_of_the_validation_part() -> None:
    X, y = blobs(60)
    X_held, y_held = blobs(40, seed=0)
    restless = {"lr_ka": 0.6, "lr_co": 0.6, "epochs": 200, "decay_rate": 1.0, "patience": 4}
    model = small(**restless).fit(X[:30], y[:30], validation_data=(X_held, y_held))
    losses = [row["loss"] for row in model.history_]
    best = int(np.argmin(losses))
    assert model.n_iter_ == best + 1 + 4 < 200
    assert loss_of(model, X_held, y_held) == pytest.approx(losses[best], abs=1e-5)
    assert abs(losses[-1] - losses[best]) > 1e-3


def test_without_patience_all_epochs_run_and_still_the_best_is_kept() -> None:
    X, y = blobs(60)
    model = small(lr_ka=0.6, lr_co=0.6, epochs=40, decay_rate=1.0, patience=None).fit(X, y)
    losses = [row["loss"] for row in model.history_]
    assert model.n_iter_ == 40
    assert model.best_epoch_ == np.argmin(losses) + 1 < 40
    assert loss_of(model, X, y) == pytest.approx(min(losses), abs=1e-5)


def test_the_reported_accuracy_is_that_of_the_model() -> None:
    model = eager(patience=None, epochs=10).fit(IRIS_X, IRIS_Y, validation_data=(IRIS_X[::3], IRIS_Y[::3]))
    best = model.history_[model.best_epoch_ - 1]
    assert best["accuracy"] == pytest.approx(model.score(IRIS_X, IRIS_Y))
    assert best["validation_accuracy"] == pytest.approx(model.score(IRIS_X[::3], IRIS_Y[::3]))


@pytest.mark.parametrize(
    ("validation_data", "message"),
    [
        ((IRIS_X, IRIS_Y + 1), "not among"),
        ((IRIS_X[:, :2], IRIS_Y), "2 features"),
        ((IRIS_X, IRIS_Y[:-1]), "inconsistent"),
        ((IRIS_X * np.nan, IRIS_Y), "NaN"),
    ],
)
def test_validation_data_are_checked(validation_data: tuple[np.ndarray, np.ndarray], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small().fit(IRIS_X, IRIS_Y, validation_data=validation_data)


@pytest.mark.parametrize("validation_data", [(IRIS_X,), (IRIS_X, IRIS_Y, IRIS_Y), 3])
def test_validation_data_are_a_pair(validation_data: Any) -> None:
    with pytest.raises(InvalidInputError, match="validation_data"):
        small().fit(IRIS_X, IRIS_Y, validation_data=validation_data)


# Chance has an owner


def seed_everyone(seed: int) -> None:
    """Sets what ``random_state=None`` draws from."""
    np.random.seed(seed)  # noqa: NPY002


def test_the_same_seed_gives_the_same_model() -> None:
    X, y = load_digits(n_class=3, return_X_y=True)
    settings = {"batch_size": 32, "validation_fraction": 0.2, "epochs": 3}
    model = small(**settings).fit(X, y)
    assert_same_training(small(**settings).fit(X, y), model)
    assert_same_training(model.fit(X, y), small(**settings).fit(X, y))


def test_other_seeds_give_other_models() -> None:
    models = [small(random_state=seed).fit(IRIS_X, IRIS_Y) for seed in (0, 1)]
    assert not np.array_equal(models[0].weights_, models[1].weights_)


def test_generators_of_numpy_are_seeds_too() -> None:
    models = [small(random_state=np.random.RandomState(3)).fit(IRIS_X, IRIS_Y) for _ in range(2)]
    assert_same_training(*models)
    first = models[0].weights_
    assert not np.array_equal(models[0].fit(IRIS_X, IRIS_Y).weights_, first)  # it has moved on
    assert_same_training(*(small(random_state=np.int64(3)).fit(IRIS_X, IRIS_Y) for _ in range(2)))


def test_the_global_generator_is_touched_only_when_there_is_no_seed() -> None:
    seed_everyone(5)
    before = np.random.get_state(legacy=False)  # noqa: NPY002
    small(validation_fraction=0.2).fit(IRIS_X, IRIS_Y)
    assert_equal(np.random.get_state(legacy=False), before)  # noqa: NPY002
    unseeded = small(random_state=None).fit(IRIS_X, IRIS_Y)
    seed_everyone(5)
    assert_same_training(small(random_state=None).fit(IRIS_X, IRIS_Y), unseeded)


@pytest.mark.parametrize("k", [1, 2])
def test_threads_change_nothing(k: int) -> None:
    X, y = load_digits(n_class=4, return_X_y=True)  # 13 layers of 5 qubits: enough work for several threads
    settings = {"n_qubits": 5, "n_repetitions": 1, "epochs": 2, "validation_fraction": 0.2, "n_centroids_per_class": k}
    alone = small(**settings, engine=StatevectorEngine(n_threads=1)).fit(X, y)
    for n_threads in (2, 3, None):
        together = small(**settings, engine=StatevectorEngine(n_threads=n_threads)).fit(X, y)
        assert_same_training(together, alone)
        assert_array_equal(together.transform(X), alone.transform(X))


# Weights


@pytest.fixture(scope="module")
def rare() -> tuple[np.ndarray, np.ndarray]:
    """Two clouds that overlap, one of them ten times as large."""
    random = np.random.default_rng(1)
    X = np.concatenate([random.normal(0, 1, (300, 2)), random.normal(1.2, 1, (30, 2))])
    return X, np.repeat(["common", "rare"], [300, 30])


@pytest.mark.parametrize("class_weight", ["balanced", {"rare": 10.0}, {"common": 0.5, "rare": 5.0}], ids=str)
def test_class_weights_find_the_rare(class_weight: Any, rare: tuple[np.ndarray, np.ndarray]) -> None:
    recalls = [
        recall_score(rare[1], eager(epochs=40, class_weight=weight).fit(*rare).predict(rare[0]), pos_label="rare")
        for weight in (None, class_weight)
    ]
    assert recalls[1] > recalls[0] + 0.3


def test_class_weights_multiply_sample_weights(rare: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rare
    factors = np.where(y == "rare", 4.0, 2.0)
    weights = np.linspace(0.1, 1, len(y))
    by_class = small(class_weight={"rare": 4.0, "common": 2.0}).fit(X, y, weights)
    assert_same_training(by_class, small().fit(X, y, weights * factors))
    assert_same_training(
        small(class_weight={"rare": 4.0}).fit(X, y), small().fit(X, y, np.where(y == "rare", 4.0, 1.0))
    )


def test_balanced_weights_are_those_of_scikit_learn(rare: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rare
    balanced = small(class_weight="balanced").fit(X, y)
    assert_same_training(balanced, small(class_weight={"common": 330 / 600, "rare": 330 / 60}).fit(X, y))


def test_weights_of_unknown_classes_are_refused() -> None:
    for class_weight in ({0: 1.0, 3: 2.0}, {"0": 1.0}):
        with pytest.raises(InvalidInputError, match="class_weight"):
            small(class_weight=class_weight).fit(IRIS_X, IRIS_Y)


@given(counts=st.lists(st.integers(0, 3), min_size=24, max_size=24), order=st.randoms(use_true_random=False))
def test_a_sample_of_weight_k_is_a_sample_given_k_times(counts: list[int], order: Any) -> None:
    X, y = blobs(24)
    counts = [count + (row < 6) for row, count in enumerate(counts)]  # the first six rows hold all three classes
    rows = np.repeat(np.arange(24), counts)
    order.shuffle(rows)
    settings = {"epochs": 3, "class_weight": "balanced", "n_centroids_per_class": 1 + len(rows) % 3}
    assert_same_training(small(**settings).fit(X, y, np.array(counts)), small(**settings).fit(X[rows], y[rows]))


@pytest.mark.parametrize("loss", ["alignment", "cross_entropy", "log_cross_entropy"])
def test_beyond_one_batch_weights_are_repeats_to_the_loss_but_not_to_the_steps(loss: str) -> None:
    """A weighted sample is in one batch of a pass, with its whole weight, and its repeats are in several."""
    X, y = blobs(24)
    counts = 1 + np.arange(24) % 3
    rows = np.repeat(np.arange(24), counts)
    still = {"loss": loss, "batch_size": 8, "lr_ka": 1e-9, "lr_co": 1e-9, "epochs": 1, "reg_param_co": 0.0}
    weighted, repeated = small(**still).fit(X, y, counts), small(**still).fit(X[rows], y[rows])
    assert_allclose(weighted.history_[0]["loss"], repeated.history_[0]["loss"], rtol=1e-5)
    assert_allclose(weighted.centroids_, repeated.centroids_, atol=1e-6)
    assert weighted.training_state_.steps.max() == 24 / 8
    assert repeated.training_state_.steps.max() == counts.sum() / 8
    moving = {"loss": loss, "batch_size": 8, "epochs": 3}
    models = small(**moving).fit(X, y, counts), small(**moving).fit(X[rows], y[rows])
    assert not np.allclose(models[0].centroids_, models[1].centroids_, atol=1e-3)


@pytest.mark.parametrize("settings", [{}, {"batch_size": 16}, {"class_weight": "balanced", "batch_size": 16}], ids=str)
def test_a_sample_of_weight_zero_is_not_there(settings: dict[str, Any]) -> None:
    kept = np.arange(len(IRIS_X)) % 4 > 0
    far = np.where(kept[:, None], IRIS_X, 1e6)  # not even the scaling sees it
    y = np.where(kept, IRIS_Y, 99)  # nor do the classes
    assert_same_training(
        small(**settings).fit(far, y, kept.astype(float)), small(**settings).fit(IRIS_X[kept], IRIS_Y[kept])
    )


def test_only_the_ratio_of_weights_counts() -> None:
    weights = np.random.default_rng(0).uniform(0.5, 2, len(IRIS_X))
    models = [
        small(engine=StatevectorEngine(dtype="float64")).fit(IRIS_X, IRIS_Y, factor * weights) for factor in (1, 1000)
    ]
    assert_allclose(models[0].transform(IRIS_X), models[1].transform(IRIS_X), atol=1e-9)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(150), "zero"),
        (-np.ones(150), "[Nn]egative"),
        (np.ones(149), r"149.*150"),
        (np.full(150, np.nan), "NaN"),
    ],
)
def test_weights_are_checked(weights: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small().fit(IRIS_X, IRIS_Y, weights)


# Several centroids per class


@pytest.fixture(scope="module", params=[(2, 2, "max"), (2, 3, "sum"), (3, 2, "sum"), (3, 3, "max")], ids=str)
def several(request: pytest.FixtureRequest) -> McQuackClassifier:
    n_classes, k, class_score = request.param
    return eager(epochs=20, n_centroids_per_class=k, loss=Alignment(class_score)).fit(*blobs(n_classes=n_classes))


def scores_of(model: McQuackClassifier, X: np.ndarray) -> np.ndarray:
    by_class = model.transform(X).reshape(len(X), len(model.classes_), model.n_centroids_per_class)
    return by_class.max(axis=2) if model.loss_.class_score == "max" else by_class.sum(axis=2)


def test_each_centroid_has_parameters_and_a_column(several: McQuackClassifier) -> None:
    n_centroids = len(several.classes_) * several.n_centroids_per_class
    assert several.centroids_.shape == (n_centroids, 3)
    assert several.statevectors().shape == (n_centroids, 4)
    assert several.transform(EVERYWHERE).shape == (300, n_centroids)
    names = several.get_feature_names_out().tolist()
    assert len(set(names)) == len(names) == n_centroids
    assert names[:2] == [f"mcquack_{several.classes_[0]}_0", f"mcquack_{several.classes_[0]}_1"]
    assert several.n_parameters_ == 6 * 2 * own_map(several).n_layers + n_centroids * 3


def test_the_class_is_that_of_the_highest_score(several: McQuackClassifier) -> None:
    scores = scores_of(several, EVERYWHERE)
    assert_array_equal(several.predict(EVERYWHERE), several.classes_[scores.argmax(axis=1)])
    shares = several.predict_proba(EVERYWHERE)
    assert_allclose(shares, scores / scores.sum(axis=1, keepdims=True), rtol=1e-5)
    decisions = several.decision_function(EVERYWHERE)
    assert_allclose(decisions, shares[:, 1] - shares[:, 0] if len(several.classes_) == 2 else scores, atol=1e-6)


def test_the_history_tells_of_scores(several: McQuackClassifier) -> None:
    X, y = blobs(n_classes=len(several.classes_))
    row = several.history_[several.best_epoch_ - 1]
    assert_allclose(row["alignment"], target_alignment(scores_of(several, X), y), rtol=1e-5)
    assert row["accuracy"] == several.score(X, y)


def test_one_centroid_per_class_has_no_other_score() -> None:
    one = small(n_centroids_per_class=1, loss=Alignment("sum")).fit(IRIS_X, IRIS_Y)
    assert_same_training(one, small().fit(IRIS_X, IRIS_Y))
    assert_array_equal(one.predict_proba(IRIS_X), small().fit(IRIS_X, IRIS_Y).predict_proba(IRIS_X))


@pytest.mark.parametrize("seed", range(3))
def test_two_centroids_begin_where_one_mean_says_nothing(seed: int) -> None:
    X, y = corners(200, seed)
    one, two = (small(n_centroids_per_class=k, epochs=1, random_state=seed).fit(X, y) for k in (1, 2))
    assert one.history_[0]["accuracy"] < 0.7
    assert two.history_[0]["accuracy"] > 0.9


def test_a_class_that_comes_later_starts_at_the_clusters_of_its_samples() -> None:
    model = small(lr_co=1e-9, scale=False, n_centroids_per_class=2)
    X, y = corners(200, 0)
    late = np.vstack([X[:50] + np.array(step) for step in ([10, 0], [0, 10])])
    model.partial_fit(X, y, classes=[0, 1, 2])
    early = model.centroids_[:4].copy()
    model.partial_fit(late, np.full(100, 2))
    assert_allclose(model.centroids_[:4], early, atol=1e-6)
    found = model.centroids_[4:]
    assert_allclose(found[np.argsort(found[:, 0])], [late[50:].mean(axis=0), late[:50].mean(axis=0)], rtol=1e-5)


@pytest.mark.parametrize("class_score", ["max", "sum"])
def test_a_stream_may_begin_with_fewer_samples_than_centroids(class_score: Any) -> None:
    model = eager(n_centroids_per_class=3, loss=Alignment(class_score))
    for row in (0, 50, 100):
        model.partial_fit(IRIS_X[row : row + 1], IRIS_Y[row : row + 1], classes=[0, 1, 2])
    assert len(np.unique(model.centroids_, axis=0)) == 9
    for X, y in batches(IRIS_X, IRIS_Y, size=50, n_batches=60):
        model.partial_fit(X, y)
    assert model.score(IRIS_X, IRIS_Y) > 0.85


def test_a_file_knows_how_many_centroids_were_trained(several: McQuackClassifier, tmp_path: Path) -> None:
    trained = several.n_centroids_per_class
    try:
        several.set_params(n_centroids_per_class=7).save(tmp_path / "model.mcq")
    finally:
        several.set_params(n_centroids_per_class=trained)
    loaded = McQuackClassifier.load(tmp_path / "model.mcq")
    assert loaded.get_params() == several.get_params()
    assert_same_model(loaded, several)
    assert_array_equal(loaded.predict_proba(EVERYWHERE), several.predict_proba(EVERYWHERE))


def test_a_stream_cannot_change_the_number_of_centroids() -> None:
    model = small(n_centroids_per_class=2).fit(IRIS_X, IRIS_Y).set_params(n_centroids_per_class=3)
    with pytest.raises(InvalidInputError, match="n_centroids_per_class is now 3, but 2 were trained"):
        model.partial_fit(IRIS_X, IRIS_Y)
    with pytest.raises(InvalidInputError, match="n_centroids_per_class is now 3, but 2 were trained"):
        model.fit_iter(IRIS_X, IRIS_Y, resume=True)
    assert model.fit(IRIS_X, IRIS_Y).centroids_.shape == (9, 4)


@pytest.mark.parametrize("k", [1, 2])
def test_quack_takes_several_too(k: int) -> None:
    X, y = blobs(n_classes=2)
    model = QuackClassifier(2, 2, epochs=5, n_centroids_per_class=k, random_state=0).fit(X, y)
    assert model.transform(X).shape == (90, 2 * k)


# Going on


@pytest.mark.parametrize(
    "settings", [{}, {"batch_size": 16, "optimizer": "sgd"}, {"validation_fraction": 0.2}], ids=str
)
def test_a_warm_start_goes_on_where_training_ended(settings: dict[str, Any]) -> None:
    whole = small(epochs=10, patience=None, **settings).fit(IRIS_X, IRIS_Y)
    parts = small(epochs=5, patience=None, warm_start=True, **settings).fit(IRIS_X, IRIS_Y).fit(IRIS_X, IRIS_Y)
    assert [whole.best_epoch_, parts.best_epoch_] == [10, 10]  # the loss falls all the way, so the last is the best
    assert_same_state(parts, whole)
    assert timeless(parts.history_) == timeless(whole.history_[5:])


def test_a_warm_start_begins_with_the_best_parameters() -> None:
    X, y = blobs(60)
    model = small(lr_ka=0.6, lr_co=0.6, epochs=40, patience=6, decay_rate=1.0).fit(X, y)
    assert model.best_epoch_ < model.n_iter_
    kept = model.weights_.copy()
    model.set_params(lr_ka=1e-7, lr_co=1e-7, epochs=1, warm_start=True).fit(X, y)
    assert_allclose(model.weights_, kept, atol=1e-5)


@pytest.mark.parametrize("warm_start", [False, True])
def test_a_file_says_whether_fit_goes_on(warm_start: bool, tmp_path: Path) -> None:
    model = small(warm_start=warm_start, random_state=0).fit(IRIS_X, IRIS_Y)
    model.save(tmp_path / "model.mcq")
    again = McQuackClassifier.load(tmp_path / "model.mcq")
    assert again.warm_start is warm_start
    again.set_params(lr_ka=1e-9, lr_co=1e-9, epochs=1).fit(IRIS_X, IRIS_Y)
    assert np.allclose(again.weights_, model.weights_, atol=1e-6) == warm_start


def test_only_true_and_false_say_whether_fit_goes_on() -> None:
    with pytest.raises(InvalidInputError, match=r"warm_start .* 1"):
        small(warm_start=1).fit(IRIS_X, IRIS_Y)


def test_a_cold_start_forgets() -> None:
    model = small().fit(IRIS_X * 3, IRIS_Y)
    assert_same_training(model.fit(IRIS_X, IRIS_Y), small().fit(IRIS_X, IRIS_Y))
    two = IRIS_Y < 2
    assert_same_training(model.fit(IRIS_X[two, :2], IRIS_Y[two]), small().fit(IRIS_X[two, :2], IRIS_Y[two]))


def test_a_warm_start_keeps_the_classes() -> None:
    model = small(warm_start=True).fit(IRIS_X, IRIS_Y)
    model.fit(IRIS_X[:60], IRIS_Y[:60])
    assert_array_equal(model.classes_, [0, 1, 2])
    with pytest.raises(InvalidInputError, match="not among"):
        model.fit(IRIS_X, IRIS_Y + 1)


@pytest.mark.parametrize("name", ["n_qubits", "n_repetitions", "feature_map", "n_centroids_per_class"])
def test_a_warm_start_cannot_change_what_is_trained(name: str) -> None:
    changed = {"n_qubits": 3, "n_repetitions": 5, "feature_map": "device", "n_centroids_per_class": 2}[name]
    model = small(warm_start=True).fit(IRIS_X, IRIS_Y).set_params(**{name: changed})
    with pytest.raises(InvalidInputError, match=name):
        model.fit(IRIS_X, IRIS_Y)


def test_a_warm_start_may_change_the_precision() -> None:
    model = small(warm_start=True).fit(IRIS_X, IRIS_Y)
    kept = model.weights_.copy()
    double = StatevectorEngine(dtype="float64")
    model.set_params(engine=double, lr_ka=1e-9, lr_co=1e-9).fit(IRIS_X, IRIS_Y)
    assert model.weights_.dtype == model.transform(IRIS_X).dtype == np.float64
    assert_allclose(model.weights_, kept, atol=1e-7)


def test_a_refused_fit_leaves_the_model_as_it_was() -> None:
    model = small().fit(IRIS_X, IRIS_Y)
    predicted = model.predict(IRIS_X)
    with pytest.raises(InvalidInputError):
        model.fit(IRIS_X, np.zeros(len(IRIS_X)))
    with pytest.raises(InvalidInputError):
        model.fit(IRIS_X, IRIS_Y, validation_data=(IRIS_X, IRIS_Y + 5))
    model.fit_iter(IRIS_X, IRIS_Y > 0)  # nobody takes a row of it
    assert_array_equal(model.predict(IRIS_X), predicted)


# Streams


def batches(X: np.ndarray, y: np.ndarray, *, size: int, n_batches: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(0)
    for _ in range(n_batches):
        rows = random.choice(len(X), size)
        yield X[rows], y[rows]


def test_a_stream_trains() -> None:
    model = eager()
    for X, y in batches(IRIS_X, IRIS_Y, size=50, n_batches=100):
        model.partial_fit(X, y, classes=[0, 1, 2])
    assert model.score(IRIS_X, IRIS_Y) > 0.9
    assert model.n_iter_ == 100


@pytest.mark.parametrize("batch_size", [16, 200])
def test_a_stream_of_the_same_samples_is_training(batch_size: int) -> None:
    stream = small(batch_size=batch_size)
    for _ in range(5):
        stream.partial_fit(IRIS_X, IRIS_Y, classes=[0, 1, 2])
    # A stream has no end to slow down for.
    whole = small(batch_size=batch_size, patience=None, decay_rate=1.0).fit(IRIS_X, IRIS_Y)
    assert_same_state(stream, whole)
    assert timeless(stream.history_) == timeless(whole.history_)


def test_a_stream_holds_nothing_out() -> None:
    """Nobody would look at what is held out, as a stream has no patience."""
    watched = small(validation_fraction=0.5).partial_fit(IRIS_X, IRIS_Y, classes=[0, 1, 2])
    assert_same_model(watched, small().partial_fit(IRIS_X, IRIS_Y, classes=[0, 1, 2]))


def test_a_stream_ends_in_its_last_parameters() -> None:
    model = small(lr_ka=0.5, lr_co=0.5)
    for X, y in batches(IRIS_X, IRIS_Y, size=30, n_batches=10):
        model.partial_fit(X, y, classes=[0, 1, 2])
    assert_array_equal(model.weights_, model.training_state_.parameters.weights)
    assert_array_equal(model.centroids_, model.training_state_.parameters.centroids)


def test_a_batch_may_have_one_class() -> None:
    model = eager(epochs=1)
    for _ in range(30):
        for label in (2, 0, 1):
            model.partial_fit(IRIS_X[label == IRIS_Y], IRIS_Y[label == IRIS_Y], classes=[0, 1, 2])
            assert np.isfinite(model.centroids_).all()
    assert model.predict(IRIS_X).shape == (150,)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0}], ids=str)
def test_a_class_that_comes_later_starts_at_the_mean_of_its_samples(class_weight: Any) -> None:
    model = small(lr_co=1e-9, scale=False, class_weight=class_weight)
    early, late = IRIS_Y < 2, IRIS_Y == 2
    model.partial_fit(IRIS_X[early], IRIS_Y[early], classes=[0, 1, 2])
    model.partial_fit(IRIS_X[late][:10], IRIS_Y[late][:10])
    assert_allclose(model.centroids_[2], IRIS_X[late][:10].mean(axis=0), rtol=1e-5)
    model.partial_fit(IRIS_X[late][10:], IRIS_Y[late][10:])
    assert_allclose(model.centroids_[2], IRIS_X[late][:10].mean(axis=0), rtol=1e-5)
    assert_allclose(model.centroids_[0], IRIS_X[IRIS_Y == 0].mean(axis=0), rtol=1e-5)


def test_a_late_class_is_learned() -> None:
    model = eager()
    for X, y in batches(IRIS_X[:100], IRIS_Y[:100], size=50, n_batches=20):
        model.partial_fit(X, y, classes=[0, 1, 2])
    for X, y in batches(IRIS_X, IRIS_Y, size=50, n_batches=100):
        model.partial_fit(X, y)
    assert recall_score(IRIS_Y, model.predict(IRIS_X), average=None).min() > 0.8


def test_a_stream_needs_all_its_classes_at_first_and_keeps_them() -> None:
    with pytest.raises(InvalidInputError, match="needs classes"):
        small().partial_fit(IRIS_X, IRIS_Y)
    with pytest.raises(InvalidInputError, match=r"labels .*2.* not among"):
        small().partial_fit(IRIS_X, IRIS_Y, classes=[0, 1])
    model = small().partial_fit(IRIS_X, IRIS_Y, classes=[2, 1, 0])
    model.partial_fit(IRIS_X, IRIS_Y, classes=[0, 1, 2])
    for classes in ([0, 1], [0, 1, 2, 3], ["0", "1", "2"]):
        with pytest.raises(InvalidInputError, match="classes must stay"):
            model.partial_fit(IRIS_X, IRIS_Y, classes=classes)
    for y in (IRIS_Y + 1, IRIS_Y.astype(str)):
        with pytest.raises(InvalidInputError, match="not among"):
            model.partial_fit(IRIS_X, y)
    assert model.n_iter_ == 2


def test_a_fitted_model_takes_a_stream() -> None:
    model = small().fit(IRIS_X, IRIS_Y)
    scale = model.scaler_.scale_.copy()
    model.partial_fit(10 * IRIS_X[:20], IRIS_Y[:20])
    assert model.n_iter_ == 6
    assert_array_equal(model.scaler_.scale_, scale)


def test_weights_count_in_streams() -> None:
    models = [
        small().partial_fit(IRIS_X, IRIS_Y, classes=[0, 1, 2], sample_weight=weights) for weights in (None, IRIS_Y + 1)
    ]
    assert not np.array_equal(models[0].weights_, models[1].weights_)
    kept = np.arange(150) % 3 > 0
    assert_same_training(
        small().partial_fit(IRIS_X, IRIS_Y, [0, 1, 2], kept.astype(float)),
        small().partial_fit(IRIS_X[kept], IRIS_Y[kept], [0, 1, 2]),
    )


# Epoch by epoch


def test_every_epoch_leaves_a_model_to_use() -> None:
    model = small(lr_ka=0.3, lr_co=0.3)
    rows = []
    for row in model.fit_iter(IRIS_X, IRIS_Y):
        rows.append(row)
        assert model.history_ == rows
        assert model.predict(IRIS_X).shape == (150,)
        assert loss_of(model, IRIS_X, IRIS_Y) == pytest.approx(min(row["loss"] or 0 for row in rows), abs=1e-5)
    assert len(rows) == 5
    assert_same_training(model, small(lr_ka=0.3, lr_co=0.3).fit(IRIS_X, IRIS_Y))


@pytest.mark.parametrize("settings", [{}, {"batch_size": 16, "validation_fraction": 0.2}], ids=str)
def test_training_can_be_left_at_any_epoch(settings: dict[str, Any]) -> None:
    model = small(**settings)
    epochs = model.fit_iter(IRIS_X, IRIS_Y)
    for _ in itertools.islice(epochs, 3):
        pass
    epochs.close()
    assert_same_training(model, small(**settings, epochs=3).fit(IRIS_X, IRIS_Y))


def test_settings_and_data_are_checked_before_the_first_epoch_is_asked_for() -> None:
    with pytest.raises(InvalidInputError, match="epochs"):
        small(epochs=-1).fit_iter(IRIS_X, IRIS_Y)
    with pytest.raises(InvalidInputError, match="two classes"):
        small().fit_iter(IRIS_X, np.zeros(150))


def interrupted_after(n_epochs: int) -> Any:
    """The training loop with a user who loses patience."""
    original = loop.train

    def interrupted(*arguments: Any, **settings: Any) -> Iterator[Any]:
        yield from itertools.islice(original(*arguments, **settings), n_epochs)
        raise KeyboardInterrupt

    return interrupted


def test_an_interrupt_keeps_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    three = small(epochs=3).fit(IRIS_X, IRIS_Y)
    monkeypatch.setattr(module, "train", interrupted_after(3))
    model = small()
    with pytest.raises(KeyboardInterrupt, match="3 epochs"):
        model.fit(IRIS_X, IRIS_Y)
    assert_same_training(model, three)
    assert model.predict(IRIS_X).shape == (150,)


def test_an_interrupt_before_there_is_anything_to_keep_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "train", interrupted_after(0))
    with pytest.raises(KeyboardInterrupt):
        small().fit(IRIS_X, IRIS_Y)


def test_an_interrupt_also_stops_who_fits_many_models(monkeypatch: pytest.MonkeyPatch) -> None:
    n_begun = []
    interrupted = interrupted_after(2)

    def counted(*arguments: Any, **settings: Any) -> Iterator[Any]:
        n_begun.append(1)
        return interrupted(*arguments, **settings)

    monkeypatch.setattr(module, "train", counted)
    pipeline = make_pipeline(StandardScaler(), small())
    searches = [
        lambda: cross_val_score(pipeline, IRIS_X, IRIS_Y, cv=3),
        lambda: GridSearchCV(pipeline, {"mcquackclassifier__n_qubits": [2, 3]}, cv=2).fit(IRIS_X, IRIS_Y),
    ]
    for number, search in enumerate(searches, start=1):
        with pytest.raises(KeyboardInterrupt):
            search()
        assert len(n_begun) == number


def test_whoever_iterates_sees_the_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "train", interrupted_after(2))
    model = small()
    epochs = model.fit_iter(IRIS_X, IRIS_Y)
    with pytest.raises(KeyboardInterrupt):
        list(epochs)
    assert model.n_iter_ == 2


# Resuming

RESTLESS = {"lr_ka": 0.6, "lr_co": 0.6, "decay_rate": 1.0, "epochs": 60, "patience": 6}
KEPT_BACK = (IRIS_X[::3], IRIS_Y[::3])
RUNS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "ended by patience": (RESTLESS, {}),
    "mini-batches": ({"batch_size": 16, "epochs_ka": 2, "epochs_co": 2}, {}),
    "momentum": ({"optimizer": "sgd"}, {}),
    "joint steps": ({"steps": "joint", "batch_size": 16}, {}),
    "double": ({"engine": StatevectorEngine(dtype="float64")}, {}),
    "cross entropy": ({"loss": CrossEntropy(5.0), "batch_size": 16}, {}),
    "held out": ({"validation_fraction": 0.2, "batch_size": 16}, {}),
    "validation data": ({}, {"validation_data": KEPT_BACK}),
    "weights": ({"class_weight": {0: 2.0, 1: 0.5}}, {"sample_weight": np.linspace(0, 1, 150)}),
    "generator": ({"random_state": np.random.RandomState}, {}),
    "no seed": ({"random_state": None}, {}),
    "two centroids": ({"n_centroids_per_class": 2, "batch_size": 16}, {}),
    "a sum of three": ({"n_centroids_per_class": 3, "loss": Alignment("sum"), "class_weight": "balanced"}, {}),
    "device": ({"feature_map": "device", "scale": False}, {}),
    "ring": ({"engine": "ring", "n_repetitions": 1, "n_qubits": 4}, {}),
    "another range": ({"scale": (0.0, 8.0)}, {}),
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("n_before", [1, 4])
def test_a_resumed_run_ends_as_one_without_a_break(run: str, n_before: int, tmp_path: Path) -> None:
    settings, data = RUNS[run]

    def fresh() -> McQuackClassifier:
        if settings.get("random_state", 0) is np.random.RandomState:
            return small(**{**settings, "epochs": 8, "random_state": np.random.RandomState(4)})
        seed_everyone(9)
        return small(**{"epochs": 8, **settings})

    whole = fresh().fit(IRIS_X, IRIS_Y, **data)
    part = fresh()
    epochs = part.fit_iter(IRIS_X, IRIS_Y, **data)
    for _ in itertools.islice(epochs, n_before):
        pass
    epochs.close()
    part.save(tmp_path / "part.mcq", resumable=True)
    resumed = McQuackClassifier.load(tmp_path / "part.mcq")
    assert_same_training(resumed, part)
    rows = list(resumed.fit_iter(IRIS_X, IRIS_Y, **data, resume=True))
    assert_same_training(resumed, whole)
    assert timeless(rows) == timeless(whole.history_[n_before:])
    list(part.fit_iter(IRIS_X, IRIS_Y, **data, resume=True))  # no file is needed for it
    assert_same_training(part, whole)


def test_another_process_can_resume(tmp_path: Path) -> None:
    program = """
import sys
from sklearn.datasets import load_iris
from mcquack import McQuackClassifier
model = McQuackClassifier.load(sys.argv[1])
for _ in model.fit_iter(*load_iris(return_X_y=True), resume=True):
    pass
model.save(sys.argv[1], resumable=True)
"""
    model = small(validation_fraction=0.2, batch_size=16)
    for _ in itertools.islice(model.fit_iter(IRIS_X, IRIS_Y), 2):
        pass
    model.save(tmp_path / "model.mcq", resumable=True)
    subprocess.run([sys.executable, "-c", program, tmp_path / "model.mcq"], check=True)
    whole = small(validation_fraction=0.2, batch_size=16).fit(IRIS_X, IRIS_Y)
    assert_same_training(McQuackClassifier.load(tmp_path / "model.mcq"), whole)


def test_a_finished_run_has_nothing_to_resume(tmp_path: Path) -> None:
    for settings in ({}, RESTLESS):
        model = small(**settings).fit(IRIS_X, IRIS_Y)
        assert list(model.fit_iter(IRIS_X, IRIS_Y, resume=True)) == []
    more = model.set_params(epochs=model.n_iter_ + 3, patience=None)
    assert len(list(more.fit_iter(IRIS_X, IRIS_Y, resume=True))) == 3


def test_other_data_are_not_resumed() -> None:
    model = small(epochs=3).fit(IRIS_X, IRIS_Y, validation_data=KEPT_BACK).set_params(epochs=5)
    before = timeless(model.history_)
    swapped = IRIS_Y.copy()
    swapped[[0, 149]] = swapped[[149, 0]]
    for X, y, weights in [
        (IRIS_X + 1e-3, IRIS_Y, None),
        (IRIS_X[:-1], IRIS_Y[:-1], None),
        (IRIS_X, swapped, None),
        (IRIS_X, IRIS_Y, IRIS_Y + 1.0),
    ]:
        with pytest.raises(InvalidInputError, match="same data"):
            list(model.fit_iter(X, y, weights, validation_data=KEPT_BACK, resume=True))
    assert timeless(model.history_) == before
    assert len(list(model.fit_iter(IRIS_X, IRIS_Y, validation_data=KEPT_BACK, resume=True))) == 2


@pytest.mark.parametrize("validation_data", [None, (IRIS_X[1::3], IRIS_Y[1::3])])
def test_other_validation_data_are_not_resumed(validation_data: Any) -> None:
    model = small(epochs=3).fit(IRIS_X, IRIS_Y, validation_data=KEPT_BACK).set_params(epochs=5)
    with pytest.raises(InvalidInputError, match="same data"):
        list(model.fit_iter(IRIS_X, IRIS_Y, validation_data=validation_data, resume=True))


def test_only_a_state_of_training_can_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="resumable=True"):
        small().fit_iter(IRIS_X, IRIS_Y, resume=True)
    small().fit(IRIS_X, IRIS_Y).save(tmp_path / "model.mcq")
    with pytest.raises(InvalidInputError, match="resumable=True"):
        McQuackClassifier.load(tmp_path / "model.mcq").fit_iter(IRIS_X, IRIS_Y, resume=True)
    stream = small().partial_fit(IRIS_X[::2], IRIS_Y[::2], classes=[0, 1, 2])
    with pytest.raises(InvalidInputError, match="same data"):
        stream.fit_iter(IRIS_X, IRIS_Y, resume=True)


@pytest.mark.parametrize("resumable", [False, True])
def test_a_loaded_model_goes_on_with_what_it_knows(resumable: bool, tmp_path: Path) -> None:
    model = eager().fit(IRIS_X, IRIS_Y)
    model.save(tmp_path / "model.mcq", resumable=resumable)
    loaded = McQuackClassifier.load(tmp_path / "model.mcq").set_params(lr_ka=1e-6, lr_co=1e-6)
    loaded.partial_fit(IRIS_X[:60], IRIS_Y[:60])
    expected = model.training_state_.parameters.centroids if resumable else model.centroids_
    assert_allclose(loaded.centroids_, expected, atol=1e-3)
    if resumable:
        assert_same_training(loaded, model.set_params(lr_ka=1e-6, lr_co=1e-6).partial_fit(IRIS_X[:60], IRIS_Y[:60]))


# Settings

BAD: dict[str, list[Any]] = {
    "n_qubits": [0, -1, 2.5, "2", None, True],
    "n_repetitions": [0, 1.5, "1"],
    "epochs": [-1, 2.5, "5", None],
    "epochs_ka": [-1, 1.5, "1", None, 10**9],
    "epochs_co": [-1, 1.5, "1", None, 10**9],
    "lr_ka": [0, -1e-3, np.nan, np.inf, "fast", None],
    "lr_co": [0, -1e-3, np.nan, np.inf, "fast", None],
    "decay_rate": [0, -1, np.nan, "slow", None],
    "reg_param_weights": [-1, np.nan, "1", None],
    "reg_param_bias": [-1, np.inf, "1", None],
    "reg_param_co": [-1, np.nan, "1", None],
    "batch_size": [0, -1, 2.5, "100", None],
    "patience": [0, -1, 1.5, "3"],
    "init_strategy": ["zeros", None, 1],
    "n_centroids_per_class": [0, -1, 1.5, "2", None, True],
    "loss": ["hinge", None, 0, Alignment, abs],
    "optimizer": ["lbfgs", None],
    "steps": ["both", None, 1],
    "scale": [(1, 0), (0, 0), (0,), (0, 1, 2), (0, np.inf), (-1e308, 1e308), (np.nan, 1), ("a", "b"), 5, None, "yes"],
    "class_weight": ["even", 5, [1, 2, 3], {0: -1.0}, {0: np.nan}, {0: "heavy"}],
    "validation_fraction": [-0.1, 1, 1.5, np.nan, "half"],
    "feature_map": ["no", None, 2, False, FeatureMap, FeatureMap(n_qubits=2, n_features=3, n_layers=2)],
    "engine": ["Ring", "mps", None, 2, True, StatevectorEngine],
}


@pytest.mark.parametrize(
    ("name", "value"), [pytest.param(name, value, id=f"{name}={value!r}") for name in BAD for value in BAD[name]]
)
def test_bad_settings_are_named(name: str, value: Any) -> None:
    model = small(**{name: value})  # only training looks at it, as scikit-learn wants
    with pytest.raises(InvalidInputError, match=name):
        model.fit(IRIS_X, IRIS_Y)
    with pytest.raises(InvalidInputError, match=name):
        model.partial_fit(IRIS_X, IRIS_Y, classes=[0, 1, 2])


def test_training_of_neither_part_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="epochs_ka and epochs_co"):
        small(epochs_ka=0, epochs_co=0).fit(IRIS_X, IRIS_Y)


def test_more_qubits_than_can_be_simulated_are_refused() -> None:
    for n_qubits in (21, 64, 10**12):
        with pytest.raises(InvalidInputError, match=f'1 to 20 qubits, got {n_qubits}.*engine="ring"'):
            small(n_qubits=n_qubits, engine="statevector").fit(IRIS_X, IRIS_Y)
    with pytest.raises(InvalidInputError, match=f"1 to 100,000 qubits, got {10**12}"):
        small(n_qubits=10**12).fit(IRIS_X, IRIS_Y)


def test_numbers_of_numpy_are_numbers() -> None:
    settings = {"n_qubits": np.int64(2), "epochs": np.int32(5), "batch_size": np.int64(50), "patience": np.int64(3)}
    rates = {
        "lr_ka": np.float64(1e-2),
        "scale": tuple(np.array([0.0, 1.0])),
        "engine": StatevectorEngine(n_threads=np.int64(1)),  # type: ignore[arg-type]
    }
    plain = small(batch_size=50, patience=3, lr_ka=1e-2).fit(IRIS_X, IRIS_Y)
    assert_same_training(small(**settings, **rates).fit(IRIS_X, IRIS_Y), plain)


def test_training_that_diverges_at_once_is_refused() -> None:
    for settings in ({"lr_ka": 1e38}, {"lr_co": 1e38}, {"validation_fraction": 0.2, "lr_ka": 1e38}):
        with pytest.raises(InvalidInputError, match="diverged"):
            small(**settings).fit(IRIS_X, IRIS_Y)


def test_training_that_diverges_later_keeps_the_best(tmp_path: Path) -> None:
    blowing_up = {"optimizer": "sgd", "reg_param_weights": 1.0, "lr_ka": 5.0, "epochs": 50, "patience": None}
    model = small(**blowing_up)
    with pytest.warns(ConvergenceWarning, match="diverged"):
        model.fit(IRIS_X, IRIS_Y)
    assert 0 < model.n_iter_ < 50
    assert np.isfinite(model.transform(IRIS_X)).all()
    model.save(tmp_path / "model.mcq", resumable=True)
    with pytest.warns(ConvergenceWarning, match="diverged"):
        list(model.fit_iter(IRIS_X, IRIS_Y, resume=True))


# Named settings


def test_the_paper_has_a_name() -> None:
    """Its table of settings for real-world datasets."""
    settings = McQuackClassifier.from_preset("paper").get_params()
    table = {
        "n_qubits": 6, "n_repetitions": 1, "epochs": 200, "epochs_ka": 1, "epochs_co": 1, "lr_ka": 1e-3, "lr_co": 1e-3,
        "decay_rate": 0.99, "reg_param_weights": 1e-3, "reg_param_bias": 1e-3, "reg_param_co": 1e-3, "batch_size": 100,
        "patience": 5, "init_strategy": "default", "init_small": True,
    }  # fmt: skip
    assert {name: settings[name] for name in table} == table


def test_the_qml_suite_has_a_name() -> None:
    """Values from the lists that the paper searched for the QML benchmark suite."""
    settings = McQuackClassifier.from_preset("qml").get_params()
    table: dict[str, set[Any]] = {
        "n_qubits": {6}, "n_repetitions": {1, 5}, "epochs": {500}, "epochs_ka": {1, 2}, "epochs_co": {1, 2},
        "lr_ka": {1e-3, 1e-2, 1e-1}, "lr_co": {1e-3, 1e-2, 1e-1}, "decay_rate": {1.0},
        "reg_param_weights": {0.0, 1e-3, 1e-2}, "reg_param_bias": {0.0, 1e-3}, "reg_param_co": {1e-3},
        "batch_size": {32}, "patience": {50}, "init_strategy": {"wx+b=0"}, "init_small": {True},
    }  # fmt: skip
    for name, values in table.items():
        assert settings[name] in values, name


def test_presets_can_be_changed_in_part() -> None:
    assert McQuackClassifier.from_preset("default").get_params() == McQuackClassifier().get_params()
    model = McQuackClassifier.from_preset("paper", epochs=2, n_qubits=2, random_state=0)
    assert (model.epochs, model.lr_ka) == (2, 1e-3)
    assert isinstance(QuackClassifier.from_preset("paper"), QuackClassifier)
    for name in PRESETS:
        McQuackClassifier.from_preset(name, n_qubits=2, epochs=1).fit(IRIS_X, IRIS_Y)
    with pytest.raises(InvalidInputError, match=r"'papers'.* default, paper, qml"):
        McQuackClassifier.from_preset("papers")
    with pytest.raises(TypeError):
        McQuackClassifier.from_preset("paper", qubits=2)


# Quack


def test_quack_tells_two_classes_apart() -> None:
    X, y = corners(200, 0)
    wide = np.column_stack([X, X[:, 0] + X[:, 1]])
    model = QuackClassifier(n_qubits=2, n_repetitions=4, epochs=100, lr_ka=0.05, lr_co=0.05, random_state=0)
    assert model.fit(wide, np.array(["no", "yes"])[y]).score(wide, np.array(["no", "yes"])[y]) > 0.95


def test_quack_refuses_three() -> None:
    with pytest.raises(InvalidInputError, match="binary"):
        QuackClassifier(n_qubits=2).fit(IRIS_X, IRIS_Y)
    with pytest.raises(InvalidInputError, match="binary"):
        QuackClassifier(n_qubits=2).partial_fit(IRIS_X[:60], IRIS_Y[:60], classes=[0, 1, 2])


@pytest.mark.parametrize(
    ("n_qubits", "n_features", "n_layers"), [(2, 4, 1), (2, 7, 2), (1, 3, 1), (1, 4, 2), (3, 20, 3)]
)
def test_quack_puts_three_features_into_a_gate(n_qubits: int, n_features: int, n_layers: int) -> None:
    X = np.random.default_rng(0).normal(size=(30, n_features))
    model = QuackClassifier(n_qubits=n_qubits, n_repetitions=1, epochs=1).fit(X, np.arange(30) % 2)
    assert own_map(model).features_per_gate == 3
    assert own_map(model).n_layers == n_layers == -(-n_features // (3 * n_qubits))
    angles = np.arange(3 * n_qubits * n_layers).reshape(n_layers, n_qubits, 3)
    assert_array_equal(own_map(model).feature_index, angles % n_features)
    assert own_map(small(n_qubits=n_qubits, epochs=1).fit(X, np.arange(30) % 2)).features_per_gate == 1


def test_quack_with_one_feature_is_mcquack() -> None:
    X, y = IRIS_X[:100, 2:3], IRIS_Y[:100]
    settings: dict[str, Any] = {"n_qubits": 2, "n_repetitions": 3, "epochs": 5, "random_state": 0}
    quack, mcquack = QuackClassifier(**settings).fit(X, y), McQuackClassifier(**settings).fit(X, y)
    assert_array_equal(quack.weights_, mcquack.weights_)
    assert_array_equal(quack.transform(X), mcquack.transform(X))


def test_settings_of_both_are_the_same() -> None:
    assert QuackClassifier().get_params() == McQuackClassifier().get_params()
    with pytest.raises(NotFittedError):
        QuackClassifier().predict(IRIS_X)


@pytest.mark.parametrize("steps", ["joint", "alternating"])
def test_a_learned_beta_resumes_to_the_bit(steps, tmp_path):
    settings = {"n_qubits": 2, "epochs": 4, "steps": steps, "loss": CrossEntropy(learned=True), "random_state": 0}
    X, y = load_iris(return_X_y=True)
    whole, half = (McQuackClassifier(**settings) for _ in range(2))
    whole.fit(X, y)
    rows = half.fit_iter(X, y)
    next(rows), next(rows)
    half.save(tmp_path / "half.mcq", resumable=True)
    again = McQuackClassifier.load(tmp_path / "half.mcq")
    for _ in again.fit_iter(X, y, resume=True):
        pass
    for name in ("weights_", "bias_", "centroids_", "log_beta_"):
        assert_array_equal(getattr(again, name), getattr(whole, name))
    assert_array_equal(again.training_state_.steps, whole.training_state_.steps)
