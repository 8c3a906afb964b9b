"""One circuit serves all pairs, lies on a ring without SWAPs, and is sent by either sampler with what was asked for."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from qiskit import QuantumCircuit
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.quantum_info import Operator, Statevector
from qiskit.transpiler import CouplingMap, Target
from qiskit_aer import AerSimulator
from qiskit_ibm_runtime.executor_sampler import Sampler
from qiskit_ibm_runtime.fake_provider import FakePittsburgh, FakeTorino

from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import DeviceError, InvalidInputError, LayoutError
from mcquack.hardware.layout.ring import best_ring
from mcquack.hardware.native import angle_sets, n_angles, native_map, overlap_gates
from mcquack.hardware.services import program as samplers
from mcquack.hardware.services.account import coupling_of
from mcquack.hardware.services.general import overlap_template
from mcquack.hardware.services.local import noiseless_ring
from mcquack.hardware.services.options import Options
from mcquack.hardware.services.program import (
    DeviceProgram,
    chosen_api,
    outcomes_of,
    placed,
    sampler_settings,
    sent,
)
from tests.hardware.overlaps import (
    of_itself,
    overlap_circuits,
    overlap_probabilities,
    overlap_unitary,
    ring_map,
    some_circuits,
)
from tests.hardware.services.measuring import flat_angles

# A ring of six with a tail; some couplers have only one direction, and not always the one of the circuit.
COUPLERS = [[0, 1], [2, 1], [2, 3], [4, 3], [4, 5], [0, 5], [5, 6], [6, 7]]
RING = [3, 2, 1, 0, 5, 4]
BASES = [["rz", "sx", "cz"], ["rz", "sx", "x", "ecr"], ["rz", "sx", "x", "cx"], ["rx", "rz", "cz"], ["rx", "ry", "rxx"]]


def device(basis: list[str]) -> GenericBackendV2:
    return GenericBackendV2(8, basis_gates=basis, coupling_map=CouplingMap(COUPLERS), seed=0)


def without_measurements(circuit: QuantumCircuit) -> QuantumCircuit:
    return circuit.remove_final_measurements(inplace=False)


def measured_qubits(circuit: QuantumCircuit) -> list[int]:
    """The qubit that each classical bit reads."""
    reads = [gate for gate in circuit.data if gate.operation.name == "measure"]
    places = {circuit.find_bit(gate.clbits[0]).index: circuit.find_bit(gate.qubits[0]).index for gate in reads}
    assert len(places) == len(reads)
    return [places[bit] for bit in range(len(reads))]


def probabilities(circuit: QuantumCircuit) -> NDArray[np.float64]:
    """Of the measured bit strings, bit 0 the most significant, computed on all qubits of the device."""
    state = Statevector(without_measurements(circuit))
    return np.asarray(state.probabilities(qargs=measured_qubits(circuit)[::-1]))


def textbook_circuit(circuits: OverlapCircuits, *, sample: int, centroid: int) -> QuantumCircuit:
    """U†(c) U(x) as the paper draws it, nothing merged."""
    circuit = QuantumCircuit(circuits.n_qubits)
    for gate in overlap_gates(circuits, sample=sample, centroid=centroid):
        getattr(circuit, gate.name)(*(() if gate.angle is None else (gate.angle,)), *gate.qubits)
    return circuit


@given(circuits=overlap_circuits())
def test_binding_gives_the_textbook_circuit(circuits: OverlapCircuits) -> None:
    template = overlap_template(native_map(circuits.circuit))
    bound = without_measurements(template.assign_parameters(angle_sets(circuits)[0, 1]))
    textbook = textbook_circuit(circuits, sample=0, centroid=1)
    assert Operator(bound).equiv(Operator(textbook), atol=1e-9)


@given(size=st.tuples(st.integers(1, 5), st.integers(1, 3)))
def test_parameters_are_in_the_order_of_the_angles(size: tuple[int, int]) -> None:
    """Qiskit sorts them by name, and what is sent is one array."""
    template = overlap_template(ring_map(*size))
    numbers = np.arange(100.0, 100 + n_angles(ring_map(*size)))
    bound = template.assign_parameters(numbers)
    found = [gate.operation.params[0] for gate in bound.data if gate.operation.name == "rz"]
    assert [angle for angle in found if angle >= 100] == numbers.tolist()


def test_names_of_parameters_are_never_shared() -> None:
    templates = [overlap_template(ring_map(2, 2)) for _ in range(3)]
    names = [parameter.name for template in templates for parameter in template.parameters]
    assert len(set(names)) == len(names) == 3 * 18
    together = QuantumCircuit(2)
    for template in templates:
        together.compose(without_measurements(template), inplace=True)  # a clash of names would raise
    assert together.num_parameters == 3 * 18


def test_template_survives_a_pickle() -> None:
    template, angles = overlap_template(ring_map(3, 2)), angle_sets(some_circuits(3, 2))[0, 0]
    restored = pickle.loads(pickle.dumps(template))
    assert restored.assign_parameters(angles) == template.assign_parameters(angles)


def test_qubits_are_read_in_order_into_one_register() -> None:
    template = overlap_template(ring_map(5, 2))
    assert [(register.name, register.size) for register in template.cregs] == [("meas", 5)]
    assert measured_qubits(template) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("basis", BASES, ids="-".join)
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), n_layers=st.integers(1, 3))
def test_a_placed_circuit_measures_the_same_on_every_device(basis: list[str], seed: int, n_layers: int) -> None:
    circuits = some_circuits(6, n_layers, seed=seed)
    ring_circuit = placed(overlap_template(ring_map(6, n_layers)), RING, device(basis).target)
    assert measured_qubits(ring_circuit) == RING
    assert set(ring_circuit.count_ops()) <= {*basis, "measure", "barrier"}
    bound = ring_circuit.assign_parameters(angle_sets(circuits)[1, 0])
    assert_allclose(probabilities(bound), overlap_probabilities(circuits, 1, 0), atol=1e-9)


@pytest.mark.parametrize("basis", BASES, ids="-".join)
def test_there_are_no_swaps_and_every_gate_is_one_of_the_device(basis: list[str]) -> None:
    backend = device(basis)
    ring_circuit = placed(overlap_template(ring_map(6, 3)), RING, backend.target)
    on_two = [gate for gate in ring_circuit.data if len(gate.qubits) == 2]
    assert len(on_two) == 4 * 6
    for gate in ring_circuit.data:
        if gate.operation.name != "barrier":
            places = tuple(ring_circuit.find_bit(qubit).index for qubit in gate.qubits)
            assert backend.target.instruction_supported(gate.operation.name, places)


@pytest.mark.parametrize(("backend", "length"), [(FakePittsburgh, 124), (FakeTorino, 104)])
def test_the_longest_rings_have_the_counts_of_the_paper_also_for_a_pair_of_equals(backend: Any, length: int) -> None:
    device = backend()
    ring = best_ring(coupling_of(device), length, allow_faulty=True)
    ring_circuit = placed(overlap_template(ring_map(length, 2)), ring.qubits, device.target)
    assert measured_qubits(ring_circuit) == list(ring.qubits)
    assert list(ring_circuit.parameters) == sorted(ring_circuit.parameters, key=lambda parameter: parameter.index)
    circuits = of_itself(some_circuits(length, 2, n_samples=2))
    for angles in angle_sets(circuits)[0]:  # equals, and then others
        counts = ring_circuit.assign_parameters(angles).count_ops()
        assert counts.pop("barrier") == 1
        assert counts == {"rz": 13 * length, "sx": 8 * length, "cz": 2 * length, "measure": length}


@pytest.mark.parametrize(
    "target",
    [
        AerSimulator().target,
        GenericBackendV2(4, basis_gates=["rz", "sx", "cz"], seed=0).target,
        Target.from_configuration(["rz", "sx", "cz", "measure"]),
    ],
    ids=["simulator", "all coupled", "any size"],
)
def test_where_all_qubits_are_coupled_any_order_is_a_ring(target: Target) -> None:
    ring_circuit = placed(overlap_template(ring_map(4, 2)), (3, 1, 0, 2), target)
    assert measured_qubits(ring_circuit) == [3, 1, 0, 2]
    counts = ring_circuit.count_ops()
    assert (counts["rz"], counts["sx"], counts["cz"]) == (4 * 13, 4 * 8, 4 * 2)


def test_without_a_second_layer_the_qubits_need_no_couplers() -> None:
    ring_circuit = placed(overlap_template(ring_map(3, 1)), [7, 1, 4], device(["rz", "sx", "cz"]).target)
    assert measured_qubits(ring_circuit) == [7, 1, 4]
    assert dict(ring_circuit.count_ops()) == {"rz": 9, "sx": 6, "measure": 3, "barrier": 1}


@pytest.mark.parametrize("n_qubits", [1, 2])
def test_one_and_two_qubits_need_no_cycle(n_qubits: int) -> None:
    ring_circuit = placed(overlap_template(ring_map(n_qubits, 2)), [7, 6][:n_qubits], device(["rz", "sx", "cz"]).target)
    assert measured_qubits(ring_circuit) == [7, 6][:n_qubits]
    assert ring_circuit.count_ops().get("cz", 0) == 4 * (n_qubits - 1)


@pytest.mark.parametrize(
    ("ring", "message"),
    [
        ([3, 2, 1, 0, 5], "needs 6 different qubits, got 5"),
        ([3, 2, 1, 0, 5, 5], r"different qubits between 0 and 7, got \[3, 2, 1, 0, 5, 5\]"),
        ([3, 2, 1, 0, 5, 8], r"different qubits between 0 and 7, got .*, 8\]"),
        ([3, 2, 1, 0, 5, -1], r"between 0 and 7, got .*, -1\]"),
        ([1, 0, 5, 6, 7, 2], "7 and 2"),
    ],
)
def test_a_ring_that_is_none_is_refused(ring: list[int], message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        placed(overlap_template(ring_map(6, 2)), ring, device(["rz", "sx", "cz"]).target)


@pytest.mark.parametrize("size", [(0, 2), (3, 0), (2.5, 1), (True, 1)])
def test_a_circuit_has_at_least_one_qubit_and_layer(size: tuple[Any, Any]) -> None:
    with pytest.raises(InvalidInputError, match="at least 1"):
        overlap_template(ring_map(*size))


# The textbook circuit is the oracle's, and draws what the paper does.


@given(circuits=overlap_circuits(max_qubits=4))
def test_textbook_circuit_is_the_overlap_circuit(circuits: OverlapCircuits) -> None:
    for i, j in np.ndindex(circuits.shape):
        circuit = textbook_circuit(circuits, sample=i, centroid=j)
        # Qiskit counts qubits from the other end of an index.
        assert_allclose(Operator(circuit.reverse_bits()).data, overlap_unitary(circuits, i, j), atol=1e-12)


# Both samplers of the vendor get the options that were asked for.

MAKERS = [samplers._v2_sampler, samplers._executor_sampler]


@pytest.fixture
def simulator():
    return AerSimulator(target=noiseless_ring(2).target)


@pytest.fixture
def program(simulator):
    return DeviceProgram.on(simulator.target, (0, 1), ring_map(2, 2))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("sequence", ["XX", "XpXm", "XY4"])
def test_decoupling_reaches_the_sampler(make, sequence, simulator):
    found = make(simulator, sampler_settings(Options(decoupling=sequence), shots=100)).options.dynamical_decoupling
    assert (found.enable, found.sequence_type, found.skip_reset_qubits) == (True, sequence, True)


@pytest.mark.parametrize("make", MAKERS)
def test_twirling_reaches_the_sampler_with_just_as_many_shots(make, simulator):
    found = make(simulator, sampler_settings(Options(measure_twirling=True), shots=100)).options.twirling
    assert (found.enable_measure, found.enable_gates) == (True, False)
    assert found.num_randomizations * found.shots_per_randomization == 100


@pytest.mark.parametrize("make", MAKERS)
def test_tags_and_seeds_reach_the_sampler(make, simulator):
    found = make(simulator, sampler_settings(Options(), shots=1, tag="mcquack-1", seed=7)).options
    assert found.environment.job_tags == ["mcquack-1"]
    assert found.simulator.seed_simulator == 7


@pytest.mark.parametrize("make", MAKERS)
def test_nothing_is_asked_for_unless_an_option_says_so(make, simulator):
    plain, ours = make(simulator, {}).options, make(simulator, sampler_settings(Options(), shots=100)).options
    assert (ours.dynamical_decoupling, ours.twirling) == (plain.dynamical_decoupling, plain.twirling)


@pytest.mark.parametrize("shots", [1, 7, 100, 101])
def test_as_many_shots_come_back_as_were_asked_for(shots, program, simulator):
    angles = flat_angles(some_circuits(2, 2, n_samples=3, n_centroids=1))
    job = sent(program, angles, shots=shots, options=Options(measure_twirling=True), mode=simulator, seed=1)
    assert outcomes_of(job.result(), (3, shots)).shape == (3, shots, 1)


def test_decoupling_puts_pulses_into_the_waiting_times(monkeypatch):
    run = []

    def noted(self, circuits, **options):
        run.extend(circuits)
        raise ZeroDivisionError

    monkeypatch.setattr(AerSimulator, "run", noted)
    simulator = AerSimulator(target=noiseless_ring(6).target)
    program = DeviceProgram.on(simulator.target, range(6), ring_map(6, 2))
    angles = flat_angles(some_circuits(6, 2, n_samples=1, n_centroids=1))
    for options in (Options(), Options(decoupling="XX")):
        with pytest.raises(ZeroDivisionError):
            sent(program, angles, shots=1, options=options, mode=simulator).result()
    plain, decoupled = (circuit.count_ops() for circuit in run)
    assert "x" not in plain
    assert decoupled["x"] > 0
    assert decoupled["x"] % 2 == 0
    assert (decoupled["sx"], decoupled["cz"]) == (plain["sx"], plain["cz"])


def test_a_result_of_another_size_is_refused(program, simulator):
    angles = flat_angles(some_circuits(2, 2, n_samples=2, n_centroids=1))
    result = sent(program, angles, shots=5, options=Options(), mode=simulator).result()
    with pytest.raises(DeviceError, match="2 circuits with 6 shots"):
        outcomes_of(result, (2, 6))


def test_the_successor_is_chosen_where_there_is_one(monkeypatch):
    assert chosen_api("auto") == "executor"
    assert (chosen_api("v2"), chosen_api("executor")) == ("v2", "executor")
    monkeypatch.setattr(samplers, "find_spec", lambda name: None)
    assert chosen_api("auto") == "v2"


def test_angles_are_not_rounded(simulator):
    sampler = samplers._executor_sampler(simulator, {})
    assert isinstance(sampler, Sampler)
    assert sampler.options.simulator.angle_decimals >= 15
