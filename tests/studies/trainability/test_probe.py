import json
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from mcquack.bench.evaluation import outcome
from mcquack.bench.task import Task
from mcquack.errors import InvalidInputError
from mcquack.models import catalog
from mcquack.studies.trainability import Observation, TrainabilityProbe
from mcquack.studies.trainability.analysis.losses import LossSlice
from mcquack.studies.trainability.design import PROBE
from mcquack.studies.trainability.observation import Group
from tests.known import known

SMALL: dict[str, Any] = {"n_qubits": 3, "epochs": 3, "lr": 0.02, "n_threads": 1, "random_state": 5}
MODELS = ("mcquack", "quack", "vc", "shared_vc")
RATES = {"vc": ("lr",), "shared_vc": ("lr_shared", "lr_class")}


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(3)
    y = np.repeat(["far", "near"], 20)
    return rng.normal(scale=0.5, size=(40, 7)) + np.where(y == "far", 0.4, -0.4)[:, None], y


def estimator(model, **settings):
    rates = dict.fromkeys(RATES.get(model, ("lr_ka", "lr_co")), 0.02)
    if model not in RATES:
        settings |= {"loss": "alignment", "steps": "alternating"}
    return catalog.entry(model).new(
        n_qubits=3, n_repetitions=1, epochs=3, patience=None, decay_rate=0.99, scale=(-1.0, 1.0),
        random_state=5, reg_param_weights=1e-3, reg_param_bias=1e-3, **rates, **settings
    )  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("init_small", [True, False])
def test_what_is_watched_is_the_training_of_the_model_itself(samples, model, init_small):
    settings: dict[str, Any] = {"init_small": init_small, "init_strategy": "wx+b=0", "batch_size": 16}
    history = estimator(model, **settings).fit(*samples).history_
    trace = TrainabilityProbe(model, regularised=True, **SMALL, **settings).fit(*samples).observation_.trace
    assert trace
    for name, values in trace.items():
        assert values == tuple(row[name] for row in history)


@pytest.mark.parametrize("model", MODELS)
def test_the_first_step_of_training_has_the_gradients_that_were_measured(samples, model):
    seen = TrainabilityProbe(model, regularised=True, **SMALL).fit(*samples).observation_
    assert seen.settings["n_train"] <= seen.settings["batch_size"]
    # An ensemble reports the norm of each of its classifiers, the root of their mean square.
    share = 2 if model == "vc" else 1
    # The others wait for the first to be taken.
    groups: tuple[Group, ...] = (
        ("weights",) if model == "shared_vc" else ("weights", "bias")
    )  # the others wait for the first to be taken
    for group in groups:
        norm = seen.gradients[group].norm / np.sqrt(share)
        assert_allclose(known(seen.trace[f"grad_norm_{group}"][0]), norm, rtol=1e-3)
    if model != "shared_vc":
        assert_allclose(seen.step_losses[0], seen.scores["first_batch_loss"], rtol=1e-4)
    assert ("centroids" in seen.gradients) == (model in ("mcquack", "quack"))


def test_epochs_of_several_steps_do_not_tell_the_losses_of_each(samples):
    seen = TrainabilityProbe(batch_size=16, **SMALL).fit(*samples).observation_
    assert seen.step_losses == ()
    assert len(seen.trace["loss"]) == 3
    assert seen.scores["final_loss"] == seen.trace["loss"][-1]
    assert seen.scores["best_loss"] == min(map(known, seen.trace["loss"]))


def test_without_epochs_only_the_start_is_seen(samples):
    trained = TrainabilityProbe(**SMALL).fit(*samples)
    untrained = clone(trained).set_params(epochs=0).fit(*samples)
    assert untrained.observation_.trace == {}
    assert untrained.observation_.gradients == trained.observation_.gradients
    assert untrained.observation_.kernel == trained.observation_.kernel
    assert set(untrained.predict(samples[0])) <= {"far", "near"}


@pytest.mark.parametrize("model", MODELS)
def test_a_probe_is_a_classifier_whose_observation_can_be_repeated(samples, model):
    X, y = samples
    probe = TrainabilityProbe(model, **SMALL).fit(X, y)
    assert_array_equal(probe.decision_function(X) > 0, probe.predict(X) == probe.classes_[1])
    again = pickle.loads(pickle.dumps(clone(probe).fit(X, y)))
    assert again.details_ == probe.details_
    assert_array_equal(again.predict(X[:5]), probe.predict(X[:5]))
    assert probe.n_parameters_ == estimator(model).fit(X, y).n_parameters_


@pytest.mark.parametrize("settings", [{}, {"n_layers": 2, "engine": "ring"}])
def test_an_observation_survives_json_without_a_loss(samples, settings):
    probe = TrainabilityProbe(**{**SMALL, **settings}).fit(*samples)
    text = json.dumps(probe.details_, allow_nan=False)
    assert Observation.from_json(json.loads(text)) == Observation.from_json(probe.details_) == probe.observation_


