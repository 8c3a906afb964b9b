"""Circuits as OpenQASM 3, for tools of any vendor; it needs none of them to be written."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcquack.circuits.angles import FUNCTIONS
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.exchange import Point, number_of, value_at
from mcquack.circuits.gates import GATES, PHASE, Gate, Operation, decomposed
from mcquack.errors import InvalidInputError


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
    operations = [
        operation
        for gate in circuit.gates
        for operation in _written_out(gate, [value_at(angle, point, functions) for angle in gate.angles])
    ]
    used = {name for name, _, _ in operations}
    head = [
        "OPENQASM 3.0;",
        'include "stdgates.inc";',
        *(f"input float {name};" for name in names),
        *(_definition(name) for name in GATES if name in used and not GATES[name].qasm),
        f"qubit[{circuit.n_qubits}] q;",
    ]
    phases = [own[0] for name, _, own in operations if name == PHASE]
    phase = [f"gphase({_written(functools.reduce(operator.add, phases))});"] if phases else []
    qubits = [f"q[{qubit}]" for qubit in range(circuit.n_qubits)]
    return "\n".join([*head, *phase, *(_line(each, qubits) for each in operations if each.name != PHASE)]) + "\n"


def _written_out(gate: Gate, angles: Sequence[Any]) -> Iterator[Operation]:
    """A gate as statements: on one qubit in gates of the standard library, on two as it is."""
    wide = {name for name, known in GATES.items() if known.n_qubits == 2}
    return decomposed(gate, angles, into=_standard() | wide, as_circuit=True)


def _standard() -> set[str]:
    return {name for name, known in GATES.items() if known.qasm}


def _definition(name: str) -> str:
    """A gate that the standard library of OpenQASM 3 lacks, by its decomposition."""
    known = GATES[name]
    angles = ["theta"] if known.n_angles == 1 else [f"theta_{number}" for number in range(known.n_angles)]
    gate, qubits = Gate(name, tuple(range(known.n_qubits))), ["a", "b"][: known.n_qubits]
    symbols = [_Symbol(angle) for angle in angles]
    body = " ".join(_line(each, qubits) for each in decomposed(gate, symbols, into=_standard(), as_circuit=True))
    inside = f"({', '.join(angles)})" if angles else ""
    return f"gate {name}{inside} {', '.join(qubits)} {{ {body} }}"


def _line(operation: Operation, qubits: Sequence[str]) -> str:
    name, places, angles = operation
    called = "gphase" if name == PHASE else GATES[name].qasm or name
    inside = f"({', '.join(map(_written, angles))})" if angles else ""
    return f"{called}{inside} {', '.join(qubits[place] for place in places)}".rstrip() + ";"


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
