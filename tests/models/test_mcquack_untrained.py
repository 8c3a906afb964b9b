"""A model of no epochs is fitted, used, stored and trained later like any other."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from mcquack import McQuackClassifier, QuackClassifier, load
from mcquack.arrays import IntArray
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import InvalidInputError, LayoutWarning, ModelFileError
from mcquack.hardware.layout.ring import fits_heavy_hex
from mcquack.kernels import SampledEngine
from mcquack.models import PRESETS
from mcquack.models.model_file import read_model, write_model
from mcquack.simulators.samplers import SimulatedSampler
from tests.models.sameness import assert_same_model, assert_same_training, own_map

X, Y = load_iris(return_X_y=True)


class Listener(SimulatedSampler):
    """Notes the circuits that it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> IntArray:
        self.heard.append(circuits.digest)
        return super().hamming_counts(circuits, shots=shots)


def small(**settings: Any) -> McQuackClassifier:
    return McQuackClassifier(**{"n_qubits": 2, "n_repetitions": 1, "epochs": 0, "random_state": 0, **settings})


def test_centroids_are_the_means_of_the_classes_and_parameters_where_they_start() -> None:
    model = small(init_small=False).fit(X, Y)
    means = [model.scaler_.transform(X[label == Y]).mean(axis=0) for label in model.classes_]
    assert_allclose(model.centroids_, means, atol=1e-6)
    assert_array_equal(model.weights_, 1)
    assert_array_equal(model.bias_, 1)
    assert (model.n_iter_, model.best_epoch_, model.history_, model.shots_) == (0, 0, [], 0)


def test_it_labels() -> None:
    model = small().fit(X, Y)
    assert_array_equal(model.predict(X), model.classes_[model.transform(X).argmax(axis=1)])
    assert model.score(X, Y) > 0.5


@pytest.mark.parametrize("resumable", [True, False])
@pytest.mark.parametrize("kind", [McQuackClassifier, QuackClassifier])
def test_a_file_brings_it_back(tmp_path: Path, kind: type[McQuackClassifier], resumable: bool) -> None:
    model = kind(2, 1, epochs=0, random_state=0).fit(X[:100], Y[:100])
    model.save(tmp_path / "m.mcq", resumable=resumable)
    again = load(tmp_path / "m.mcq")
    assert_same_model(again, model)
    assert (again.n_iter_, again.best_epoch_, again.history_) == (0, 0, [])
    assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("way", ["resume", "warm_start", "warm_start from a file"])
def test_training_it_later_is_training_it_at_once(tmp_path: Path, way: str) -> None:
    at_once = small(epochs=3).fit(X, Y)
    model = small().fit(X, Y)
    if way == "resume":
        model.save(tmp_path / "m.mcq", resumable=True)
        model = load(tmp_path / "m.mcq").set_params(epochs=3)
        for _ in model.fit_iter(X, Y, resume=True):
            pass
    elif way == "warm_start":
        model.set_params(epochs=3, warm_start=True).fit(X, Y)
    else:
        model.save(tmp_path / "m.mcq")
        model = load(tmp_path / "m.mcq").set_params(epochs=3, warm_start=True).fit(X, Y)
    assert_same_training(model, at_once)


def test_a_warm_start_of_no_epochs_changes_nothing(tmp_path: Path) -> None:
    once, again = (small(epochs=3).fit(X, Y) for _ in range(2))
    again.set_params(epochs=0, warm_start=True).fit(X, Y)
    assert_same_training(again, once)
    again.save(tmp_path / "m.mcq")
    assert_same_model(load(tmp_path / "m.mcq"), once)


def test_fitting_anew_forgets_what_was_trained() -> None:
    assert_same_training(small(epochs=3).fit(X, Y).set_params(epochs=0).fit(X, Y), small().fit(X, Y))


def test_a_stream_goes_on_from_it() -> None:
    model = small().fit(X, Y).partial_fit(X, Y)
    assert (model.n_iter_, model.best_epoch_, len(model.history_)) == (1, 1, 1)


def test_it_takes_no_shots_and_no_budget() -> None:
    model = small(engine=SampledEngine(SimulatedSampler(), shots=10, budget=1)).fit(X, Y)
    assert model.shots_ == 0
    assert_same_model(model, small().fit(X, Y))


