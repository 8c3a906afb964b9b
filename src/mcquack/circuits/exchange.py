"""Circuits as Qiskit and PennyLane have them, as OpenQASM 3 for tools of any vendor, and from Qiskit back.

Nothing here is imported before it is asked for: a circuit needs neither of the two.

Our qubit q is Qiskit's qubit q and PennyLane's wire q. PennyLane, as we do, has qubit 0 as the most significant bit of
an index into a state, and Qiskit as the least: what ``Statevector(circuit)`` gives is in the other order of bits.
"""

from __future__ import annotations

import ast
import functools
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcquack.checks import PENNYLANE, QISKIT
from mcquack.circuits.angles import FUNCTIONS, Angle, Parameter, arccos, arcsin, arctan, is_parameter_name, x
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.gates import GATES, PHASE, Gate, Operation, decomposed
from mcquack.errors import InvalidInputError


class Point(NamedTuple):
    """What stands in angles for features, weights and biases: numbers or symbols, each as one flat sequence."""

    x: Any
    weights: Any
    bias: Any

    @classmethod
    def of(
        cls,
        circuit: Circuit,
        *,
        x: ArrayLike | None,
        weights: ArrayLike | None,
        bias: ArrayLike | None,
        symbols: Callable[[str, int], Sequence[Any]],
    ) -> Point:
        """The numbers that are given, in the shapes that the circuit says, and symbols in the place of all others."""
        given = {"x": x, "weights": weights, "bias": bias}
        shapes = {"x": (circuit.n_features,), "weights": circuit.weights_shape, "bias": circuit.bias_shape}
        found = []
        for name, shape in shapes.items():
            if given[name] is None:
                found.append(symbols(name[0], math.prod(shape)))
                continue
            array = np.asarray(given[name], dtype=np.float64)
            if array.shape != shape or not np.all(np.isfinite(array)):
                raise InvalidInputError(f"{name} must be finite numbers of the shape {shape}, got {array.shape}.")
            found.append(array.reshape(-1).tolist())
        return cls(*found)


def value_at(angle: Angle, point: Point, functions: Mapping[str, Callable[[Any], Any]]) -> Any:
    """The angle as a number, or as an expression of whatever symbols stand in the point."""
    terms: list[Any] = []
    if angle.inputs:
        factors = [functions[name](point.x[feature]) for name, feature in angle.inputs]
        weight = [] if angle.weight is None else [point.weights[angle.weight]]
        terms.append(_times(angle.factor, functools.reduce(operator.mul, [*weight, *factors])))
    if angle.bias is not None:
        terms.append(_times(angle.bias_factor, point.bias[angle.bias]))
    if angle.offset or not terms:
        terms.append(angle.offset)
    return functools.reduce(operator.add, terms)


def _times(factor: float, value: Any) -> Any:
    return value if factor == 1 else factor * value


def _functions(of_symbol: Callable[[str, Any], Any]) -> dict[str, Callable[[Any], Any]]:
    """The functions of features that are numbers or symbols; ``of_symbol`` is an arc function of a symbol, by name."""

    def value(name: str, feature: Any) -> Any:
        if isinstance(feature, float):
            return float(FUNCTIONS[name].value(np.float64(feature)))  # type: ignore[arg-type]
        return FUNCTIONS[name].value(feature) if name in ("x", "pi_minus") else of_symbol(name, feature)

    return {name: functools.partial(value, name) for name in FUNCTIONS}


# Qiskit


def to_qiskit(
    circuit: Circuit, *, x: ArrayLike | None = None, weights: ArrayLike | None = None, bias: ArrayLike | None = None
) -> Any:
    """The circuit for Qiskit; see :meth:`Circuit.to_qiskit`."""
    QISKIT.imported(what="a circuit for Qiskit")
    from qiskit import QuantumCircuit
    from qiskit.circuit import ParameterVector

    point = Point.of(circuit, x=x, weights=weights, bias=bias, symbols=ParameterVector)
    found = QuantumCircuit(circuit.n_qubits)
    if circuit.start == "amplitudes":
        if x is None:
            raise InvalidInputError(
                "a circuit that starts with the amplitudes of a sample has no gates for them in Qiskit before there is "
                "a sample; use to_qiskit(x=…)."
            )
        found.prepare_state(circuit.amplitudes([point.x])[0], list(range(circuit.n_qubits))[::-1])
    functions = _functions(lambda name, symbol: getattr(symbol, name)())
    for gate in circuit.gates:
        append_to_qiskit(found, gate, [value_at(angle, point, functions) for angle in gate.angles])
    return found


