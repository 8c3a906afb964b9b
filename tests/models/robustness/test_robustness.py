"""Attacks stay in their balls and follow exact derivatives, and no attack gets below a certified radius."""

import copy
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import NotFittedError

from mcquack import McQuackClassifier
from mcquack.circuits.library import circuit_named
from mcquack.errors import InvalidInputError
from mcquack.kernels import Alignment, Shots
from mcquack.models import (
    KernelAlignmentClassifier,
    MatchedNeuralNetwork,
    MultilayerPerceptron,
    NystroemSVM,
    QuackClassifier,
    SharedVariationalClassifier,
    SupportVectorClassifier,
    VariationalEnsembleClassifier,
)
from mcquack.models.robustness import (
    adversarial_radius,
    certified_radius,
    feature_gradients,
    fgsm,
    margins,
    pgd,
    predict_scaled,
    surface_of,
)
from mcquack.models.robustness.surfaces import CentroidSurface
from mcquack.models.robustness.turns import turn_of
from mcquack.simulators import GateEngine, RingEngine, StatevectorEngine

EXACT: dict[str, Any] = {"engine": StatevectorEngine(dtype="float64", n_threads=1), "epochs": 8, "random_state": 0}
ANY: dict[str, Any] = {"engine": GateEngine(dtype="float64", n_threads=1), "epochs": 8, "random_state": 0}
MODELS = {
    "mcquack": McQuackClassifier(3, 2, **EXACT),
    "mcquack, two centroids": McQuackClassifier(3, 2, n_centroids_per_class=2, **EXACT),
    "mcquack, summed": McQuackClassifier(3, 2, n_centroids_per_class=2, loss=Alignment("sum"), **EXACT),
    "mcquack, three starts": McQuackClassifier(3, 2, n_starts=3, **EXACT),
    "mcquack, starts with samples of their own": McQuackClassifier(3, 2, n_starts=2, validation_fraction=0.3, **EXACT),
    "mcquack, hardware efficient": McQuackClassifier(3, 2, feature_map="hardware_efficient", **ANY),
    "mcquack on the ring": McQuackClassifier(
        3, 1, engine=RingEngine(dtype="float64", n_threads=1), epochs=3, random_state=0
    ),
    "vc": VariationalEnsembleClassifier(3, 2, **(EXACT | {"epochs": 60})),
    "shared vc": SharedVariationalClassifier(3, 2, **(EXACT | {"epochs": 60})),
    "vc, hardware efficient": VariationalEnsembleClassifier(
        3, 2, feature_map="hardware_efficient", **(ANY | {"epochs": 60})
    ),
    "kernel alignment": KernelAlignmentClassifier(3, 2, **EXACT),
    "svc": SupportVectorClassifier(C=3.0),
    "nn": MatchedNeuralNetwork(epochs=100, random_state=0),
    "nn, sigmoid": MatchedNeuralNetwork("sigmoid", epochs=100, learning_rate=1e-2, random_state=0),
    "mlp": MultilayerPerceptron((8,), max_iter=50, batch_size=20, learning_rate=1e-2, scale=True, random_state=0),
}
BINARY_ONLY = {"quack": QuackClassifier(3, 2, **EXACT)}
CASES = [(name, n_classes) for name in MODELS for n_classes in (2, 3)] + [("quack", 2)]


def blobs(n_classes):
    X, y = make_blobs(60, n_features=4, centers=n_classes, cluster_std=4.0, random_state=3)
    return X, np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def fitted():
    """Each model is fitted once; nothing here changes one."""
    found = {}

    def of(name, n_classes):
        if (name, n_classes) not in found:
            X, y = blobs(n_classes)
            found[name, n_classes] = clone((MODELS | BINARY_ONLY)[name]).fit(X, y), X, y
        return found[name, n_classes]

    return of


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize(("name", "n_classes"), CASES)
def test_scores_decide_as_the_model_does(name, n_classes, fitted):
    model, X, y = fitted(name, n_classes)
    surface = surface_of(model)
    rows = surface.rows(X)
    assert_array_equal(predict_scaled(model, rows), model.predict(X))
    decided = margins(model, X, y)
    right = model.predict(X) == y
    assert 0.4 < right.mean() < 1  # else the next lines would say little
    assert_array_equal(decided > 0, right)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize(("name", "n_classes"), CASES)
