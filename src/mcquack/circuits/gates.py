"""The table of gates: what each gate means, how it is decomposed, drawn, differentiated and called elsewhere.

:data:`GATES` has one definition per gate, and everything else reads it: simulators, drawings, exports and devices. A
new gate is one more entry of it::

    GATES["rzx"] = GateDefinition(2, 1, steps=(Step("h", (1,)), Step("rzz", (0, 1), Share(1.0, 0)), Step("h", (1,))))
    Circuit(2, 1).gate("rzx", (0, 1), w * x[0])
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import ComplexArray, FloatArray
from mcquack.circuits.angles import Angle
from mcquack.circuits.rotations import PAULIS, interaction, rotation_angles, rotation_entries
from mcquack.errors import InvalidInputError

Pairs: TypeAlias = list[tuple[int, int]]
Matrix: TypeAlias = tuple[tuple[complex, ...], ...]
Angles: TypeAlias = Sequence[Any] | NDArray[Any]
"""Numbers, arrays with one number per sample, or symbols."""
Entries: TypeAlias = list[list[Any]]
"""A matrix by rows, whose entries are None for zero, a complex constant, or an array with one number per sample."""
ShiftRule: TypeAlias = tuple[tuple[float, float], ...]
"""Shifts s with factors c: the derivative of f at θ is the sum of c·(f(θ + s) - f(θ - s))."""

TWO_TERMS: ShiftRule = ((math.pi / 2, 0.5),)
FOUR_TERMS: ShiftRule = (
    (math.pi / 2, (math.sqrt(2) + 1) / math.sqrt(32)),
    (3 * math.pi / 2, (1 - math.sqrt(2)) / math.sqrt(32)),
)
CONTROL, TARGET, SWAPPED = "●", "⊕", "×"
PHASE = "phase"
"""The step exp(i angle) of a decomposition, which acts on no qubit and is no gate of its own."""


class Share(NamedTuple):
    """An angle of a step: a factor times one of the angles of the whole gate, by its number."""

    factor: float
    number: int


class Step(NamedTuple):
    """One gate of a decomposition: its name, its places among the qubits of the whole gate, and its angle if any.

    Gates with more than one angle are no steps; take their own steps instead.
    """

    name: str
    places: tuple[int, ...] = ()
    angle: Share | float | None = None

    def angles(self, whole: Angles) -> tuple[Any, ...]:
        """Return the angles of this step, where the whole gate has these."""
        if not isinstance(self.angle, Share):
            return () if self.angle is None else (self.angle,)
        own = whole[self.angle.number]
        return (own if self.angle.factor == 1 else self.angle.factor * own,)


class Operation(NamedTuple):
    """A gate on its qubits with angles that may be numbers, arrays or symbols."""

    name: str
    qubits: tuple[int, ...]
    angles: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class GateDefinition:
    """What one gate means.

    Its matrix follows from ``generator`` or ``matrix``, or else from ``steps``. Its inverse is its steps backwards with
    negated angles, or the conjugate transpose of its matrix.

    Parameters
    ----------
    n_qubits, n_angles : How many of both it has; on two qubits the first one is the control, and the higher bit of an
        index into the matrix.
    steps : Its decomposition, in order, into other gates and phases. The gate engine decomposes until there are turns
        RY, diagonals RZ and RZZ, and the permutations X, CNOT and SWAP, which have no steps.
    generator : The matrix G of a gate with one angle, exp(-i/2 angle G); the eigenvalues of G are among -1, 0 and 1.
    matrix : The matrix of a gate without angles.
    circuit : Another decomposition for circuits that are exported, in which CNOTs count; by default it is ``steps``.
    marks : What is drawn on each qubit: :data:`CONTROL`, :data:`TARGET`, :data:`SWAPPED`, or the text of a box. The
        first box shows the angles. By default it is the name of the gate in capital letters.
    qasm, qiskit, pennylane : Its name in the standard library of OpenQASM 3, as a method of Qiskit's QuantumCircuit
        (by default the name in OpenQASM) and as an operation of PennyLane. Where it has no name, its decomposition is
        exported.
    """

    n_qubits: int
    n_angles: int = 0
    steps: tuple[Step, ...] = ()
    generator: NDArray[Any] | None = None
    matrix: NDArray[Any] | None = None
    circuit: tuple[Step, ...] = ()
    marks: tuple[str, ...] = ()
    qasm: str | None = None
    qiskit: str | None = None
    pennylane: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "qiskit", self.qiskit or self.qasm)
        if (G := self.generator) is not None and not (np.allclose(G, G.conj().T) and np.allclose(G @ G @ G, G)):
            raise InvalidInputError("the generator of a gate must be Hermitian, with eigenvalues among -1, 0 and 1.")

    def entries(self, angles: Angles, numbers: Any = np) -> Entries:
        """Return the matrix for angles that are arrays of the module ``numbers``, NumPy or jax.numpy."""
        if self.matrix is not None:
            return constant_entries(self.matrix)
        if self.generator is not None:
            return _rotation(self.generator, angles[0], numbers)
        return self._from_steps(angles, numbers)[0]

    def generators(self, angles: Angles, numbers: Any = np) -> list[Entries]:
        """Return for each angle the matrix G with dU = -i/2 G U."""
        if self.generator is not None:
            return [constant_entries(self.generator)]
        return self._from_steps(angles, numbers)[1] if self.n_angles else []

    def _from_steps(self, angles: Angles, numbers: Any) -> tuple[Entries, list[Entries]]:
        """Return the matrix and the generators: after a step V the matrix U is VU, and a generator G is VGV†."""
        dimension = 1 << self.n_qubits
        found = constant_entries(np.eye(dimension))
        slopes: list[Entries] = [constant_entries(np.zeros((dimension, dimension)))] * self.n_angles
        for step in self.steps:
            own = step.angles(angles)
            if step.name == PHASE:
                matrix, inner = _diagonal(numbers.exp(1j * own[0]), dimension), [_diagonal(-2.0 + 0j, dimension)]
            else:
                known = GATES[step.name]
                matrix, *inner = (
                    _embedded(each, step.places, self.n_qubits)
                    for each in (known.entries(own, numbers), *known.generators(own, numbers))
                )
            found = _product(matrix, found)
            slopes = [_product(_product(matrix, slope), adjoint(matrix)) for slope in slopes]
            if isinstance(step.angle, Share):
                factor, number = step.angle
                slopes[number] = _sum(slopes[number], _product(_diagonal(factor + 0j, dimension), inner[0]))
        return found, slopes

    @cached_property
    def is_diagonal(self) -> bool:
        """Whether the gate changes nothing but phases of basis states."""
        own = self.generator if self.matrix is None else self.matrix
        if own is not None:
            return not np.count_nonzero(own - np.diag(np.diag(own)))
        return bool(self.steps) and all(map(_is_diagonal, self.steps))

    @cached_property
    def leading_angles(self) -> frozenset[int]:
        """The numbers of the angles that turn nothing but phases before the rest of the gate acts."""
        if self.is_diagonal:
            return frozenset(range(self.n_angles))
        n_leading = len(list(takewhile(_is_diagonal, self.steps)))
        first, rest = (_numbers(part) for part in (self.steps[:n_leading], self.steps[n_leading:]))
        return frozenset(first) - frozenset(rest)

    @cached_property
    def turn_speeds(self) -> FloatArray:
        """For each angle a bound on how fast it moves a state, in half radians per radian: 1 for a rotation."""
        if self.generator is not None:
            return np.ones(1)
        found = np.zeros(self.n_angles)
        for step in self.steps:
            if isinstance(step.angle, Share) and step.name != PHASE:
                found[step.angle.number] += abs(step.angle.factor) * GATES[step.name].turn_speeds[0]
        return found

    @cached_property
    def shift_rules(self) -> tuple[ShiftRule | None, ...]:
        """For each angle the rule that gives exact derivatives of expectation values, None if there is none."""
        if self.generator is not None:
            whole = np.allclose(self.generator @ self.generator, np.eye(len(self.generator)))
            return (TWO_TERMS if whole else FOUR_TERMS,)
        return tuple(map(self._rule_from_steps, range(self.n_angles)))

    def _rule_from_steps(self, number: int) -> ShiftRule | None:
        using = [step for step in self.steps if _numbers([step]) == [number] and step.name != PHASE]
        once = len(using) == 1 and abs(using[0].angle.factor) == 1  # type: ignore[union-attr]
        return GATES[using[0].name].shift_rules[0] if once else None


class _Rot(GateDefinition):
    """Rot(φ, θ, ω) by closed formulas in place of three products, as most circuits consist of it."""

    def entries(self, angles: Angles, numbers: Any = np) -> Entries:
        phi, theta, omega = angles
        return rotation_entries(phi, theta, omega, numbers)

    def generators(self, angles: Angles, numbers: Any = np) -> list[Entries]:
        _, theta, omega = angles
        cosine, sine, phase = numbers.cos(theta), numbers.sin(theta), numbers.exp(1j * omega)
        of_phi = [[cosine, sine * phase.conj()], [sine * phase, -cosine]]
        of_theta = [[None, -1j * phase.conj()], [1j * phase, None]]
        return [of_phi, of_theta, [[1 + 0j, None], [None, -1 + 0j]]]


_X, _Y, _Z = PAULIS.values()
_ONE = np.eye(2, dtype=complex)
_HALF = math.pi / 2
_ANGLE = Share(1.0, 0)


def _where_one(matrix: NDArray[Any], *, otherwise: float) -> NDArray[Any]:
    """The matrix where the first of two qubits is 1, and a multiple of the identity where it is 0."""
    return np.kron(np.diag([1, 0]), otherwise * _ONE) + np.kron(np.diag([0, 1]), matrix)


def _rx(place: int, angle: Share | float = _ANGLE) -> Step:
    return Step("rx", (place,), angle)


def _ry(place: int, angle: Share | float = _ANGLE) -> Step:
    return Step("ry", (place,), angle)


def _rz(place: int, angle: Share | float = _ANGLE) -> Step:
    return Step("rz", (place,), angle)


def _phase(angle: float) -> Step:
    return Step(PHASE, angle=angle)


def _interaction(axis: str, *steps: Step, circuit: tuple[Step, ...] = ()) -> GateDefinition:
    """exp(-i/2 angle PP) for a Pauli matrix P."""
    generator, name = np.kron(PAULIS[axis], PAULIS[axis]), f"Ising{2 * axis.upper()}"
    return GateDefinition(2, 1, steps, generator, circuit=circuit, qiskit=f"r{2 * axis}", pennylane=name)


def _controlled_rotation(axis: str, *steps: Step) -> GateDefinition:
    generator, name = _where_one(PAULIS[axis], otherwise=0), f"R{axis.upper()}"
    return GateDefinition(2, 1, steps, generator, marks=(CONTROL, name), qasm=f"cr{axis}", pennylane=f"C{name}")


def _fixed(
    matrix: NDArray[Any],
    qasm: str,
    pennylane: str,
    *steps: Step,
    circuit: tuple[Step, ...] = (),
    marks: tuple[str, ...] = (),
) -> GateDefinition:
    """A gate without angles."""
    n_qubits = len(matrix).bit_length() - 1
    return GateDefinition(
        n_qubits, steps=steps, matrix=matrix, circuit=circuit, marks=marks, qasm=qasm, pennylane=pennylane
    )


_CNOT = Step("cnot", (0, 1))
_H = Step("h", (1,))
_HALF_ANGLE, _MINUS_HALF_ANGLE = Share(0.5, 0), Share(-0.5, 0)
_TO_YY, _FROM_YY = (_rz(0, -_HALF), _rz(1, -_HALF)), (_rz(0, _HALF), _rz(1, _HALF))
_CZ_STEPS = (_rz(0, _HALF), _rz(1, _HALF), Step("rzz", (0, 1), -_HALF), _phase(_HALF / 2))
_SX = 0.5 * np.array([[1 + 1j, 1 - 1j], [1 - 1j, 1 + 1j]])
_SWAP = np.eye(4, dtype=complex)[:, [0, 2, 1, 3]]

GATES: dict[str, GateDefinition] = {
    "rx": GateDefinition(1, 1, (_rz(0, _HALF), _ry(0), _rz(0, -_HALF)), generator=_X, qasm="rx", pennylane="RX"),
    "ry": GateDefinition(1, 1, generator=_Y, qasm="ry", pennylane="RY"),
    "rz": GateDefinition(1, 1, generator=_Z, qasm="rz", pennylane="RZ"),
    "rot": _Rot(1, 3, (_rz(0), _ry(0, Share(1.0, 1)), _rz(0, Share(1.0, 2))), marks=("Rot",), pennylane="Rot"),
    "rxx": _interaction("x", _CNOT, _rx(0), _CNOT),
    "ryy": _interaction("y", *_TO_YY, Step("rxx", (0, 1), _ANGLE), *_FROM_YY),
    "rzz": _interaction("z", circuit=(_CNOT, _rz(1), _CNOT)),
    "crx": _controlled_rotation("x", _rz(1, _HALF), Step("cry", (0, 1), _ANGLE), _rz(1, -_HALF)),
    "cry": _controlled_rotation("y", _ry(1, _HALF_ANGLE), _CNOT, _ry(1, _MINUS_HALF_ANGLE), _CNOT),
    "crz": _controlled_rotation("z", _rz(1, _HALF_ANGLE), Step("rzz", (0, 1), _MINUS_HALF_ANGLE)),
    "h": _fixed((_X + _Z) / np.sqrt(2), "h", "Hadamard", _rz(0, math.pi), _ry(0, _HALF), _phase(_HALF)),
    "x": _fixed(_X, "x", "PauliX", circuit=(_rx(0, math.pi), _phase(_HALF))),
    "y": _fixed(
        _Y, "y", "PauliY", _rz(0, math.pi), Step("x", (0,)), _phase(math.pi), circuit=(_ry(0, math.pi), _phase(_HALF))
    ),
    "z": _fixed(_Z, "z", "PauliZ", _rz(0, math.pi), _phase(_HALF)),
    "s": _fixed(np.diag([1, 1j]), "s", "S", _rz(0, _HALF), _phase(_HALF / 2)),
    "t": _fixed(np.diag([1, np.exp(0.25j * np.pi)]), "t", "T", _rz(0, _HALF / 2), _phase(_HALF / 4)),
    "sx": _fixed(_SX, "sx", "SX", _rx(0, _HALF), _phase(_HALF / 2)),
    "cnot": _fixed(_where_one(_X, otherwise=1), "cx", "CNOT", marks=(CONTROL, TARGET)),
    "cz": _fixed(
        _where_one(_Z, otherwise=1), "cz", "CZ", *_CZ_STEPS, circuit=(_H, _CNOT, _H), marks=(CONTROL, CONTROL)
    ),
    "cy": _fixed(_where_one(_Y, otherwise=1), "cy", "CY", _rz(1, -_HALF), _CNOT, _rz(1, _HALF), marks=(CONTROL, "Y")),
    "swap": _fixed(_SWAP, "swap", "SWAP", circuit=(_CNOT, Step("cnot", (1, 0)), _CNOT), marks=(SWAPPED, SWAPPED)),
    "unitary": GateDefinition(0),  # each such gate has a matrix of its own, for one qubit or for two
}
"""All gates by name; Rot(φ, θ, ω) is RZ(ω) RY(θ) RZ(φ)."""


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

    @property
    def definition(self) -> GateDefinition:
        """What the gate means: its entry of :data:`GATES`, or for a "unitary" one of its own."""
        if self.matrix is None:
            return GATES[self.name]
        matrix = np.array(self.matrix, dtype=complex)
        return GateDefinition(len(self.qubits), steps=_unitary_steps(matrix), matrix=matrix)


def gate_matrices(gate: Gate, angles: FloatArray) -> ComplexArray:
    """The matrices (…, D, D) of a gate for angles (…, k); the first of its qubits is the higher bit of an index.

    >>> gate_matrices(Gate("cnot", (0, 1)), np.zeros(0)).real.astype(int).tolist()
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    """
    matrix = GATES[gate.name].matrix if gate.matrix is None else np.array(gate.matrix, dtype=complex)
    if matrix is not None:
        return np.broadcast_to(matrix, (*angles.shape[:-1], *matrix.shape))
    entries = GATES[gate.name].entries([angles[..., number] for number in range(angles.shape[-1])])
    found = np.zeros((*angles.shape[:-1], len(entries), len(entries)), dtype=complex)
    for row, column in np.ndindex(*found.shape[-2:]):
        if (entry := entries[row][column]) is not None:
            found[..., row, column] = entry
    return found


def decomposed(
    gate: Gate, angles: Sequence[Any], *, into: Collection[str], as_circuit: bool = False
) -> Iterator[Operation]:
    """Yield the gate with these angles as gates of the names in ``into``, and phases exp(i angle), in order.

    Parameters
    ----------
    gate : The gate, whose own angles are not read.
    angles : Numbers, arrays or symbols that can be multiplied by numbers.
    into : The names of the gates to end with.
    as_circuit : Whether to take the decompositions for exported circuits, with fewer CNOTs.
    """
    if gate.name in into or gate.name == PHASE:
        yield Operation(gate.name, gate.qubits, tuple(angles))
        return
    definition = gate.definition
    steps = (definition.circuit if as_circuit else ()) or definition.steps
    if not steps:
        raise InvalidInputError(f"the gate {gate.name} has no decomposition into {', '.join(sorted(into))}.")
    for step in steps:
        inner = Gate(step.name, tuple(gate.qubits[place] for place in step.places))
        yield from decomposed(inner, step.angles(angles), into=into, as_circuit=as_circuit)


def _unitary_steps(matrix: ComplexArray) -> tuple[Step, ...]:
    """A unitary matrix as rotations: of one qubit, or on two an interaction RXX RYY RZZ between those."""
    if len(matrix) == 2:
        return _rotation_steps(matrix, 0)
    before, angles, after, phase = interaction(matrix)
    names = zip(("rxx", "ryy", "rzz"), angles, strict=True)
    return (
        *(step for qubit, own in enumerate(before) for step in _rotation_steps(own, qubit)),
        *(Step(name, (0, 1), angle) for name, angle in names),
        *(step for qubit, own in enumerate(after) for step in _rotation_steps(own, qubit)),
        Step(PHASE, angle=phase),
    )


def _rotation_steps(matrix: ComplexArray, qubit: int) -> tuple[Step, ...]:
    phi, theta, omega, phase = rotation_angles(matrix)
    rotations = Step("rz", (qubit,), phi), Step("ry", (qubit,), theta), Step("rz", (qubit,), omega)
    return *rotations, Step(PHASE, angle=phase)


def _is_diagonal(step: Step) -> bool:
    return step.name == PHASE or GATES[step.name].is_diagonal


def _numbers(steps: Iterable[Step]) -> list[int]:
    """The numbers of the angles that the steps take."""
    return [step.angle.number for step in steps if isinstance(step.angle, Share)]


# Matrices by entries, so that zeros cost nothing, whatever module computes the others


def constant_entries(matrix: Any) -> Entries:
    """Return a matrix of constants by entries."""
    return [[complex(entry) if entry != 0 else None for entry in row] for row in matrix]


def adjoint(entries: Entries) -> Entries:
    """Return the conjugate transpose."""
    return [[None if entry is None else entry.conjugate() for entry in column] for column in zip(*entries, strict=True)]


def _rotation(generator: ComplexArray, angle: Any, numbers: Any) -> Entries:
    """exp(-i/2 angle G) = 1 + (cos(angle/2) - 1) G² - i sin(angle/2) G."""
    cosine, sine = numbers.cos(angle / 2), numbers.sin(angle / 2)

    def entry(row: int, column: int) -> Any:
        one, square = float(row == column), complex(squares[row, column])
        even = (one + 0j if one else None) if square == 0 else cosine if square == one else one + (cosine - 1) * square
        own = complex(generator[row, column])
        if own == 0:
            return even
        return -1j * own * sine if even is None else even + -1j * own * sine

    squares = np.round(generator @ generator, 15)
    return [[entry(row, column) for column in range(len(generator))] for row in range(len(generator))]


def _diagonal(value: Any, dimension: int) -> Entries:
    return [[value if row == column else None for column in range(dimension)] for row in range(dimension)]


def _product(left: Entries, right: Entries) -> Entries:
    columns = list(zip(*right, strict=True))
    return [
        [_total(a * b for a, b in zip(row, column, strict=True) if not (a is None or b is None)) for column in columns]
        for row in left
    ]


def _sum(left: Entries, right: Entries) -> Entries:
    return [
        [_total(entry for entry in pair if entry is not None) for pair in zip(*rows, strict=True)]
        for rows in zip(left, right, strict=True)
    ]


def _total(terms: Iterable[Any]) -> Any:
    found = None
    for term in terms:
        found = term if found is None else found + term
    return found


def _embedded(entries: Entries, places: tuple[int, ...], n_qubits: int) -> Entries:
    """A matrix on some of the qubits of a gate as one on all of them."""
    shifts = [n_qubits - 1 - place for place in places]
    mask = sum(1 << shift for shift in shifts)

    def inner(index: int) -> int:
        return sum((index >> shift & 1) << (len(shifts) - 1 - at) for at, shift in enumerate(shifts))

    size = range(1 << n_qubits)
    return [
        [entries[inner(row)][inner(column)] if row & ~mask == column & ~mask else None for column in size]
        for row in size
    ]


# Pairs of qubits


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