def append_to_qiskit(found: Any, gate: Gate, angles: Sequence[Any]) -> None:
    """Add a gate to a QuantumCircuit; its angles are numbers or expressions of Qiskit."""
    if gate.name == "unitary":
        found.unitary(np.array(gate.matrix), gate.qubits[::-1])  # there the first qubit is the lowest bit
        return
    names = {name: known.qiskit for name, known in GATES.items() if known.qiskit}
    for name, qubits, own in decomposed(gate, angles, into=names, as_circuit=True):
        if name == PHASE:
            found.global_phase += own[0]
        else:
            getattr(found, names[name])(*own, *qubits)


def from_qiskit(circuit: Any, features: Sequence[Any]) -> Circuit:
    """The circuit that Qiskit has; see :meth:`Circuit.from_qiskit`."""
    QISKIT.imported(what="a circuit of Qiskit")
    from qiskit import QuantumCircuit

    if not isinstance(circuit, QuantumCircuit):
        raise InvalidInputError(f"expected a QuantumCircuit of Qiskit, got {type(circuit).__name__}.")
    reader = _Reader(_flat(features), list(circuit.parameters))
    empty = Circuit(circuit.num_qubits, len(reader.features))
    measured = circuit.remove_final_measurements(inplace=False)
    gates = list(reader.gates(measured, list(range(circuit.num_qubits))))
    found = _ordered(empty, reader.parameters, [angle for gate in gates for angle in gate.angles])._with(gates)
    if both := sorted(set(found.weight_names) & set(found.bias_names)):
        raise InvalidInputError(
            f"the parameter {both[0]} multiplies a feature in one angle and stands alone in another; a weight and a "
            "bias are two parameters, so take two."
        )
    return found


def _ordered(circuit: Circuit, parameters: list[Parameter], angles: list[Angle]) -> Circuit:
    """An empty circuit whose parameters are there already, those that angles need, in the order of Qiskit."""
    found = circuit._with(())
    for name, needed in (("_weights", {one.weight for one in angles}), ("_bias", {one.bias for one in angles})):
        found._set(**{name: tuple(parameter for parameter in parameters if parameter in needed)})
    return found


def _flat(features: Any) -> list[Any]:
    """Parameters, whether they come one by one or as vectors."""
    from qiskit.circuit import Parameter as Symbol

    found: list[Any] = []
    for one in [features] if isinstance(features, Symbol) or not isinstance(features, Iterable) else features:
        found += [one] if isinstance(one, Symbol) or not isinstance(one, Iterable) else one
    known = all(isinstance(one, Symbol) for one in found) and len(set(found)) == len(found) > 0
    if not known:
        raise InvalidInputError(
            f"features must be different parameters of the circuit, or vectors of them, at least one; got {features!r}."
        )
    return found


