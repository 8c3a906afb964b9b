"""Labels from a device: one call, every circuit measured once, and the cost known before."""

from copy import copy
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from mcquack import McQuackClassifier, label
from mcquack.circuits import Circuit, b, line, w, x
from mcquack.errors import InvalidInputError
from mcquack.hardware import Options
from mcquack.hardware.labelling import accuracy_calibration, centroid_calibration, training_cost
from mcquack.kernels import SampledEngine, Shots
from mcquack.models.archive import tolerating
from mcquack.simulators import SimulatedSampler, StatevectorEngine
from mcquack.simulators.gates import GateEngine


class Counting:
    """A sampler that notes how many circuits were asked of it."""

    def __init__(self):
        self.asked = []

    def hamming_counts(self, circuits, *, shots):
        self.asked.append(circuits.shape)
        return SimulatedSampler(seed=0).hamming_counts(circuits, shots=shots)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def model(iris):
    return McQuackClassifier(4, 1, epochs=10, feature_map="device", random_state=0).fit(*iris)


def test_nothing_is_measured_before_it_is_asked_for_and_then_once(model, iris):
    sampler = Counting()
    found = label(model, iris[0][:7], backend=sampler, shots=50)
    assert found.estimate().n_circuits == 7 * 3 + 3 * 3
    assert sampler.asked == []
    for _ in range(2):
        assert len(found.labels) == len(found.shares) == 7
    assert sorted(sampler.asked) == [(3, 3), (7, 3)]


def test_many_rows_are_asked_for_in_several_calls_as_predict_does(model, iris, monkeypatch):
    monkeypatch.setattr(SampledEngine, "angles_at_once", 3 * 3 * 12)  # three rows with three centroids at a time
    labelling, predicting = Counting(), Counting()
    found = label(model, iris[0][:8], backend=labelling, shots=5, tolerance=0)
    assert [circuits.shape for circuits in found.circuits] == [(3, 3), (3, 3), (2, 3)]
    before = model.engine
    try:
        labels = model.set_params(engine=SampledEngine(predicting, shots=5)).predict(iris[0][:8])
    finally:
        model.set_params(engine=before)
    assert_array_equal(found.labels, labels)
    assert labelling.asked == predicting.asked == [(3, 3), (3, 3), (2, 3)]


def test_labels_are_those_of_the_model_on_that_engine(model, iris):
    X = iris[0]
    found = label(model, X, backend=SimulatedSampler(seed=3), shots=40, tolerance=1)
    engine = SampledEngine(SimulatedSampler(seed=3), shots=40, tolerance=1)
    before = model.engine
    try:
        model.set_params(engine=engine)
        assert_array_equal(found.labels, model.predict(X))
        assert_allclose(found.shares, model.predict_proba(X), rtol=1e-12)
    finally:
        model.set_params(engine=before)


def test_a_tolerance_is_the_one_given_or_the_models_or_calibrated(model, iris):
    sampler, X = SimulatedSampler(seed=0), iris[0][:3]
    assert label(model, X, backend=sampler, tolerance=2).tolerance == 2
    calibrated = label(model, X, backend=sampler, shots=100)
    assert calibrated.calibration is not None
    assert calibrated.tolerance == centroid_calibration(model, sampler, shots=100).tolerance
    before = model.engine
    try:
        assert label(model.set_params(engine=Shots(tolerance=1)), X, backend=sampler).tolerance == 1
    finally:
        model.set_params(engine=before)


def test_any_circuit_labels_on_a_snapshot(model, iris, tmp_path):
    """One fitted for the paper's circuit, with another one in its place."""
    circuit = Circuit(3, 4).ry([0, 1, 2], [x[0], x[1], x[2]]).cz(line(3)).rx([0, 1, 2], w * x[3] + b)
    other = copy(model)
    other.feature_map_ = circuit
    other.weights_, other.bias_ = np.ones(3), np.zeros(3)
    some = iris[0][::30]
    on = {"backend": "fake_manila", "options": Options(noise="none"), "ledger": tmp_path / "jobs.sqlite"}
    found = label(other, some, shots=2000, tolerance=0, **on)
    assert found.estimate().n_circuits == 5 * 3
    engine = GateEngine(circuit)
    exact = engine.kernel(other.scaled(some), other.centroids_, weights=other.weights_, bias=other.bias_)
    assert_allclose(found.measured.kernel, exact, rtol=0, atol=5 * 0.5 / np.sqrt(2000))
    again = label(other, some, shots=2000, tolerance=0, **on)
    assert again.estimate().n_circuits == 0
    assert_array_equal(again.labels, found.labels)


def test_only_devices_have_jobs(model, iris):
    with pytest.raises(InvalidInputError, match="no jobs"):
        label(model, iris[0][:2], backend="simulator", tolerance=0).submit()


def test_the_accuracy_of_every_tolerance_is_that_of_its_labels(model, iris):
    X, y = iris
    best, accuracies = accuracy_calibration(model, SimulatedSampler(seed=1), X, y, shots=60)
    by_label = [
        np.mean(label(model, X, backend=SimulatedSampler(seed=1), shots=60, tolerance=b).labels == y) for b in range(5)
    ]
    assert_allclose(accuracies, by_label)
    assert accuracies[best] == max(accuracies)
    with pytest.raises(InvalidInputError, match="does not know"):
        accuracy_calibration(model, SimulatedSampler(), X[:1], [9], shots=5)


def test_a_file_gets_a_simulator_in_the_place_of_a_device(model):
    before = model.engine
    try:
        model.set_params(engine=SampledEngine(SimulatedSampler(), shots=5))
        assert isinstance(tolerating(model, None), StatevectorEngine)
        kept = tolerating(model, 2)
        assert isinstance(kept, Shots)
        assert (kept.tolerance, kept.shots) == (2, None)
        model.set_params(engine=Shots(100, tolerance=0))
        kept = tolerating(model, 1)
        assert isinstance(kept, Shots)
        assert kept.shots == 100
    finally:
        model.set_params(engine=before)


def test_what_training_costs_is_what_it_spends(iris):
    X, y = iris[0][::5], iris[1][::5]
    settings: dict[str, Any] = {"feature_map": "device", "batch_size": 10, "random_state": 0}
    engine = SampledEngine(SimulatedSampler(), shots=10, budget=50_000)
    model = McQuackClassifier(2, 1, **settings, epochs=3, patience=None, engine=engine).fit(X, y)
    per_epoch, cost = training_cost(model, X, y, n_calibrating=9)
    assert model.shots_ == 3 * per_epoch
    assert cost.executions == 3 * per_epoch + 90
    with pytest.raises(InvalidInputError, match="device alone"):
        training_cost(model.set_params(engine="auto"), X, y)
