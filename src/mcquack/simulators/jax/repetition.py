"""Where the gates of a circuit repeat: what is compiled once and run many times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcquack.circuits.gates import Gate

_LEAST_SAVED = 12  # gates; a loop costs as much as compiling a few of them
_LONGEST = 4_000  # gates that a layer may have to be found again


class Section(NamedTuple):
    """Some gates one after the other, so many times; their angles differ from time to time."""

    gates: tuple[Gate, ...]
    times: int

    @property
    def n_angles(self) -> int:
        """The number of angles of one time."""
        return sum(len(gate.angles) for gate in self.gates)


def sections(gates: Iterable[Gate]) -> tuple[Section, ...]:
    """The gates of a circuit, in order, cut such that layers that repeat are one section.

    Gates are alike that differ in their angles alone.

    >>> from mcquack.circuits import Circuit, b, ring
    >>> layer = Circuit(3, 1).rx([0, 1, 2], b).cnot(ring(3))
    >>> [(len(section.gates), section.times) for section in sections((Circuit(3, 1).h(0) + layer.repeated(9)).gates)]
    [(1, 1), (6, 9)]
    """
    return tuple(_joined(_found(tuple(gates))))


def _found(gates: tuple[Gate, ...]) -> Iterator[Section]:
    known: dict[object, int] = {}
    likes = [known.setdefault((gate.name, gate.qubits, gate.matrix), len(known)) for gate in gates]
    codes, first = np.array(likes, dtype=np.int64), 0
    while first < len(gates):
        length, times = _best_period(codes[first:])
        yield Section(gates[first : first + length], times)
        first += length * times


def _best_period(codes: NDArray[np.int64]) -> tuple[int, int]:
    """How long the layer at the beginning is, and how often it comes in a row, where that saves the most gates."""
    best = (1, 1)
    for length in 1 + np.flatnonzero(codes[1 : 1 + _LONGEST] == codes[0]):
        differ = codes[length:] != codes[:-length]
        same = int(differ.argmax()) if differ.any() else len(differ)
        times = 1 + same // int(length)
        if length * (times - 1) >= max(_LEAST_SAVED, best[0] * (best[1] - 1) + 1):
            best = int(length), times
    return best


def _joined(found: Iterator[Section]) -> Iterator[Section]:
    """Neighbours that come once are one section."""
    single: list[Gate] = []
    for section in found:
        if section.times == 1:
            single += section.gates
            continue
        if single:
            yield Section(tuple(single), 1)
            single = []
        yield section
    if single:
        yield Section(tuple(single), 1)
