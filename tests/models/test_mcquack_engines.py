"""Engines behind the estimator: simulators agree, a hundred qubits go from fit to file, and shots are as a device's."""

import copy
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from mcquack import McQuackClassifier, load
from mcquack.errors import InvalidInputError
from mcquack.kernels import SampledEngine, Shots
from mcquack.kernels.bitflip import mean_hamming, predicted_classes, tolerant_kernel
from mcquack.kernels.losses import target_alignment
from mcquack.simulators import shots as measured
from mcquack.simulators.choice import ENGINES
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.samplers import sampled_hamming
from mcquack.simulators.statevector import StatevectorEngine
from tests.models.sameness import assert_same_model, assert_same_training, own_map

X, Y = make_blobs(40, n_features=12, centers=3, cluster_std=2.0, random_state=0)
Z, LABELS = make_blobs(30, n_features=12, centers=3, cluster_std=3.0, random_state=0)
N_QUBITS = 6
both_engines = pytest.mark.parametrize("engine", ["statevector", "ring"])
WIDE_X, WIDE_Y = make_blobs(24, n_features=248, centers=2, cluster_std=6.0, random_state=1)


def shallow(**settings: Any) -> McQuackClassifier:
    """Six qubits and twelve features: two layers."""
    settings = {"n_qubits": N_QUBITS, "n_repetitions": 1, "epochs": 4, "random_state": 0, **settings}
    return McQuackClassifier(**{**settings, "engine": double(settings.get("engine", "auto"))})


def double(engine: Any) -> Any:
    """Engines by name in double precision."""
    if engine == "auto":
        engine = "statevector"
    return ENGINES[engine](dtype="float64") if isinstance(engine, str) else engine


def wide(**settings: Any) -> McQuackClassifier:
    """The circuit of the paper's experiment."""
    return McQuackClassifier(
        **{"n_qubits": 124, "feature_map": "device", "epochs": 3, "patience": None, "random_state": 0, **settings}
    )


# What they do not take


def test_too_many_qubits_for_statevectors_name_the_other_engine() -> None:
    with pytest.raises(InvalidInputError, match=r'1 to 20 qubits, got 24.*engine="ring"'):
        shallow(engine="statevector", n_qubits=24).fit(X, Y)


def test_too_many_layers_for_the_ring_say_what_is_possible() -> None:
    with pytest.raises(InvalidInputError, match=r"4 layers.* 6.*statevector"):
        shallow(engine="ring", n_repetitions=3).fit(X, Y)


# Agreement


@pytest.fixture(scope="module")
def models() -> dict[str, McQuackClassifier]:
    return {name: shallow(engine=name).fit(X, Y) for name in ("statevector", "ring")}


@pytest.mark.parametrize("engine", ["statevector", StatevectorEngine()], ids=str)
def test_auto_is_what_it_chooses(engine: Any) -> None:
    settings: dict[str, Any] = {"n_qubits": N_QUBITS, "n_repetitions": 1, "epochs": 4, "random_state": 0}
    by_choice, by_name = (McQuackClassifier(**settings, engine=name).fit(X, Y) for name in ("auto", engine))
    assert_same_training(by_choice, by_name)


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


@pytest.mark.parametrize("settings", [{"shots": 50}, {"tolerance": 2}, {"shots": 50, "tolerance": 2}])
def test_a_trained_model_may_change_its_engine(settings: dict[str, Any]) -> None:
    """Parameters know nothing of engines; shots are the same draws."""
    model = shallow(engine=Shots(**settings, engine=double("statevector"))).fit(X, Y)
    expected = model.transform(X)
    on_ring = model.set_params(engine=Shots(**settings, engine=double("ring")))
    assert_allclose(on_ring.transform(X), expected, rtol=0, atol=1e-8)


def test_single_precision_is_as_close_as_it_can_be() -> None:
    ring, other = (shallow(engine=kind(), epochs=1).fit(X, Y) for kind in (RingEngine, StatevectorEngine))
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
    assert own_map(model).n_layers == n_layers


