"""The kernel object: fidelities of explicit states, exactly symmetric, in bounded memory, for all of scikit-learn."""

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_iris
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from mcquack import FeatureMap
from mcquack.circuits import Circuit, b, w, x
from mcquack.circuits.library import amplitude
from mcquack.errors import InvalidInputError, MemoryLimitError
from mcquack.kernels import ProjectedKernel, QuantumKernel, SampledEngine, Shots
from mcquack.kernels import quantum as module
from mcquack.randomness import stream
from mcquack.simulators import SimulatedSampler
from mcquack.simulators.compiled import memory
from mcquack.simulators.gates import GateEngine
from mcquack.simulators.statevector import StatevectorEngine
from tests.kernels.circuits import dense_states, parameters, random_circuit

IRIS_X, IRIS_Y = load_iris(return_X_y=True)
MAP = FeatureMap(n_qubits=3, n_features=4, n_layers=2)
SCALING = (1 / np.ptp(IRIS_X, axis=0), -IRIS_X.min(axis=0) / np.ptp(IRIS_X, axis=0))
KINDS = pytest.mark.parametrize("kind", [QuantumKernel, ProjectedKernel])


def samples(n: int, d: int = 4) -> np.ndarray:
    return stream(0, "samples").normal(size=(n, d))


def iris_kernel(**settings: Any) -> QuantumKernel:
    return QuantumKernel(MAP, scaling=SCALING, **settings)


def fixed(kind: Any) -> Any:
    """A kernel of either kind that tells flowers apart, without hyperparameters."""
    circuit = FeatureMap(n_qubits=4, n_features=4, n_layers=1)
    if issubclass(kind, ProjectedKernel):
        return kind(circuit, gamma=1.0, gamma_bounds="fixed")
    return kind(circuit, scaling=(np.full(4, 0.3), np.zeros(4)))


