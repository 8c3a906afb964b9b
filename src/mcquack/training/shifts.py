"""Derivatives by single angles, from circuits in which one of them is shifted.

An angle of one gate enters a fidelity, and k^b too, as a + b·cos + c·sin, so half the difference of the values at ±π/2
is the exact derivative. A shift of one angle is a shift of one bias.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcquack.circuits.feature_map import FeatureMap
from mcquack.simulators.engine import E, Engine, FloatArray
from mcquack.training.from_values import Side, kernels_of

IntArray = NDArray[np.intp]


class Shift(NamedTuple):
    """One angle (layer, qubit, position in the gate), and the data points in whose circuits it is shifted."""

    angle: tuple[int, int, int]
    rows: IntArray


def live_angles(feature_map: FeatureMap) -> list[tuple[int, int, int]]:
    """All but the φ of the first layer: these turn |0…0⟩ about z, which nobody can see."""
    return [angle for angle in np.ndindex(feature_map.parameter_shape) if angle[0] or angle[2]]


def angle_slopes(
    engine: Engine[E], moved: E, others: E, cotangent: FloatArray, shifts: Sequence[Shift], *, side: Side
) -> FloatArray:
    """Derivatives of Σ cotangent∘K by the angles of the ``moved`` data points, (N, L, n, 3); 0 where none is asked for.

    ``side`` says whether these are the samples or the centroids.
    """
    found = np.zeros((len(moved), *engine.feature_map.parameter_shape))
    kernels = kernels_of(engine, _shifted(engine, moved, shifts), others, side=side)
    by_moved = cotangent if side == "samples" else cotangent.T
    for shift in shifts:
        up, down = next(kernels), next(kernels)
        half = (up - down) / 2 if side == "samples" else (up - down).T / 2
        found[(shift.rows, *shift.angle)] = np.sum(by_moved[shift.rows] * half, axis=1)
    return found


def _shifted(engine: Engine[E], encoded: E, shifts: Sequence[Shift]) -> Iterator[E]:
    for shift in shifts:
        for turn in (math.pi / 2, -math.pi / 2):
            bias = encoded.bias.copy()
            bias[shift.angle] += turn
            yield engine.encode(encoded.features[shift.rows], encoded.weights, bias)
