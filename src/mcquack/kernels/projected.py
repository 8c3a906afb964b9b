"""The projected kernel: a Gaussian of how far the qubits of two samples lie apart, each qubit looked at alone."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import Hyperparameter

from mcquack.arrays import FloatArray
from mcquack.checks import is_number, require, require_positive
from mcquack.circuits.circuit import Circuit
from mcquack.errors import InvalidInputError
from mcquack.kernels.quantum import CircuitKernel, ComplexArray, Scaling, new_kernel, parts, tile_size
from mcquack.simulators.choice import EngineChoice


class ProjectedKernel(CircuitKernel):
    """k(x, y) = exp(-γ Σ_q ‖ρ_q(x) - ρ_q(y)‖²) with the reduced states ρ_q of single qubits (Huang et al., 2021).

    Fidelities of many qubits vanish between most samples; what is left of a state when one looks at a qubit alone
    does so more slowly. The norm is that of Frobenius, so that the sum is half the squared distance of the Bloch
    vectors.

    Parameters
    ----------
    feature_map, weights, bias, scaling, seed : As in :class:`~mcquack.kernels.quantum.QuantumKernel`.
    gamma : float or "scale". γ; "scale" is 1/n, which takes the mean over qubits in place of the sum and does not
        depend on samples. :meth:`scaled_to` has the one that suits some samples.
    gamma_bounds : pair of float or "fixed". Where a Gaussian process looks for γ, if γ is a number.
    engine : One that has states: "auto" for up to 20 qubits, "statevector", "gates" or such an Engine.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from mcquack import FeatureMap
    >>> X, y = load_iris(return_X_y=True)
    >>> kernel = ProjectedKernel(FeatureMap(n_qubits=4, n_features=4, n_layers=1)).scaled_to(X)
    >>> SVC(kernel=kernel).fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        feature_map: Circuit,
        weights: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        *,
        gamma: float | Literal["scale"] = "scale",
        gamma_bounds: tuple[float, float] | Literal["fixed"] = (1e-5, 1e5),
        engine: EngineChoice = "auto",
        scaling: Scaling | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(feature_map, weights, bias, engine=engine, scaling=scaling, seed=seed)
        if not hasattr(self._engine(), "statevectors"):
            raise InvalidInputError(
                f"the projected kernel reads states, which the {self._engine().name} engine does not have; take "
                'engine="statevector" or "gates" and up to 20 qubits.'
            )
        named = isinstance(gamma, str) and gamma == "scale"
        if not named:
            require(is_number(gamma), "gamma", '"scale" or a positive number', gamma)
            require_positive("gamma", gamma)
        fixed = isinstance(gamma_bounds, str) and gamma_bounds == "fixed"
        pair = isinstance(gamma_bounds, tuple | list) and len(gamma_bounds) == 2 and all(map(is_number, gamma_bounds))
        possible = fixed or (pair and 0 < gamma_bounds[0] <= gamma_bounds[1] < np.inf)  # type: ignore[operator]
        require(possible, "gamma_bounds", 'an increasing pair of positive numbers, or "fixed"', gamma_bounds)
        self.gamma = gamma
        self.gamma_bounds = gamma_bounds

    @property
    def hyperparameter_gamma(self) -> Hyperparameter:
        """γ as a Gaussian process sees it."""
        fixed = isinstance(self.gamma, str)
        return Hyperparameter("gamma", "numeric", "fixed" if fixed else self.gamma_bounds)

    @property
    def gamma_(self) -> float:
        """γ as a number."""
        return 1 / self.feature_map.n_qubits if isinstance(self.gamma, str) else float(self.gamma)

    def scaled_to(self, X: ArrayLike) -> ProjectedKernel:
        """The same kernel with γ = 1 / (mean of Σ_q ‖ρ_q(x) - ρ_q(y)‖² over all pairs of these samples)."""
        # The mean of squared distances of all pairs is twice the variance, and the sum is half of the distances'.
        mean = float(self._coordinates(X).var(axis=0).sum())
        found: ProjectedKernel = self.__sklearn_clone__()
        return found.set_params(gamma=1 / mean if mean > 1e-12 else 1.0)

    def bloch_vectors(self, X: ArrayLike) -> FloatArray:
        """⟨X⟩, ⟨Y⟩ and ⟨Z⟩ of every qubit of every sample, (N, n, 3)."""
        rows, engine = self.scaled(X), self._engine()
        found = np.empty((len(rows), self.feature_map.n_qubits, 3))
        for part in parts(len(rows), tile_size(engine)):
            found[part] = _bloch_vectors(self._states(engine, rows[part]))
        return found

    def _coordinates(self, X: ArrayLike) -> FloatArray:
        vectors = self.bloch_vectors(X)
        return vectors.reshape(len(vectors), 3 * self.feature_map.n_qubits)

    def kernel(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        """The entries (N, M), each in [0, 1]; without Y those of X with itself, symmetric with ones on the diagonal."""
        K = self._distances(X, Y)
        K *= -self.gamma_
        return np.asarray(np.exp(K, out=K))

    def _distances(self, X: ArrayLike, Y: ArrayLike | None = None) -> FloatArray:
        """Σ_q ‖ρ_q(x) - ρ_q(y)‖² of all pairs."""
        left = self._coordinates(X)
        right = left if Y is None or Y is X else self._coordinates(Y)
        found = cdist(left, right, "sqeuclidean", out=new_kernel(len(left), len(right), np.dtype(np.float64)))
        found /= 2
        return np.asarray(found)

    def _kernel_and_slopes(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        if self.hyperparameter_gamma.fixed:
            return super()._kernel_and_slopes(X)
        exponents = -self.gamma_ * self._distances(X)
        K = np.exp(exponents)
        return K, (exponents * K)[:, :, None]  # by log γ

    def _equality_key(self) -> tuple[Any, ...]:
        return *super()._equality_key(), self.gamma, self.gamma_bounds

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.feature_map!r}, gamma={self.gamma_:.3g}, engine={self.engine!r})"


def _bloch_vectors(states: ComplexArray) -> FloatArray:
    """(N, n, 3) of states (N, 2**n): ⟨X⟩ + i⟨Y⟩ = 2 Σ ā_0 a_1, ⟨Z⟩ = Σ |a_0|² - |a_1|²."""
    n_qubits = states.shape[1].bit_length() - 1
    found = np.empty((len(states), n_qubits, 3))
    for qubit in range(n_qubits):
        halves = states.reshape(len(states), 1 << qubit, 2, 1 << n_qubits - 1 - qubit)
        zero, one = halves[:, :, 0], halves[:, :, 1]
        across = 2 * np.einsum("iab,iab->i", zero.conj(), one)
        found[:, qubit, 0], found[:, qubit, 1] = across.real, across.imag
        found[:, qubit, 2] = _norms(zero) - _norms(one)
    return found


def _norms(amplitudes: ComplexArray) -> FloatArray:
    squares = np.square(amplitudes.real) + np.square(amplitudes.imag)
    return np.asarray(squares.sum(axis=(1, 2)))
