"""The textbook circuit is the oracle's, and draws what the paper does."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from qiskit.quantum_info import Operator

from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import InvalidInputError
from mcquack.hardware.native import textbook_circuit
from tests.hardware.circuit.overlaps import overlap_circuits, overlap_unitary, some_circuits


@given(circuits=overlap_circuits(max_qubits=4))
def test_textbook_circuit_is_the_overlap_circuit(circuits: OverlapCircuits) -> None:
    for i, j in np.ndindex(circuits.shape):
        circuit = textbook_circuit(circuits, sample=i, centroid=j, measured=False)
        # Qiskit counts qubits from the other end of an index.
        assert_allclose(Operator(circuit.reverse_bits()).data, overlap_unitary(circuits, i, j), atol=1e-12)


def test_all_qubits_are_measured_unless_told() -> None:
    circuits = some_circuits(3, 2)
    assert textbook_circuit(circuits).count_ops()["measure"] == 3
    assert [register.name for register in textbook_circuit(circuits).cregs] == ["meas"]
    assert textbook_circuit(circuits, measured=False).num_clbits == 0


@pytest.mark.parametrize("pair", [{"sample": 2}, {"sample": -1}, {"centroid": 3}, {"sample": True}, {"centroid": 0.0}])
def test_a_pair_that_is_not_there_is_refused(pair: dict[str, Any]) -> None:
    (name,) = pair
    with pytest.raises(InvalidInputError, match=f"{name} must be a whole number from 0 to {1 + (name == 'centroid')}"):
        textbook_circuit(some_circuits(2, 1, n_samples=2, n_centroids=3), **pair)
