"""Where to draw the qubits of a device, so that a picture looks as the device does."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, shortest_path

from mcquack.arrays import FloatArray
from mcquack.hardware.layout.coupling import Coupling

_MOST_ITERATIONS = 300
_DENSE = 0.5  # share of all pairs that are coupled, from which on distances tell nothing


def qubit_positions(coupling: Coupling) -> FloatArray:
    """Where each qubit is drawn: x to the right and y downwards, (n, 2), about 1 between coupled ones.

    On a lattice that is numbered line by line, as those of IBM are, every coupler is a horizontal or vertical step.
    Elsewhere distances follow the number of couplers on the way; where nearly all are coupled to all, and that tells
    nothing, the qubits stand on a circle. Parts of a device that no coupler joins are side by side.
    """
    coupled = np.zeros((coupling.n_qubits, coupling.n_qubits), dtype=bool)
    for first, second in coupling.edges:
        coupled[first, second] = coupled[second, first] = True
    n_parts, part_of = connected_components(coupled, directed=False)
    parts = [np.flatnonzero(part_of == part) for part in range(n_parts)]
    positions, right = np.zeros((coupling.n_qubits, 2)), 0.0
    for part in sorted(parts, key=lambda part: (-len(part), part[0])):
        within = coupled[np.ix_(part, part)]
        own = _lattice_positions(part, within)
        if own is None:
            own = _free_positions(within)
        own -= own.min(axis=0)
        positions[part] = own + np.array([right, 0.0])
        right += own[:, 0].max() + 1
    return positions


def _lattice_positions(numbers: NDArray[np.intp], coupled: NDArray[np.bool_]) -> FloatArray | None:
    """A coupler to the next number goes right, any other one down; None if that leads to a contradiction."""
    places = {0: (0, 0)}
    reached = [0]
    for qubit in reached:  # which grows meanwhile
        x, y = places[qubit]
        for other in np.flatnonzero(coupled[qubit]).tolist():
            sign = 1 if other > qubit else -1
            place = (x + sign, y) if abs(numbers[other] - numbers[qubit]) == 1 else (x, y + sign)
            if other not in places:
                reached.append(other)
            if places.setdefault(other, place) != place:
                return None
    if len(set(places.values())) < len(places):
        return None
    positions = np.array([places[qubit] for qubit in range(len(numbers))], dtype=np.float64)
    width, height = np.ptp(positions, axis=0)
    return positions if width >= height else positions[:, ::-1].copy()


def _free_positions(coupled: NDArray[np.bool_]) -> FloatArray:
    n_qubits = len(coupled)
    if coupled.sum() > _DENSE * n_qubits * (n_qubits - 1):
        angles = 2 * np.pi * np.arange(n_qubits) / n_qubits
        return np.stack([np.sin(angles), -np.cos(angles)], axis=1) * max(1.0, n_qubits / (2 * np.pi))
    positions = _stress_positions(shortest_path(coupled, directed=False, unweighted=True))
    # Turned so that the longer side lies, and the first qubit is at the upper left.
    centred = positions - positions.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    turned: FloatArray = centred @ axes.T
    return turned * np.where(turned[0] > 0, -1, 1)


def _stress_positions(distances: FloatArray) -> FloatArray:
    """Positions whose distances agree best with the wanted ones, near ones first, by majorising the stress."""
    positions = _principal_positions(distances)
    np.fill_diagonal(distances, 1)
    weights = distances**-2
    np.fill_diagonal(weights, 0)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(_MOST_ITERATIONS):
        drawn = np.linalg.norm(positions[:, None] - positions, axis=2)
        pull = -weights * distances / np.maximum(drawn, 1e-9)
        np.fill_diagonal(pull, 0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        moved = inverse @ (pull @ positions)
        if np.abs(moved - positions).max() < 1e-4:
            break
        positions = moved
    return positions


def _principal_positions(distances: FloatArray) -> FloatArray:
    squares = distances**2
    centred = -(squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()) / 2
    values, vectors = np.linalg.eigh(centred)
    axes = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    # A sign is arbitrary: the largest entry is made positive, for the same picture on every machine.
    signed: FloatArray = axes * np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1, 1)
    # Qubits with the same neighbours would stand on one another for ever.
    nudges = np.stack([np.cos(np.arange(len(axes))), np.sin(np.arange(len(axes)))], axis=1)
    return signed[:, ::-1] + 1e-3 * nudges