def test_24_qubits_run_on_the_ring_of_themselves() -> None:
    settings: dict[str, Any] = {"n_qubits": 24, "epochs": 4, "random_state": 0}
    by_choice, by_name = (McQuackClassifier(**settings, engine=name).fit(X, Y) for name in ("auto", "ring"))
    assert own_map(by_choice).n_layers == 1
    assert_same_training(by_choice, by_name)
    assert by_choice.score(X, Y) > 0.9


@pytest.fixture(scope="module")
def fitted() -> McQuackClassifier:
    return wide().fit(WIDE_X, WIDE_Y)


def test_124_qubits_are_trained(fitted: McQuackClassifier) -> None:
    assert own_map(fitted).parameter_shape == (2, 124, 3)
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


@pytest.mark.parametrize(
    "engine",
    [
        "ring",
        "statevector",
        RingEngine(n_threads=2),
        Shots(7, tolerance=3),
        Shots(7, tolerance=3, training_tolerance=1, engine=RingEngine(dtype="float64")),
        Shots(tolerance=1, engine="statevector", gradient="spsa"),
    ],
    ids=repr,
)
def test_a_file_keeps_how_the_kernel_is_read(engine: Any, tmp_path: Path) -> None:
    model = McQuackClassifier(N_QUBITS, 1, epochs=1, engine=engine, random_state=0).fit(X, Y)
    model.save(tmp_path / "model.mcq")
    again = load(tmp_path / "model.mcq")
    assert again.get_params() == model.get_params()
    assert_array_equal(again.transform(X), model.transform(X))


def test_tiny_fidelities_still_tell_classes_apart() -> None:
    """With untrained parameters of 1 no fidelity is above 1e-9, yet the nearest centroid is the right one."""
    model = wide(init_small=False, epochs=1, epochs_ka=0, lr_co=1e-9, scale=(-1.0, 1.0)).fit(WIDE_X, WIDE_Y)
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
    model = wide(n_qubits=1000, init_small=False, scale=(-1.6, 1.6)).fit(*thousand)
    assert 0 < model.transform(thousand[0]).max() < 1e-160
    assert model.n_iter_ == 3
    for row in model.history_:
        assert row["grad_norm_weights"] > 0
        assert row["grad_norm_centroids"] > 0


def test_states_of_a_hundred_qubits_are_not_written_down(fitted: McQuackClassifier) -> None:
    with pytest.raises(InvalidInputError, match="1 to 20 qubits, got 124"):
        fitted.statevectors(WIDE_X)


# Shots in use


@pytest.fixture(scope="module")
def trained() -> McQuackClassifier:
    return shallow(epochs=2).fit(Z, LABELS)


def measuring(model: McQuackClassifier, engine: Any = "statevector", **settings: Any) -> McQuackClassifier:
    """The same trained model, read in another way."""
    return copy.copy(model).set_params(engine=Shots(**settings, engine=double(engine)))


def distributions(model: McQuackClassifier) -> np.ndarray:
    engine = RingEngine(model.feature_map_, dtype="float64", n_threads=1)
    rows = (engine.encode(points, model.weights_, model.bias_) for points in (model.scaled(Z), model.centroids_))
    return engine.hamming_distributions(*rows)


# Exact


@both_engines
def test_no_tolerance_is_the_fidelity(trained: McQuackClassifier, engine: str) -> None:
    found = measuring(trained, engine=engine, tolerance=0).transform(Z)
    assert_allclose(found, trained.transform(Z), rtol=0, atol=1e-12)


@both_engines
def test_tolerating_every_flip_is_no_measurement(trained: McQuackClassifier, engine: str) -> None:
    found = measuring(trained, engine=engine, tolerance=N_QUBITS).transform(Z)
    assert_allclose(found, 1, rtol=0, atol=1e-12)


