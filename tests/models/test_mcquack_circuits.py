"""McQuack on any circuit: by name, by a builder, or as given; trained, saved, resumed and measured like its own."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from mcquack import FeatureMap, McQuackClassifier, load, open_device
from mcquack.circuits import Circuit, arccos, b, line, ring, w, x
from mcquack.circuits.library import MAPS, circuit_named
from mcquack.errors import InvalidInputError, ModelFileError, ShotBudgetError
from mcquack.kernels import Shots
from mcquack.models import QuackClassifier
from mcquack.models.catalog import model_facts
from mcquack.models.model_file import FORMAT_VERSION, LATEST_VERSION, read_model, write_model
from mcquack.report import plot_embedding, plot_kernel
from mcquack.simulators import GateEngine, StatevectorEngine

X, Y = load_iris(return_X_y=True)
FEW_X, FEW_Y = X[::10], Y[::10]


def sharing(n_features: int) -> Circuit:
    """One weight for all features, one bias for all qubits, and gates of many kinds."""
    qubits = range(3)
    layer = Circuit(3, n_features).sx(qubits).crx(ring(3), w("all") * x[0] + b("all", start=0.3))
    for feature in range(n_features):
        layer = layer.ry(feature % 3, 2 * w("all") * x[feature] + b).rzz((0, 1 + feature % 2), arccos(x[feature]))
    return layer.cz(line(3)).ry(qubits, b("all", start=0.3))


FIXED = Circuit(2, 4).h([0, 1]).rx([0, 1], [x[0], x[1]]).cnot(0, 1).ry([0, 1], [x[2], x[3]])
CIRCUITS: dict[str, Circuit] = {
    "shared": sharing(4),
    "amplitudes": Circuit(2, 4, start="amplitudes").ry([0, 1], b).cnot(0, 1).rot([0, 1], b, w * x[0] + b, b),
    "no weights": FIXED.ry([0, 1], b).cz(0, 1).rx([0, 1], [x[0], x[1]]),
    "no biases": Circuit(2, 4).h([0, 1]).rz([0, 1], [w * x[0], w * x[1]]).rzz((0, 1), w * x[2] * x[3]).h([0, 1]),
    "no parameters": FIXED,
    "iqp": circuit_named("iqp", n_features=4, n_qubits=2, n_repetitions=1),
}
every_circuit = pytest.mark.parametrize("circuit", CIRCUITS.values(), ids=list(CIRCUITS))


def fitted(feature_map: Any, **settings: Any) -> McQuackClassifier:
    return McQuackClassifier(**{"epochs": 3, "feature_map": feature_map, "random_state": 0, **settings}).fit(
        FEW_X, FEW_Y
    )


def parameters(model: McQuackClassifier) -> list[Any]:
    return [model.weights_, model.bias_, model.centroids_]


# What a circuit may be given as


@pytest.mark.parametrize("name", [name for name in MAPS if name not in ("paper", "device")])
def test_maps_go_by_their_names(name: str) -> None:
    model = fitted(name, n_qubits=2, n_repetitions=1, epochs=1)
    assert model.feature_map_ == circuit_named(name, n_features=4, n_qubits=2, n_repetitions=1)
    assert model.weights_.shape == model.feature_map_.weights_shape
    assert model.bias_.shape == model.feature_map_.bias_shape
    assert model.n_parameters_ == model.feature_map_.n_embedding_parameters + 3 * 4
    assert model.predict(X).shape == Y.shape


def test_a_builder_is_asked_for_the_number_of_features() -> None:
    built, given = fitted(sharing), fitted(sharing(4))
    assert built.feature_map_ == given.feature_map_ == sharing(4)
    for one, other in zip(parameters(built), parameters(given), strict=True):
        assert_array_equal(one, other)
    assert clone(built).fit(FEW_X[:, :2], FEW_Y).feature_map_ == sharing(2)


def test_a_builder_may_make_the_papers_circuit_which_then_has_its_own_engine() -> None:
    def deep(n_features: int) -> FeatureMap:
        return FeatureMap(n_qubits=2, n_features=n_features, n_layers=3)

    model = fitted(deep)
    assert isinstance(model._fitted_engine, StatevectorEngine)
    assert_array_equal(model.weights_, fitted(deep(4)).weights_)
    assert isinstance(fitted(sharing, epochs=0)._fitted_engine, GateEngine)


@pytest.mark.parametrize(
    ("feature_map", "message"),
    [
        ("zzz", "feature_map .*'paper', .* zz"),
        (7, "feature_map .*Circuit.* 7"),
        (None, "feature_map .*None"),
        (lambda n_features: "zz", " 4 .*'zz'"),
        (lambda n_features: None, " 4 .*None"),
        (lambda n_features: sharing(n_features + 1), "feature_map .* 5 .* 4"),
        (sharing(3), "feature_map .* 3 .* 4"),
        (Circuit(21, 4).rx(0, x[0]), "20 qubits, got 21"),
        (Circuit, "feature_map .*<class"),
    ],
)
def test_what_is_no_circuit_for_these_samples_is_refused(feature_map: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        fitted(feature_map, n_qubits=1)


@pytest.mark.parametrize("engine", ["statevector", "ring", StatevectorEngine(dtype="float64")])
def test_engines_of_the_papers_circuit_say_which_one_takes_others(engine: Any) -> None:
    with pytest.raises(InvalidInputError, match='engine="gates"'):
        fitted("iqp", engine=engine)


# Training


def test_a_sensible_map_learns_iris() -> None:
    model = McQuackClassifier(3, 2, feature_map="reuploading", epochs=15, random_state=0).fit(X, Y)
    assert model.score(X, Y) > 0.85
    assert model.history_[-1]["loss"] < model.history_[0]["loss"]


@every_circuit
def test_training_moves_what_there_is_and_the_seed_decides(circuit: Circuit) -> None:
    first, again, other = (fitted(circuit, random_state=seed) for seed in (1, 1, 2))
    start = fitted(circuit, random_state=1, epochs=0)
    for one, same, begun in zip(parameters(first), parameters(again), parameters(start), strict=True):
        assert_array_equal(one, same)
        assert one.dtype == np.float32
        assert one.size == 0 or (one != begun).any()
    if circuit.n_embedding_parameters:
        assert any((one != two).any() for one, two in zip(parameters(first), parameters(other), strict=True))
    assert first.weights_.shape == circuit.weights_shape
    assert first.bias_.shape == circuit.bias_shape
    assert_allclose(first.predict_proba(X).sum(axis=1), 1, rtol=1e-6)
    assert_allclose(np.linalg.norm(first.statevectors(X[:3]), axis=1), 1, rtol=1e-5)


@every_circuit
@pytest.mark.parametrize("settings", [{"init_strategy": "wx+b=0"}, {"init_small": False}], ids=["wx+b=0", "ones"])
def test_other_starts(circuit: Circuit, settings: dict[str, Any]) -> None:
    model = fitted(circuit, epochs=1, **settings)
    assert all(np.isfinite(array).all() for array in parameters(model))


def test_regularisers_keep_parameters_small() -> None:
    free, held = (fitted(sharing, reg_param_weights=reg, reg_param_bias=reg, epochs=8) for reg in (0.0, 10.0))
    for name in ("weights_", "bias_"):
        assert np.linalg.norm(getattr(held, name)) < np.linalg.norm(getattr(free, name))


def test_several_centroids_and_other_losses() -> None:
    model = fitted("iqp", n_qubits=2, n_centroids_per_class=2, loss="cross_entropy", engine=GateEngine(dtype="float64"))
    assert model.centroids_.shape == (6, 4)
    assert model.weights_.dtype == np.float64


@pytest.mark.filterwarnings("ignore:heavy-hex devices have no ring")
@pytest.mark.parametrize("feature_map", ["paper", "device", "quack"])
def test_the_papers_circuits_train_alike_gate_by_gate(feature_map: str) -> None:
    layers, gates = (
        fitted(feature_map, n_qubits=3, n_repetitions=1, engine=engine(dtype="float64"))
        for engine in (StatevectorEngine, GateEngine)
    )
    for one, other in zip(parameters(layers), parameters(gates), strict=True):
        assert_allclose(one, other, rtol=0, atol=1e-9)


# Files


@every_circuit
def test_a_file_gives_back_the_model(circuit: Circuit, tmp_path: Path) -> None:
    model = fitted(circuit)
    model.save(tmp_path / "model.mcq")
    again = load(tmp_path / "model.mcq")
    assert again.feature_map == again.feature_map_ == circuit
    assert again.get_params() == model.get_params()
    assert_array_equal(again.transform(X), model.transform(X))
    facts = model_facts(again)
    assert facts["circuit"]["n_gates"] == circuit.n_gates
    assert json.loads(json.dumps(facts)) == facts


@every_circuit
def test_resumed_training_is_training_without_a_break(circuit: Circuit, tmp_path: Path) -> None:
    fitted(circuit, epochs=2).save(tmp_path / "model.mcq", resumable=True)
    resumed, whole = load(tmp_path / "model.mcq").set_params(epochs=4), fitted(circuit, epochs=4)
    for _ in resumed.fit_iter(FEW_X, FEW_Y, resume=True):
        pass
    for one, other in zip(parameters(resumed), parameters(whole), strict=True):
        assert_array_equal(one, other)


def test_in_the_place_of_a_builder_a_file_has_its_circuit(tmp_path: Path) -> None:
    model = fitted(sharing)
    model.save(tmp_path / "model.mcq")
    again = load(tmp_path / "model.mcq")
    assert again.feature_map == sharing(4)
    assert_array_equal(again.predict(X), model.predict(X))
    assert again.set_params(warm_start=True).fit(FEW_X, FEW_Y).feature_map_ == sharing(4)


@pytest.mark.parametrize(
    ("feature_map", "version"),
    [
        ("paper", FORMAT_VERSION),
        ("device", FORMAT_VERSION),
        (FeatureMap(n_qubits=2, n_features=4, n_layers=2), FORMAT_VERSION),
        ("quack", LATEST_VERSION),
        ("iqp", LATEST_VERSION),
        (FIXED, LATEST_VERSION),
        (sharing, LATEST_VERSION),
    ],
)
def test_what_earlier_releases_know_stays_readable_for_them(feature_map: Any, version: int, tmp_path: Path) -> None:
    fitted(feature_map, n_qubits=2, epochs=0).save(tmp_path / "model.mcq")
    assert read_model(tmp_path / "model.mcq").header["format_version"] == version
    assert load(tmp_path / "model.mcq").predict(X).shape == Y.shape


def _without(plain: Any, name: str) -> Any:
    return {key: value for key, value in plain.items() if key != name}


HOSTILE: dict[str, Callable[[Any], Any]] = {
    "no gates": lambda plain: _without(plain, "gates"),
    "gates are a number": lambda plain: {**plain, "gates": 10**9},
    "unknown gate": lambda plain: {**plain, "gates": [["boom", [0], []]]},
    "qubit that is not there": lambda plain: {**plain, "gates": [["h", [99], []]], "weights": [], "bias": []},
    "weights that no gate has": lambda plain: {**plain, "weights": [[None, 0.0]] * 1000},
    "names twice": lambda plain: {**plain, "weights": [["a", 0.0], ["a", 0.0]]},
    "endless qubits": lambda plain: {**plain, "n_qubits": 10**30},
    "no qubits": lambda plain: {**plain, "n_qubits": 0},
    "text for a number": lambda plain: {**plain, "n_features": "4"},
    "other features": lambda plain: {**plain, "n_features": 5},
    "another start": lambda plain: {**plain, "start": "here"},
    "amplitudes that do not fit": lambda plain: {**plain, "start": "amplitudes", "n_qubits": 1, "gates": []},
    "too many parts": lambda plain: {**plain, "code": "import os"},
    "another circuit": lambda plain: sharing(4).repeated(2).to_json(),
    "deep": lambda plain: {**plain, "gates": [["rx", [0], [[[["x", [[[[]]]]]], None, 1.0, None, 1.0, 0.0]]]]},
    "an endless layer": lambda plain: FeatureMap(n_qubits=2, n_features=4, n_layers=10**15).to_json(),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_circuits_are_refused_as_files(change: Callable[[Any], Any], tmp_path: Path) -> None:
    path = tmp_path / "model.mcq"
    fitted(sharing, epochs=0).save(path)
    header, tensors = read_model(path)
    broken = change(header["feature_map"])
    write_model(path, header={**header, "feature_map": broken}, tensors=tensors, format_version=LATEST_VERSION)
    with pytest.raises(ModelFileError, match="no usable model"):
        load(path)


def test_a_hostile_circuit_among_the_settings_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "model.mcq"
    fitted(sharing, epochs=0).save(path)
    header, tensors = read_model(path)
    header["settings"]["feature_map"]["gates"] = [["boom", [0], []]]
    write_model(path, header=header, tensors=tensors, format_version=LATEST_VERSION)
    with pytest.raises(ModelFileError, match=r"circuit.*gates"):
        load(path)


def test_the_papers_names_stand_for_the_papers_circuits(tmp_path: Path) -> None:
    path = tmp_path / "model.mcq"
    fitted(sharing, epochs=0).save(path)
    header, tensors = read_model(path)
    header["settings"]["feature_map"] = "paper"
    for kind in ("McQuackClassifier", "QuackClassifier"):
        write_model(path, header={**header, "kind": kind}, tensors=tensors, format_version=LATEST_VERSION)
        with pytest.raises(ModelFileError, match=kind):
            load(path)


def test_quack_takes_circuits_too(tmp_path: Path) -> None:
    two = FEW_Y < 2
    model = QuackClassifier(epochs=1, feature_map=sharing, random_state=0).fit(FEW_X[two], FEW_Y[two])
    model.save(tmp_path / "model.mcq")
    assert_array_equal(load(tmp_path / "model.mcq").predict(X), model.predict(X))


# Going on


@every_circuit
def test_training_goes_on_from_what_was_trained(circuit: Circuit) -> None:
    model = fitted(circuit).set_params(warm_start=True)
    trained = [array.copy() for array in parameters(model)]
    model.set_params(epochs=0).fit(FEW_X, FEW_Y)
    for one, other in zip(parameters(model), trained, strict=True):
        assert_array_equal(one, other)
    model.set_params(epochs=2).fit(FEW_X, FEW_Y)
    assert (model.centroids_ != trained[2]).any()


@every_circuit
def test_a_stream_of_samples(circuit: Circuit) -> None:
    model = McQuackClassifier(feature_map=circuit, random_state=0)
    for part in range(3):
        model.partial_fit(FEW_X[part::3], FEW_Y[part::3], classes=[0, 1, 2])
    assert model.n_iter_ == 3


def test_another_circuit_is_another_model() -> None:
    model = fitted("iqp", n_qubits=2)
    for change in ({"feature_map": "zz"}, {"n_qubits": 3}, {"feature_map": sharing}, {"n_repetitions": 5}):
        with pytest.raises(InvalidInputError, match="another circuit"):
            clone_fitted(model).set_params(**change, warm_start=True).fit(FEW_X, FEW_Y)
    given = fitted(FIXED).set_params(n_qubits=7, n_repetitions=3)  # which a given circuit does not heed
    given.set_params(warm_start=True).fit(FEW_X, FEW_Y)


def clone_fitted(model: McQuackClassifier) -> McQuackClassifier:
    found = clone(model)
    vars(found).update(vars(model))
    return found


# As a device would measure


@every_circuit
def test_shots_and_tolerance(circuit: Circuit) -> None:
    model = fitted(circuit, epochs=1)
    exact = model.transform(X)
    sampled = model.set_params(engine=Shots(4000)).transform(X)
    assert 0 < np.abs(sampled - exact).max() < 0.06
    if circuit.start == "zeros":
        tolerant = model.set_params(engine=Shots(tolerance=1)).transform(X)
        assert (tolerant >= exact - 1e-5).all()
        everything = model.set_params(engine=Shots(tolerance=circuit.n_qubits)).transform(X)
        assert_allclose(everything, 1, rtol=1e-6)
        counted = model.set_params(engine=Shots(4000, tolerance=1)).transform(X)
        assert 0 < np.abs(counted - tolerant).max() < 0.06


@pytest.mark.parametrize("gradient", ["parameter_shift", "stochastic_shift", "spsa"])
@every_circuit
def test_derivatives_from_values_train(circuit: Circuit, gradient: Any) -> None:
    shifts_amplitudes = circuit.start == "amplitudes" and gradient != "spsa"
    engine = Shots(gradient=gradient, engine=GateEngine(dtype="float64"))
    model = fitted(circuit, engine=engine, epochs=1, epochs_co=0 if shifts_amplitudes else 1)
    start = fitted(circuit, engine=engine, epochs=0, epochs_co=0)
    moved = [(one != two).any() for one, two in zip(parameters(model), parameters(start), strict=True) if one.size]
    assert all(moved[:-1])
    assert moved[-1] != shifts_amplitudes
    if gradient == "parameter_shift" and not shifts_amplitudes:
        exact = fitted(circuit, engine=GateEngine(dtype="float64"), epochs=1)
        for one, other in zip(parameters(model), parameters(exact), strict=True):
            assert_allclose(one, other, rtol=0, atol=1e-8)


@pytest.mark.parametrize("gradient", ["parameter_shift", "stochastic_shift", "spsa"])
def test_a_sampler_trains_any_circuit_within_its_budget(gradient: Any, tmp_path: Path) -> None:
    device = open_device("simulator", shots=20, gradient=gradient, budget=10**6)
    model = fitted(CIRCUITS["iqp"], engine=device, epochs=2, batch_size=5)
    per_epoch = model.epoch_shots(FEW_X, FEW_Y)
    assert 0 < model.shots_ <= 2 * per_epoch
    assert (model.shots_ == 2 * per_epoch) or gradient == "stochastic_shift"
    model.save(tmp_path / "model.mcq")
    assert load(tmp_path / "model.mcq").engine == GateEngine()
    with pytest.raises(ShotBudgetError, match="one epoch takes"):
        fitted(CIRCUITS["iqp"], engine=open_device("simulator", shots=20, gradient=gradient, budget=10))


def test_amplitudes_are_not_shifted() -> None:
    engine = Shots(gradient="parameter_shift", engine=GateEngine())
    with pytest.raises(InvalidInputError, match="amplitudes"):
        fitted(CIRCUITS["amplitudes"], engine=engine)


def test_training_for_a_tolerance_takes_values() -> None:
    engine = Shots(training_tolerance=1, tolerance=1, gradient="spsa")
    assert fitted("zz", n_qubits=2, n_repetitions=1, engine=engine, epochs=1).score(X, Y) > 0.3


# Pictures


def test_pictures_of_a_model_on_a_circuit() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = fitted(sharing)
    assert plot_kernel(model, X, Y).axes
    assert plot_embedding(model, FEW_X, FEW_Y).axes
