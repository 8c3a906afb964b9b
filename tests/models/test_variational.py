"""The ensembles of variational classifiers as estimators."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from mcquack import FeatureMap, McQuackClassifier, datasets
from mcquack.circuits import Circuit, b, w, x
from mcquack.errors import InvalidInputError, ModelFileError
from mcquack.kernels import Shots
from mcquack.models import load
from mcquack.models.model_file import read_model, write_model
from mcquack.models.variational import SharedVariationalClassifier, VariationalEnsembleClassifier
from mcquack.simulators import GateEngine
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.statevector import StatevectorEngine
from tests.models.sameness import own_map
from tests.oracles import after_gate, after_ring, angles, rot

IRIS_X, IRIS_Y = load_iris(return_X_y=True)
KINDS = (VariationalEnsembleClassifier, SharedVariationalClassifier)
both = pytest.mark.parametrize("kind", KINDS)
# The number of parameters of VC in the paper's table of results.
PAPER_PARAMETERS = {
    "census": 216, "covert": 216, "doh": 432, "emnist": 9_432, "emnist10": 47_160, "emnist4": 18_864, "fmnist": 9_432,
    "fmnist10": 47_160, "fmnist5": 23_580, "iris3": 108, "kdd": 504, "kdd10": 2_880, "kdd4": 1_152, "manifold": 3_024,
    "mnist": 9_432, "mnist10": 47_160, "mnist4": 18_864, "pm2": 3_096, "pm4": 6_192, "url": 1_008,
}  # fmt: skip


def small(kind, **settings):
    return kind(**{"n_qubits": 2, "n_repetitions": 2, "epochs": 5, "random_state": 0, **settings})


@parametrize_with_checks(
    [
        VariationalEnsembleClassifier(n_qubits=3, epochs=20, lr=0.1),
        SharedVariationalClassifier(n_qubits=3, epochs=20, lr_shared=0.1, lr_class=0.1),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.campaign
@parametrize_with_checks([kind() for kind in KINDS])
def test_scikit_learns_own_checks_with_the_defaults(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("name", "n_parameters"), PAPER_PARAMETERS.items())
def test_parameters_are_counted_as_in_the_paper(name, n_parameters):
    known = datasets.describe(name)
    d, n_classes = known.paper_n_features, known.n_classes
    X = np.random.default_rng(0).normal(size=(2 * n_classes, d or 0))
    settings: dict[str, Any] = {"n_repetitions": 1, "epochs": 1, "random_state": 0}
    y = np.arange(2 * n_classes) % n_classes
    assert VariationalEnsembleClassifier(**settings).fit(X, y).n_parameters_ == n_parameters
    shared = SharedVariationalClassifier(**settings).fit(X, y)
    assert shared.n_parameters_ == n_parameters // (2 * n_classes) * (1 + n_classes)


@both
def test_learns_and_tells_how(kind):
    model = kind(n_qubits=4, n_repetitions=5, epochs=40, random_state=0).fit(IRIS_X, IRIS_Y)
    assert model.score(IRIS_X, IRIS_Y) > 0.93
    assert len(model.history_) == model.n_iter_ == 40
    assert model.history_[-1]["loss"] < 0.6 * model.history_[0]["loss"]
    assert model.best_epochs_.shape == (3,)


@both
def test_the_prediction_is_the_class_of_the_largest_score(kind):
    model = small(kind).fit(IRIS_X, IRIS_Y)
    scores = model.decision_function(IRIS_X)
    assert scores.shape == (150, 3)
    assert np.abs(scores).max() <= 1
    assert_array_equal(model.predict(IRIS_X), model.classes_[scores.argmax(axis=1)])
    assert_allclose(model.predict_proba(IRIS_X).sum(axis=1), 1)
    assert_array_equal(model.predict_proba(IRIS_X).argmax(axis=1), scores.argmax(axis=1))


@both
def test_two_classes_have_two_classifiers_and_one_number(kind):
    two = IRIS_Y < 2
    model = small(kind).fit(IRIS_X[two], np.array(["no", "yes"])[IRIS_Y[two]])
    assert len(model.bias_) == 2
    values = model.decision_function(IRIS_X[two])
    assert values.shape == (100,)
    assert_array_equal(model.predict(IRIS_X[two]), np.where(values > 0, "yes", "no"))


def test_each_classifier_stops_by_itself_and_keeps_its_best():
    model = VariationalEnsembleClassifier(n_qubits=2, n_repetitions=2, epochs=60, lr=0.5, patience=3, random_state=1)
    model.fit(IRIS_X, IRIS_Y)
    assert len(set(model.best_epochs_.tolist())) > 1
    assert model.n_iter_ == min(60, model.best_epochs_.max() + 3)
    patient = VariationalEnsembleClassifier(**{**model.get_params(), "patience": None, "epochs": model.n_iter_})
    patient.fit(IRIS_X, IRIS_Y)
    early = model.best_epochs_ + 3 <= model.n_iter_
    same = patient.best_epochs_ == model.best_epochs_
    assert_array_equal(model.weights_[early & same], patient.weights_[early & same])


def test_shared_classifiers_stop_together():
    model = SharedVariationalClassifier(
        n_qubits=2, n_repetitions=2, epochs=60, lr_shared=0.5, patience=3, random_state=1
    )
    model.fit(IRIS_X, IRIS_Y)
    assert len(set(model.best_epochs_.tolist())) == 1
    losses = [row["loss"] for row in model.history_]
    assert model.best_epochs_[0] == np.argmin(losses) + 1


@both
def test_validation_decides_on_the_best(kind):
    odd = np.arange(150) % 2 == 1
    model = small(kind, epochs=8).fit(IRIS_X[odd], IRIS_Y[odd], validation_data=(IRIS_X[~odd], IRIS_Y[~odd]))
    assert all(row["validation_loss"] == row["loss"] for row in model.history_)
    held_out = small(kind, validation_fraction=0.3).fit(IRIS_X, IRIS_Y)
    assert held_out.history_[-1]["validation_accuracy"] is not None


@both
def test_training_can_be_watched_and_left(kind):
    model = small(kind, epochs=50)
    for row in model.fit_iter(IRIS_X, IRIS_Y):
        if row["epoch"] == 3:
            break
    assert model.n_iter_ == 3
    assert_array_equal(model.predict(IRIS_X), small(kind, epochs=3).fit(IRIS_X, IRIS_Y).predict(IRIS_X))


@both
@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("best_epochs", [1, 1]),
        ("best_epochs", [1, 1, 99]),
        ("best_epochs", [1, 1, True]),
        ("history", [{"epoch": 1}]),
        ("seed", -1),
        ("n_features", 5),
        ("unknown", 1),
    ],
)
def test_files_that_contradict_themselves_are_refused(kind, where, value, tmp_path):
    small(kind).fit(IRIS_X, IRIS_Y).save(tmp_path / "m.mcq")
    file = read_model(tmp_path / "m.mcq")
    write_model(tmp_path / "m.mcq", header={**file.header, where: value}, tensors=file.tensors)
    with pytest.raises(ModelFileError):
        load(tmp_path / "m.mcq")


@both
@pytest.mark.parametrize(
    ("settings", "name"),
    [({"n_qubits": 1}, "n_qubits"), ({"patience": 0}, "patience"), ({"decay_rate": 0}, "decay_rate")],
)
def test_impossible_settings_are_refused(kind, settings, name):
    with pytest.raises(InvalidInputError, match=name):
        small(kind, **settings).fit(IRIS_X, IRIS_Y)


@pytest.mark.parametrize(("kind", "name"), [(KINDS[0], "lr"), (KINDS[1], "lr_shared"), (KINDS[1], "lr_class")])
def test_a_learning_rate_is_refused_by_its_own_name(kind, name):
    with pytest.raises(InvalidInputError, match=f"{name} .* positive"):
        small(kind, **{name: -1.0}).fit(IRIS_X, IRIS_Y)


def inverse_states(feature_map, states, features, weights, bias):
    """U†(features) on every state: all gates undone, the last one first."""
    of_layers = angles(feature_map, features[None], weights=weights, bias=bias)
    for layer in reversed(range(feature_map.n_layers)):
        if layer + 1 < feature_map.n_layers or feature_map.final_entangler:
            # The ring is a permutation whose order is small: it is undone by going round.
            states = undone_ring(states)
        for qubit in range(feature_map.n_qubits):
            gate = rot(*of_layers[layer, qubit])[..., 0]
            states = after_gate(states, gate.conj().T.copy(), qubit)
    return states


def undone_ring(states):
    before = states
    while not np.array_equal(after_ring(before), states):
        before = after_ring(before)
    return before


@pytest.mark.filterwarnings("ignore:heavy-hex devices have no ring")
@pytest.mark.parametrize("final_entangler", [True, False])
def test_mcquack_is_a_variational_classifier_that_measures_the_zero_state(final_entangler):
    """⟨0|W†|0…0⟩⟨0…0|W|0⟩ with W = U†(c_m) U(x) equals the kernel (section "Mapping to Variational Classifiers")."""
    model = McQuackClassifier(
        n_qubits=3,
        n_repetitions=2,
        epochs=3,
        engine=StatevectorEngine(dtype="float64"),
        feature_map="paper" if final_entangler else "device",
        random_state=0,
    ).fit(IRIS_X, IRIS_Y)
    states = model.statevectors(IRIS_X[::10])
    for column, centroid in enumerate(model.centroids_):
        behind_w = inverse_states(own_map(model), states, centroid, model.weights_, model.bias_)
        assert_allclose(np.abs(behind_w[:, 0]) ** 2, model.transform(IRIS_X[::10])[:, column], atol=1e-10)


@pytest.mark.parametrize("kind", [McQuackClassifier, *KINDS])
def test_a_training_that_diverges_names_settings_that_the_model_has(kind):
    with pytest.raises(InvalidInputError, match="diverged after 3 epochs; lower lr") as told:
        kind()._warn_diverged(3, anything_kept=False)
    named = str(told.value).partition("lower ")[2].rstrip(".").split(" and ")
    assert set(named) <= kind().get_params().keys()


@both
def test_only_statevectors_have_expectations(kind):
    for engine in ("ring", RingEngine(), Shots(5)):
        with pytest.raises(InvalidInputError, match="engine"):
            small(kind, engine=engine).fit(IRIS_X, IRIS_Y)
    with pytest.raises(InvalidInputError, match=r"engine .*auto"):
        small(kind, engine="mps").fit(IRIS_X, IRIS_Y)


@both
def test_the_engine_says_the_type_and_threads_change_nothing(kind):
    for dtype in ("float32", "float64"):
        alone, together = (
            small(kind, engine=StatevectorEngine(dtype=dtype, n_threads=n_threads)).fit(IRIS_X, IRIS_Y)
            for n_threads in (1, 3)
        )
        assert alone.weights_.dtype == dtype
        assert_array_equal(alone.weights_, together.weights_)


@both
def test_a_circuit_may_be_given(kind, tmp_path):
    feature_map = FeatureMap(n_qubits=3, n_features=4, n_layers=2, features_per_gate=3, final_entangler=False)
    model = small(kind, feature_map=feature_map).fit(IRIS_X, IRIS_Y)
    assert model.feature_map_ == feature_map
    model.save(tmp_path / "model.mcq")
    loaded = load(tmp_path / "model.mcq")
    assert loaded.get_params() == model.get_params()
    assert_array_equal(loaded.predict_proba(IRIS_X), model.predict_proba(IRIS_X))
    with pytest.raises(InvalidInputError, match=r"n_qubits .* 2"):
        small(kind, feature_map=FeatureMap(n_qubits=1, n_features=4, n_layers=2)).fit(IRIS_X, IRIS_Y)
    with pytest.raises(InvalidInputError, match=r"feature_map .* 4 .* 3"):
        small(kind, feature_map=feature_map).fit(IRIS_X[:, :3], IRIS_Y)


# Any circuit


def lines(n_features):
    """A builder: features and trained angles in turn, on three qubits."""
    found = Circuit(3, n_features).h([0, 1, 2])
    for feature in range(n_features):
        found = found.rx(feature % 3, w * x[feature]).cnot([(0, 1), (1, 2)]).ry([0, 1, 2], b).cry((2, 0), b("all"))
    return found


FIXED = Circuit(2, 4).h([0, 1]).rx([0, 1], [x[0], x[1]]).cnot(0, 1).ry([0, 1], [x[2], x[3]])


@both
@pytest.mark.parametrize("feature_map", ["iqp", "amplitude", "reuploading", lines, lines(4), FIXED])
def test_any_circuit_is_trained_and_kept(kind, feature_map, tmp_path):
    model = small(kind, feature_map=feature_map, n_repetitions=1).fit(IRIS_X, IRIS_Y)
    circuit = model.feature_map_
    assert model.bias_.shape == (3, *circuit.bias_shape)
    assert model.weights_.shape == (3 if kind is VariationalEnsembleClassifier else 1, *circuit.weights_shape)
    losses = [row["loss"] for row in model.history_]
    assert losses[-1] < losses[0] or not circuit.n_embedding_parameters
    engine = GateEngine(circuit, dtype="float64")
    of_classes = [
        engine.expectations(
            engine.encode(model.scaled(IRIS_X), model.weights_[m % len(model.weights_)], model.bias_[m]), [0]
        )
        for m in range(3)
    ]
    assert_allclose(model.decision_function(IRIS_X), np.concatenate(of_classes, axis=1), atol=1e-5)
    model.save(tmp_path / "model.mcq")
    again = load(tmp_path / "model.mcq")
    assert_array_equal(again.decision_function(IRIS_X), model.decision_function(IRIS_X))
    assert again.feature_map_ == circuit


@both
def test_the_papers_circuit_trains_alike_gate_by_gate(kind):
    layers, gates = (
        small(kind, engine=engine(dtype="float64")).fit(IRIS_X, IRIS_Y) for engine in (StatevectorEngine, GateEngine)
    )
    assert_allclose(gates.weights_, layers.weights_, atol=1e-8)
    assert_allclose(gates.bias_, layers.bias_, atol=1e-8)


@both
def test_a_builder_needs_two_qubits_for_two_logits(kind):
    with pytest.raises(InvalidInputError, match=r"n_qubits .* 2"):
        small(kind, feature_map=lambda n_features: Circuit(1, n_features).rx(0, x[0])).fit(IRIS_X, IRIS_Y)
    assert small(kind, n_qubits=1, epochs=1, feature_map=lines).fit(IRIS_X, IRIS_Y).feature_map_.n_qubits == 3
