"""Both engines behind the estimator: which one runs, that they agree, and a hundred qubits from fit to file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcquack.models.engines import check_engine, chosen_engine, new_engine
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from mcquack import McQuackClassifier, load
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.statevector import StatevectorEngine
from tests.models.sameness import assert_same_model, assert_same_training

X, Y = make_blobs(40, n_features=12, centers=3, cluster_std=2.0, random_state=0)
WIDE_X, WIDE_Y = make_blobs(24, n_features=248, centers=2, cluster_std=6.0, random_state=1)


def shallow(**settings: Any) -> McQuackClassifier:
    """Six qubits and twelve features: two layers."""
    return McQuackClassifier(
        **{"n_qubits": 6, "n_repetitions": 1, "epochs": 4, "dtype": "float64", "random_state": 0, **settings}
    )


def wide(**settings: Any) -> McQuackClassifier:
    """The circuit of the paper's experiment."""
    return McQuackClassifier(
        **{"n_qubits": 124, "final_entangler": False, "epochs": 3, "patience": None, "random_state": 0, **settings}
    )


# The choice


@pytest.mark.parametrize(
    ("name", "n_qubits", "expected"),
    [
        ("auto", 1, "statevector"),
        ("auto", 20, "statevector"),
        ("auto", 21, "ring"),
        ("auto", 1000, "ring"),
        ("ring", 2, "ring"),
        ("statevector", 20, "statevector"),
    ],
)
def test_auto_takes_statevectors_as_long_as_they_fit(name: Any, n_qubits: int, expected: str) -> None:
    assert chosen_engine(name, n_qubits) == expected
    check_engine(name, n_qubits)


@pytest.mark.parametrize(
    ("name", "n_qubits", "kind"),
    [("auto", 6, StatevectorEngine), ("auto", 24, RingEngine), ("ring", 6, RingEngine)],
)
def test_engines_are_made_for_the_circuit_as_asked(name: Any, n_qubits: int, kind: type) -> None:
    feature_map = FeatureMap(n_qubits=n_qubits, n_features=4, n_layers=2)
    engine = new_engine(name, feature_map, dtype="float64", n_threads=3)
    assert isinstance(engine, kind)
    assert engine.feature_map == feature_map
    assert engine.n_threads == 3


@pytest.mark.parametrize("name", ["Ring", "mps", "", None, 1, True, ["ring"]])
def test_unknown_engines_are_refused_with_those_there_are(name: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"engine must be 'auto' or 'statevector' or 'ring'"):
        check_engine(name, 6)
    with pytest.raises(InvalidInputError, match="engine must be"):
        shallow(engine=name).fit(X, Y)


def test_too_many_qubits_for_statevectors_name_the_other_engine() -> None:
    with pytest.raises(InvalidInputError, match=r'1 to 20 qubits, got 24.*engine="ring"'):
        shallow(engine="statevector", n_qubits=24).fit(X, Y)


def test_too_many_layers_for_the_ring_say_what_is_possible() -> None:
    with pytest.raises(InvalidInputError, match=r"at most 4 layers, and this circuit has 6.*statevector engine"):
        shallow(engine="ring", n_repetitions=3).fit(X, Y)


# Agreement


@pytest.fixture(scope="module")
def models() -> dict[str, McQuackClassifier]:
    return {name: shallow(engine=name).fit(X, Y) for name in ("auto", "statevector", "ring")}


def test_auto_is_what_it_chooses(models: dict[str, McQuackClassifier]) -> None:
    assert_same_training(models["auto"], models["statevector"])


def test_both_engines_train_the_same_model(models: dict[str, McQuackClassifier]) -> None:
    """Up to rounding, which four epochs of training may raise."""
    ring, other = models["ring"], models["statevector"]
    assert ring.feature_map_ == other.feature_map_
    for name in ("weights_", "bias_", "centroids_"):
        assert_allclose(getattr(ring, name), getattr(other, name), rtol=0, atol=1e-8)
    for column in ("loss", "loss_kao", "loss_co", "grad_norm_weights", "grad_norm_centroids"):
        assert_allclose([r[column] for r in ring.history_], [r[column] for r in other.history_], rtol=1e-8)


def test_both_engines_predict_the_same(models: dict[str, McQuackClassifier]) -> None:
    ring, other = models["ring"], models["statevector"]
    assert_allclose(ring.transform(X), other.transform(X), rtol=0, atol=1e-8)
    assert_allclose(ring.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-8)
    assert_array_equal(ring.predict(X), other.predict(X))


@pytest.mark.parametrize("settings", [{"shots": 50}, {"bitflip_tolerance": 2}, {"shots": 50, "bitflip_tolerance": 2}])
def test_a_trained_model_may_change_its_engine(models: dict[str, McQuackClassifier], settings: dict[str, Any]) -> None:
    """Parameters know nothing of engines; shots are the same draws."""
    model = shallow(engine="statevector", **settings).fit(X, Y)
    expected = model.transform(X)
    assert_allclose(model.set_params(engine="ring").transform(X), expected, rtol=0, atol=1e-8)