class _Reader:
    """Takes circuits of Qiskit apart until their gates are ours; phases of whole states are left out."""

    def __init__(self, features: list[Any], parameters: list[Any]) -> None:
        from qiskit.circuit.library import get_standard_gate_name_mapping

        self.standard = get_standard_gate_name_mapping()
        names = {known.qiskit: name for name, known in GATES.items() if known.qiskit} | _UP_TO_A_PHASE
        self.names = {theirs: ours for theirs, ours in names.items() if theirs in self.standard}
        self.features = {parameter: x[place] for place, parameter in enumerate(features)}
        self.symbols = dict(self.features)
        self.parameters: list[Parameter] = []
        for parameter in parameters:
            if parameter not in self.features:
                taken = {one.name for one in self.parameters}
                self.parameters.append(Parameter(_parameter_name(parameter.name, taken)))
                self.symbols[parameter] = Angle(bias=self.parameters[-1])

    def gates(self, circuit: Any, qubits: list[int]) -> Iterator[Gate]:
        """The gates of a circuit, whose own qubits are these."""
        for step in circuit.data:
            places = [qubits[circuit.find_bit(qubit).index] for qubit in step.qubits]
            yield from self.taken_apart(step.operation, places)

    def taken_apart(self, operation: Any, qubits: list[int]) -> Iterator[Gate]:
        from qiskit.circuit import Gate as QiskitGate
        from qiskit.circuit import library

        name = operation.name
        if name in ("barrier", "delay", "id", "global_phase"):
            return
        small_matrix = isinstance(operation, library.UnitaryGate) and len(qubits) <= 2
        # Compare classes too, as a user may call a gate of their own "rx".
        if name in self.names and isinstance(operation, self.standard[name].base_class):
            yield Gate(self.names[name], tuple(qubits), tuple(self.angle(value, name) for value in operation.params))
        elif isinstance(operation, library.U3Gate | library.UGate):
            theta, phi, omega = (self.angle(value, name) for value in operation.params)
            yield Gate("rot", tuple(qubits), (omega, theta, phi))
        elif isinstance(operation, QiskitGate) and operation.definition is not None and not small_matrix:
            yield from self.gates(operation.definition, qubits)
        elif len(qubits) <= 2 and (matrix := _matrix(operation)) is not None:
            yield _unitary(matrix, qubits)
        else:
            raise InvalidInputError(
                f"{name!r} is no gate that can be taken apart into gates of mcquack; leave out measurements, resets "
                "and what depends on them, and decompose what Qiskit keeps in another form than gates."
            )

    def angle(self, value: Any, gate: str) -> Angle:
        from qiskit.circuit import Parameter as Symbol
        from qiskit.circuit import ParameterExpression

        if not isinstance(value, ParameterExpression):
            return Angle(offset=float(value))
        known = {Symbol(f"mcquack_{place}"): parameter for place, parameter in enumerate(value.parameters)}
        text = str(value.subs({parameter: symbol for symbol, parameter in known.items()}))
        symbols = {symbol.name: self.symbols[parameter] for symbol, parameter in known.items()}
        try:
            found = _read(ast.parse(text, mode="eval").body, symbols)
            right = self._agrees(found, value)
        except (InvalidInputError, SyntaxError, ValueError, TypeError, ArithmeticError) as error:
            raise _not_of_the_form(value, gate, str(error)) from error
        if not right:
            raise _not_of_the_form(value, gate, "")
        return found

    def _agrees(self, angle: Angle, value: Any) -> bool:
        """Whether the angle that was read is what Qiskit computes: its texts are made for people."""
        draws = np.random.default_rng(0)
        for _ in range(2):
            numbers = {parameter: draws.uniform(-0.9, 0.9) for parameter in value.parameters}
            features: dict[int, float] = {}
            others: dict[Any, float] = {}
            for parameter, number in numbers.items():
                symbol = self.symbols[parameter]
                if symbol.inputs:
                    features[symbol.inputs[0][1]] = number
                else:
                    others[symbol.bias] = number
            found = value_at(angle, Point(features, others, others), _functions(getattr))
            if not math.isclose(found, float(value.bind(numbers)), rel_tol=1e-12, abs_tol=1e-12):
                return False
        return True


_UP_TO_A_PHASE = {"p": "rz", "u1": "rz"}


def _matrix(operation: Any) -> Any:
    """The matrix of an operation of Qiskit without parameters, such as a Clifford; None if it has none."""
    from qiskit.exceptions import QiskitError
    from qiskit.quantum_info import Operator

    try:
        return Operator(operation).data
    except (QiskitError, TypeError, ValueError, AttributeError):
        return None


def _unitary(matrix: Any, qubits: list[int]) -> Gate:
    target = qubits[0] if len(qubits) == 1 else tuple(qubits[::-1])
    return Circuit(max(qubits) + 1, 1).unitary(target, matrix).gates[0]


def _parameter_name(name: str, taken: set[str | None]) -> str:
    """Such as theta_0 for theta[0]."""
    found = re.sub(r"\W+", "_", name).strip("_")[:50]
    if not is_parameter_name(found or "_"):
        found = f"p_{found}".rstrip("_")
    while found in taken:
        found = f"{found}_"
    return found


def _not_of_the_form(value: Any, gate: str, reason: str) -> InvalidInputError:
    return InvalidInputError(
        f"the angle {value} of a gate {gate} is not of the form w·t(x) + b, in which t is a product of features and of "
        f"their arc functions, and w and b are a parameter each{f' ({reason})' if reason else ''}; take several gates "
        "with an angle each in its place, or bind some of its parameters."
    )


_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {ast.Add: operator.add, ast.Sub: operator.sub}
_FUNCTIONS = {"asin": arcsin, "acos": arccos, "atan": arctan}


