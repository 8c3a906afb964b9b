"""What is exported is read back by others as the same circuit, to the last digit of its angles."""

import subprocess
import sys
from typing import Any, Literal

import numpy as np
import openqasm3
import pennylane as qml
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from qiskit import QuantumCircuit, qasm2, qasm3
from qiskit.quantum_info import Statevector

from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import InvalidInputError
from mcquack.hardware.native import angle_names, angle_sets, template_qasm3, to_qasm2, to_qasm3
from mcquack.simulators.statevector.hamming import hamming_distributions
from tests.hardware.overlaps import overlap_circuits, overlap_probabilities, paper_overlaps, ring_map, some_circuits
from tests.plain_states import states_of
from tests.random_circuits import random_circuit, random_point

FORMS: list[Literal["native", "textbook"]] = ["native", "textbook"]
forms = st.sampled_from(FORMS)


def probabilities(circuit: QuantumCircuit) -> NDArray[np.float64]:
    """Of the bit strings, qubit 0 first."""
    assert circuit.count_ops()["measure"] == circuit.num_qubits
    state = Statevector(circuit.remove_final_measurements(inplace=False).reverse_bits())
    return np.asarray(state.probabilities())


def rotation_angles(circuit: QuantumCircuit, name: str = "rz") -> list[float]:
    return [gate.operation.params[0] for gate in circuit.data if gate.operation.name == name]


@settings(max_examples=20)  # reading version 3 takes most of the time
@given(circuits=overlap_circuits(max_qubits=4), form=forms)
def test_version_3_is_read_back(circuits: OverlapCircuits, form: Literal["native", "textbook"]) -> None:
    circuit = qasm3.loads(to_qasm3(circuits, sample=1, centroid=0, form=form))
    assert_allclose(probabilities(circuit), overlap_probabilities(circuits, 1, 0), atol=1e-12)


@given(circuits=overlap_circuits(), form=forms)
def test_version_2_is_read_back_by_a_strict_reader(
    circuits: OverlapCircuits, form: Literal["native", "textbook"]
) -> None:
    circuit = qasm2.loads(to_qasm2(circuits, sample=0, centroid=1, form=form), strict=True)
    assert_allclose(probabilities(circuit), overlap_probabilities(circuits, 0, 1), atol=1e-12)


