"""Where to draw the qubits of a device, so that a picture looks as the device does."""

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.hardware.layout.coupling import Coupling

Neighbours = dict[int, list[int]]

_MOST_ITERATIONS = 300
_DENSE = 0.5  # share of all pairs that are coupled, from which on distances tell nothing


def qubit_positions(coupling: Coupling) -> FloatArray:
    """x to the right and y downwards for each qubit, (n, 2), about 1 between coupled ones.

    On a lattice that is numbered line by line, as those of IBM are, every coupler is a horizontal or vertical step.
    Elsewhere distances follow the number of couplers on the way; where nearly all are coupled to all, and that tells
    nothing, the qubits stand on a circle. Parts of a device that no coupler joins are side by side.
    """
    neighbours: Neighbours = {qubit: [] for qubit in range(coupling.n_qubits)}
    for first, second in coupling.edges:
        neighbours[first].append(second)
        neighbours[second].append(first)
    positions = np.zeros((coupling.n_qubits, 2))
    right = 0.0
    for part in sorted(_parts(neighbours), key=lambda part: (-len(part), part)):
        own = _lattice_positions(part, neighbours)
        if own is None:
            own = _free_positions(part, neighbours)
        own -= own.min(axis=0)
        positions[part] = own + np.array([right, 0.0])
        right += own[:, 0].max() + 1
    return positions


def _parts(neighbours: Neighbours) -> list[list[int]]:
    """The qubits that couplers join, directly or not."""
    parts: list[list[int]] = []
    rest = set(neighbours)
    while rest:
        part = [min(rest)]
        for qubit in part:  # which grows meanwhile
            part += [other for other in neighbours[qubit] if other not in part]
        rest -= set(part)
        parts.append(sorted(part))
    return parts


def _lattice_positions(part: list[int], neighbours: Neighbours) -> FloatArray | None:
    """A coupler to the next number goes right, any other one down; None if that leads to a contradiction."""
    places = {part[0]: (0, 0)}
    reached = [part[0]]
    for qubit in reached:  # which grows meanwhile
        x, y = places[qubit]
        for other in neighbours[qubit]:
            sign = 1 if other > qubit else -1
            place = (x + sign, y) if abs(other - qubit) == 1 else (x, y + sign)
            if other not in places:
                reached.append(other)
            if places.setdefault(other, place) != place:
                return None
    if len(set(places.values())) < len(places):
        return None
    positions = np.array([places[qubit] for qubit in part], dtype=np.float64)
    width, height = np.ptp(positions, axis=0)
    return positions if width >= height else positions[:, ::-1].copy()


def _free_positions(part: list[int], neighbours: Neighbours) -> FloatArray:
    n_couplers = sum(len(neighbours[qubit]) for qubit in part) / 2
    if n_couplers > _DENSE * len(part) * (len(part) - 1) / 2:
        angles = 2 * np.pi * np.arange(len(part)) / len(part)
        return np.stack([np.sin(angles), -np.cos(angles)], axis=1) * max(1.0, len(part) / (2 * np.pi))
    return _upright(_stress_positions(_distances(part, neighbours)))


def _distances(part: list[int], neighbours: Neighbours) -> FloatArray:
    """The number of couplers between any two qubits."""
    place = {qubit: position for position, qubit in enumerate(part)}
    distances = np.full((len(part), len(part)), np.inf)
    for start in part:
        row = distances[place[start]]
        row[place[start]] = 0
        reached = [start]
        for qubit in reached:  # which grows meanwhile
            for other in neighbours[qubit]:
                if row[place[other]] == np.inf:
                    row[place[other]] = row[place[qubit]] + 1
                    reached.append(other)
    return distances


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
    """The two main axes of classical scaling."""
    squares = distances**2
    centred = -(squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()) / 2
    values, vectors = np.linalg.eigh(centred)
    axes = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    # A sign is arbitrary: the largest entry is made positive, for the same picture on every machine.
    signed: FloatArray = axes * np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1, 1)
    # Qubits with the same neighbours would stand on one another for ever.
    nudges = np.stack([np.cos(np.arange(len(axes))), np.sin(np.arange(len(axes)))], axis=1)
    return signed[:, ::-1] + 1e-3 * nudges


def _upright(positions: FloatArray) -> FloatArray:
    """Turned so that the longer side lies."""
    centred = positions - positions.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    turned: FloatArray = centred @ axes.T
    return turned * np.where(turned[0] > 0, -1, 1)  # the first qubit at the upper left
