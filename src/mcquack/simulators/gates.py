"""The gate engine: any circuit as statevectors on the CPU, as turns and diagonals in as few steps as its gates allow.

Every gate of the table is decomposed into RY, exp(-i/2 θ Z…Z) and renamings of basis states. The renamings are never
carried out: an amplitude stays in its row, and each qubit knows which rows it tells apart (the parity of the row with a
mask ``sees``) and to which row a flip of it leads (the XOR with a mask ``flips``). In terms of rows, all diagonals
commute, and so do turns of different qubits; each element is put into the earliest step that it can reach.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcquack.circuits.angles import FUNCTIONS
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.gates import PHASE, decomposed
from mcquack.simulators.compiled.gates import (
    DIAGONAL,
    LOW_BITS,
    TURN,
    GateForm,
    gate_scratch,
    gate_scratch_bytes,
)
from mcquack.simulators.statevector import StateEngine

_CONSTANT = -1


class Sum(dict[int, float]):
    """An angle as a sum: factors of the circuit's angles by their number, and under -1 a constant."""

    def __rmul__(self, factor: float) -> Sum:
        return Sum({source: factor * own for source, own in self.items()})


class Program(NamedTuple):
    """A circuit as compiled code takes it, and where its basis states are stored in the end."""

    form: GateForm
    row_of_index: NDArray[np.int64]
    n_turns: int
    n_diagonals: int


@dataclass
class _Frame:
    """Which rows each qubit sees as 1 (parity of row and mask, perhaps inverted), and where a flip of it leads."""

    sees: list[int]
    flips: list[int]
    inverted: list[bool]

    @classmethod
    def plain(cls, n_qubits: int) -> _Frame:
        units = [1 << (n_qubits - 1 - qubit) for qubit in range(n_qubits)]
        return cls(list(units), list(units), [False] * n_qubits)

    def cnot(self, control: int, target: int) -> None:
        self.sees[target] ^= self.sees[control]
        self.inverted[target] ^= self.inverted[control]
        self.flips[control] ^= self.flips[target]

    def swap(self, left: int, right: int) -> None:
        self.sees[left], self.sees[right] = self.sees[right], self.sees[left]
        self.flips[left], self.flips[right] = self.flips[right], self.flips[left]
        self.inverted[left], self.inverted[right] = self.inverted[right], self.inverted[left]

    def row_of_index(self, n_qubits: int) -> NDArray[np.int64]:
        indices = np.arange(1 << n_qubits)
        rows = np.zeros(1 << n_qubits, dtype=np.int64)
        for qubit in range(n_qubits):
            bits = indices >> (n_qubits - 1 - qubit) & 1
            rows ^= np.where(bits ^ self.inverted[qubit], self.flips[qubit], 0)
        return rows


@dataclass
class _Step:
    kind: int
    elements: dict[Any, Sum] = field(default_factory=dict)  # by mask, or for turns by (flips, sees)


def _odd(value: int) -> bool:
    return value.bit_count() & 1 == 1


