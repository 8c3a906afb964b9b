import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from mcquack.kernels.bitflip import classes_by_mean_hamming, predicted_classes
from mcquack.models.mcquack import McQuackClassifier
from mcquack.studies.hardware_twin import CONTENDERS, TwinClassifier
from mcquack.studies.hardware_twin.measuring import Arrays, Reading
from tests.known import known

# Five qubits are quick, and tell as much as a ring that a device has.
pytestmark = pytest.mark.filterwarnings("ignore:heavy-hex devices have no ring")
SMALL = {"n_qubits": 5, "shots": 40, "epochs": 3, "n_threads": 1, "random_state": 0}


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(3)
    y = np.repeat(["far", "near"], 8)
    return np.clip(rng.normal(scale=0.3, size=(16, 10)) + np.where(y == "far", 0.5, -0.5)[:, None], -1, 1), y


@pytest.mark.parametrize("name", CONTENDERS)
def test_every_contender_is_a_classifier_whose_runs_can_be_repeated(samples, name):
    X, y = samples
    model = CONTENDERS[name](**SMALL).fit(X, y)
    assert set(model.predict(X)) <= set(y)
    assert_array_equal(model.decision_function(X) > 0, model.predict(X) == model.classes_[1])
    assert_array_equal(clone(model).fit(X, y).predict(X), model.predict(X))
    assert (model.tolerance_ is None) == name.endswith(("Fidelity", "Mean"))
    assert model.n_parameters_ == 2 * 2 * 5 * 3 + 2 * 10


def test_nothing_is_trained_unless_it_says_so(samples):
    X, y = samples
    untrained, trained = (CONTENDERS[name](**SMALL).fit(X, y) for name in ("UntrainedFidelity", "TrainedFidelity"))
    weights, bias, centroids = untrained.circuit_.parameters.values
    assert (weights == 1).all()
    assert (bias == 1).all()
    assert_allclose(centroids, [X[y == label].mean(axis=0) for label in ("far", "near")])
    assert len(trained.history_) == 3


def test_the_trained_one_is_mcquack(samples):
    X, y = samples
    settings: dict[str, Any] = {"loss": "alignment", "steps": "alternating", "feature_map": "device", "engine": "ring"}
    mcquack = McQuackClassifier(5, epochs=3, scale=False, random_state=0, **settings).fit(X, y)
    model = CONTENDERS["TrainedFidelity"](**SMALL).fit(X, y)
    assert_array_equal(model.predict(X), mcquack.predict(X))
    assert_allclose(np.exp(model._scores(X)), mcquack.transform(X), rtol=1e-5)


@pytest.mark.parametrize("view", ["exact", "shots", "pittsburgh"])
def test_scores_choose_as_the_rules_do(samples, view):
    X, y = samples
    by_paper, by_mean = (CONTENDERS[f"Untrained{view.title()}{rule}"](**SMALL).fit(X, y) for rule in ("Paper", "Mean"))
    ones = by_paper._hamming(X, "use")
    assert_array_equal(by_mean._hamming(X, "use"), ones)
    expected = predicted_classes(ones, known(by_paper.tolerance_))
    assert_array_equal(by_paper.predict(X), by_paper.classes_[expected])
    assert_array_equal(by_mean.predict(X), by_mean.classes_[classes_by_mean_hamming(ones)])


def test_argmax_sends_ties_to_the_first_class(samples):
    X, y = samples
    model = CONTENDERS["UntrainedShotsArgmax"](**{**SMALL, "shots": 1}).fit(X, y)
    tied = model.decision_function(X) == 0
    assert tied.any()
    assert (model.predict(X)[tied] == model.classes_[0]).all()


def test_runs_differ_in_their_shots_and_purposes_too(samples):
    X, y = samples
    model = TwinClassifier(**SMALL).fit(X, y)
    views = [
        Reading(view="aachen", shots=40, seed=seed, purpose=purpose).hamming(X, model.circuit_, n_threads=1)
        for seed, purpose in ((0, "use"), (1, "use"), (0, "training"), (0, "use"))
    ]
    assert_array_equal(views[0], views[3])
    assert not np.array_equal(views[0], views[1])
    assert not np.array_equal(views[0], views[2])
    assert (views[0].sum(axis=-1) == 40).all()


def test_arrays_are_known_by_their_content():
    assert Arrays((np.zeros(2), np.ones(2))) == Arrays((np.zeros(2), np.ones(2)))
    assert Arrays((np.zeros(2),)) != Arrays((np.zeros((1, 2)),))
    assert Arrays((np.zeros(2),)) != Arrays((np.zeros(2, dtype=int),))


def test_a_contender_can_be_sent_to_another_process(samples):
    X, y = samples
    model = CONTENDERS["UntrainedShotsMean"](**SMALL).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