@settings(max_examples=10)
@given(circuits=overlap_circuits(max_qubits=4))
def test_the_template_takes_the_angles_in_their_order(circuits: OverlapCircuits) -> None:
    circuit = qasm3.loads(template_qasm3(circuits.circuit))
    assert [parameter.name for parameter in circuit.parameters] == angle_names(circuits.circuit)
    bound = circuit.assign_parameters(angle_sets(circuits)[1, 1])
    assert_allclose(probabilities(bound), overlap_probabilities(circuits, 1, 1), atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_any_circuit_is_read_back_from_every_dialect(seed: int) -> None:
    circuit = random_circuit(seed, n_qubits=1 + seed % 4, n_features=2, n_gates=25)
    X, weights, bias = random_point(circuit, seed, n_rows=3)
    circuits = OverlapCircuits.of(circuit, X[:2], X[2:], weights=weights, bias=bias)
    states = states_of(circuit, X[1:2], weights, bias)
    expected = hamming_distributions(circuit, states, circuits.centroids, by_layers=False)[0, 0]
    ones = np.bitwise_count(np.arange(circuit.dimension))
    pair: Any = {"sample": 1, "centroid": 0, "form": "textbook"}
    for read in (qasm3.loads(to_qasm3(circuits, **pair)), qasm2.loads(to_qasm2(circuits, **pair), strict=True)):
        assert_allclose(np.bincount(ones, probabilities(read)), expected, atol=1e-12)
    for text in (to_qasm3(circuits, **pair), to_qasm2(circuits, **pair)):
        assert f"{circuit.n_qubits} qubits, {len(circuit.gates)} gates;" in text
    with pytest.raises(InvalidInputError, match="textbook form"):
        to_qasm3(circuits)
    with pytest.raises(InvalidInputError, match="textbook form"):
        template_qasm3(circuits.circuit)


@given(angle=st.floats(-1e9, 1e9) | st.sampled_from([1e-5, -1e-300, 5e-324, np.pi / 2 + 3e-11, 1e22, -0.0]))
def test_angles_keep_every_digit(angle: float) -> None:
    """Also near fractions of π, and if they are written with an exponent."""
    circuits = paper_overlaps(np.full((1, 1, 1, 3), angle), np.full((1, 1, 1, 3), angle / 3))
    expected = [angle, angle, -angle / 3, -angle / 3]
    text = to_qasm2(circuits, form="textbook")
    assert rotation_angles(qasm2.loads(text, strict=True)) == expected
    written = [line for line in to_qasm3(circuits, form="textbook").splitlines() if line.startswith("rz(")]
    assert [float(line[3 : line.index(")")]) for line in written] == expected


def test_native_angles_are_those_that_are_sent() -> None:
    circuits = some_circuits(3, 2)
    read = rotation_angles(qasm3.loads(to_qasm3(circuits)))
    n_hadamards = 2 * 3  # one on each qubit in each of the two rings
    assert sorted(read) == sorted([*angle_sets(circuits)[0, 0].tolist(), *[np.pi / 2] * (2 * n_hadamards)])


@pytest.mark.parametrize("n_qubits", [1, 2, 3])
@pytest.mark.parametrize("form", [*FORMS, "template"])
def test_braket_text_needs_no_include_and_says_the_same(form: Any, n_qubits: int) -> None:
    """PennyLane reads version 3 without an include too, except that it says cx and measures in its own way."""
    circuits = some_circuits(n_qubits, 2)
    inputs: dict[str, float] = {}
    if form == "template":
        text = template_qasm3(ring_map(n_qubits, 2), dialect="braket")
        inputs = dict(zip(angle_names(ring_map(n_qubits, 2)), angle_sets(circuits)[0, 0].tolist(), strict=True))
    else:
        text = to_qasm3(circuits, form=form, dialect="braket")
    openqasm3.parse(text)
    lines = text.splitlines()
    assert not any("include" in line or line.startswith(("cx", "sx")) for line in lines)
    assert lines[-n_qubits:] == [f"meas[{qubit}] = measure q[{qubit}];" for qubit in range(n_qubits)]
    wires = [f"q[{qubit}]" for qubit in range(n_qubits)]

    @qml.qnode(qml.device("default.qubit", wires=wires))
    def measured() -> Any:
        qml.from_qasm3("\n".join(lines[:-n_qubits]).replace("cnot", "cx"))(**inputs)
        return qml.probs(wires=wires)

    assert_allclose(measured(), overlap_probabilities(circuits, 0, 0), atol=1e-12)


def test_the_124_qubits_of_the_paper_are_exported_with_its_counts() -> None:
    circuits = some_circuits(124, 2, n_samples=1, n_centroids=1)
    equals = paper_overlaps(circuits.samples, circuits.samples)
    for text in (to_qasm3(circuits), to_qasm3(equals), template_qasm3(ring_map(124, 2))):
        assert text.isascii()
        starts = [line.split("(")[0].split(" ")[0] for line in text.splitlines()]
        assert [starts.count(name) for name in ("rz", "sx", "cz")] == [1612, 992, 248]
        assert text.count("= measure ") == 124
    names = angle_names(ring_map(124, 2))
    assert len(names) == 1116
    assert names == sorted(names)


def test_export_needs_no_qiskit() -> None:
    code = "import sys, mcquack.hardware.native; sys.exit('qiskit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"form": "dense"}, 'form must be "native" or "textbook"'),
        ({"dialect": "quil"}, 'dialect must be "standard" or "braket"'),
        ({"sample": 2}, "sample .*0 to 1"),
        ({"centroid": -1}, "centroid .*0 to 1"),
    ],
)
def test_unknown_choices_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        to_qasm3(some_circuits(2, 2), **arguments)


@pytest.mark.parametrize("write", [to_qasm2, to_qasm3])
@pytest.mark.parametrize("pair", [{"sample": 2}, {"sample": -1}, {"centroid": 3}, {"sample": True}, {"centroid": 0.0}])
def test_a_pair_that_is_not_there_is_refused(pair: dict[str, Any], write: Any) -> None:
    (name,) = pair
    with pytest.raises(InvalidInputError, match=f"{name} .* 0 to {1 + (name == 'centroid')}"):
        write(some_circuits(2, 1, n_samples=2, n_centroids=3), **pair)
