"""Layers that repeat are found, and nothing else is changed."""

import pytest

from mcquack.circuits import Circuit, FeatureMap, b, line, ring, w, x
from mcquack.simulators.jax.repetition import sections
from tests.random_circuits import random_circuit


def sizes(circuit: Circuit) -> list[tuple[int, int]]:
    return [(len(section.gates), section.times) for section in sections(circuit.gates)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("times", [1, 2, 7])
def test_sections_are_the_circuit(seed: int, times: int) -> None:
    circuit = random_circuit(seed, n_gates=4 + 5 * seed).repeated(times)
    spread = [gate for section in sections(circuit.gates) for gate in section.gates * section.times]
    assert [(gate.name, gate.qubits, gate.matrix) for gate in spread] == [
        (gate.name, gate.qubits, gate.matrix) for gate in circuit.gates
    ]
    assert sum(section.times * section.n_angles for section in sections(circuit.gates)) == circuit.n_angles


def test_layers_of_the_paper_are_one_section() -> None:
    assert sizes(FeatureMap(n_qubits=4, n_features=3, n_layers=50)) == [(8, 50)]
    assert sizes(FeatureMap(n_qubits=4, n_features=3, n_layers=50, final_entangler=False)) == [(8, 49), (4, 1)]


def test_what_comes_before_and_after_layers_stays_outside() -> None:
    layer = Circuit(3, 2).ry(range(3), w * x[0] + b).cz(line(3))
    circuit = Circuit(3, 2).h(range(3)) + layer.repeated(20) + Circuit(3, 2).rzz(ring(3), b)
    assert sizes(circuit) == [(3, 1), (5, 20), (3, 1)]


def test_few_gates_are_not_worth_a_loop_and_none_have_no_section() -> None:
    assert sizes(Circuit(2, 1).x(0).x(0).h(1).h(1)) == [(4, 1)]
    assert sizes(Circuit(2, 1)) == []


def test_gates_with_different_matrices_are_different() -> None:
    circuit = Circuit(1, 1)
    for number in range(30):
        circuit = circuit.unitary(0, [[1, 0], [0, 1j ** (number % 2) if number < 15 else -1]])
    assert sizes(circuit) == [(2, 7), (1, 1), (1, 15)]
