"""The gates that circuits are made of: how many qubits and angles each has, and its matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.circuits.angles import Angle
from mcquack.circuits.rotations import rotation_matrices

ComplexArray: TypeAlias = NDArray[np.complex128]
Pairs: TypeAlias = list[tuple[int, int]]
Matrix: TypeAlias = tuple[tuple[complex, ...], ...]

_X = np.array([[0, 1], [1, 0]], dtype=complex)
_Y, _Z = np.array([[0, -1j], [1j, 0]]), np.diag([1.0 + 0j, -1])
_FIXED: dict[str, NDArray[Any]] = {
    "h": (_X + _Z) / np.sqrt(2),
    "x": _X,
    "y": _Y,
    "z": _Z,
    "s": np.diag([1 + 0j, 1j]),
    "t": np.diag([1 + 0j, np.exp(0.25j * np.pi)]),
    "sx": 0.5 * np.array([[1 + 1j, 1 - 1j], [1 - 1j, 1 + 1j]]),
    "swap": np.eye(4, dtype=complex)[:, [0, 2, 1, 3]],
}
PAULIS: Mapping[str, NDArray[Any]] = MappingProxyType({"x": _X, "y": _Y, "z": _Z})


class Kind(NamedTuple):
    """Number of qubits and of angles of a gate."""

    n_qubits: int
    n_angles: int


GATES: Mapping[str, Kind] = MappingProxyType(
    {
        **dict.fromkeys(("rx", "ry", "rz"), Kind(1, 1)),
        "rot": Kind(1, 3),
        **dict.fromkeys(("rxx", "ryy", "rzz", "crx", "cry", "crz"), Kind(2, 1)),
        **dict.fromkeys(("h", "x", "y", "z", "s", "t", "sx"), Kind(1, 0)),
        **dict.fromkeys(("cnot", "cz", "cy", "swap"), Kind(2, 0)),
        "unitary": Kind(0, 0),  # one or two qubits, as its matrix says
    }
)
"""All gates by name. Of two qubits the first is the control; Rot(φ, θ, ω) = RZ(ω) RY(θ) RZ(φ)."""


@dataclass(frozen=True)
class Gate:
    """One gate of a circuit: its name in :data:`GATES`, its qubits, its angles, and for "unitary" its matrix."""

    name: str
    qubits: tuple[int, ...]
    angles: tuple[Angle, ...] = ()
    matrix: Matrix | None = None

    def __str__(self) -> str:
        inside = f"({', '.join(map(str, self.angles))})" if self.angles else ""
        return f"{self.name.upper()}{inside} {','.join(map(str, self.qubits))}"


def gate_matrices(gate: Gate, angles: FloatArray) -> ComplexArray:
    """The matrices (…, D, D) of a gate for angles (…, k); the first of its qubits is the higher bit of an index.

    >>> gate_matrices(Gate("cnot", (0, 1)), np.zeros(0)).real.astype(int).tolist()
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    """
    name, lead = gate.name, angles.shape[:-1]
    if name == "unitary":
        matrix = np.array(gate.matrix, dtype=complex)
        return np.broadcast_to(matrix, (*lead, *matrix.shape))
    if name in _FIXED:
        return np.broadcast_to(_FIXED[name], (*lead, *_FIXED[name].shape))
    if name == "rot":
        return rotation_matrices(angles)
    if name in ("cnot", "cz", "cy"):
        inner = np.broadcast_to(PAULIS["x" if name == "cnot" else name[1]], (*lead, 2, 2))
        return _controlled(inner)
    if name[0] == "c":
        return _controlled(_rotation(PAULIS[name[2]], angles[..., 0]))
    axis = PAULIS[name[1]]
    return _rotation(axis if len(name) == 2 else np.kron(axis, axis), angles[..., 0])


def _rotation(pauli: ComplexArray, angle: FloatArray) -> ComplexArray:
    half = np.asarray(angle)[..., None, None] / 2
    found: ComplexArray = np.cos(half) * np.eye(len(pauli)) - 1j * np.sin(half) * pauli
    return found


def _controlled(inner: ComplexArray) -> ComplexArray:
    found = np.zeros((*inner.shape[:-2], 4, 4), dtype=complex)
    found[..., 0, 0] = found[..., 1, 1] = 1
    found[..., 2:, 2:] = inner
    return found


def ring(n_qubits: int) -> Pairs:
    """The pairs (q, q+1) and (n-1, 0); two qubits have one pair in each direction, one qubit has none.

    >>> ring(3)
    [(0, 1), (1, 2), (2, 0)]
    """
    return [(qubit, (qubit + 1) % n_qubits) for qubit in range(n_qubits)] if n_qubits > 1 else []


def line(n_qubits: int) -> Pairs:
    """The pairs (q, q+1) of neighbours."""
    return [(qubit, qubit + 1) for qubit in range(n_qubits - 1)]


def all_to_all(n_qubits: int) -> Pairs:
    """All pairs (p, q) with p < q."""
    return [(p, q) for p in range(n_qubits) for q in range(p + 1, n_qubits)]


def once(pairs: Iterable[tuple[int, int]]) -> Pairs:
    """Each pair once, whichever way round it is: what symmetric gates such as CZ take of the couplings of a device."""
    return list(dict.fromkeys((min(pair), max(pair)) for pair in pairs))
