"""The overlap circuit as OpenQASM, for devices and simulators of any vendor; it needs no Qiskit to be written.

Qiskit's own exporter rounds angles near simple fractions of π to them; here every angle keeps all its digits.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Literal, get_args

from mcquack.checks import is_whole_number, require
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits, depth_text
from mcquack.circuits.qasm import number_text
from mcquack.errors import InvalidInputError
from mcquack.hardware.native import QUARTER_TURN, NativeGate, angle_sets, n_angles, native_gates
from mcquack.hardware.textbook import overlap_gates

Form = Literal["native", "textbook"]
Dialect = Literal["standard", "braket"]
AnyGate = NativeGate[float] | NativeGate[str] | NativeGate[str | float]

# A quarter turn about X is SX up to a phase, and unlike that known to version 2 and to Amazon Braket.
WITHOUT_SX = {"sx": f"rx({QUARTER_TURN!r})"}
GATE_NAMES: dict[Dialect, dict[str, str]] = {"standard": {}, "braket": {**WITHOUT_SX, "cx": "cnot"}}


def to_qasm3(
    circuits: OverlapCircuits,
    *,
    sample: int = 0,
    centroid: int = 0,
    form: Form = "native",
    dialect: Dialect = "standard",
) -> str:
    """The measured circuit of one sample and one centroid in OpenQASM 3.

    Parameters
    ----------
    circuits : the circuits that it is one of.
    sample, centroid : which one, counted from 0.
    form : "native" in RZ, SX and CZ with merged rotations as it is sent to IBM devices, "textbook" in RZ, RY and CNOT
        as the paper draws it. Any other circuit than the paper's has the latter form alone, with RX too.
    dialect : "braket" without an include and with the names that gates have on Amazon Braket.

    Examples
    --------
    >>> import numpy as np
    >>> feature_map = FeatureMap(n_qubits=1, n_features=1, n_layers=1)
    >>> circuits = OverlapCircuits(samples=np.ones((1, 1, 1, 3)), centroids=np.ones((1, 1, 1, 3)), circuit=feature_map)
    >>> print(to_qasm3(circuits, form="textbook").splitlines()[5])
    rz(1.0) q[0];
    """
    what, gates = _pair(circuits, sample=sample, centroid=centroid, form=form)
    return _version_3(what, gates, circuits.circuit, dialect)


def to_qasm2(circuits: OverlapCircuits, *, sample: int = 0, centroid: int = 0, form: Form = "native") -> str:
    """The same circuit in OpenQASM 2, with gates of the original ``qelib1.inc`` only; see ``to_qasm3``."""
    what, gates = _pair(circuits, sample=sample, centroid=centroid, form=form)
    n_qubits = circuits.n_qubits
    head = ["OPENQASM 2.0;", 'include "qelib1.inc";', f"qreg q[{n_qubits}];", f"creg meas[{n_qubits}];"]
    measured = (f"measure q[{qubit}] -> meas[{qubit}];" for qubit in range(n_qubits))
    return _text(head, what, circuits.circuit, _written(gates, WITHOUT_SX), measured)


def template_qasm3(circuit: Circuit, *, dialect: Dialect = "standard") -> str:
    """The measured circuit for all pairs in OpenQASM 3; its inputs are the angles in the order of ``angle_sets``.

    >>> template_qasm3(FeatureMap(n_qubits=124, n_features=248, n_layers=2)).count("input float")
    1116
    """
    feature_map, names = native_map(circuit), angle_names(circuit)
    gates = native_gates(feature_map.n_qubits, feature_map.n_layers, names)
    return _version_3("circuit for any sample and centroid", gates, circuit, dialect, inputs=names)


def native_map(circuit: Circuit) -> FeatureMap:
    """Return the paper's feature map, and refuse any other circuit: the native form is computed for that one alone."""
    if not isinstance(circuit, FeatureMap):
        raise InvalidInputError(
            "the native form is that of the feature map of the paper alone; take the textbook form of single pairs, "
            "which a compiler of the vendor makes native, or Circuit.to_qasm for the embedding with its inputs."
        )
    return circuit


def angle_names(circuit: Circuit) -> list[str]:
    """The inputs of ``template_qasm3``; their alphabetical order, by which readers sort them, is that of the angles."""
    count = n_angles(circuit)
    digits = len(str(count - 1))
    return [f"angle_{number:0{digits}d}" for number in range(count)]


def _pair(
    circuits: OverlapCircuits, *, sample: int, centroid: int, form: Form
) -> tuple[str, Iterable[NativeGate[float]]]:
    require(form in get_args(Form), "form", '"native" or "textbook"', form)
    for name, number, count in zip(("sample", "centroid"), (sample, centroid), circuits.shape, strict=True):
        is_there = is_whole_number(number) and 0 <= number < count
        require(is_there, name, f"a whole number from 0 to {count - 1}", number)
    what = f"of sample {sample} and centroid {centroid}"
    if form == "textbook":
        return what, overlap_gates(circuits, sample=sample, centroid=centroid)
    feature_map = native_map(circuits.circuit)
    pair = replace(circuits, samples=circuits.samples[[sample]], centroids=circuits.centroids[[centroid]])
    return what, native_gates(feature_map.n_qubits, feature_map.n_layers, angle_sets(pair)[0, 0].tolist())


def _version_3(
    what: str, gates: Iterable[AnyGate], circuit: Circuit, dialect: Dialect, inputs: Iterable[str] = ()
) -> str:
    require(dialect in GATE_NAMES, "dialect", '"standard" or "braket"', dialect)
    n_qubits = circuit.n_qubits
    head = [
        "OPENQASM 3.0;",
        *(['include "stdgates.inc";'] if dialect == "standard" else []),
        *(f"input float {name};" for name in inputs),
        f"qubit[{n_qubits}] q;",
        f"bit[{n_qubits}] meas;",
    ]
    measured = (f"meas[{qubit}] = measure q[{qubit}];" for qubit in range(n_qubits))
    return _text(head, what, circuit, _written(gates, GATE_NAMES[dialect]), measured)


def _text(head: list[str], what: str, circuit: Circuit, *body: Iterable[str]) -> str:
    version, *declarations = head  # the remark is in the second line, as some readers want the version in the first
    told = f"overlap {what}, {circuit.n_qubits} qubits, {depth_text(circuit)}"
    remark = f"// mcquack: {told}; the share of shots that read 0 on every qubit estimates the kernel"
    return "\n".join([version, remark, *declarations, *chain.from_iterable(body)]) + "\n"


def _written(gates: Iterable[AnyGate], names: dict[str, str]) -> Iterator[str]:
    for gate in gates:
        angle = (
            "" if gate.angle is None else f"({gate.angle if isinstance(gate.angle, str) else number_text(gate.angle)})"
        )
        operands = ", ".join(f"q[{qubit}]" for qubit in gate.qubits)
        yield f"{names.get(gate.name, gate.name)}{angle} {operands};"