class _Steps:
    """The steps so far; whatever is added goes into the earliest of them that it can reach."""

    def __init__(self, n_qubits: int) -> None:
        self.frame = _Frame.plain(n_qubits)
        self.steps: list[_Step] = []

    def phase(self, qubits: tuple[int, ...], angle: Sum) -> None:
        """A common phase exp(i angle)."""
        self._put(DIAGONAL, 0, -2 * angle)

    def rz(self, qubits: tuple[int, ...], angle: Sum) -> None:
        """exp(-i/2 angle Z…Z)."""
        mask, inverted = 0, False
        for qubit in qubits:
            mask ^= self.frame.sees[qubit]
            inverted ^= self.frame.inverted[qubit]
        self._put(DIAGONAL, mask, -1 * angle if inverted else angle)

    def ry(self, qubits: tuple[int, ...], angle: Sum) -> None:
        (qubit,) = qubits
        key = self.frame.flips[qubit], self.frame.sees[qubit]
        self._put(TURN, key, -1 * angle if self.frame.inverted[qubit] else angle)

    def x(self, qubits: tuple[int, ...]) -> None:
        self.frame.inverted[qubits[0]] ^= True

    def cnot(self, qubits: tuple[int, ...]) -> None:
        self.frame.cnot(*qubits)

    def swap(self, qubits: tuple[int, ...]) -> None:
        self.frame.swap(*qubits)

    def _put(self, kind: int, key: Any, angle: Sum) -> None:
        found = None
        for step in reversed(self.steps):
            if step.kind == kind and (kind == DIAGONAL or self._joins(key, step)):
                found = step
            if not self._commutes(kind, key, step):
                break
        if found is None:
            found = _Step(kind)
            self.steps.append(found)
        known = found.elements.setdefault(key, Sum())
        for source, factor in angle.items():
            known[source] = known.get(source, 0.0) + factor

    @staticmethod
    def _joins(key: tuple[int, int], step: _Step) -> bool:
        flips, sees = key
        return all(
            (flips, sees) == other or not (_odd(flips & other[1]) or _odd(other[0] & sees)) for other in step.elements
        )

    @staticmethod
    def _commutes(kind: int, key: Any, step: _Step) -> bool:
        if kind == DIAGONAL:
            return step.kind == DIAGONAL or not any(_odd(flips & key) for flips, _ in step.elements)
        flips, sees = key
        if step.kind == DIAGONAL:
            return not any(_odd(flips & mask) for mask in step.elements)
        return all(_odd(flips & other[1]) == _odd(other[0] & sees) for other in step.elements)


_ELEMENTS: dict[str, Callable[..., None]] = {
    "ry": _Steps.ry,
    "rz": _Steps.rz,
    "rzz": _Steps.rz,
    "x": _Steps.x,
    "cnot": _Steps.cnot,
    "swap": _Steps.swap,
    PHASE: _Steps.phase,
}


def _compiled_steps(circuit: Circuit) -> _Steps:
    """All gates, decomposed into turns, diagonals and permutations of basis states."""
    steps, places = _Steps(circuit.n_qubits), count()
    for gate in circuit.gates:
        sources = zip(gate.angles, places, strict=False)
        angles = [Sum({_CONSTANT: angle.offset} if angle.is_constant else {place: 1.0}) for angle, place in sources]
        for name, qubits, own in decomposed(gate, angles, into=_ELEMENTS):
            sums = [angle if isinstance(angle, Sum) else Sum({_CONSTANT: angle}) for angle in own]
            _ELEMENTS[name](steps, qubits, *sums)
    return steps


@lru_cache(maxsize=32)
def program_of(circuit: Circuit, dtype: str) -> Program:
    """The circuit as steps, with numbers of this float type."""
    steps = _compiled_steps(circuit)
    n, table = circuit.n_qubits, circuit.angle_table
    kept = [step for step in steps.steps if step.elements]
    frames: dict[tuple[int, ...], int] = {}
    kinds, frame_of, skipped, firsts = [], [], [], [0]
    low, high, offsets, part_firsts, parts = [], [], [], [0], []
    bits = min(n, LOW_BITS)
    for step in kept:
        kinds.append(step.kind)
        keys = list(step.elements)
        if step.kind == TURN:
            masks = (*_others(n, [sees for _, sees in keys]), *(flips for flips, _ in keys))
            frame_of.append(frames.setdefault(masks, len(frames)))
            skipped.append(n - len(keys))
        else:
            frame_of.append(0)
            skipped.append(0)
        for key in keys:
            mask = key if step.kind == DIAGONAL else 0
            low.append(mask & ((1 << bits) - 1))
            high.append(mask >> bits)
            offset = 0.0
            for source, factor in step.elements[key].items():
                offset += factor * (1.0 if source == _CONSTANT else table.offset[source])
                if source != _CONSTANT and factor != 0:
                    parts.append((source, factor))
            offsets.append(math.remainder(0.5 * offset, 2 * math.pi))  # whole turns would cost digits
            part_firsts.append(len(parts))
        firsts.append(len(low))
    sources = np.array([source for source, _ in parts], dtype=np.int64)
    factors = np.array([factor for _, factor in parts], dtype=np.float64)
    inputs = [FUNCTIONS[name].code for product in table.inputs for name, _ in product]
    features = [feature for product in table.inputs for _, feature in product]
    form = GateForm(
        kinds=_whole(kinds),
        firsts=_whole(firsts),
        frames=_whole(frame_of),
        skipped=_whole(skipped),
        masks=_whole(list(frames)).reshape(len(frames), n),
        low=_whole(low),
        high=_whole(high),
        half_offsets=np.array(offsets, dtype=dtype),
        part_firsts=_whole(part_firsts),
        part_weight=_whole(table.weight[sources]),
        part_factor=(factors * table.factor[sources]).astype(dtype),
        part_input=_whole(table.input[sources]),
        part_bias=_whole(table.bias[sources]),
        part_bias_factor=(factors * table.bias_factor[sources]).astype(dtype),
        input_firsts=_whole([0, *np.cumsum([len(product) for product in table.inputs])]),
        input_function=_whole(inputs),
        input_feature=_whole(features),
        padding=np.array([circuit.padding] if circuit.start == "amplitudes" else [], dtype=dtype),
    )
    n_turns = sum(len(step.elements) for step in kept if step.kind == TURN)
    n_diagonals = sum(step.kind == DIAGONAL for step in kept)
    return Program(form, steps.frame.row_of_index(n), n_turns, n_diagonals)


