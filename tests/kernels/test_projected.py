"""The projected kernel: what reduced density matrices say, written out."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from sklearn.datasets import load_iris
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.svm import SVC

from mcquack import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.kernels import ProjectedKernel, Shots
from mcquack.kernels import quantum as module
from mcquack.randomness import stream
from tests.kernels.circuits import dense_states, parameters, random_circuit

MAP = FeatureMap(n_qubits=3, n_features=4, n_layers=2)
PAULI = np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])


def samples(n: int, d: int = 3) -> np.ndarray:
    return stream(0, "samples").normal(size=(n, d))


def reduced(states: np.ndarray, n_qubits: int) -> np.ndarray:
    """The density matrix of every qubit alone, (N, n, 2, 2), by tracing out the others."""
    found = np.empty((len(states), n_qubits, 2, 2), dtype=complex)
    for row, state in enumerate(states):
        for qubit in range(n_qubits):
            own_first = np.moveaxis(state.reshape((2,) * n_qubits), qubit, 0).reshape(2, -1)
            found[row, qubit] = own_first @ own_first.conj().T
    return found


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_gaussian_of_distances_of_reduced_states(seed: int) -> None:
    circuit = random_circuit(seed)
    weights, bias = parameters(circuit)
    X, Y = samples(7), samples(4)[::-1]
    left, right = (reduced(dense_states(circuit, some, weights, bias), 3) for some in (X, Y))
    kernel = ProjectedKernel(circuit, weights, bias, gamma=0.7)
    assert_allclose(kernel.bloch_vectors(X), np.einsum("iqab,pba->iqp", left, PAULI).real, atol=1e-12)
    squares = (np.abs(left[:, None] - right[None]) ** 2).sum(axis=(2, 3, 4))
    assert_allclose(kernel(X, Y), np.exp(-0.7 * squares), atol=1e-12)


def test_it_is_a_kernel_whatever_the_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, X = ProjectedKernel(MAP, *parameters(MAP), gamma=2.0), samples(50, 4)
    K = kernel(X)
    assert_array_equal(K, K.T)
    assert_array_equal(np.diag(K), 1)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    monkeypatch.setattr(module, "TILE", 7)
    assert_allclose(kernel(X), K, rtol=0, atol=1e-14)


def test_the_rules_for_gamma() -> None:
    kernel, X = ProjectedKernel(MAP, *parameters(MAP)), samples(30, 4)
    assert kernel.gamma_ == 1 / 3
    suited = kernel.scaled_to(X)
    assert suited.gamma_ == pytest.approx(1 / kernel._distances(X).mean())
    assert kernel.gamma == "scale"  # as it was
    assert suited == kernel.scaled_to(X) != kernel
    assert kernel.scaled_to(np.ones((5, 4))).gamma_ == 1


def test_a_gaussian_process_finds_gamma() -> None:
    kernel, X = ProjectedKernel(MAP, *parameters(MAP), gamma=0.5), samples(6, 4)
    assert kernel.theta == pytest.approx(np.log([0.5]))
    K, slopes = kernel(X, eval_gradient=True)
    assert slopes.shape == (6, 6, 1)
    expected = approx_fprime(kernel.theta, lambda theta: kernel.clone_with_theta(theta)(X).ravel(), 1e-7)
    assert_allclose(slopes[:, :, 0].ravel(), expected.ravel(), atol=1e-5)
    assert kernel.gamma == 0.5
    flowers, kinds = load_iris(return_X_y=True)
    two = kinds > 0
    start = ProjectedKernel(MAP, scaling=(np.full(4, 0.2), np.zeros(4)), gamma=0.5, gamma_bounds=(1e-2, 1e3))
    found = GaussianProcessClassifier(start).fit(flowers[two], kinds[two])
    assert found.kernel_.gamma_ > 1
    assert found.score(flowers[two], kinds[two]) > 0.9
    fixed = ProjectedKernel(MAP, gamma=0.5, gamma_bounds="fixed")
    assert fixed.n_dims == 0
    assert_array_equal(K, kernel(X))


def test_a_support_vector_machine_takes_it() -> None:
    X, y = load_iris(return_X_y=True)
    kernel = ProjectedKernel(MAP, scaling=(np.full(4, 0.2), np.zeros(4))).scaled_to(X)
    assert SVC(kernel=kernel).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"engine": "ring"}, "ring"),
        ({"engine": Shots(10)}, "shots"),
        ({"gamma": 0.0}, "gamma"),
        ({"gamma": "auto"}, "gamma"),
        ({"gamma": np.inf}, "gamma"),
        ({"gamma_bounds": (1.0, 0.1)}, "gamma_bounds"),
        ({"gamma_bounds": (0.0, 0.1)}, "gamma_bounds"),
        ({"gamma_bounds": "free"}, "gamma_bounds"),
        ({"gamma_bounds": 1.0}, "gamma_bounds"),
    ],
)
def test_what_cannot_be_used_is_refused(settings: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        ProjectedKernel(MAP, **settings)