def test_layers_decide_which_features_are_encoded(samples):
    def seen(**settings):
        return TrainabilityProbe(**{**SMALL, "epochs": 0}, **settings).fit(*samples).observation_.settings

    assert (seen()["n_layers"], seen()["n_features"]) == (3, 7)
    shallow = seen(n_layers=2)
    assert (shallow["n_layers"], shallow["n_features"]) == (2, 6)
    assert (seen(n_layers=5)["n_features"], seen(n_features=4)["n_features"]) == (7, 4)
    assert seen(n_repetitions=2)["n_layers"] == 6


def test_both_engines_see_the_same(samples):
    both = [
        TrainabilityProbe(engine=engine, n_layers=2, **{**SMALL, "epochs": 0}).fit(*samples).observation_
        for engine in ("statevector", "ring")
    ]
    for name in ("gradients", "fidelity_gradients"):
        for group, one in getattr(both[0], name).items():
            assert_allclose(getattr(both[1], name)[group].norm, one.norm, rtol=1e-6)
    for name in ("mean", "variance"):
        assert_allclose(both[1].kernel[name], both[0].kernel[name], rtol=1e-6)


def test_a_hundred_qubits_and_more_have_gradients(samples):
    seen = TrainabilityProbe(n_qubits=150, n_layers=2, n_entries=2, batch_size=10, random_state=0).fit(*samples)
    assert seen.observation_.settings["engine"] == "ring"
    assert seen.observation_.gradients["weights"].n == 150 * 2 * 3
    assert seen.observation_.gradients["weights"].norm > 0
    assert set(seen.predict(samples[0])) <= {"far", "near"}


def test_samples_are_drawn_by_the_seed_with_the_shares_of_the_classes(samples):
    X, y = samples
    first, same, other = (
        TrainabilityProbe(n_train=10, **{**SMALL, "random_state": seed}).fit(X, y) for seed in (0, 0, 1)
    )
    assert first.observation_.settings["n_train"] == 10
    assert first.observation_ == same.observation_
    assert first.observation_.gradients != other.observation_.gradients
    assert first._subject.problem.data.labels.sum() == 5


def test_the_loss_is_sliced_where_training_ended(samples):
    seen = TrainabilityProbe(landscape=5, regularised=True, **SMALL).fit(*samples).observation_
    assert list(seen.landscapes) == ["random", "path"]
    slices = {name: LossSlice.from_json(each) for name, each in seen.landscapes.items()}
    assert_allclose(slices["random"].centre, slices["path"].centre)
    assert slices["path"].losses.shape == (5, 5)
    way = np.array(seen.landscapes["path"]["path"])
    assert way.shape == (SMALL["epochs"] + 1, 2)  # from the start on
    assert_allclose(way[-1], 0, atol=1e-12)
    assert np.abs(way).max() <= slices["path"].first[-1]
    assert TrainabilityProbe(**SMALL).fit(*samples).observation_.landscapes == {}


def test_the_start_tells_what_a_device_would_take(samples):
    facts = TrainabilityProbe(**SMALL).fit(*samples).observation_.kernel
    names = {"mean", "variance", "entanglement", "expressibility", "log10_shots_prediction", "log10_shots_entry"}
    assert names <= facts.keys()
    assert all(np.isfinite(value) for value in facts.values())
    assert "log10_shots_entry" not in TrainabilityProbe("vc", **SMALL).fit(*samples).observation_.kernel


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"landscape": 4}, "landscape .* 4"),
        ({"landscape": 5, "model": "vc"}, "landscape .*vc"),
        ({"model": "svc"}, "model .*'svc'"),
        ({"init_strategy": "zeros"}, "init_strategy .*'zeros'"),
        ({"n_qubits": 0}, "n_qubits .* 0"),
        ({"epochs": -1}, "epochs .* -1"),
        ({"init_small": "yes"}, "init_small .*'yes'"),
        ({"lr": 0.0}, "lr .* 0"),
        ({"feature_range": (1.0, -1.0)}, "feature_range .*-1"),
        ({"model": "vc", "n_qubits": 50}, "vc .* 50"),
        ({"n_qubits": 50, "n_layers": 5}, "n_layers .* 4"),
        ({"engine": "cluster"}, "engine .*'cluster'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(samples, settings, problem):
    with pytest.raises(InvalidInputError, match=problem):
        TrainabilityProbe(**settings).fit(*samples)


def test_quack_tells_two_classes_apart_and_no_more(samples):
    X, _ = samples
    with pytest.raises(InvalidInputError, match=r"quack .*two classes"):
        TrainabilityProbe("quack").fit(X, np.arange(40) % 3)
    three = TrainabilityProbe("vc", **SMALL).fit(X, np.arange(40) % 3)
    assert three.decision_function(X).shape == (40, 3)


def test_a_benchmark_keeps_what_a_probe_has_seen():
    settings = {"n_qubits": 2, "n_features": 4, "n_train": 12, "series": "test"}
    done = outcome(Task.of("manifold_124", PROBE, settings, seed=1))
    assert done.error is None
    seen = Observation.from_json(done.details["study"])
    assert seen.settings["series"] == "test"
    assert seen.gradients["weights"].n == 2 * 2 * 3
    assert done.n_parameters == 2 * 12 + 2 * 4


def test_other_models_leave_no_such_details():
    assert "study" not in outcome(Task.of("iris3", "svc", {})).details