def test_single_precision_is_as_close_as_it_can_be() -> None:
    ring, other = (shallow(engine=name, dtype="float32", epochs=1).fit(X, Y) for name in ("ring", "statevector"))
    assert ring.weights_.dtype == other.weights_.dtype == np.float32
    assert_allclose(ring.transform(X), other.transform(X), rtol=0, atol=1e-5)


# Wide circuits


@pytest.mark.parametrize(
    ("settings", "n_layers"),
    [({}, 2), ({"n_repetitions": 2}, 4), ({"n_qubits": 12}, 1), ({"engine": "statevector"}, 20)],
    ids=str,
)
def test_unsaid_repetitions_are_one_pass_over_the_features_on_a_ring(settings: dict[str, Any], n_layers: int) -> None:
    """Elsewhere they make at least 20 layers."""
    model = shallow(**{"engine": "ring", "n_repetitions": None, "epochs": 1, **settings}).fit(X, Y)
    assert model.feature_map_.n_layers == n_layers


def test_24_qubits_run_on_the_ring_of_themselves() -> None:
    by_choice, by_name = (shallow(n_qubits=24, n_repetitions=None, engine=name).fit(X, Y) for name in ("auto", "ring"))
    assert by_choice.feature_map_.n_layers == 1
    assert_same_training(by_choice, by_name)
    assert by_choice.score(X, Y) > 0.9


@pytest.fixture(scope="module")
def fitted() -> McQuackClassifier:
    return wide().fit(WIDE_X, WIDE_Y)


def test_124_qubits_are_trained(fitted: McQuackClassifier) -> None:
    assert fitted.feature_map_.parameter_shape == (2, 124, 3)
    losses = [row["loss"] for row in fitted.history_]
    assert losses[-1] < losses[0]
    assert fitted.score(WIDE_X, WIDE_Y) > 0.9


def test_124_qubits_are_saved_and_loaded(fitted: McQuackClassifier, tmp_path: Path) -> None:
    fitted.save(tmp_path / "wide.mcq")
    again = load(tmp_path / "wide.mcq")
    assert_same_model(again, fitted)
    assert_array_equal(again.transform(WIDE_X), fitted.transform(WIDE_X))


def test_124_qubits_go_on_where_training_was_left(fitted: McQuackClassifier, tmp_path: Path) -> None:
    part = wide(epochs=1).fit(WIDE_X, WIDE_Y)
    part.save(tmp_path / "part.mcq", resumable=True)
    resumed = load(tmp_path / "part.mcq").set_params(epochs=3)
    for _ in resumed.fit_iter(WIDE_X, WIDE_Y, resume=True):
        pass
    assert_same_training(resumed, fitted)


@pytest.mark.parametrize("settings", [{"engine": "ring"}, {"shots": 7, "bitflip_tolerance": 3}])
def test_a_file_keeps_how_the_kernel_is_read(settings: dict[str, Any], tmp_path: Path) -> None:
    model = shallow(epochs=1, **settings).fit(X, Y)
    model.save(tmp_path / "model.mcq")
    again = load(tmp_path / "model.mcq")
    assert again.get_params() == model.get_params()
    assert_array_equal(again.transform(X), model.transform(X))


def test_tiny_fidelities_still_tell_classes_apart() -> None:
    """With untrained parameters of 1 no fidelity is above 1e-9, yet the nearest centroid is the right one."""
    model = wide(init_small=False, epochs=1, epochs_ka=0, lr_co=1e-9, feature_range=(-1.0, 1.0)).fit(WIDE_X, WIDE_Y)
    K = model.transform(WIDE_X)
    assert 0 < K.min() < K.max() < 1e-9
    assert model.score(WIDE_X, WIDE_Y) > 0.9
    assert_allclose(model.predict_proba(WIDE_X).sum(axis=1), 1, rtol=1e-12)


@pytest.fixture(scope="module")
def thousand() -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(12, n_features=2000, centers=2, cluster_std=6.0, random_state=0)


def test_a_thousand_qubits_are_trained(thousand: tuple[np.ndarray, np.ndarray]) -> None:
    model = wide(n_qubits=1000).fit(*thousand)
    assert model.history_[-1]["loss"] < model.history_[0]["loss"]
    assert model.score(*thousand) > 0.9


def test_training_survives_fidelities_of_which_no_square_is_a_number(thousand: tuple[np.ndarray, np.ndarray]) -> None:
    model = wide(n_qubits=1000, init_small=False, feature_range=(-1.6, 1.6)).fit(*thousand)
    assert 0 < model.transform(thousand[0]).max() < 1e-160
    assert model.n_iter_ == 3
    for row in model.history_:
        assert row["grad_norm_weights"] > 0
        assert row["grad_norm_centroids"] > 0


def test_states_of_a_hundred_qubits_are_not_written_down(fitted: McQuackClassifier) -> None:
    with pytest.raises(InvalidInputError, match="1 to 20 qubits, got 124"):
        fitted.statevectors(WIDE_X)


# Telling


@pytest.mark.parametrize(
    "name", ["engine", "shots", "bitflip_tolerance", "training_tolerance", "gradient", "shot_budget"]
)
def test_the_documentation_lists_the_settings(name: str) -> None:
    lines = (McQuackClassifier.__doc__ or "").splitlines()
    assert any(line.strip().startswith(f"{name} :") for line in lines)
    assert name in McQuackClassifier().get_params()
