"""Rotations as matrices: those of the paper, and unitary; and unitary matrices as rotations."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import unitary_group

from mcquack.arrays import FloatArray
from mcquack.circuits.gates import Gate, gate_matrices
from mcquack.circuits.rotations import interaction, rotation_angles, rotation_matrices
from mcquack.randomness import stream
from tests.oracles import rot

seeds = st.integers(0, 2**32 - 1)


def random_angles(seed: int, *shape: int) -> FloatArray:
    return stream(seed, "angles").uniform(-10, 10, size=(*shape, 3))


@given(seed=seeds)
def test_rotations_are_those_of_the_paper(seed: int) -> None:
    angles = random_angles(seed, 4)
    assert_allclose(rotation_matrices(angles), np.moveaxis(rot(*angles.T), -1, 0), rtol=0, atol=1e-15)


@given(seed=seeds)
def test_rotations_are_unitary_with_determinant_1(seed: int) -> None:
    R = rotation_matrices(random_angles(seed, 4))
    assert_allclose(np.einsum("qki,qkj->qij", R.conj(), R), np.broadcast_to(np.eye(2), (4, 2, 2)), rtol=0, atol=1e-15)
    assert_allclose(R[:, 0, 0] * R[:, 1, 1] - R[:, 0, 1] * R[:, 1, 0], 1, rtol=0, atol=1e-15)


def test_no_angles_are_no_rotation() -> None:
    assert_allclose(rotation_matrices(np.zeros(3)), np.eye(2), rtol=0, atol=0)


@given(seed=seeds)
def test_all_angles_turned_back_undo_the_rotation(seed: int) -> None:
    """Rot(φ, θ, ω)⁻¹ = Rot(-ω, -θ, -φ)."""
    angles = random_angles(seed, 3)
    undone = rotation_matrices(-angles[:, ::-1])
    assert_allclose(undone, np.swapaxes(rotation_matrices(angles), -1, -2).conj(), rtol=0, atol=1e-15)


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (2, 0, 4)])
def test_every_shape_of_angles_is_taken(shape: tuple[int, ...]) -> None:
    angles = random_angles(0, *shape)
    matrices = rotation_matrices(angles)
    assert matrices.shape == (*shape, 2, 2)
    for place in np.ndindex(shape):
        assert_allclose(matrices[place], rotation_matrices(angles[place]), rtol=0, atol=0)


SPECIAL = {
    "identity": np.eye(4),
    "cnot": gate_matrices(Gate("cnot", (0, 1)), np.zeros(0)),
    "cz": gate_matrices(Gate("cz", (0, 1)), np.zeros(0)),
    "swap": gate_matrices(Gate("swap", (0, 1)), np.zeros(0)),
    "half swap": gate_matrices(Gate("rxx", (0, 1)), np.array([np.pi / 4])),
    "two phases": np.diag(np.exp(1j * np.array([0.3, 0.3, -1.0, 2.0]))),
    "minus one": -np.eye(4),
}


def assert_decomposed(matrix: Any) -> None:
    before, angles, after, phase = interaction(np.asarray(matrix, dtype=complex))
    middle = np.eye(4, dtype=complex)
    for name, angle in zip(("rxx", "ryy", "rzz"), angles, strict=True):
        middle = gate_matrices(Gate(name, (0, 1)), np.array([angle])) @ middle
    assert_allclose(np.exp(1j * phase) * np.kron(*after) @ middle @ np.kron(*before), matrix, atol=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_any_gate_on_two_qubits_is_an_interaction_between_gates_on_one(seed: int) -> None:
    assert_decomposed(unitary_group.rvs(4, random_state=seed))
    assert_decomposed(np.kron(unitary_group.rvs(2, random_state=seed), unitary_group.rvs(2, random_state=seed + 1)))


@pytest.mark.parametrize("name", SPECIAL)
def test_so_are_those_whose_interaction_is_degenerate(name: str) -> None:
    assert_decomposed(SPECIAL[name])


@pytest.mark.parametrize("seed", range(20))
def test_any_gate_on_one_qubit_is_three_rotations_and_a_phase(seed: int) -> None:
    random = unitary_group.rvs(2, random_state=seed)
    for matrix in (random, np.diag(np.diag(random)) / np.abs(np.diag(random)), np.fliplr(np.diag(np.exp([1j, -2j])))):
        *angles, phase = rotation_angles(matrix)
        found = np.exp(1j * phase) * gate_matrices(Gate("rot", (0,)), np.array(angles))
        assert_allclose(found, matrix, atol=1e-12)