def fidelities(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.abs(left.conj() @ right.T) ** 2


# What it is


@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_fidelity_of_explicit_states(seed: int) -> None:
    circuit = random_circuit(seed)
    weights, bias = parameters(circuit)
    X, Y = samples(9, 3), samples(5, 3)[::-1]
    kernel = QuantumKernel(circuit, weights, bias)
    left, right = (dense_states(circuit, some, weights, bias) for some in (X, Y))
    assert_allclose(kernel.kernel(X, Y), fidelities(left, right), rtol=0, atol=1e-12)
    assert_allclose(kernel(X), fidelities(left, left), rtol=0, atol=1e-12)


@pytest.mark.parametrize("circuit", [MAP, random_circuit(2, n_features=4)], ids=["paper", "gates"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_square_kernels_are_kernels(circuit: Circuit, dtype: str) -> None:
    engine = (StatevectorEngine if circuit is MAP else GateEngine)(dtype=dtype)
    K = QuantumKernel(circuit, *parameters(circuit), engine=engine).kernel(samples(40))
    assert K.dtype == dtype
    assert_array_equal(K, K.T)
    assert_array_equal(np.diag(K), 1)
    assert K.min() >= 0
    assert K.max() <= 1
    assert np.linalg.eigvalsh(K.astype(np.float64)).min() > (-1e-12 if dtype == "float64" else -1e-5)


@pytest.mark.parametrize("circuit", [MAP, random_circuit(1, n_features=4)], ids=["paper", "gates"])
@pytest.mark.parametrize("tile", [1, 4, 12, 64])
@pytest.mark.parametrize("states", [0, 2 * 4 * 8 * 16, 1 << 30], ids=["no state", "a few", "all"])
def test_tiles_change_nothing(circuit: Circuit, tile: int, states: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = samples(12), samples(9)[::-1] + 0.1
    kernel = QuantumKernel(circuit, *parameters(circuit))
    square, wide = kernel(X), kernel(X, Y)
    monkeypatch.setattr(module, "TILE", tile)
    monkeypatch.setattr(module, "STATE_BYTES", states)
    assert_allclose(kernel(X), square, rtol=0, atol=1e-14)
    assert_array_equal(kernel(X), kernel(X).T)
    assert_allclose(kernel(X, Y), wide, rtol=0, atol=1e-14)
    assert_allclose(kernel(X, X.copy()), square, rtol=0, atol=1e-14)


def test_a_state_is_prepared_once_and_circuits_never_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[int] = []

    class Counting(StatevectorEngine):
        def encode(self, X: Any, weights: Any, bias: Any) -> Any:
            prepared.append(len(X))
            return super().encode(X, weights, bias)

    monkeypatch.setattr(module, "TILE", 16)
    kernel = QuantumKernel(MAP, engine=Counting(dtype="float64"))
    X = samples(100)
    kernel(X)
    assert sum(prepared) == 100
    prepared.clear()
    kernel(X, X)  # as SVC.fit asks for it
    assert sum(prepared) == 100
    prepared.clear()
    kernel(X, X[:30].copy())
    assert sum(prepared) == 130


def test_memory_beyond_the_kernel_is_bounded() -> None:
    kernel, X = QuantumKernel(MAP), samples(3000)
    kernel(X[:1000])
    tracemalloc.start()
    K = kernel(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert K.nbytes == 3000 * 3000 * 8
    assert peak - K.nbytes < 24 * 2**20


def test_a_kernel_that_does_not_fit_is_refused_before_it_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 100 * 100 * 8 - 1)
    with pytest.raises(MemoryLimitError, match="100 × 100"):
        QuantumKernel(MAP).kernel(samples(100))


def test_no_samples_give_no_rows() -> None:
    for kernel in (QuantumKernel(MAP), ProjectedKernel(MAP)):
        assert kernel(np.empty((0, 4))).shape == (0, 0)
        assert kernel(np.empty((0, 4)), samples(3)).shape == (0, 3)


# Parameters


def test_parameters_are_the_starts_of_the_circuit_and_weights_never_zero() -> None:
    circuit = Circuit(1, 2).rx(0, w * x[0] + b("shift", start=0.5)).rz(0, w("slope", start=2.0) * x[1]).ry(0, b)
    kernel = QuantumKernel(circuit)
    assert kernel.weights.tolist() == [1.0, 2.0]
    assert kernel.bias.tolist() == [0.5, 0.0]
    assert QuantumKernel(MAP).weights.shape == MAP.parameter_shape
    assert QuantumKernel(MAP)(samples(2))[0, 1] < 1


def test_a_kernel_of_amplitudes_has_their_starts_and_their_directions() -> None:
    """Weights of 0 leave no feature out there, and the length of a sample without padding says nothing."""
    trainable = amplitude(4, 2, padding=0.0)
    assert not QuantumKernel(trainable).weights.any()
    X = samples(6)
    published = QuantumKernel(amplitude(4, 2, padding=0.0, trainable=False))
    assert_allclose(QuantumKernel(trainable)(X), published(X), atol=1e-12)
    for dtype, length in (("float32", 1e12), ("float64", 1e100)):
        kernel = QuantumKernel(published.feature_map, engine=GateEngine(dtype=dtype))
        assert_allclose(kernel(length * X, X), published(X, X.copy()), atol=1e-5)


def test_scaling_comes_before_the_circuit() -> None:
    factor, offset = np.array([0.5, 2.0, 1.0, -1.0]), np.array([0.0, 1.0, -1.0, 0.3])
    X = samples(10)
    scaled = QuantumKernel(MAP, scaling=(factor, offset))
    assert_allclose(scaled(X), QuantumKernel(MAP)(X * factor + offset), rtol=0, atol=1e-14)
    assert np.isfinite(QuantumKernel(MAP, scaling=(np.full(4, 1e300), offset))(X * 1e300)).all()


@KINDS
def test_it_is_a_value(kind: Any) -> None:
    weights, bias = parameters(MAP)
    kernel = kind(MAP, weights, bias, scaling=SCALING)
    X, before = samples(5), kernel(samples(5))
    weights[0] = 7
    assert_array_equal(kernel(X), before)
    with pytest.raises(ValueError, match="read-only"):
        kernel.weights[0] = 1
    for twin in (pickle.loads(pickle.dumps(kernel)), clone(kernel), kernel.clone_with_theta(kernel.theta)):
        assert twin == kernel
        assert twin is not kernel
        assert hash(twin) == hash(kernel)
        assert_array_equal(twin(X), before)
    assert kernel != kind(MAP, weights, bias, scaling=SCALING)
    assert kernel != kind(MAP, kernel.weights, kernel.bias)
    assert kernel != kind(MAP, kernel.weights, kernel.bias, scaling=SCALING, engine="gates")
    assert kernel != "kernel"
    assert kind.__name__ in repr(kernel)
    assert clone(kernel).set_params(seed=3).get_params()["seed"] == 3
    with pytest.raises(InvalidInputError, match=r"'lr'.*feature_map"):
        kernel.set_params(lr=1)


@KINDS
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("paper",), "feature_map"),
        ((MAP, np.ones(3)), r"weights .*\(2, 3, 3\)"),
        ((MAP, None, np.ones((2, 3, 2))), r"bias .*\(2, 3, 3\)"),
        ((MAP, [[["a"] * 3] * 3] * 2), "weights"),
        ((MAP, np.full((2, 3, 3), np.nan)), "weights .*NaN"),
    ],
)
def test_what_is_no_circuit_or_does_not_fit_it_is_refused(kind: Any, arguments: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        kind(*arguments)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"engine": "abacus"}, "engine"),
        ({"engine": 3}, "engine"),
        ({"scaling": 3.0}, "scaling"),
        ({"scaling": (np.ones(3), np.ones(3))}, r"\b4 features"),
        ({"scaling": (np.ones(4), [np.inf] * 4)}, "scaling"),
        ({"seed": -1}, "seed"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_when_it_is_made(settings: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        QuantumKernel(MAP, **settings)
    with pytest.raises(InvalidInputError, match=message):
        QuantumKernel(MAP).set_params(**settings)


def test_circuits_that_the_engine_does_not_run_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="paper"):
        QuantumKernel(random_circuit(0), engine="statevector")
    with pytest.raises(InvalidInputError, match="qubits"):
        QuantumKernel(Circuit(21, 1).rx(0, x[0]))


@KINDS
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (csr_array(np.eye(4)), "dense"),
        (np.ones(4), "4 features"),
        (np.ones((2, 3)), "4 features"),
        (np.ones((2, 4, 1)), "4 features"),
        ([["a", "b", "c", "d"]], "real numbers"),
        ([[1, 2, 3, {}]], "real numbers"),
        ([[1, 2, 3, 4], [1]], "real numbers"),
        (np.ones((2, 4)) * 1j, "real numbers"),
        ([[1, 2, 3, np.nan]], "NaN or infinity"),
        ([[1, 2, 3, np.inf]], "NaN or infinity"),
    ],
)
def test_what_are_no_samples_is_refused(kind: Any, X: Any, message: str) -> None:
    kernel = kind(MAP)
    for ask in (kernel, kernel.diag, lambda X: kernel(samples(2), X)):
        with pytest.raises(InvalidInputError, match=message):
            ask(X)


