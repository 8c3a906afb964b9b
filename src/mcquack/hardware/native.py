"""The overlap circuit once for all pairs: symbols instead of angles, and a place on a device."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister, transpile
from qiskit.circuit import ParameterVector
from qiskit.providers import BackendV2
from qiskit.transpiler import Target

from mcquack.arrays import FloatArray
from mcquack.checks import is_whole_number, require, required_count
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import LayoutError

# The overlap circuit gate by gate, with angles of any kind: numbers, symbols or names of inputs.

Angle = TypeVar("Angle", covariant=True)
GateName = Literal["rz", "ry", "sx", "cz", "cx"]

QUARTER_TURN = math.pi / 2


class Gate(NamedTuple, Generic[Angle]):
    """One gate on the qubits that it acts on, the control first; only rotations have an angle."""

    name: GateName
    qubits: tuple[int, ...]
    angle: Angle | None = None


def native_gates(n_qubits: int, n_layers: int, angles: Sequence[Angle]) -> Iterator[Gate[Angle | float]]:
    """The circuit in RZ, SX and CZ, with angles in the order of ``angle_sets``.

    The gates do not depend on the angles, so there are as many for x = c as for any other pair.
    """
    ring = tuple(_native_ring(n_qubits))
    for layer in range(2 * n_layers - 1):
        if layer:
            # A Hadamard read backwards is one too, so the inverse ring is the ring from its end.
            yield from ring if layer < n_layers else ring[::-1]
        for qubit in range(n_qubits):
            start = 3 * (layer * n_qubits + qubit)
            first, second, third = angles[start : start + 3]
            yield Gate("rz", (qubit,), first)
            yield Gate("sx", (qubit,))
            yield Gate("rz", (qubit,), second)
            yield Gate("sx", (qubit,))
            yield Gate("rz", (qubit,), third)


def textbook_gates(sample: NDArray[np.floating], centroid: NDArray[np.floating]) -> Iterator[Gate[float]]:
    """U(x) and then U†(c) as they are written down, RZ RY RZ and CNOTs, for angles φ, θ, ω of the shape (L, n, 3)."""
    yield from _embedding(sample)
    for gate in reversed(tuple(_embedding(centroid))):
        yield gate if gate.angle is None else gate._replace(angle=-gate.angle)


def _embedding(angles: NDArray[np.floating]) -> Iterator[Gate[float]]:
    n_qubits = angles.shape[1]
    for layer, of_layer in enumerate(angles):
        if layer and n_qubits > 1:
            for qubit in range(n_qubits):
                yield Gate("cx", (qubit, (qubit + 1) % n_qubits))
        for qubit, (phi, theta, omega) in enumerate(of_layer.tolist()):
            yield Gate("rz", (qubit,), phi)
            yield Gate("ry", (qubit,), theta)
            yield Gate("rz", (qubit,), omega)


def _native_ring(n_qubits: int) -> Iterator[Gate[float]]:
    """The CZs of CNOT 0→1, 1→2, …, n-1→0, with the Hadamard of each qubit between its two."""
    for control in range(n_qubits if n_qubits > 1 else 0):
        target = (control + 1) % n_qubits
        yield Gate("cz", (control, target))
        if control == 0:
            yield from _hadamard(control)
        if target != 0:
            yield from _hadamard(target)


def _hadamard(qubit: int) -> Iterator[Gate[float]]:
    yield Gate("rz", (qubit,), QUARTER_TURN)
    yield Gate("sx", (qubit,))
    yield Gate("rz", (qubit,), QUARTER_TURN)


# The angles of the overlap circuit in the gates of a device, computed here so that no compiler merges or drops any.
# Every rotation is RZ SX RZ SX RZ, and a CNOT is a CZ between two Hadamards on its target. In a ring each qubit meets
# two CZs: the Hadamard between them stays a gate of its own, the one before or after is absorbed into a rotation.

ComplexArray = NDArray[np.complex128]

# Up to its phase. All of SU(2) is the first column (a, b) of the matrix ((a, -b*), (b, a*)), which arrays keep last.
HADAMARD = np.array([-1j, -1j]) / np.sqrt(2)


def n_angles(n_qubits: int, n_layers: int) -> int:
    """3n(2L - 1): three for each qubit of 2L - 1 layers, as the last of U(x) and the first of U†(c) become one."""
    return 3 * n_qubits * (2 * n_layers - 1)


def angle_sets(circuits: OverlapCircuits) -> FloatArray:
    """The angles of every circuit, from -π to π, shape (N, M, P): by layer, then by qubit, then in time."""
    n_layers, n_qubits = circuits.n_layers, circuits.n_qubits
    samples, centroids = _dressed(circuits.samples), _inverse(_dressed(circuits.centroids))
    middle = n_layers - 1
    angles = np.empty((*circuits.shape, 2 * n_layers - 1, n_qubits, 3))
    angles[:, :, :middle] = _native(samples[:, :middle])[:, None]
    angles[:, :, middle] = _native(_product(centroids[None, :, middle], samples[:, None, middle]))
    angles[:, :, n_layers:] = _native(centroids[:, :middle][:, ::-1])[None]
    return angles.reshape(*circuits.shape, n_angles(n_qubits, n_layers))


def _dressed(angles: NDArray[np.floating]) -> ComplexArray:
    """The rotations Rot(φ, θ, ω) of U, with the Hadamards of the rings around them, shape (N, L, n, 2).

    The first gate of a ring makes qubit 0 a control and the last one a target, so the Hadamard that is left of qubit 0
    comes after the ring; all others are targets first, and theirs comes before it.
    """
    phi, theta, omega = np.moveaxis(angles, -1, 0)
    gates = np.stack(
        [np.exp(-0.5j * (omega + phi)) * np.cos(theta / 2), np.exp(0.5j * (omega - phi)) * np.sin(theta / 2)], axis=-1
    )
    if angles.shape[2] > 1:  # a single qubit has no ring
        gates[:, 1:, 0] = _product(gates[:, 1:, 0], HADAMARD)
        gates[:, :-1, 1:] = _product(HADAMARD, gates[:, :-1, 1:])
    return gates


def _product(second: ComplexArray, first: ComplexArray) -> ComplexArray:
    """The matrices second · first."""
    (a, b), (c, d) = np.moveaxis(second, -1, 0), np.moveaxis(first, -1, 0)
    return np.stack([a * c - b.conj() * d, b * c + a.conj() * d], axis=-1)


def _inverse(gates: ComplexArray) -> ComplexArray:
    return np.stack([gates[..., 0].conj(), -gates[..., 1]], axis=-1)


def _native(gates: ComplexArray) -> FloatArray:
    """The angles of RZ SX RZ SX RZ, first to last: φ, θ + π and ω + π for RZ(ω) RY(θ) RZ(φ)."""
    a, b = np.moveaxis(gates, -1, 0)
    # Where a or b vanishes one of the phases is noise, and means nothing: only their sum or difference acts then.
    difference, total = np.angle(a), np.angle(b)
    theta = 2 * np.arctan2(np.abs(b), np.abs(a))
    angles = np.stack([-total - difference, theta + np.pi, total - difference + np.pi], axis=-1)
    return np.asarray(np.remainder(angles + np.pi, 2 * np.pi) - np.pi)


# Lists of gates as circuits of Qiskit.

MEASURED = "meas"


def assembled(gates: Iterable[Gate[Any]], n_qubits: int, *, name: str, measured: bool) -> QuantumCircuit:
    """The gates in their order, and then, if it is to be measured, all qubits into the register "meas"."""
    circuit = QuantumCircuit(QuantumRegister(n_qubits, "q"), name=name)
    for gate in gates:
        angle = () if gate.angle is None else (gate.angle,)
        getattr(circuit, gate.name)(*angle, *gate.qubits)
    if measured:
        circuit.add_register(ClassicalRegister(n_qubits, MEASURED))
        # Qubits that are done wait for the others: reading some while gates act on their neighbours would disturb
        # these, and twirling of measurements takes them in one layer.
        circuit.barrier()
        circuit.measure(range(n_qubits), range(n_qubits))
    return circuit


NATIVE_GATES = {"rz", "sx", "cz", "measure"}


def overlap_template(n_qubits: int, n_layers: int) -> QuantumCircuit:
    """The measured circuit in RZ, SX and CZ; its parameters are in the order of ``angle_sets``."""
    n_qubits, n_layers = required_count("n_qubits", n_qubits), required_count("n_layers", n_layers)
    # Two templates in one circuit would clash if their parameters had one name.
    angles = ParameterVector(f"mcquack_{uuid4().hex[:12]}", n_angles(n_qubits, n_layers))
    gates = native_gates(n_qubits, n_layers, list(angles))
    return assembled(gates, n_qubits, name=f"mcquack_overlap_{n_qubits}x{n_layers}", measured=True)


def placed(template: QuantumCircuit, ring: Sequence[int], device: BackendV2 | Target) -> QuantumCircuit:
    """The template in the gates of a device, qubit q on the physical qubit ``ring[q]``, without a SWAP.

    Devices with RZ, SX and CZ run it gate by gate as it is; for others it is translated.
    """
    target = device if isinstance(device, Target) else device.target
    qubits = [int(qubit) for qubit in ring]
    _require_fit(template, qubits, target)
    is_native = set(target.operation_names) >= NATIVE_GATES
    return transpile(
        template,
        target=target,
        initial_layout=qubits,
        # Level 0 only translates. What a translation leaves behind is worth joining, and as the angles of the circuit
        # are symbols then, none can vanish.
        optimization_level=0 if is_native else 1,
        seed_transpiler=0,
    )


def _require_fit(template: QuantumCircuit, ring: list[int], target: Target) -> None:
    """Says what is wrong with a ring that the device does not have, before a compiler would bring in SWAPs."""
    n_qubits = template.num_qubits
    if len(ring) != n_qubits or len(set(ring)) != n_qubits:
        raise LayoutError(
            f"the circuit needs {n_qubits} different qubits, got {len(ring)} of which {len(set(ring))} differ: {ring}."
        )
    # A target that fits devices of any size has as many qubits as the circuit.
    n_physical = n_qubits if target.num_qubits is None else target.num_qubits
    outside = [qubit for qubit in ring if not 0 <= qubit < n_physical]
    if outside:
        raise LayoutError(
            f"the ring must lie on the qubits 0 to {n_physical - 1} of the device, and has {outside} too."
        )
    coupling = target.build_coupling_map()
    couplers = None if coupling is None else {frozenset(edge) for edge in coupling.get_edges()}
    missing = [] if couplers is None else [pair for pair in _pairs(template, ring) if frozenset(pair) not in couplers]
    if missing:
        raise LayoutError(
            f"qubits next to each other in the ring must share a coupler, and the device has none for {missing}; "
            "best_ring finds a ring that it has."
        )


def _pairs(template: QuantumCircuit, ring: list[int]) -> list[tuple[int, int]]:
    """The physical qubits of each gate on two, without repetition; a circuit of one layer has none."""
    gates = [
        gate.qubits for gate in template.data if gate.operation.num_qubits == 2 and gate.operation.name != "barrier"
    ]
    places = dict(zip(template.qubits, ring, strict=True))
    return list(dict.fromkeys((places[first], places[second]) for first, second in gates))


# One circuit of many.


def one_pair(circuits: OverlapCircuits, *, sample: int, centroid: int) -> OverlapCircuits:
    """The circuit of one sample and one centroid, counted from 0."""
    for name, number, count in zip(("sample", "centroid"), (sample, centroid), circuits.shape, strict=True):
        is_there = is_whole_number(number) and 0 <= number < count
        require(is_there, name, f"a whole number from 0 to {count - 1}", number)
    return OverlapCircuits(samples=circuits.samples[[sample]], centroids=circuits.centroids[[centroid]])


# The overlap circuit as the paper draws it: to read, and to check the native one with.


def textbook_circuit(
    circuits: OverlapCircuits, *, sample: int = 0, centroid: int = 0, measured: bool = True
) -> QuantumCircuit:
    """U†(c) U(x) of one pair in RZ, RY and CNOT, nothing merged; qubit 0 is Qiskit's qubit 0."""
    pair = one_pair(circuits, sample=sample, centroid=centroid)
    gates = textbook_gates(pair.samples[0], pair.centroids[0])
    return assembled(gates, circuits.n_qubits, name="mcquack_textbook", measured=measured)
