"""The engine around the functions: pieces of rows, precision, names, files, and what there is without JAX."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from mcquack import McQuackClassifier, load
from mcquack.checks import JAX
from mcquack.circuits import Circuit, FeatureMap, b, w, x
from mcquack.errors import MissingDependencyError
from mcquack.simulators import JaxEngine, StatevectorEngine, engine_of
from mcquack.simulators.jax import engine as jax_engine

needs_jax = pytest.mark.skipif(not JAX.is_installed, reason="needs the extra jax")
CIRCUIT = Circuit(2, 2).ry([0, 1], w * x[0] + b).cnot(0, 1).rx(1, x[1])
DRAWS = np.random.default_rng(0)
ROWS, CENTROIDS = DRAWS.uniform(-1, 1, (4, 2)), DRAWS.uniform(-1, 1, (3, 2))
WEIGHTS, BIAS = DRAWS.normal(size=CIRCUIT.weights_shape), DRAWS.normal(size=CIRCUIT.bias_shape)
X, Y = make_blobs(24, n_features=4, centers=2, cluster_std=2.0, random_state=0)


def answers(engine):
    samples, centroids = engine.encode(ROWS, WEIGHTS, BIAS), engine.encode(CENTROIDS, WEIGHTS, BIAS)
    cotangent = np.arange(12.0).reshape(4, 3) - 5
    by_embedding = engine.pullback(samples, centroids, cotangent, wrt="embedding")
    by_centroids = engine.pullback(samples, centroids, cotangent, wrt="centroids")
    return [
        engine.statevectors(samples),
        engine.fidelities(samples, centroids),
        by_embedding.weights,
        by_embedding.bias,
        by_centroids.centroids,
        engine.hamming_distributions(samples, centroids),
        engine.expectations(samples, [0, (0, 1)]),
        engine.pull_expectations(samples, np.ones((4, 2)), [0, (0, 1)]).weights,
    ]


# Without JAX


def test_jax_is_imported_when_a_circuit_is_run_and_not_before() -> None:
    code = (
        "import sys; from mcquack.circuits import Circuit; from mcquack.simulators import JaxEngine, engine_of;"
        "assert engine_of('jax', 3) == JaxEngine(); JaxEngine().check; print('jax' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "False"


def test_without_jax_an_engine_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    assert JaxEngine(dtype="float64").settings() == {"dtype": "float64"}
    with pytest.raises(MissingDependencyError, match=r"mcquack\[jax\]"):
        JaxEngine(CIRCUIT)
    with pytest.raises(MissingDependencyError, match=r"mcquack\[jax\]"):
        McQuackClassifier(engine="jax", epochs=1).fit(X, Y)


# Rows


@needs_jax
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_that_run_piece_by_piece_give_the_same(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = answers(JaxEngine(CIRCUIT, dtype=dtype))
    monkeypatch.setattr(jax_engine, "AMPLITUDES_AT_ONCE", 2 * 4)
    pieces = answers(JaxEngine(CIRCUIT, dtype=dtype))
    error = 1e-12 if dtype == "float64" else 2e-5
    for one, other in zip(whole, pieces, strict=True):
        assert one.dtype == other.dtype
        assert_allclose(one, other, rtol=error, atol=error)


@needs_jax
def test_few_numbers_of_rows_are_compiled_for_and_equal_circuits_once() -> None:
    from mcquack.simulators.jax.functions import program_of

    circuit = Circuit(1, 1).ry(0, 0.75 * x[0])
    for n_rows in range(1, 17):
        JaxEngine(Circuit.from_json(circuit.to_json())).encode(np.ones((n_rows, 1)), [], [])
    assert program_of(circuit).states_jit._cache_size() == 5  # 1, 2, 4, 8 and 16 rows


@needs_jax
def test_twenty_qubits_are_run_and_differentiated() -> None:
    circuit = Circuit(20, 1).ry([0, 19], w * x[0]).cnot(0, 19)
    engine = JaxEngine(circuit)
    encoded = engine.encode([[0.5]], [1.0, 2.0], [])
    assert_allclose(engine.fidelities(encoded, encoded), 1, rtol=0, atol=1e-5)
    pulled = engine.pull_expectations(encoded, [[1.0]], [0])
    assert pulled.weights is not None
    assert_allclose(pulled.weights, [-0.5 * np.sin(0.5), 0], rtol=0, atol=1e-6)


# Precision


@needs_jax
def test_double_precision_stays_inside() -> None:
    import jax.numpy as jnp

    assert {array.dtype for array in answers(JaxEngine(CIRCUIT, dtype="float64"))} == {np.dtype("f8"), np.dtype("c16")}
    assert jnp.ones(1).dtype == np.float32


@needs_jax
def test_single_precision_stays_single_where_the_user_computes_in_double() -> None:
    from mcquack.simulators.jax.functions import precision

    with precision(np.dtype(np.float64)):
        engine = JaxEngine(CIRCUIT, dtype="float32")
        encoded = engine.encode(ROWS, WEIGHTS, BIAS)
        pulled = engine.pullback(encoded, encoded, np.ones((4, 4)), wrt="embedding")
    assert engine.statevectors(encoded).dtype == np.complex64
    assert pulled.weights is not None
    assert pulled.bias is not None
    assert pulled.weights.dtype == pulled.bias.dtype == np.float32


# In a classifier


@needs_jax
def test_a_classifier_trains_on_it_as_on_statevectors_and_survives_a_file(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"n_qubits": 2, "epochs": 2, "batch_size": 32, "random_state": 0}
    model = McQuackClassifier(engine=JaxEngine(dtype="float64"), **settings).fit(X, Y)
    other = McQuackClassifier(engine=StatevectorEngine(dtype="float64"), **settings).fit(X, Y)
    assert_allclose(model.weights_, other.weights_, rtol=0, atol=1e-8)
    assert_allclose(model.centroids_, other.centroids_, rtol=0, atol=1e-8)
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again.engine == JaxEngine(dtype="float64")
    assert_array_equal(again.predict(X), model.predict(X))


@needs_jax
def test_a_classifier_takes_it_by_name_and_a_file_keeps_the_name(tmp_path: Path) -> None:
    model = McQuackClassifier(engine="jax", n_qubits=1, epochs=0, random_state=0).fit(X, Y)
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again.engine == "jax"
    assert_array_equal(again.predict(X), model.predict(X))


@needs_jax
def test_an_engine_can_be_sent_to_another_process() -> None:
    engine = JaxEngine(FeatureMap(n_qubits=2, n_features=2, n_layers=1), dtype="float64")
    shape = engine.feature_map.weights_shape
    engine.encode([[0.1, 0.2]], np.ones(shape), np.ones(shape))
    assert pickle.loads(pickle.dumps(engine)) == engine
    assert engine_of(engine, 2) is engine
