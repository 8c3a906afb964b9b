"""Any circuit in rotations about the axes and CNOTs, up to the phase of whole states: gates that every vendor has."""

from collections.abc import Iterator, Sequence

from mcquack.circuits.circuit import Circuit
from mcquack.circuits.gates import PHASE, decomposed
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.hardware.native import NativeGate

_NAMES = {"rx": "rx", "ry": "ry", "rz": "rz", "cnot": "cx"}


def overlap_gates(circuits: OverlapCircuits, *, sample: int = 0, centroid: int = 0) -> Iterator[NativeGate[float]]:
    """U(x) and then U†(c) of one sample and one centroid in RX, RY, RZ and CNOT, nothing merged."""
    own, other = circuits.samples[sample], circuits.centroids[centroid]
    yield from _embedding(circuits.circuit, own.reshape(-1).tolist())
    for gate in reversed(list(_embedding(circuits.circuit, other.reshape(-1).tolist()))):
        yield gate if gate.angle is None else gate._replace(angle=-gate.angle)


def _embedding(circuit: Circuit, angles: Sequence[float]) -> Iterator[NativeGate[float]]:
    own = iter(angles)
    for gate in circuit.gates:
        turns = [next(own) for _ in gate.angles]
        for name, qubits, parts in decomposed(gate, turns, into=_NAMES, as_circuit=True):
            if name != PHASE:
                yield NativeGate(_NAMES[name], qubits, *parts)  # type: ignore[arg-type]