def _whole(values: Any) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def _others(n_qubits: int, sees: list[int]) -> Iterator[int]:
    """Masks that flip none of the bits which these see: with a flip of each bit they reach every row."""
    pivots: dict[int, int] = {}  # bit -> a combination of the masks that alone among all has this bit
    for mask in sees:
        for bit, row in pivots.items():
            if mask >> bit & 1:
                mask ^= row
        bit = (mask & -mask).bit_length() - 1
        for other, row in pivots.items():
            if row >> bit & 1:
                pivots[other] = row ^ mask
        pivots[bit] = mask
    for free in range(n_qubits - 1, -1, -1):
        if free not in pivots:
            yield (1 << free) | sum(1 << bit for bit, row in pivots.items() if row >> free & 1)


class GateEngine(StateEngine):
    """Exact simulation of any circuit of 1 to 20 qubits on the CPU.

    Gates are fused before they run: neighbouring rotations about z, of one qubit or of products of several, become one
    phase of each amplitude, and CNOT, SWAP and X cost nothing at all. The feature map of the paper has a faster engine,
    ``StatevectorEngine``, and runs here too.

    Parameters
    ----------
    feature_map : Circuit, optional
        The circuit; a classifier that is given the engine brings its own.
    dtype : "float32" or "float64"
        In which numbers are computed, and kept.
    n_threads : int, optional
        Threads to use, by default all that Numba may use. Results do not depend on it.

    Examples
    --------
    >>> from mcquack.circuits import Circuit, b, x
    >>> circuit = Circuit(2, 2).h([0, 1]).rz([0, 1], [x[0], x[1]]).rzz((0, 1), x[0] * x[1]).ry([0, 1], b)
    >>> engine = GateEngine(circuit, dtype="float64")
    >>> encoded = engine.encode([[0.5, 1.0], [0.0, 0.0]], [], [0.1, 0.2])
    >>> engine.fidelities(encoded, encoded).shape
    (2, 2)
    >>> engine.expectations(encoded, [0, (0, 1)]).shape  # ⟨Z₀⟩ and ⟨Z₀Z₁⟩
    (2, 2)
    """

    name = "gates"

    @cached_property
    def _program(self) -> Program:
        return program_of(self.feature_map, self.dtype.name)

    @cached_property
    def form(self) -> Any:
        return self._program.form

    @cached_property
    def row_of_index(self) -> NDArray[np.int64]:
        return self._program.row_of_index

    def flops(self, n_rows: int, *, with_gradient: bool) -> float:
        turns, diagonals = self._program.n_turns, self._program.n_diagonals
        per_amplitude = (30 * turns + 90 * diagonals) if with_gradient else (8 * turns + 40 * diagonals)
        return float(self.feature_map.dimension * per_amplitude * n_rows)

    def scratch(self, n_threads: int, *, backward: bool) -> list[Any]:
        sizes = self.feature_map.n_qubits, self.feature_map.n_features
        return [gate_scratch(*sizes, self.form, self.dtype, backward=backward) for _ in range(n_threads)]

    def scratch_bytes(self, *, backward: bool) -> int:
        sizes = self.feature_map.n_qubits, self.feature_map.n_features, len(self.form.input_firsts)
        return gate_scratch_bytes(*sizes, backward=backward)