@pytest.mark.parametrize("numbers", [{"n_iter": 1}, {"best_epoch": 1}, {"n_iter": -1, "best_epoch": -1}])
def test_a_file_whose_epochs_contradict_each_other_is_refused(tmp_path: Path, numbers: dict[str, int]) -> None:
    path = tmp_path / "m.mcq"
    small().fit(X, Y).save(path)
    header, tensors = read_model(path)
    write_model(path, header={**header, **numbers}, tensors=tensors)
    with pytest.raises(ModelFileError, match="epochs"):
        load(path)


def test_the_preset_of_the_paper_for_devices() -> None:
    model = McQuackClassifier.from_preset("device", n_qubits=4, random_state=0).fit(X, Y)
    assert dict(PRESETS["device"])["n_qubits"] == 124
    assert (model.n_iter_, own_map(model).n_layers, own_map(model).final_entangler) == (0, 1, False)
    assert_array_equal(model.weights_, 1)
    scaled = model.scaler_.transform(X)
    assert_allclose([scaled.min(), scaled.max()], [-1, 1])
    json.dumps({**PRESETS["device"]})  # plain values, as all presets


@pytest.mark.parametrize(("name", "n_qubits"), [("device-12", 12), ("device-20", 20)])
def test_small_presets_for_devices_are_two_layers_on_a_ring_that_devices_have(name: str, n_qubits: int) -> None:
    for n_features in (2, n_qubits):
        rows = np.random.default_rng(0).normal(size=(6, n_features))
        # No warning: those are errors here.
        model = McQuackClassifier.from_preset(name, epochs=0, random_state=0).fit(rows, [0, 1] * 3)
        circuit = own_map(model)
        assert (circuit.n_qubits, circuit.n_layers, circuit.final_entangler) == (n_qubits, 2, False)
        assert fits_heavy_hex(circuit.n_qubits)


def test_who_asks_for_the_circuit_of_a_device_is_told_that_there_is_no_such_ring() -> None:
    with pytest.warns(LayoutWarning, match="no ring of 14 qubits, .* n_qubits=12 or 20"):
        McQuackClassifier.from_preset("device-12", n_qubits=14, epochs=0).fit(X, Y)
    for n_qubits in range(3, 12):
        with pytest.warns(LayoutWarning, match=rf"no ring of {n_qubits} qubits, .* n_qubits=12\."):
            McQuackClassifier.from_preset("device-12", n_qubits=n_qubits, epochs=0).fit(X, Y)


@pytest.mark.parametrize(
    "settings",
    [
        {"feature_map": "paper", "n_repetitions": 2},  # nobody spoke of a device
        {"feature_map": "device", "n_repetitions": 1},  # one layer has no CNOTs
        {"feature_map": FeatureMap(n_qubits=5, n_features=4, n_layers=2, final_entangler=False)},
    ],
)
def test_nobody_else_is(settings: dict[str, Any]) -> None:
    McQuackClassifier(5, epochs=0, **settings).fit(X, Y)


@pytest.mark.parametrize("kind", [McQuackClassifier, QuackClassifier])
@pytest.mark.parametrize("k", [1, 2])
def test_overlap_circuits_are_what_a_sampler_is_asked_for(kind: type[McQuackClassifier], k: int) -> None:
    """To the last bit: else what was sent for the one would not be found for the other."""
    model = kind(2, 1, epochs=0, n_centroids_per_class=k, random_state=0).fit(X[:100], Y[:100])
    circuits = model.overlap_circuits(X[:5])
    assert circuits.shape == (5, 2 * k)
    assert model.overlap_circuits().shape == (2 * k, 2 * k)
    listener = Listener()
    model.set_params(engine=SampledEngine(listener, shots=5)).predict(X[:5])
    assert listener.heard == [circuits.digest]


def test_circuits_need_a_model_and_its_features() -> None:
    with pytest.raises(ValueError, match="not fitted"):
        small().overlap_circuits(X)
    with pytest.raises(ValueError, match="expecting 4 features"):
        small().fit(X, Y).overlap_circuits(np.zeros((2, 3)))


@pytest.mark.parametrize("epochs", [-1, 0.5, None, "0"])
def test_fewer_than_none_are_refused(epochs: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"epochs .* 0"):
        small(epochs=epochs).fit(X, Y)
