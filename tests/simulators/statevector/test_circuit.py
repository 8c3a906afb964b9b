"""One block of samples through the feature map and back."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.circuits.entangler import linear_table, stored_rows
from mcquack.circuits.feature_map import FeatureMap
from mcquack.randomness import stream
from mcquack.simulators.compiled.gates import OF_BOTH, OF_FEATURES, OF_PARAMETERS
from mcquack.simulators.compiled.lanes import lane_count
from mcquack.simulators.compiled.memory import aligned_zeros
from mcquack.simulators.statevector.circuit import (
    BoundCircuit,
    RingForm,
    Scratch,
    ring_backward,
    ring_forward,
    scratch,
    scratch_bytes,
)
from tests.oracles import after_gate, gradient, oracle_states, phase_aligned
from tests.problems import Problem, random_problem

ComplexArray = NDArray[np.complexfloating[Any, Any]]
WIDTH = lane_count(np.float64)
every_size = pytest.mark.parametrize("n_qubits", range(1, 11))


class Block(NamedTuple):
    """A full block of samples and all that its simulation needs."""

    problem: Problem
    circuit: BoundCircuit
    features: FloatArray
    state: FloatArray
    work: Scratch

    def amplitudes(self, array: FloatArray, after_rings: int) -> ComplexArray:
        """In plain order, a row for each lane, of an array that lies as after so many rings."""
        rows = linear_table(self.circuit.form.masks[after_rings])
        return (array[rows, 0] + 1j * array[rows, 1]).T


def block_of(n_qubits: int, n_layers: int) -> Block:
    feature_map = FeatureMap(n_qubits=n_qubits, n_features=5, n_layers=n_layers, final_entangler=False)
    problem = random_problem(feature_map, n_samples=WIDTH, seed=n_qubits)
    features = aligned_zeros((5, WIDTH), np.float64)
    features[:] = problem.X.T
    return Block(
        problem,
        BoundCircuit(
            problem.weights, problem.bias, RingForm(feature_map.feature_index, stored_rows(n_qubits, n_layers))
        ),
        features,
        aligned_zeros((1 << n_qubits, 2, WIDTH), np.float64),
        scratch(n_qubits, 5, np.float64, backward=True),
    )


def states_of(problem: Problem, **changed: FloatArray) -> ComplexArray:
    arrays = {"X": problem.X, "weights": problem.weights, "bias": problem.bias} | changed
    return oracle_states(problem.feature_map, **arrays)


def first_rotations(problem: Problem) -> ComplexArray:
    """The first layer's RY on |0…0⟩, where the way back ends."""
    states = np.zeros((WIDTH, problem.feature_map.dimension), dtype=complex)
    states[:, 0] = 1
    theta = problem.feature_map.angles(problem.X, problem.weights, problem.bias)[:, 0, :, 1]
    for qubit, half in enumerate(theta.T / 2):
        gate = np.array([[np.cos(half), -np.sin(half)], [np.sin(half), np.cos(half)]])
        states = after_gate(states, gate, qubit)
    return states


@every_size
@pytest.mark.parametrize("n_layers", [1, 2, 5])
def test_forward_prepares_the_state_up_to_a_phase(n_qubits: int, n_layers: int) -> None:
    block = block_of(n_qubits, n_layers)
    ring_forward(block.circuit, block.features, block.state, block.work)
    expected = states_of(block.problem)
    found = block.amplitudes(block.state, n_layers - 1)
    assert_allclose(phase_aligned(found, expected), expected, rtol=0, atol=1e-13)


@every_size
@pytest.mark.parametrize("n_layers", [1, 2, 5])
def test_backward_returns_the_state_to_its_start(n_qubits: int, n_layers: int) -> None:
    block = block_of(n_qubits, n_layers)
    ring_forward(block.circuit, block.features, block.state, block.work)
    block.work.adjoint[:] = block.state  # so it must take the same way
    by_w, by_b = (np.zeros(block.problem.weights.shape) for _ in range(2))
    ring_backward(
        block.circuit, block.features, block.state, block.work, by_w, by_b, block.work.features, OF_PARAMETERS
    )
    expected = first_rotations(block.problem)
    for array in (block.state, block.work.adjoint):
        found = block.amplitudes(array, 0)
        assert_allclose(phase_aligned(found, expected), expected, rtol=0, atol=1e-13)
    # 2 Re⟨ψ|dψ⟩ = d⟨ψ|ψ⟩ = 0
    assert_allclose(by_w, 0, atol=1e-12)
    assert_allclose(by_b, 0, atol=1e-12)


@pytest.mark.parametrize("wanted_in_turn", [(OF_PARAMETERS, OF_FEATURES), (OF_BOTH,)], ids=["in turn", "at once"])
@pytest.mark.parametrize("n_qubits", [1, 2, 3, 5, 9])
def test_backward_is_the_derivative_of_twice_the_real_overlap(n_qubits: int, wanted_in_turn: tuple[int, ...]) -> None:
    """With adjoint λ held fixed: d Σ |⟨λ|ψ⟩|² = 2 Re ⟨λ⟨λ|ψ⟩|dψ⟩, blind to a phase of ψ."""
    block = block_of(n_qubits, 2)
    problem = block.problem
    ring_forward(block.circuit, block.features, block.state, block.work)
    rows = linear_table(block.circuit.form.masks[1])
    other = stream(0, "adjoint").normal(size=(2, WIDTH, 1 << n_qubits))
    target = other[0] + 1j * other[1]

    def value(**changed: FloatArray) -> float:
        return float(np.sum(np.abs(np.sum(target.conj() * states_of(problem, **changed), axis=1)) ** 2))

    psi = block.amplitudes(block.state, 1)
    pulled = (np.sum(target.conj() * psi, axis=1)[:, None] * target).T
    by_w, by_b = (np.zeros(problem.weights.shape) for _ in range(2))
    by_features = aligned_zeros((5, WIDTH), np.float64)
    state = block.state.copy()
    for wanted in wanted_in_turn:
        block.state[:] = state
        block.work.adjoint[rows, 0], block.work.adjoint[rows, 1] = pulled.real, pulled.imag
        ring_backward(block.circuit, block.features, block.state, block.work, by_w, by_b, by_features, wanted)
    assert_allclose(by_w, gradient(lambda weights: value(weights=weights), problem.weights), rtol=0, atol=1e-8)
    assert_allclose(by_b, gradient(lambda bias: value(bias=bias), problem.bias), rtol=0, atol=1e-8)
    assert_allclose(by_features.T, gradient(lambda X: value(X=X), problem.X), rtol=0, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("with_derivatives", [False, True])
def test_scratch_memory_is_what_was_announced(dtype: type, with_derivatives: bool) -> None:
    for n_qubits in range(1, 15):
        arrays = scratch(n_qubits, 7, dtype, backward=with_derivatives)
        held = sum(array.nbytes for array in arrays)
        announced = scratch_bytes(n_qubits, 7, backward=with_derivatives)
        assert held < announced + 1024 * n_qubits
        assert announced < 3 * held + 4096
