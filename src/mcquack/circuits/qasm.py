"""Circuits as OpenQASM 3, for tools of any vendor; it needs none of them to be written."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcquack.circuits.angles import FUNCTIONS
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.exchange import Point, number_of, value_at
from mcquack.circuits.gates import Gate
from mcquack.circuits.rotations import rotation_angles
from mcquack.errors import InvalidInputError

# Those that the standard library of OpenQASM 3 lacks.
_DEFINITIONS = {
    "rzz": "gate rzz(theta) a, b { cx a, b; rz(theta) b; cx a, b; }",
    "rxx": "gate rxx(theta) a, b { h a; h b; cx a, b; rz(theta) b; cx a, b; h a; h b; }",
    "ryy": "gate ryy(theta) a, b { rx(pi/2) a; rx(pi/2) b; cx a, b; rz(theta) b; cx a, b; rx(-pi/2) a; rx(-pi/2) b; }",
}


def to_qasm(
    circuit: Circuit, *, x: ArrayLike | None = None, weights: ArrayLike | None = None, bias: ArrayLike | None = None
) -> str:
    """The circuit as OpenQASM 3; see :meth:`Circuit.to_qasm`."""
    if circuit.start == "amplitudes":
        raise InvalidInputError(
            "a circuit that starts with the amplitudes of a sample has no gates for them; use to_qiskit(x=…), where a "
            "state is prepared, and the exporter of Qiskit."
        )
    names: list[str] = []

    def symbols(letter: str, count: int) -> list[_Symbol]:
        digits = len(str(count - 1))
        names.extend(f"{letter}_{place:0{digits}d}" for place in range(count))
        return [_Symbol(name) for name in names[len(names) - count :]]

    point = Point.of(circuit, x=x, weights=weights, bias=bias, symbols=symbols)
    functions = {name: functools.partial(_function, name) for name in FUNCTIONS}
    phases: list[float] = []
    lines = [
        line
        for gate in circuit.gates
        for line in gate_lines(gate, [value_at(angle, point, functions) for angle in gate.angles], phases)
    ]
    head = [
        "OPENQASM 3.0;",
        'include "stdgates.inc";',
        *(f"input float {name};" for name in names),
        *(definition for name, definition in _DEFINITIONS.items() if name in circuit.counts),
        f"qubit[{circuit.n_qubits}] q;",
    ]
    phase = [f"gphase({number_text(sum(phases))});"] if phases else []
    return "\n".join([*head, *phase, *lines]) + "\n"


def gate_lines(gate: Gate, angles: Sequence[Any], phases: list[float]) -> Iterator[str]:
    """A gate as statements; ``phases`` gets what they leave out, by which the whole state is turned."""
    if gate.name == "unitary":
        for name, own, qubits in unitary_steps(np.array(gate.matrix), gate.qubits, phases):
            yield _line(name, [own], qubits)
    elif gate.name == "rot":
        for name, angle in zip(("rz", "ry", "rz"), angles, strict=True):
            yield _line(name, [angle], gate.qubits)
    else:
        yield _line("cx" if gate.name == "cnot" else gate.name, angles, gate.qubits)


def _line(name: str, angles: Sequence[Any], qubits: Sequence[int]) -> str:
    inside = f"({', '.join(map(_written, angles))})" if angles else ""
    return f"{name}{inside} {', '.join(f'q[{qubit}]' for qubit in qubits)};"


def _written(angle: Any) -> str:
    return angle.text if isinstance(angle, _Symbol) else number_text(angle)


def number_text(number: float) -> str:
    """The shortest decimal that is read back as the same double; version 2 wants a point in it even before an e."""
    digits, e, exponent = repr(float(number)).partition("e")
    return f"{digits}{'' if '.' in digits else '.0'}{e}{exponent}"


class _Symbol:
    """A text that is computed with, for inputs that have no number yet."""

    def __init__(self, text: str, *, is_sum: bool = False) -> None:
        self.text = text
        self.is_sum = is_sum

    def __mul__(self, other: Any) -> _Symbol:
        one, two = (f"({each.text})" if each.is_sum else each.text for each in (self, _symbol(other)))
        return _Symbol(f"{one}*{two}")

    def __rmul__(self, other: Any) -> _Symbol:
        return _symbol(other) * self

    def __add__(self, other: Any) -> _Symbol:
        return _Symbol(f"{self.text} + {_symbol(other).text}".replace("+ -", "- "), is_sum=True)

    def __radd__(self, other: Any) -> _Symbol:
        return _symbol(other) + self

    def __rsub__(self, other: Any) -> _Symbol:
        return _Symbol(f"{_written(other)} - {self.text}", is_sum=True)


def _symbol(value: Any) -> _Symbol:
    return value if isinstance(value, _Symbol) else _Symbol(number_text(value))


def _function(name: str, feature: Any) -> Any:
    if isinstance(feature, float):
        return number_of(name, feature)
    if name == "pi_minus":
        return np.pi - feature
    return feature if name == "x" else _Symbol(f"{name}({feature.text})")


# A matrix in gates, exactly: e^{iα} RZ RY RZ on one qubit, and on two by the cosine-sine decomposition.

_Step = tuple[str, float, tuple[int, ...]]


def unitary_steps(matrix: Any, qubits: tuple[int, ...], phases: list[float]) -> Iterator[_Step]:
    """A unitary matrix as gates rz, ry, p, crz and cry; ``phases`` gets what they leave out."""
    if len(qubits) == 1:
        *angles, alpha = rotation_angles(matrix)
        phases.append(alpha)
        yield from ((name, angle, qubits) for name, angle in zip(("rz", "ry", "rz"), angles, strict=True))
        return
    from scipy.linalg import cossin

    # diag(u₁, u₂) · (a rotation of the first qubit for each value of the second) · diag(v₁, v₂)
    (u1, u2), (theta, other), (v1, v2) = cossin(matrix, p=2, q=2, separate=True)
    yield from _either(v1, v2, qubits, phases)
    yield "ry", 2 * theta, qubits[:1]
    yield "cry", 2 * (other - theta), qubits[::-1]
    yield from _either(u1, u2, qubits, phases)


def _either(zero: Any, one: Any, qubits: tuple[int, ...], phases: list[float]) -> Iterator[_Step]:
    """The first matrix on the second qubit where the first qubit is 0, and the second matrix where it is 1."""
    yield from unitary_steps(zero, qubits[1:], phases)
    *angles, alpha = rotation_angles(one @ zero.conj().T)
    yield "p", alpha, qubits[:1]
    yield from ((name, angle, qubits) for name, angle in zip(("crz", "cry", "crz"), angles, strict=True))
