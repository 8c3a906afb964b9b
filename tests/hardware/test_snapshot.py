"""What backends tell of their devices, and the facts of some of them."""

from dataclasses import replace
from functools import cache

import pytest
from numpy.testing import assert_allclose
from qiskit.circuit import Measure
from qiskit.circuit.library import CXGate, CZGate, SXGate
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.transpiler import InstructionProperties, QubitProperties, Target
from qiskit_aer import AerSimulator
from qiskit_ibm_runtime import fake_provider

from mcquack.errors import DeviceError
from mcquack.hardware.layout import best_ring, ring_lengths
from mcquack.hardware.layout.coordinates import qubit_positions
from mcquack.hardware.snapshot import coupling_of, ring_properties
from mcquack.simulators.noise import DeviceCalibration
from tests.hardware.layout.graphs import complete, heavy_hex, is_ring


@cache
def snapshot(name):
    return getattr(fake_provider, name)()


class Backend:
    """No more of a backend than its target."""

    name = "hand-made"

    def __init__(self, target):
        self.target = target


def test_a_heron_processor_is_a_heavy_hex_lattice():
    coupling = coupling_of(snapshot("FakePittsburgh"))
    assert coupling.name == "fake_pittsburgh"
    assert coupling.edges == tuple(sorted(heavy_hex().edges))


def test_medians_are_those_that_the_device_reports():
    coupling = coupling_of(snapshot("FakePittsburgh"))
    median = {name: sorted(getattr(coupling, name))[78] for name in ("sx_error", "readout_error", "t1_us", "t2_us")}
    assert_allclose(median["sx_error"], 1.99e-4, rtol=0.01)
    assert_allclose(median["readout_error"], 4.517e-3, rtol=0.01)
    assert_allclose(median["t1_us"], 299, rtol=0.01)
    assert_allclose(median["t2_us"], 317, rtol=0.01)
    assert_allclose(sorted(coupling.two_qubit_error)[88], 1.549e-3, rtol=0.02)
    assert min(coupling.two_qubit_us) == pytest.approx(0.088)
    assert min(coupling.sx_us) == pytest.approx(0.032)


@pytest.mark.parametrize(
    ("name", "longest", "longest_good"),
    [
        ("FakePittsburgh", 124, 116),
        ("FakeAachen", 124, 116),
        ("FakeBoston", 124, 124),
        ("FakeKingston", 124, 112),
        ("FakeFez", 124, 108),
        ("FakeTorino", 104, 76),
    ],
)
def test_the_longest_rings_with_and_without_faulty_couplers(name, longest, longest_good):
    coupling = coupling_of(snapshot(name))
    assert ring_lengths(coupling, allow_faulty=True) == (1, 2, 12, *range(20, longest + 1, 4))
    couplers_only = replace(coupling, sx_error=(), readout_error=())
    assert ring_lengths(couplers_only) == (1, 2, 12, *range(20, longest_good + 1, 4))
    ring = best_ring(couplers_only, longest_good)
    assert is_ring(coupling, ring.qubits)
    assert not ring.notes


def test_qubits_that_cannot_be_turned_count_as_well():
    """The snapshot has a qubit with an SX error of 1, of which no coupler tells."""
    assert ring_lengths(coupling_of(snapshot("FakeBoston")))[-1] == 116


def test_a_ring_of_a_snapshot_makes_a_noisy_twin():
    backend = snapshot("FakePittsburgh")
    ring = best_ring(coupling_of(backend), 124, allow_faulty=True)
    assert ring.notes[0] == "faulty couplers in the ring: 31–32, 56–63, 83–96, 117–125, 145–146"
    values, notes = ring_properties(backend, ring.qubits)
    assert DeviceCalibration(**values).n_qubits == 124
    assert len(notes) == 2
    assert "31–32, 56–63, 83–96, 117–125, 145–146" in notes[1]
    place = ring.qubits.index(0) if 0 in ring.qubits else 0
    pair = (ring.qubits[place], ring.qubits[place + 1])
    assert values["two_qubit_error"][place] == backend.target["cz"][pair].error


@pytest.mark.parametrize("name", ["FakeBrisbane", "FakeAuckland", "FakeGuadalupeV2", "FakeManilaV2"])
def test_older_devices_with_other_gates_work_too(name):
    backend = snapshot(name)
    coupling = coupling_of(backend)
    assert set(coupling.edges) == {tuple(sorted(edge)) for edge in backend.coupling_map}
    assert None not in coupling.two_qubit_error
    ring = best_ring(coupling, ring_lengths(coupling)[-1])
    assert DeviceCalibration(**ring_properties(backend, ring.qubits).values).n_qubits == len(ring)
    positions = qubit_positions(coupling)
    assert all(abs(positions[first] - positions[second]).sum() == 1 for first, second in coupling.edges)


def test_the_worse_direction_of_a_coupler_counts():
    backend = GenericBackendV2(4, seed=1)
    coupling = coupling_of(backend)
    for edge, error in zip(coupling.edges, coupling.two_qubit_error, strict=True):
        both = [backend.target["cx"][pair].error for pair in (edge, edge[::-1])]
        assert error == max(both)


def test_a_simulator_without_a_map_couples_all():
    coupling = coupling_of(AerSimulator(n_qubits=6))
    assert coupling.edges == complete(6).edges
    assert coupling.two_qubit_error == (None,) * 15
    assert best_ring(coupling, 5).qubits == (0, 1, 2, 3, 4)


def hand_made(**cz):
    target = Target(
        num_qubits=3, qubit_properties=[QubitProperties(t1=1e-4, t2=0.0), QubitProperties(), QubitProperties(t1=2e-4)]
    )
    target.add_instruction(
        CXGate(), {(0, 1): InstructionProperties(error=0.3), (2, 1): InstructionProperties(error=0.2)}
    )
    target.add_instruction(CZGate(), {(1, 0): InstructionProperties(**cz)})
    target.add_instruction(SXGate(), {(0,): InstructionProperties(error=0.01), (1,): None, (2,): None})
    target.add_instruction(Measure(), {(0,): InstructionProperties(error=0.02, duration=1e-6), (1,): None})
    return Backend(target)


def test_what_is_missing_is_not_known_and_the_best_gate_of_a_coupler_counts():
    coupling = coupling_of(hand_made(error=0.1))
    assert coupling.edges == ((0, 1), (1, 2))
    assert coupling.two_qubit_error == (0.1, 0.2)
    assert coupling.sx_error == (0.01, None, None)
    assert coupling.readout_error == (0.02, None, None)
    assert coupling.readout_us == (1.0, None, None)
    assert coupling.t1_us == (100.0, None, 200.0)
    assert coupling.t2_us == (None, None, None)


def test_an_error_above_certainty_is_a_fault():
    assert coupling_of(hand_made(error=2.5)).two_qubit_error == (1.0, 0.2)


def test_a_backend_without_qubits_is_refused():
    with pytest.raises(DeviceError, match="hand-made does not say how many qubits"):
        coupling_of(Backend(Target()))