def _read(node: Any, symbols: Mapping[str, Angle]) -> Angle:
    """An expression, as Python writes it, as an angle; one that is no angle raises InvalidInputError or ValueError."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return Angle(offset=float(number))
        case ast.Name(id=name):
            return symbols[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_read(inner, symbols)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            return _OPERATORS[type(op)](_read(left, symbols), _read(right, symbols))
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _product(_read(left, symbols), _read(right, symbols))
        case ast.BinOp(left=left, op=ast.Div(), right=right) if (by := _read(right, symbols)).is_constant:
            return _read(left, symbols) / by.offset
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as times)) if 1 <= times <= 100:
            return functools.reduce(_product, [_read(left, symbols)] * times)
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_read(inner, symbols))
    raise ValueError(f"{ast.unparse(node)} is none of them")


def _product(one: Angle, other: Angle) -> Angle:
    if one.is_constant:
        return other * one.offset
    if other.is_constant:
        return one * other.offset
    return _as_factor(one) * _as_factor(other)


def _as_factor(angle: Angle) -> Angle:
    """A parameter that multiplies something as a weight, and x - π as the function that it is."""
    if angle.bias is not None and not angle.inputs and angle.offset == 0:
        return Angle(weight=angle.bias, factor=angle.bias_factor)
    shifted = len(angle.inputs) == 1 and angle.weight is None and angle.bias is None and angle.offset != 0
    if shifted and math.isclose(angle.offset, -math.pi * angle.factor, rel_tol=1e-15):
        (name, feature) = angle.inputs[0]
        if name == "x":
            return Angle((("pi_minus", feature),), factor=-angle.factor)
    return angle


# PennyLane


def to_pennylane(circuit: Circuit) -> Callable[[Any, Any, Any], None]:
    """The circuit for PennyLane; see :meth:`Circuit.to_pennylane`."""
    qml: Any = PENNYLANE.imported(what="a circuit for PennyLane")
    functions = _functions(
        lambda name, feature: getattr(qml.math, name)(feature if name == "arctan" else qml.math.clip(feature, -1, 1))
    )

    def gates(x: Any, weights: Any, bias: Any) -> None:
        """Applies the gates of the circuit on the wires 0 to n - 1, for one sample or for one in each row of x."""
        x, weights, bias = (np.asarray(one) if isinstance(one, list | tuple) else one for one in (x, weights, bias))
        shapes = [tuple(qml.math.shape(one)) for one in (x, weights, bias)]
        wanted = (circuit.n_features,), circuit.weights_shape, circuit.bias_shape
        # An array of JAX would give its last number wherever it ends too early.
        if len(shapes[0]) not in (1, 2) or (shapes[0][-1:], *shapes[1:]) != wanted:
            raise InvalidInputError(
                f"expected samples of {circuit.n_features} features, weights {wanted[1]} and biases {wanted[2]}, got "
                f"{shapes[0]}, {shapes[1]} and {shapes[2]}."
            )
        if circuit.start == "amplitudes":
            qml.StatePrep(_unit_rows(qml.math, circuit, x), wires=range(circuit.n_qubits))
        # With the features first, as an angle takes one of them, of one sample or of all.
        point = Point(qml.math.transpose(x), *(qml.math.reshape(array, (-1,)) for array in (weights, bias)))
        for gate in circuit.gates:
            _apply_in_pennylane(qml, gate, [value_at(angle, point, functions) for angle in gate.angles])

    return gates


def _apply_in_pennylane(qml: Any, gate: Gate, angles: Sequence[Any]) -> None:
    if gate.name == "unitary":
        qml.QubitUnitary(np.array(gate.matrix), wires=gate.qubits)
        return
    names = {name: known.pennylane for name, known in GATES.items() if known.pennylane}
    for name, qubits, own in decomposed(gate, angles, into=names, as_circuit=True):
        if name == PHASE:
            qml.GlobalPhase(-1 * own[0], wires=gate.qubits)
        else:
            getattr(qml, names[name])(*own, wires=qubits)


def _unit_rows(numbers: Any, circuit: Circuit, x: Any) -> Any:
    """The amplitudes that samples begin with, in whatever arrays they come in, so that they can be differentiated."""
    n_missing = circuit.dimension - circuit.n_features
    rest = numbers.ones_like(x[..., :1]) * np.full(n_missing, circuit.padding)
    padded = numbers.concatenate([x, rest], axis=-1) if n_missing else x
    squares = numbers.sum(padded**2, axis=-1, keepdims=True)
    first = np.eye(circuit.dimension)[0]
    is_zero = squares == 0
    return numbers.where(is_zero, first, padded / numbers.sqrt(numbers.where(is_zero, 1.0, squares)))


# OpenQASM 3


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
    functions = _functions(lambda name, symbol: _Symbol(f"{name}({symbol.text})"))
    # On one qubit in gates of the standard library, on two as they are.
    known_gates = _standard() | {name for name, known in GATES.items() if known.n_qubits == 2}
    operations = [
        operation
        for gate in circuit.gates
        for operation in decomposed(
            gate, [value_at(angle, point, functions) for angle in gate.angles], into=known_gates, as_circuit=True
        )
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
