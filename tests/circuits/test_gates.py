"""The matrices of all gates are unitary and those that Qiskit has, and entanglers join the pairs they say."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from qiskit.circuit import library as qiskit_gates

from mcquack.circuits import all_to_all, line, ring
from mcquack.circuits.gates import GATES, Gate, gate_matrices, once
from tests.circuits.strategies import unitary

NAMED = {"cnot": "CXGate", **{name: f"{name.upper()}Gate" for name in GATES if name not in ("cnot", "rot", "unitary")}}
NAMED |= {"swap": "SwapGate"}
PARAMETRIC = [name for name, kind in GATES.items() if kind.n_angles]


def matrix(name: str, angles: Any = ()) -> Any:
    return gate_matrices(Gate(name, tuple(range(GATES[name].n_qubits))), np.asarray(angles, dtype=float))


@pytest.mark.parametrize("name", NAMED)
def test_matrices_are_those_of_qiskit(name: str) -> None:
    angles = [0.7] * GATES[name].n_angles
    expected = getattr(qiskit_gates, NAMED[name])(*angles).to_matrix()
    if GATES[name].n_qubits == 2:  # Qiskit's first qubit is the lowest bit of an index
        order = [0, 2, 1, 3]
        expected = expected[np.ix_(order, order)]
    assert_allclose(matrix(name, angles), expected, atol=1e-15)


def test_rot_is_three_rotations() -> None:
    phi, theta, omega = angles = 0.3, -1.1, 2.2
    assert_allclose(
        matrix("rot", angles), matrix("rz", [omega]) @ matrix("ry", [theta]) @ matrix("rz", [phi]), atol=1e-15
    )


@pytest.mark.parametrize("name", [name for name in GATES if name != "unitary"])
@given(seed=st.integers(0, 20))
def test_matrices_are_unitary_whatever_the_shape_of_the_angles(name: str, seed: int) -> None:
    angles = np.random.default_rng(seed).uniform(-9, 9, size=(2, 3, GATES[name].n_angles))
    found = matrix(name, angles)
    dimension = 1 << GATES[name].n_qubits
    assert found.shape == (2, 3, dimension, dimension)
    assert_allclose(found @ found.conj().swapaxes(-1, -2), np.broadcast_to(np.eye(dimension), found.shape), atol=1e-14)
    assert_allclose(found[1, 2], matrix(name, angles[1, 2]), atol=1e-15)


@pytest.mark.parametrize("name", PARAMETRIC)
def test_angles_of_zero_turn_nothing(name: str) -> None:
    dimension = 1 << GATES[name].n_qubits
    assert_allclose(matrix(name, [0.0] * GATES[name].n_angles), np.eye(dimension), atol=1e-15)


@pytest.mark.parametrize("dimension", [2, 4])
def test_a_fixed_matrix_is_itself(dimension: int) -> None:
    expected = unitary(dimension, seed=3)
    gate = Gate("unitary", tuple(range(dimension // 2)), (), tuple(map(tuple, expected.tolist())))
    assert_allclose(gate_matrices(gate, np.zeros((5, 0))), np.broadcast_to(expected, (5, dimension, dimension)))


@given(n=st.integers(1, 12))
def test_entanglers_join_the_pairs_that_they_say(n: int) -> None:
    assert all_to_all(n) == [(p, q) for p in range(n) for q in range(n) if p < q]
    assert line(n) == [pair for pair in all_to_all(n) if pair[1] - pair[0] == 1]
    assert len(ring(n)) == (n if n > 1 else 0)
    assert all((q - p) % n == 1 for p, q in ring(n))
    assert len(once(ring(n))) == {1: 0, 2: 1}.get(n, n)
    assert once([*all_to_all(n), *((q, p) for p, q in all_to_all(n))]) == all_to_all(n)
