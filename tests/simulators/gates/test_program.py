"""From gates to steps: what is fused computes the same, and what can be fused is."""

import pytest
from numpy.testing import assert_allclose

from mcquack.circuits import Circuit, FeatureMap, all_to_all, b, ring, w, x
from mcquack.simulators import GateEngine
from mcquack.simulators.compiled.gates import DIAGONAL, TURN
from mcquack.simulators.gates import program_of
from tests.plain_states import states_of
from tests.random_circuits import random_circuit, random_point


@pytest.mark.parametrize("seed", range(6))
def test_steps_compute_what_the_gates_do_one_by_one(seed: int) -> None:
    circuit = random_circuit(seed, n_qubits=1 + seed % 5, n_gates=40, amplitudes=seed == 5)
    point = random_point(circuit, seed, n_rows=9)
    engine = GateEngine(circuit, dtype="float64")
    assert len(engine.form.kinds) < len(circuit.gates)
    assert_allclose(engine.statevectors(engine.encode(*point)), states_of(circuit, *point), atol=1e-12)


def kinds_of(circuit: Circuit) -> list[int]:
    return program_of(circuit, "float64").form.kinds.tolist()


def test_diagonal_gates_of_any_number_are_one_step() -> None:
    circuit = Circuit(4, 4).rz(range(4), [x[q] for q in range(4)]).rzz(all_to_all(4), b).cz(ring(4)).crz((0, 1), b)
    assert kinds_of(circuit.s(range(4)).t(0).z(2)) == [DIAGONAL]


def test_permutations_are_no_step_at_all() -> None:
    assert kinds_of(Circuit(4, 1).cnot(ring(4)).swap((0, 2)).x([1, 3]).cnot(2, 0)) == []


@pytest.mark.parametrize("n_layers", [1, 2, 7])
def test_a_layer_of_the_paper_is_a_turn_and_a_diagonal(n_layers: int) -> None:
    feature_map = FeatureMap(n_qubits=5, n_features=3, n_layers=n_layers)
    assert kinds_of(feature_map).count(TURN) == n_layers
    assert kinds_of(feature_map).count(DIAGONAL) <= n_layers + 1


def test_gates_find_their_step_whatever_the_order_of_the_qubits() -> None:
    by_qubit = Circuit(3, 1)
    for qubit in range(3):
        by_qubit = by_qubit.ry(qubit, w * x[0]).rz(qubit, b).ry(qubit, b)
    assert kinds_of(by_qubit) == [TURN, DIAGONAL, TURN]


def test_equal_rotations_add_up() -> None:
    circuit = Circuit(2, 1).ry(0, b).ry(1, b).ry(0, x[0]).rz(0, b).rz(0, 0.5)
    assert len(program_of(circuit, "float64").form.low) == 3
