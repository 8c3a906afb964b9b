"""The same circuits in Qiskit Aer and in quimb, both as matrix-product states.

Circuits are built before the clock starts, rotations that meet are one gate, and the last ring is left out: less work
than the circuits a user would write down.
"""

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.problem import Found, Step
from benchmarks.ring_problem import SEED, SHOTS, FloatArray, RingProblem

if TYPE_CHECKING:
    from qiskit import QuantumCircuit

    from mcquack.simulators.noise.trajectories import RingNoise


def aer_circuits(problem: RingProblem) -> Step:
    """One circuit of 100 shots without noise, of several in turn."""
    simulator = _simulator(problem)
    circuits = [_aer_circuit(problem, number, noise=None) for number in range(problem.n_circuits)]
    turns = cycle(circuits)

    def step() -> Found:
        weights = _weights(simulator, next(turns), shots=SHOTS)
        return Found(float(weights.mean()), lambda: [weights])

    return step


def aer_noisy_shots(problem: RingProblem) -> Step:
    """A few shots of one circuit, with the Pauli channels that ours draws from, in the same places."""
    from mcquack.simulators.noise import PITTSBURGH
    from mcquack.simulators.noise.trajectories import ring_noise

    simulator = _simulator(problem)
    circuit = _aer_circuit(problem, 0, noise=ring_noise(PITTSBURGH, problem.n_qubits))

    def step() -> Found:
        weights = _weights(simulator, circuit, shots=problem.n_shots)
        return Found(float(weights.mean()), lambda: [weights])

    return step


def _simulator(problem: RingProblem) -> Any:
    from qiskit_aer import AerSimulator

    return AerSimulator(method="matrix_product_state", n_qubits=problem.n_qubits, seed_simulator=SEED)


def _weights(simulator: Any, circuit: "QuantumCircuit", *, shots: int) -> FloatArray:
    """Number of ones in each shot."""
    result = simulator.run(circuit, shots=shots).result()
    if not result.success:
        raise RuntimeError(result.status)
    counts = result.get_counts()
    return np.repeat([float(bits.count("1")) for bits in counts], list(counts.values()))


def _aer_circuit(problem: RingProblem, number: int, *, noise: "RingNoise | None") -> "QuantumCircuit":
    """R₁†(c) ENT† R₂†(c) R₂(x) ENT R₁(x), with errors where ``mcquack.simulators.noise`` draws them."""
    from qiskit import QuantumCircuit

    from mcquack.simulators.ring import RingEngine

    row, column = problem.pair(number)
    samples, centroids = problem.encoded(RingEngine(problem.feature_map))
    first, second = samples.rotations[row]
    first_back, second_back = np.swapaxes(centroids.rotations[column], -1, -2).conj()
    circuit = QuantumCircuit(problem.n_qubits)
    _rotate(circuit, first)
    _add_ring(circuit, noise, ring=0)
    _rotate(circuit, second_back @ second)
    _add_ring(circuit, noise, ring=1)
    _rotate(circuit, first_back)
    if noise is not None:
        flips = np.stack([noise.flip_chances, 0 * noise.flip_chances, 0 * noise.flip_chances], axis=-1)
        _add_paulis(circuit, flips)
    circuit.measure_all()
    return circuit


def _rotate(circuit: "QuantumCircuit", matrices: np.ndarray) -> None:
    for qubit, matrix in enumerate(matrices):
        circuit.unitary(matrix, [qubit])


def _add_ring(circuit: "QuantumCircuit", noise: "RingNoise | None", *, ring: int) -> None:
    """The ring, or backwards its inverse: there all that follows a gate precedes it."""
    n_qubits = circuit.num_qubits
    pieces: list[Any] = []
    for control in range(n_qubits):
        target = (control + 1) % n_qubits
        pieces.append(lambda control=control, target=target: circuit.cx(control, target))
        if noise is not None:
            pieces.append(lambda control=control, target=target: _add_pair(circuit, noise, control, target))
            within = [0] * (control == 0) + [target] * (target != 0)
            pieces += [
                lambda qubit=qubit: _add_pauli(circuit, _chances(noise, ring, 1)[qubit], qubit) for qubit in within
            ]
    if noise is not None:
        pieces.insert(0, lambda: _add_paulis(circuit, _chances(noise, ring, 0)))
        pieces.append(lambda: _add_paulis(circuit, _chances(noise, ring, 2)))
    for add in pieces if ring == 0 else reversed(pieces):
        add()


def _chances(noise: "RingNoise", ring: int, place: int) -> FloatArray:
    """Of X, Y and Z for each qubit, from their running sums."""
    return np.diff(noise.pauli_bounds[ring, place], axis=-1, prepend=0)


def _add_paulis(circuit: "QuantumCircuit", chances: FloatArray) -> None:
    for qubit, of_qubit in enumerate(chances):
        _add_pauli(circuit, of_qubit, qubit)


def _add_pauli(circuit: "QuantumCircuit", chances: FloatArray, qubit: int) -> None:
    from qiskit_aer.noise import pauli_error

    error = pauli_error([*zip("XYZ", chances, strict=True), ("I", 1 - chances.sum())])
    circuit.append(error.to_instruction(), [qubit])


def _add_pair(circuit: "QuantumCircuit", noise: "RingNoise", control: int, target: int) -> None:
    from qiskit_aer.noise import depolarizing_error

    # Aer's parameter is the chance of any of 16 Paulis, one of which does nothing.
    error = depolarizing_error(noise.pair_chances[control] * 16 / 15, 2)
    circuit.append(error.to_instruction(), [control, target])


def quimb_states(problem: RingProblem) -> Step:
    """One state U(x)|0…0⟩, of several in turn."""
    rows = _rows(problem)[0][: problem.n_circuits]
    turns = cycle(rows)

    def step() -> Found:
        state = _quimb_state(next(turns))
        return Found(float(state.max_bond()), list)

    return step


def quimb_overlaps(problem: RingProblem) -> Step:
    """One overlap of two states that are there."""
    samples, centroids = _rows(problem)
    row, column = problem.pair(0)
    left, right = _quimb_state(centroids[column]).H, _quimb_state(samples[row])

    def step() -> Found:
        return Found(2 * float(np.log(abs(left @ right))), list)

    return step


def _rows(problem: RingProblem) -> tuple[np.ndarray, np.ndarray]:
    from mcquack.simulators.ring import RingEngine

    samples, centroids = problem.encoded(RingEngine(problem.feature_map))
    return samples.rotations, centroids.rotations


def _quimb_state(rotations: np.ndarray) -> Any:
    import quimb.tensor as qtn

    n_layers, n_qubits = rotations.shape[:2]
    circuit = qtn.CircuitMPS(n_qubits, gate_opts={"cutoff": 1e-15})
    for layer, of_layer in enumerate(rotations):
        for qubit, matrix in enumerate(of_layer):
            circuit.apply_gate_raw(matrix, [qubit])
        for control in range(n_qubits if layer + 1 < n_layers else 0):
            circuit.apply_gate("CNOT", control, (control + 1) % n_qubits)
    return circuit.psi
