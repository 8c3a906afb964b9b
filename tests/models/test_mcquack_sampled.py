"""A classifier whose kernels a sampler measures: as on a simulator, with derivatives from values, within a budget."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import cross_val_score

from mcquack import McQuackClassifier, QuackClassifier, load
from mcquack.arrays import IntArray
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import DeviceError, InvalidInputError, ShotBudgetError
from mcquack.kernels import SampledEngine, Shots
from mcquack.kernels.bitflip import mean_hamming, tolerant_kernel
from mcquack.kernels.losses import target_alignment
from mcquack.models.model_file import read_model
from mcquack.simulators.choice import ENGINES
from mcquack.simulators.noise import PITTSBURGH
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.samplers import NoisySampler, SimulatedSampler
from mcquack.simulators.statevector import StatevectorEngine
from tests.models.sameness import assert_same_model, assert_same_training, own_map
from tests.training.measured import Remembering

X, Y = make_blobs(24, n_features=8, centers=2, cluster_std=3.5, random_state=3)
FEW_X, FEW_Y = make_blobs(12, n_features=4, centers=2, cluster_std=2.0, random_state=0)
SAMPLER = SimulatedSampler(seed=1)
N_QUBITS = 4


def counting(sampler: Any = SAMPLER, **settings: Any) -> SampledEngine:
    return SampledEngine(sampler, **{"shots": 50, **settings})


def sampled(engine: Any = None, **settings: Any) -> McQuackClassifier:
    """Four qubits and eight features: two layers."""
    settings = {"n_qubits": N_QUBITS, "epochs": 3, "batch_size": 8, "random_state": 0, **settings}
    return McQuackClassifier(**settings, engine=counting() if engine is None else engine)


@pytest.fixture(scope="module")
def trained() -> McQuackClassifier:
    """On a simulator; tests give it a sampler afterwards."""
    return sampled(engine="auto", n_repetitions=1, epochs=30).fit(X, Y)


def measuring(model: McQuackClassifier, sampler: Any = SAMPLER, **settings: Any) -> McQuackClassifier:
    return copy.deepcopy(model).set_params(engine=counting(sampler, **settings))


# Use


def test_predictions_come_from_the_sampler(trained: McQuackClassifier) -> None:
    sampler = Remembering()
    model = measuring(trained, sampler)
    assert model.predict(X).shape == (24,)
    assert model.transform(X).shape == (24, 2)
    assert sampler.shapes == [(24, 2)] * 2  # one call for each, however many rows


@pytest.mark.parametrize("tolerance", [None, 0, 1, 4])
def test_the_kernel_is_the_share_of_shots(trained: McQuackClassifier, tolerance: int | None) -> None:
    model = measuring(trained, tolerance=tolerance)
    rows = model.scaler_.transform(X).astype(model.weights_.dtype)
    embedding = {"weights": model.weights_.astype(float), "bias": model.bias_.astype(float)}
    circuits = OverlapCircuits.of(model.feature_map_, rows.astype(float), model.centroids_.astype(float), **embedding)
    counts = SAMPLER.hamming_counts(circuits, shots=50)
    assert_array_equal(model.transform(X), tolerant_kernel(counts, tolerance or 0))
    ranked = np.lexsort((mean_hamming(counts), -tolerant_kernel(counts, tolerance or 0)), axis=1)
    assert_array_equal(model.predict(X), model.classes_[ranked[:, 0]])


def test_many_shots_predict_as_the_simulator_does(trained: McQuackClassifier) -> None:
    model = measuring(trained, shots=40_000)
    assert_allclose(model.transform(X), trained.transform(X), rtol=0, atol=0.015)
    assert_allclose(model.decision_function(X), trained.decision_function(X), rtol=0, atol=0.05)
    assert np.mean(model.predict(X) == trained.predict(X)) > 0.9


def test_ties_are_broken_by_the_mean_number_of_ones() -> None:
    class Tied:
        def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> IntArray:
            counts = np.zeros((*circuits.shape, circuits.n_qubits + 1), dtype=np.int64)
            counts[:, 0, 3] = counts[:, 1, 1] = shots
            return counts

    model = sampled(engine="auto", n_repetitions=1, epochs=1).fit(X, Y)
    assert_array_equal(measuring(model, Tied(), shots=9).predict(X), model.classes_[1])


def test_of_several_centroids_only_those_that_tie_decide() -> None:
    class Tied:
        def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> IntArray:
            counts = np.zeros((*circuits.shape, circuits.n_qubits + 1), dtype=np.int64)
            counts[:, 0, [0, 3]] = 5  # as many zeros as the third centroid, but more ones
            counts[:, 1, [0, 1]] = 4, 6  # the fewest ones of all, and fewer zeros
            counts[:, 2, [0, 2]] = 5
            counts[:, 3, 4] = 10
            return counts

    model = sampled(engine="auto", n_repetitions=1, epochs=1, n_centroids_per_class=2).fit(X, Y)
    assert_array_equal(measuring(model, Tied(), shots=10).predict(X), model.classes_[1])


# Training


@pytest.mark.parametrize("gradient", ["spsa", "stochastic_shift", "parameter_shift"])
def test_a_fit_is_the_same_twice(gradient: Any) -> None:
    once, again = (sampled(counting(shots=10, gradient=gradient), epochs=2).fit(X, Y) for _ in range(2))
    assert_same_training(once, again)
    assert once.shots_ == again.shots_ == 2 * once.epoch_shots(X, Y)


@pytest.mark.parametrize(
    ("gradient", "budget", "seed"), [("spsa", 200_000, 0), ("spsa", 200_000, 1), ("stochastic_shift", 400_000, 0)]
)
def test_training_on_a_noisy_device_improves_within_a_stated_budget(gradient: Any, budget: int, seed: int) -> None:
    """Errors of five times those of ibm_pittsburgh; judged on this device, by samples that were held out."""
    rows, labels = make_blobs(124, n_features=8, centers=2, cluster_std=4.5, random_state=3)
    training, test = (rows[:24], labels[:24]), (rows[24:], labels[24:])
    device = NoisySampler(PITTSBURGH.scaled(5), seed=seed)
    engine = counting(device, gradient=gradient, budget=budget)
    settings = {"lr_ka": 0.05, "lr_co": 0.05, "batch_size": 6, "random_state": seed}
    model = sampled(engine, epochs=100, patience=None, **settings).fit(*training)
    assert 0.9 * budget < model.shots_ <= budget
    still = {"engine": "ring", "epochs": 1, "epochs_ka": 0, "lr_co": 1e-12}
    untrained = sampled(**{**settings, **still}).fit(*training).set_params(engine=counting(device))
    before, after = (target_alignment(one.transform(test[0]), test[1]) for one in (untrained, model))
    assert after > before + 0.2
    assert model.score(*test) > untrained.score(*test) + 0.2


def test_one_repetition_is_unsaid() -> None:
    assert own_map(sampled(counting(shots=5), epochs=1).fit(X, Y)).n_layers == 2


def test_quack_takes_a_sampler_too() -> None:
    model = QuackClassifier(n_qubits=2, engine=counting(shots=20), epochs=1, random_state=0).fit(X, Y)
    assert model.shots_ == model.epoch_shots(X, Y) > 0
    assert model.predict(X).shape == (24,)


# Derivatives from values


def small(engine: Any, **settings: Any) -> McQuackClassifier:
    settings = {"n_qubits": 2, "n_repetitions": 1, "epochs": 3, "random_state": 0, **settings}
    return McQuackClassifier(**settings, engine=engine)


@pytest.mark.parametrize("engine", ["statevector", "ring"])
@pytest.mark.parametrize("settings", [{}, {"training_tolerance": 1}], ids=str)
def test_shifted_parameters_train_as_exact_derivatives_do(engine: Any, settings: dict[str, Any]) -> None:
    """With a tolerance the statevector engine has no exact ones, and needs none."""
    exact = small(Shots(engine=RingEngine(dtype="float64"), **settings)).fit(FEW_X, FEW_Y)
    inside = ENGINES[engine](dtype="float64")
    shifted = small(Shots(engine=inside, gradient="parameter_shift", **settings)).fit(FEW_X, FEW_Y)
    for name in ("weights_", "bias_", "centroids_"):
        assert_allclose(getattr(shifted, name), getattr(exact, name), rtol=0, atol=1e-7)
    assert shifted.shots_ == 0


@pytest.mark.parametrize("gradient", ["stochastic_shift", "spsa"])
def test_estimates_train_on_simulators_too(gradient: Any) -> None:
    model = small(
        Shots(engine=StatevectorEngine(dtype="float64"), gradient=gradient), epochs=40, batch_size=4, patience=None
    ).fit(FEW_X, FEW_Y)
    assert 1 - model._best_loss > model.history_[0]["alignment"] + 0.1


@pytest.mark.parametrize(
    ("gradient", "n_kernels"), [("spsa", 7), ("stochastic_shift", 9), ("parameter_shift", 3 + 6 * 10)]
)
def test_an_epoch_costs_what_is_told_before(gradient: Any, n_kernels: int) -> None:
    """Two layers of two qubits have twelve angles, of which two turn |0⟩ about z."""
    model = small(counting(shots=5, gradient=gradient, dtype="float64"), epochs=2)
    told = model.epoch_shots(FEW_X, FEW_Y)
    assert told == n_kernels * len(FEW_X) * 2 * 5
    assert not hasattr(model, "centroids_")
    assert model.fit(FEW_X, FEW_Y).shots_ == 2 * told
    with_validation = model.epoch_shots(FEW_X, FEW_Y, validation_data=(FEW_X[:3], FEW_Y[:3]))
    assert with_validation == told + 3 * 2 * 5
    assert small("auto").epoch_shots(FEW_X, FEW_Y) == 0


def test_asking_for_the_cost_changes_nothing() -> None:
    generator = np.random.RandomState(5)
    model = small(counting(shots=5), random_state=generator, validation_fraction=0.25)
    assert model.epoch_shots(FEW_X, FEW_Y) == model.epoch_shots(FEW_X, FEW_Y) > 0
    assert generator.randint(2**31) == np.random.RandomState(5).randint(2**31)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_settings_that_do_not_go_together_are_refused_wherever_training_begins() -> None:
    model = small(Shots(engine="statevector", training_tolerance=1))
    for use in (
        lambda: model.fit(FEW_X, FEW_Y),
        lambda: model.epoch_shots(FEW_X, FEW_Y),
        lambda: model.partial_fit(FEW_X, FEW_Y, np.unique(FEW_Y)),
    ):
        with pytest.raises(InvalidInputError, match='training_tolerance; take engine="ring"'):
            use()


@pytest.mark.parametrize("engine", [SAMPLER, SimulatedSampler], ids=str)
def test_a_sampler_alone_is_no_engine(engine: Any) -> None:
    model = small(engine)
    for use in (
        lambda: model.fit(FEW_X, FEW_Y),
        lambda: model.epoch_shots(FEW_X, FEW_Y),
        lambda: model.partial_fit(FEW_X, FEW_Y, np.unique(FEW_Y)),
    ):
        with pytest.raises(InvalidInputError, match=r"engine .*'auto'"):
            use()


# Budget


def test_training_ends_before_the_epoch_that_would_exceed_the_budget() -> None:
    per_epoch = sampled().epoch_shots(X, Y)
    sampler = Remembering()
    model = sampled(counting(sampler, budget=3 * per_epoch + 1), epochs=10, patience=None).fit(X, Y)
    assert (model.n_iter_, model.shots_) == (3, 3 * per_epoch)
    assert sampler.n_circuits * 50 == model.shots_
    whole = sampled(counting(Remembering()), epochs=3, patience=None).fit(X, Y)
    assert_same_training(model, whole)


def test_a_budget_below_one_epoch_is_refused_before_anything_is_sent() -> None:
    per_epoch, sampler = sampled().epoch_shots(X, Y), Remembering()
    model = sampled(counting(sampler, budget=per_epoch - 1))
    message = f"{per_epoch:,} shots.* {per_epoch - 1:,}"
    with pytest.raises(ShotBudgetError, match=message):
        model.fit_iter(X, Y)  # not even the first epoch needs to be asked for
    with pytest.raises(ShotBudgetError, match=message):
        model.partial_fit(X, Y, classes=[0, 1])
    assert sampler.shapes == []
    assert not hasattr(model, "centroids_")


def test_a_stream_has_one_budget() -> None:
    per_epoch = sampled().epoch_shots(X, Y)
    model = sampled(counting(budget=2 * per_epoch))
    for n_calls in (1, 2):
        assert model.partial_fit(X, Y, classes=[0, 1]).shots_ == n_calls * per_epoch
    with pytest.raises(ShotBudgetError, match=rf"of which {2 * per_epoch:,} are spent"):
        model.partial_fit(X, Y)
    assert model.n_iter_ == 2


def test_a_budget_is_for_training_alone() -> None:
    model = sampled(engine="auto", n_repetitions=1).fit(X, Y)
    assert (model.shots_, model.n_iter_) == (0, 3)
    assert measuring(model, budget=1).predict(X).shape == (24,)


# Breaks


def test_training_goes_on_after_a_failure_with_the_same_circuits() -> None:
    """Whoever keeps counts, as a device's ledger does, is asked nothing twice."""

    class Failing(Remembering):
        def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> IntArray:
            if len(self.shapes) == 30:
                self.shapes.append((0, 0))
                raise DeviceError("the queue is closed.")
            return super().hamming_counts(circuits, shots=shots)

    model = sampled(counting(Failing()))
    with pytest.raises(DeviceError, match="queue is closed"):
        model.fit(X, Y)
    assert 0 < model.n_iter_ < 3
    for _ in model.fit_iter(X, Y, resume=True):
        pass
    whole = sampled(counting(Remembering())).fit(X, Y)
    assert_same_training(model, whole)
    assert model.shots_ == whole.shots_