def test_tables_and_lists_are_samples() -> None:
    X = samples(6)
    for other in (X.tolist(), pd.DataFrame(X), X.astype(object), np.asfortranarray(X)):
        assert_array_equal(QuantumKernel(MAP)(other), QuantumKernel(MAP)(X))


# Engines


def test_the_ring_computes_the_same_kernel_for_any_number_of_qubits(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = samples(20), samples(7)[::-1] + 0.1
    monkeypatch.setattr(module, "TILE", 8)
    ring, exact = (QuantumKernel(MAP, *parameters(MAP), engine=engine) for engine in ("ring", "auto"))
    assert_allclose(ring(X), exact(X), rtol=0, atol=1e-12)
    assert_array_equal(ring(X), ring(X).T)
    assert_array_equal(np.diag(ring(X)), 1)
    assert_allclose(ring(X, Y), exact(X, Y), rtol=0, atol=1e-12)
    wide = FeatureMap(n_qubits=60, n_features=4, n_layers=1)
    assert QuantumKernel(wide, *(0.1 * part for part in parameters(wide)))(X).shape == (20, 20)


@pytest.mark.parametrize("engine", [Shots(400), Shots(400, tolerance=0), Shots(400, engine="gates")], ids=repr)
def test_shots_estimate_it_with_noise_of_its_own_in_every_tile(engine: Shots, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TILE", 10)
    X = np.tile(samples(10), (3, 1))
    kernel = QuantumKernel(MAP, *parameters(MAP), engine=engine)
    K, exact = kernel(X), QuantumKernel(MAP, *parameters(MAP))(X)
    assert_array_equal(K, K.T)
    assert_array_equal(np.diag(K), 1)
    assert_allclose(K, exact, rtol=0, atol=6 * np.sqrt(0.25 / 400))
    assert_array_equal(K, kernel(X))
    assert (K[:10, 10:20] != K[:10, 20:]).any()
    assert (clone(kernel).set_params(seed=99)(X) != K).any()


def test_a_device_measures_little_more_than_the_pairs_above_the_diagonal() -> None:
    sampler = SimulatedSampler(seed=0)
    circuit = FeatureMap(n_qubits=2, n_features=4, n_layers=1)
    measured = []

    class Counting:
        def hamming_counts(self, circuits: Any, *, shots: int) -> Any:
            measured.append(circuits.shape[0] * circuits.shape[1])
            return sampler.hamming_counts(circuits, shots=shots)

    kernel = QuantumKernel(circuit, engine=SampledEngine(Counting(), shots=50))
    K = kernel(samples(24))
    assert measured == [3 * n_columns for n_columns in range(24, 0, -3)]  # in 8 strips from the diagonal on
    assert_array_equal(K, K.T)
    assert_array_equal(np.diag(K), 1)
    measured.clear()
    assert kernel(samples(5), samples(3)).shape == (5, 3)
    assert measured == [15]


# scikit-learn


def test_a_support_vector_machine_takes_it() -> None:
    kernel = iris_kernel()
    machine = SVC(kernel=kernel).fit(IRIS_X[::2], IRIS_Y[::2])
    assert machine.score(IRIS_X[1::2], IRIS_Y[1::2]) > 0.9
    given = SVC(kernel="precomputed").fit(kernel(IRIS_X[::2]), IRIS_Y[::2])
    assert_array_equal(machine.predict(IRIS_X), given.predict(kernel(IRIS_X, IRIS_X[::2])))


def test_a_search_clones_it_and_its_parts() -> None:
    grid = {"kernel": [iris_kernel(), iris_kernel(weights=np.full(MAP.parameter_shape, 1e-3))], "C": [1.0]}
    search = GridSearchCV(SVC(), grid, cv=3, error_score="raise").fit(IRIS_X, IRIS_Y)
    assert search.best_params_["kernel"] == iris_kernel()
    by_part = {"kernel__weights": [np.full(MAP.parameter_shape, 1e-3), np.ones(MAP.parameter_shape)]}
    gaussian = GaussianProcessClassifier(iris_kernel(), optimizer=None)
    search = GridSearchCV(gaussian, by_part, cv=2, error_score="raise").fit(IRIS_X[::5], IRIS_Y[::5])
    assert search.best_estimator_.kernel == iris_kernel()


@KINDS
def test_gaussian_processes_take_it_alone_and_with_others(kind: Any) -> None:
    kernel = fixed(kind)
    classifier = GaussianProcessClassifier(kernel).fit(IRIS_X[::2], IRIS_Y[::2])
    assert classifier.score(IRIS_X[1::2], IRIS_Y[1::2]) > 0.9
    assert_allclose(classifier.predict_proba(IRIS_X).sum(axis=1), 1)
    together = ConstantKernel(2.0) * kernel + WhiteKernel(0.5)
    noisy = IRIS_X[:, 0] + stream(0, "noise").normal(scale=0.1, size=len(IRIS_X))
    regressor = GaussianProcessRegressor(together).fit(IRIS_X[::2], noisy[::2])
    assert regressor.score(IRIS_X[1::2], noisy[1::2]) > 0.6
    assert len(regressor.kernel_.theta) == 2
    assert regressor.kernel_.k1.k2 == kernel
    _, deviations = regressor.predict(IRIS_X, return_std=True)
    assert (deviations > 0).all()
    assert regressor.log_marginal_likelihood(regressor.kernel_.theta) > regressor.log_marginal_likelihood([0, 0])


@KINDS
def test_it_has_no_hyperparameters_of_its_own(kind: Any) -> None:
    kernel, X = kind(MAP), samples(6)
    assert kernel.n_dims == len(kernel.bounds) == 0
    assert not kernel.is_stationary()
    K, slopes = kernel(X, eval_gradient=True)
    assert_array_equal(K, kernel(X))
    assert slopes.shape == (6, 6, 0)
    assert_array_equal(kernel.diag(X), np.ones(6))
    with pytest.raises(InvalidInputError, match=r"\bY\b"):
        kernel(X, X, eval_gradient=True)


@KINDS
def test_what_sees_pairs_of_rows_elsewhere_sees_whole_kernels_here(kind: Any) -> None:
    asked: list[int] = []

    class Counting(kind):
        def kernel(self, X: Any, Y: Any = None) -> Any:
            asked.append(len(X))
            return super().kernel(X, Y)

    kernel, plain = fixed(Counting), fixed(kind)
    parts = KernelPCA(2, kernel=kernel).fit(IRIS_X).transform(IRIS_X)
    given = KernelPCA(2, kernel="precomputed").fit_transform(plain.kernel(IRIS_X))
    assert_allclose(np.abs(parts), np.abs(given), atol=1e-6)
    clusters = SpectralClustering(3, affinity=kernel, random_state=0).fit_predict(IRIS_X)
    assert adjusted_rand_score(IRIS_Y, clusters) > 0.5
    steps = make_pipeline(Nystroem(kernel=kernel, n_components=30, random_state=0), LogisticRegression(C=100))
    assert steps.fit(IRIS_X, IRIS_Y).score(IRIS_X, IRIS_Y) > 0.9
    assert len(asked) < 10
