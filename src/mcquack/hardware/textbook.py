"""Any circuit in turns about the axes and CNOTs, up to the phase of whole states: gates that every vendor has."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from mcquack.circuits.circuit import Circuit
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.circuits.qasm import unitary_steps
from mcquack.hardware.native import Gate, textbook_gates

_Steps = tuple[tuple[str, tuple[int, ...], float], ...]

# Gates as steps: a name, places among the qubits of the gate, and an angle.
_FIXED: dict[str, _Steps] = {
    "h": (("rz", (0,), math.pi), ("ry", (0,), math.pi / 2)),
    "x": (("rx", (0,), math.pi),),
    "y": (("ry", (0,), math.pi),),
    "z": (("rz", (0,), math.pi),),
    "s": (("rz", (0,), math.pi / 2),),
    "t": (("rz", (0,), math.pi / 4),),
    "sx": (("rx", (0,), math.pi / 2),),
    "sxdg": (("rx", (0,), -math.pi / 2),),
    "cz": (("h", (1,), 0), ("cnot", (0, 1), 0), ("h", (1,), 0)),
    "cy": (("rz", (1,), -math.pi / 2), ("cnot", (0, 1), 0), ("rz", (1,), math.pi / 2)),
    "swap": (("cnot", (0, 1), 0), ("cnot", (1, 0), 0), ("cnot", (0, 1), 0)),
}
# The same, with parts of the gate's own angle.
_TURNS: dict[str, _Steps] = {
    "p": (("rz", (0,), 1),),
    "rzz": (("cnot", (0, 1), 0), ("rz", (1,), 1), ("cnot", (0, 1), 0)),
    "rxx": (("h", (0,), 0), ("h", (1,), 0), ("rzz", (0, 1), 1), ("h", (0,), 0), ("h", (1,), 0)),
    "ryy": (("sx", (0,), 0), ("sx", (1,), 0), ("rzz", (0, 1), 1), ("sxdg", (0,), 0), ("sxdg", (1,), 0)),
    "crz": (("rz", (1,), 0.5), ("cnot", (0, 1), 0), ("rz", (1,), -0.5), ("cnot", (0, 1), 0)),
    "cry": (("ry", (1,), 0.5), ("cnot", (0, 1), 0), ("ry", (1,), -0.5), ("cnot", (0, 1), 0)),
    "crx": (("h", (1,), 0), ("crz", (0, 1), 1), ("h", (1,), 0)),
}


def overlap_gates(circuits: OverlapCircuits, *, sample: int = 0, centroid: int = 0) -> Iterator[Gate[float]]:
    """U(x) and then U†(c) of one sample and one centroid in RX, RY, RZ and CNOT, nothing merged."""
    own, other = circuits.samples[sample], circuits.centroids[centroid]
    if circuits.circuit is None:
        yield from textbook_gates(own, other)
        return
    yield from _embedding(circuits.circuit, own.tolist())
    for gate in reversed(list(_embedding(circuits.circuit, other.tolist()))):
        yield gate if gate.angle is None else gate._replace(angle=-gate.angle)


def _embedding(circuit: Circuit, angles: Sequence[float]) -> Iterator[Gate[float]]:
    own = iter(angles)
    for gate in circuit.gates:
        if gate.name == "unitary":
            for name, angle, qubits in unitary_steps(np.array(gate.matrix), gate.qubits, []):
                yield from _plain(name, qubits, angle)
        elif gate.name == "rot":
            for name in ("rz", "ry", "rz"):
                yield Gate(name, gate.qubits, next(own))  # type: ignore[arg-type]
        else:
            yield from _plain(gate.name, gate.qubits, *[next(own) for _ in gate.angles])


def _plain(name: str, qubits: tuple[int, ...], angle: float = 0.0) -> Iterator[Gate[float]]:
    if name in ("rx", "ry", "rz"):
        yield Gate(name, qubits, angle)  # type: ignore[arg-type]
    elif name == "cnot":
        yield Gate("cx", qubits)
    else:
        whole = 1.0 if name in _FIXED else angle
        for inner, places, part in {**_FIXED, **_TURNS}[name]:
            yield from _plain(inner, tuple(qubits[place] for place in places), part * whole)