@pytest.mark.parametrize("gradient", ["spsa", "stochastic_shift"])
def test_a_resumed_run_ends_as_one_without_a_break(gradient: Any, tmp_path: Path) -> None:
    budget = 4 * sampled(counting(shots=10, gradient=gradient)).epoch_shots(X, Y)
    engine = counting(shots=10, gradient=gradient, budget=budget)
    whole = sampled(engine, epochs=9, patience=None).fit(X, Y)
    sampled(engine, epochs=2, patience=None).fit(X, Y).save(tmp_path / "part.mcq", resumable=True)
    resumed = load(tmp_path / "part.mcq").set_params(engine=engine, epochs=9)
    for _ in resumed.fit_iter(X, Y, resume=True):
        pass
    assert_same_training(resumed, whole)
    assert resumed.shots_ == whole.shots_ == budget


# Files and copies


def test_a_file_knows_no_sampler(tmp_path: Path) -> None:
    model = sampled(counting(tolerance=1, budget=10**6), epochs=1).fit(X, Y)
    model.save(tmp_path / "model.mcq")
    settings = read_model(tmp_path / "model.mcq").header["settings"]
    assert (settings["engine"]["name"], settings["n_repetitions"]) == ("statevector", 1)
    assert b"ampler" not in (tmp_path / "model.mcq").read_bytes()
    again = load(tmp_path / "model.mcq")
    assert_same_model(again, model)
    assert again.shots_ == model.shots_
    assert again.get_params() == {**model.get_params(), "engine": StatevectorEngine(), "n_repetitions": 1}
    assert again.predict(X).shape == (24,)  # on a simulator
    assert_array_equal(again.set_params(engine=model.engine).transform(X), model.transform(X))


def test_a_file_has_the_circuit_that_was_trained(tmp_path: Path) -> None:
    """Trained with twenty layers on a simulator, then measured by a sampler."""
    model = sampled(engine="auto", epochs=1).fit(X, Y).set_params(engine=counting(shots=5))
    model.save(tmp_path / "deep.mcq")
    again = load(tmp_path / "deep.mcq")
    assert (again.n_repetitions, again.feature_map_.n_layers) == (10, 20)
    again.partial_fit(X, Y)


def test_clones_and_pickles_keep_the_sampler() -> None:
    model = sampled(epochs=1).fit(X, Y)
    assert clone(model).get_params() == model.get_params()
    twin = pickle.loads(pickle.dumps(model))
    assert_same_training(twin, model)
    assert_array_equal(twin.predict(X), model.predict(X))
    assert "SimulatedSampler" in repr(model)


def test_scikit_learns_tools_take_samplers() -> None:
    scores = cross_val_score(sampled(counting(shots=20), epochs=1), X, Y, cv=2)
    assert scores.shape == (2,)
