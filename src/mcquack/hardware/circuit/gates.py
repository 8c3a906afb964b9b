"""The overlap circuit gate by gate, with angles of any kind: numbers, symbols or names of inputs."""

import math
from collections.abc import Iterator, Sequence
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

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