def test_gradients_are_those_of_finite_differences(name, n_classes, fitted):
    model, X, y = fitted(name, n_classes)
    surface = surface_of(model)
    rows, labels = surface.rows(X), np.searchsorted(model.classes_, y)

    def gap(rows):
        scores, _ = surface.scores(rows)
        own = np.arange(n_classes) == labels[:, None]
        return scores[own] - np.where(own, -np.inf, scores).max(axis=1)

    found, step = feature_gradients(model, X, y), 1e-5
    wrong = np.zeros(len(rows), bool)
    for feature in range(X.shape[1]):
        moved = step * (np.arange(X.shape[1]) == feature)
        differences = (gap(rows + moved) - gap(rows - moved)) / (2 * step)
        wrong |= ~np.isclose(found[:, feature], differences, rtol=1e-4, atol=1e-6)
    # Where two pieces of a maximum meet, one of the two slopes is right and a difference is neither.
    assert wrong.sum() <= 1


@pytest.mark.parametrize("name", ["mcquack", "vc", "svc", "nn"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_small_step_lowers_every_margin_as_the_gradient_says(name, n_classes, fitted):
    model, X, y = fitted(name, n_classes)
    eps, surface, labels = 1e-4, surface_of(model), np.searchsorted(model.classes_, y)
    moved = fgsm(model, X, y, eps=eps)
    scores, _ = surface.scores(moved)
    own = np.arange(n_classes) == labels[:, None]
    after = scores[own] - np.where(own, -np.inf, scores).max(axis=1)
    before = margins(model, X, y)
    expected = before - eps * np.abs(feature_gradients(model, X, y)).sum(axis=1)
    assert (after < before).all()
    assert (~np.isclose(after, expected, rtol=0, atol=3e-6)).sum() <= 1  # where two pieces of a maximum meet


@pytest.mark.parametrize("name", ["mcquack", "vc", "svc", "nn"])
@pytest.mark.parametrize("bounds", [None, (0.1, 0.9)])
def test_attacks_never_leave_the_ball_nor_the_bounds(name, bounds, fitted):
    model, X, y = fitted(name, 3)
    rows = surface_of(model).rows(X)
    eps = np.linspace(0, 0.3, len(rows))
    for moved in (
        fgsm(model, X, y, eps=eps, bounds=bounds),
        pgd(model, X, y, eps=eps, bounds=bounds, steps=7),
        pgd(model, X, y, eps=eps, bounds=bounds, steps=3, step_size=2.0, seed=1),
    ):
        assert (np.abs(moved - rows).max(axis=1) <= eps + 1e-12).all()
        assert_array_equal(moved[0], rows[0])  # of the radius 0
        if bounds is not None:
            inside = (rows >= 0.1) & (rows <= 0.9)
            assert ((moved >= 0.1 - 1e-12) & (moved <= 0.9 + 1e-12))[inside].all()
            assert ((moved >= rows - 1e-12) | (rows > 0.9))[~inside].all()  # what is outside only comes nearer


@pytest.mark.parametrize("name", ["mcquack", "vc", "svc", "nn", "kernel alignment"])
def test_many_steps_never_raise_a_margin_and_find_what_one_step_finds(name, fitted):
    model, X, y = fitted(name, 3)
    surface, labels = surface_of(model), np.searchsorted(model.classes_, y)

    def accuracy(rows):
        return (predict_scaled(model, rows) == y).mean()

    before = margins(model, X, y)
    moved = pgd(model, X, y, eps=0.1)
    scores, _ = surface.scores(moved)
    own = np.arange(3) == labels[:, None]
    assert (scores[own] - np.where(own, -np.inf, scores).max(axis=1) <= before + 1e-12).all()
    assert accuracy(moved) <= accuracy(fgsm(model, X, y, eps=0.1)) + 1 / len(X) <= model.score(X, y) + 1 / len(X)


CERTIFIED = [case for case in CASES if case[0] != "mcquack on the ring"] + [("mcquack on the ring", 3)]


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize(("name", "n_classes"), CERTIFIED)
def test_nothing_within_a_certified_radius_changes_a_prediction(name, n_classes, fitted):
    model, X, y = fitted(name, n_classes)
    rows, radius = surface_of(model).rows(X), certified_radius(model, X, y)
    right = model.predict(X) == y
    assert (radius[~right] == 0).all()
    assert (radius[right] > 0).mean() > 0.9
    radius = np.minimum(radius, 10)[:, None]
    random = np.random.default_rng(0)
    tried = [rows + radius * random.choice([-1, 1], rows.shape) for _ in range(20)]
    tried += [rows + radius * random.uniform(-1, 1, rows.shape) for _ in range(10)]
    tried += [pgd(model, X, y, eps=radius[:, 0], steps=10), fgsm(model, X, y, eps=radius[:, 0])]
    for moved in tried:
        assert_array_equal(predict_scaled(model, moved)[right], y[right])


@pytest.mark.parametrize("name", ["mcquack", "vc", "svc", "nn"])
def test_radii_that_attacks_find_are_above_the_certified_ones(name, fitted):
    model, X, y = fitted(name, 3)
    found = adversarial_radius(model, X, y, largest=0.5)
    right = model.predict(X) == y
    assert (found[~right] == 0).all()
    assert (found[right] >= certified_radius(model, X, y)[right]).all()
    reached = right & np.isfinite(found)
    assert reached.sum() > 10
    moved = pgd(model, X[reached], y[reached], eps=1.02 * found[reached] + 0.002)
    assert (predict_scaled(model, moved) != y[reached]).mean() > 0.9


# Several starts decide by the mean of their kernels, and that is what is attacked and certified.

SEVERAL = ["mcquack, three starts", "mcquack, starts with samples of their own"]


def from_scaled(model, rows):
    """Samples as they are passed to ``fit`` that the model scales to these rows."""
    return (rows - model.scaler_.min_) / model.scaler_.scale_


@pytest.mark.parametrize("name", SEVERAL)
def test_gradients_of_several_starts_are_those_of_the_decision_function(name, fitted):
    model, X, y = fitted(name, 3)
    own = model.classes_ == y[:, None]

    def gap(rows):
        scores = model.decision_function(from_scaled(model, rows))
        return scores[own] - np.where(own, -np.inf, scores).max(axis=1)

    rows, step = surface_of(model).rows(X), 1e-5
    assert_allclose(margins(model, X, y), gap(rows), atol=1e-12)
    differences = [(gap(rows + way) - gap(rows - way)) / (2 * step) for way in step * np.eye(X.shape[1])]
    assert_allclose(feature_gradients(model, X, y), np.transpose(differences), rtol=1e-4, atol=1e-6)
    assert not np.allclose(feature_gradients(model.starts_[0], X, y), np.transpose(differences), rtol=0.1)


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_attack_on_several_starts_changes_what_the_model_predicts(name, n_classes, fitted):
    model, X, y = fitted(name, n_classes)
    right = model.predict(X) == y
    radius = adversarial_radius(model, X, y, largest=0.5)
    reached = right & np.isfinite(radius)
    assert reached.sum() > 10
    for attack in (pgd, fgsm):
        moved = attack(model, X[reached], y[reached], eps=0.5)
        seen = model.predict(from_scaled(model, moved))
        assert_array_equal(seen, predict_scaled(model, moved))
        assert (seen != y[reached]).mean() > (0.9 if attack is pgd else 0.5)
    # Nothing nearer than what is certified does so, whoever of the starts it is that is attacked.
    sizes = certified_radius(model, X, y)
    assert (sizes[right] <= radius[right]).all()
    for start in model.starts_:
        moved = pgd(start, X, y, eps=1.0)
        rows = surface_of(model).rows(X)
        inside = rows + np.clip(moved - rows, -sizes[:, None], sizes[:, None])
        assert_array_equal(model.predict(from_scaled(model, inside))[right], y[right])


def test_one_start_of_several_and_the_same_start_thrice_are_that_model(fitted):
    model, X, y = fitted("mcquack, three starts", 3)
    alone, _, _ = fitted("mcquack", 3)
    for starts in (model.starts_[:1], [model.starts_[0]] * 3):
        copied = copy.copy(model)
        copied.starts_ = list(starts)
        for function in (margins, feature_gradients, certified_radius):
            assert_allclose(function(copied, X, y), function(alone, X, y), rtol=1e-9, atol=1e-12)
        assert_allclose(fgsm(copied, X, y, eps=0.1), fgsm(alone, X, y, eps=0.1))


@pytest.mark.parametrize("name", SEVERAL)
def test_the_radius_of_a_mean_is_at_least_the_margin_over_the_mean_of_all_speeds(name, fitted):
    model, X, y = fitted(name, 2)
    speeds = []
    surface = surface_of(model)
    assert isinstance(surface, CentroidSurface)
    for start in surface.starts:
        overlap = start.fidelities(start.centroids)[0, 1]
        speeds.append(np.sqrt(1 - overlap) * start.turn.largest)
    expected = np.maximum(margins(model, X, y), 0) / np.mean(speeds)
    assert (certified_radius(model, X, y) >= expected - 1e-12).all()


def test_a_class_has_one_best_centroid_whatever_is_best_for_each_start(fitted):
    # The same model twice, with both centroids of each class in the other order: only the mean of the two can decide.
    model, X, _ = fitted("mcquack, two centroids", 3)
    turned = copy.copy(model)
    turned.centroids_ = model.centroids_.reshape(3, 2, -1)[:, ::-1].reshape(model.centroids_.shape).copy()
    several = copy.copy(model)
    several.starts_ = [model, turned]
    n_unlike = 0
    for label in model.classes_:
        y = np.full(len(X), label)
        gaps = margins(several, X, y)
        assert_array_equal(certified_radius(several, X, y) > 0, gaps > 0)
        n_unlike += np.sum((margins(model, X, y) > 0) != (gaps > 0))
    assert n_unlike


def test_the_certificate_of_one_qubit_is_the_truth():
    # One RY turns the state from centroid to centroid: the angle half way between them is where the class changes.
    X, y = np.array([[0.0], [0.2], [0.8], [1.0]]), np.array([0, 0, 1, 1])
    model = McQuackClassifier(1, 1, epochs=0, scale=False, **{k: EXACT[k] for k in ("engine", "random_state")})
    model.fit(X, y)
    model.weights_[:], model.bias_[:] = 0, 0
    model.weights_[0, 0, 1] = 2.0
    model.centroids_[:] = [[0.1], [0.9]]
    assert_allclose(certified_radius(model, X, y), np.abs(X[:, 0] - 0.5), rtol=1e-6)


def test_turns_of_a_circuit_grow_with_its_weights_alone():
    circuit = circuit_named("paper", n_features=4, n_qubits=3, n_repetitions=2)
    weights = np.random.default_rng(0).normal(size=circuit.weights_shape)
    found = turn_of(circuit, weights)
    assert_allclose(turn_of(circuit, 3 * weights), 3 * np.array(found))
    assert_allclose(found.summed, np.abs(weights).sum())
    assert found.largest < found.summed
    with pytest.raises(InvalidInputError, match="adversarial_radius"):
        turn_of(circuit_named("zz", n_features=2, n_qubits=2), np.ones(8))


@pytest.mark.parametrize("seed", range(5))
def test_no_state_turns_faster_and_no_difference_of_fidelities_bends_more(seed):
    random = np.random.default_rng(seed)
    circuit = circuit_named("paper", n_features=3, n_qubits=2, n_repetitions=2)
    engine = StatevectorEngine(circuit, dtype="float64", n_threads=1)
    weights, bias = random.normal(size=(2, *circuit.weights_shape))
    turn, centre, direction = turn_of(circuit, weights), random.uniform(size=3), random.choice([-1, 1], 3)
    step = 1e-3
    way = np.linspace(-1, 1, 2001)[:, None]
    encoded = engine.encode(centre + way * direction, weights, bias)
    overlaps = np.abs((engine.statevectors(encoded)[1:].conj() * engine.statevectors(encoded)[:-1]).sum(axis=1))
    assert (np.arccos(np.minimum(overlaps, 1)) <= turn.largest / 2 * step * 1.001).all()
    points = engine.encode(random.uniform(size=(2, 3)), weights, bias)
    first, second = engine.fidelities(encoded, points).T
    radius = np.sqrt(1 - engine.fidelities(points, points)[0, 1])
    slopes, bends = (np.abs(np.diff(first - second, n=n)).max() / step**n for n in (1, 2))
    assert slopes <= radius * turn.largest
    assert bends <= radius * turn.summed**2
    arcs = np.arcsin(np.clip((first - second) / radius, -1, 1))
    assert np.abs(np.diff(arcs)).max() <= turn.largest * step * 1.001


def test_models_without_derivatives_are_refused_with_advice():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidInputError, match="NystroemSVM"):
        fgsm(NystroemSVM(random_state=0).fit(X, y), X, y, eps=0.1)
    with pytest.raises(NotFittedError):
        fgsm(SupportVectorClassifier(), X, y, eps=0.1)
    model = McQuackClassifier(2, 1, epochs=1, random_state=0).fit(X, y).set_params(engine=Shots(100))
    with pytest.raises(InvalidInputError, match="engine="):
        margins(model, X, y)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"eps": -0.1}, "eps .*-0.1"),
        ({"eps": [0.1, 0.2]}, "150"),
        ({"eps": 0.1, "bounds": (1, 0)}, "bounds"),
        ({"eps": 0.1, "steps": 0}, "steps"),
        ({"eps": 0.1, "step_size": 0}, "step_size"),
        ({"eps": 0.1, "seed": -1}, "seed"),
    ],
)
def test_impossible_attacks_are_refused(arguments, named):
    X, y = load_iris(return_X_y=True)
    model = SupportVectorClassifier().fit(X, y)
    with pytest.raises(InvalidInputError, match=named):
        pgd(model, X, y, **arguments)
    with pytest.raises(InvalidInputError, match="150"):
        margins(model, X, y[:3])
    with pytest.raises(InvalidInputError, match="7"):
        margins(model, X, y + 7)
    with pytest.raises(InvalidInputError, match=r"\(N, 4\)"):
        predict_scaled(model, X[:, :2])
