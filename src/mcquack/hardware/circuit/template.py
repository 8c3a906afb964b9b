"""The overlap circuit once for all pairs: symbols instead of angles, and a place on a device."""

from collections.abc import Sequence
from uuid import uuid4

from qiskit import QuantumCircuit, transpile
from qiskit.circuit import ParameterVector
from qiskit.providers import BackendV2
from qiskit.transpiler import Target

from mcquack.checks import required_count
from mcquack.errors import LayoutError
from mcquack.hardware.circuit.assembly import assembled
from mcquack.hardware.circuit.euler import n_angles
from mcquack.hardware.circuit.gates import native_gates

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