@both_engines
def test_tolerance_counts_outcomes_with_few_ones(trained: McQuackClassifier, engine: str) -> None:
    P = distributions(trained)
    for tolerance in range(N_QUBITS + 1):
        found = measuring(trained, engine=engine, tolerance=tolerance).transform(Z)
        assert_allclose(found, P[..., : tolerance + 1].sum(axis=-1), rtol=0, atol=1e-12)


@both_engines
def test_many_samples_are_measured_as_few(trained: McQuackClassifier, engine: str) -> None:
    exact = measuring(trained, engine=engine, tolerance=2)
    many = np.tile(Z, (5, 1))
    assert_allclose(exact.transform(many), np.tile(exact.transform(Z), (5, 1)), rtol=0, atol=1e-12)


# Shots


@both_engines
@pytest.mark.parametrize("tolerance", [None, 2])
def test_shots_are_decided_by_the_seed(engine: str, tolerance: int | None) -> None:
    settings = {"engine": Shots(30, tolerance=tolerance, engine=double(engine)), "epochs": 2}
    model = shallow(**settings).fit(Z, LABELS)
    first = model.transform(Z)
    assert_array_equal(model.transform(Z), first)
    assert_array_equal(shallow(**settings).fit(Z, LABELS).transform(Z), first)
    assert not np.array_equal(shallow(**settings, random_state=1).fit(Z, LABELS).transform(Z), first)
    assert_allclose(30 * first, np.round(30 * first), rtol=0, atol=1e-12)


@both_engines
@pytest.mark.parametrize("tolerance", [None, 0, 2])
def test_shots_come_close_to_the_exact_kernel(trained: McQuackClassifier, engine: str, tolerance: int | None) -> None:
    """Within five standard deviations, and the closer the more there are."""
    exact = measuring(trained, engine=engine, tolerance=tolerance).transform(Z)
    apart = []
    for shots in (100, 10_000, 1_000_000):
        sampled = measuring(trained, engine=engine, tolerance=tolerance, shots=shots).transform(Z)
        spread = np.sqrt(exact * (1 - exact) / shots)
        assert (np.abs(sampled - exact) <= 5 * spread + 1 / shots).all()
        apart.append(np.abs(sampled - exact).mean())
    assert apart[0] > 3 * apart[1] > 9 * apart[2]


def test_shots_leave_training_as_it_is() -> None:
    engines = double("statevector"), Shots(3, tolerance=1, engine=double("statevector"))
    exact, sampled = (shallow(engine=engine, epochs=2).fit(Z, LABELS) for engine in engines)
    assert_array_equal(sampled.weights_, exact.weights_)
    assert_array_equal(sampled.centroids_, exact.centroids_)


