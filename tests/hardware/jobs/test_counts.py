import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.errors import StoreError
from mcquack.hardware.jobs.ledger import Ledger, stored_counts, weight_histograms
from mcquack.hardware.jobs.records import Measurement
from tests.hardware.doubles import circuits_of


@given(n_qubits=st.integers(1, 40), n_circuits=st.integers(0, 4), shots=st.integers(1, 30), seed=st.integers(0, 99))
def test_histograms_are_those_of_the_ones_before_they_were_packed(n_qubits, n_circuits, shots, seed):
    ones = np.random.default_rng(seed).random((n_circuits, shots, n_qubits)) < 0.5
    packed = np.packbits(np.pad(ones, ((0, 0), (0, 0), (-n_qubits % 8, 0))), axis=-1)
    expected = np.zeros((n_circuits, n_qubits + 1), dtype=np.int64)
    for circuit, weights in enumerate(ones.sum(axis=-1)):
        for weight in weights:
            expected[circuit, weight] += 1
    found = weight_histograms(packed, n_qubits=n_qubits)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, expected)


def test_bits_are_packed_as_qiskit_packs_them():
    primitives = pytest.importorskip("qiskit.primitives")
    shots = ["00000000011", "10000000000", "11111111111"]
    array = primitives.BitArray.from_samples(shots, num_bits=11).array
    np.testing.assert_array_equal(weight_histograms(array[None], n_qubits=11), [[0, 1, 1, *[0] * 8, 1]])


def test_what_is_not_complete_has_no_counts():
    one = Measurement(circuits=circuits_of(1, 2), shots=3, service={})
    ledger = Ledger.in_memory()
    ledger.add(one, (range(1), range(1, 2)))
    job = ledger.note_attempt(one.id, ledger.parts(one.id)[0])
    ledger.note_sent(job.tag, "id")
    ledger.keep_bits(job.tag, np.zeros((1, 3, 1), dtype=np.uint8))
    with pytest.raises(StoreError, match=r"only 1 of 2 circuits .* resume"):
        stored_counts(ledger, one.id)
    ledger.close()