# Ties


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The counts that simulated shots were read from, call by call."""
    found: list[Any] = []

    def noting(*args: Any, **kwargs: Any) -> Any:
        found.append(sampled_hamming(*args, **kwargs))
        return found[-1]

    monkeypatch.setattr(measured, "sampled_hamming", noting)
    return found


def test_equal_shares_go_to_the_class_of_fewer_ones(trained: McQuackClassifier, counted: list[Any]) -> None:
    """Tolerating every flip makes all shares equal: the mean number of ones alone decides."""
    model = measuring(trained, shots=40, tolerance=N_QUBITS)
    assert_array_equal(model.transform(Z), np.ones((30, 3)))
    predicted = model.predict(Z)
    assert_array_equal(predicted, mean_hamming(counted[-1]).argmin(axis=1))
    assert len(np.unique(predicted)) == 3


@both_engines
@pytest.mark.parametrize("tolerance", [1, 3])
def test_classes_of_few_shots_are_those_of_the_kernel_and_then_of_the_mean_weight(
    trained: McQuackClassifier, counted: list[Any], engine: str, tolerance: int
) -> None:
    model = measuring(trained, engine=engine, shots=4, tolerance=tolerance)
    kernel, predicted = model.transform(Z), model.predict(Z)
    assert (kernel == kernel.max(axis=1, keepdims=True)).sum(axis=1).max() > 1, "there should be ties to break"
    assert_array_equal(kernel, tolerant_kernel(counted[0], tolerance))
    assert_array_equal(predicted, predicted_classes(counted[1], tolerance))


# Training on the tolerant kernel


def test_training_raises_the_alignment_of_the_kernel_it_tolerates() -> None:
    engine = Shots(tolerance=2, training_tolerance=2, engine=double("ring"))
    model = shallow(engine=engine, epochs=15, patience=None).fit(Z, LABELS)
    alignments = [row["alignment"] for row in model.history_]
    assert alignments[-1] > alignments[0] + 0.02
    best = model.history_[model.best_epoch_ - 1]["alignment"]
    assert_allclose(target_alignment(model.transform(Z), LABELS), best, rtol=1e-9)


def test_a_training_tolerance_of_0_is_training_on_fidelities() -> None:
    engines = (Shots(training_tolerance=b, engine=double("ring")) for b in (None, 0))
    plain, tolerant = (shallow(engine=engine, epochs=2).fit(Z, LABELS) for engine in engines)
    assert_array_equal(tolerant.weights_, plain.weights_)
    assert_array_equal(tolerant.centroids_, plain.centroids_)


def test_wide_circuits_are_trained_on_the_tolerant_kernel() -> None:
    rows, labels = make_blobs(10, n_features=60, centers=2, cluster_std=6.0, random_state=0)
    engine = Shots(100, tolerance=6, training_tolerance=6)
    model = McQuackClassifier(n_qubits=30, epochs=4, engine=engine, random_state=0).fit(rows, labels)
    assert model.history_[-1]["alignment"] > model.history_[0]["alignment"]
    assert model.score(rows, labels) > 0.8


def test_statevectors_have_no_training_tolerance() -> None:
    for inside in ("statevector", "auto"):
        with pytest.raises(InvalidInputError, match=r'training_tolerance; take engine="ring"'):
            shallow(engine=Shots(training_tolerance=1, engine=inside)).fit(Z, LABELS)


def test_deeper_circuits_have_no_tolerance_on_the_ring() -> None:
    with pytest.raises(InvalidInputError, match=r"2 layers.* 4"):
        shallow(engine=Shots(training_tolerance=1, engine="ring"), n_repetitions=2).fit(Z, LABELS)
    model = shallow(engine=Shots(tolerance=1, engine="ring"), n_repetitions=2, epochs=2).fit(Z, LABELS)
    with pytest.raises(InvalidInputError, match=r"2 layers.* 4"):
        model.predict(Z)


# Refusals


@pytest.mark.parametrize("name", ["tolerance", "training_tolerance"])
def test_more_flips_than_qubits_are_refused_by_name(name: str) -> None:
    expected = rf"{name} must be None or a whole number from 0 to n_qubits = 6, got 7"
    with pytest.raises(InvalidInputError, match=expected):
        shallow(engine=Shots(engine="ring", **{name: N_QUBITS + 1})).fit(Z, LABELS)  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", [{"shots": np.int64(7)}, {"tolerance": np.int32(2)}, {"shots": 7}])
def test_whole_numbers_of_every_kind_are_taken(trained: McQuackClassifier, settings: dict[str, Any]) -> None:
    assert measuring(trained, **settings).predict(Z).shape == (30,)


# Telling


def documented(kind: type) -> list[str]:
    return [line.strip().partition(" :")[0] for line in (kind.__doc__ or "").splitlines() if " :" in line]


@pytest.mark.parametrize("name", McQuackClassifier().get_params())
def test_the_documentation_lists_the_settings(name: str) -> None:
    assert name in documented(McQuackClassifier)


@pytest.mark.parametrize("kind", [StatevectorEngine, RingEngine, Shots, SampledEngine])
def test_the_documentation_lists_those_of_engines(kind: type) -> None:
    assert set(inspect.signature(kind).parameters) <= set(documented(kind))
