"""The overlap circuit U†(c) U(x) in the gates of devices, with their angles, and as OpenQASM.

Every rotation is RZ SX RZ SX RZ on a device, and a CNOT is a CZ between two Hadamards on its target. In a ring each
qubit meets two CZs: the Hadamard between them stays a gate of its own, the one before or after is absorbed into a
rotation. The angles are computed here, in NumPy, so that no compiler merges or drops any; nothing here needs Qiskit.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Generic, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import ComplexArray, FloatArray, IntArray
from mcquack.checks import is_whole_number, require
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.exchange import number_text
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.gates import PHASE, decomposed
from mcquack.circuits.overlap import OverlapCircuits, depth_text
from mcquack.errors import InvalidInputError

Angle = TypeVar("Angle", covariant=True)

QUARTER_TURN = math.pi / 2
# Up to its phase. All of SU(2) is the first column (a, b) of the matrix ((a, -b*), (b, a*)), which arrays keep last.
HADAMARD = np.array([-1j, -1j]) / np.sqrt(2)


class NativeGate(NamedTuple, Generic[Angle]):
    """One gate and the qubits that it acts on, the control first; only rotations have an angle, maybe a symbol."""

    name: Literal["rx", "rz", "ry", "sx", "cz", "cx"]
    qubits: tuple[int, ...]
    angle: Angle | None = None


def n_angles(circuit: Circuit) -> int:
    """Return how many angles one overlap circuit has.

    They are 3n(2L - 1) for the paper's feature map, as the last rotations of U(x) and the first of U†(c) become one
    layer, and for any other circuit the angles of U(x) and of U†(c) that are no constants.
    """
    if isinstance(circuit, FeatureMap):
        return 3 * circuit.n_qubits * (2 * circuit.n_layers - 1)
    return 2 * len(free_angles(circuit))


def free_angles(circuit: Circuit) -> IntArray:
    """The places of the angles of a circuit that depend on samples or parameters."""
    table = circuit.angle_table
    return np.flatnonzero((table.input >= 0) | (table.bias >= 0))


def two_qubit_depth(circuit: Circuit) -> int:
    """Return the longest chain of two-qubit gates of an overlap circuit, as if every pair of qubits had a coupler.

    It is 2n(L - 1) for the paper's feature map, whose CNOTs all wait for the one before.
    """
    circuit = circuit.for_overlaps()
    busy = [0] * circuit.n_qubits
    for gate in circuit.gates:
        if len(gate.qubits) == 2:
            busy[gate.qubits[0]] = busy[gate.qubits[1]] = 1 + max(busy[qubit] for qubit in gate.qubits)
    return 2 * max(busy)


def native_gates(n_qubits: int, n_layers: int, angles: Sequence[Angle]) -> Iterator[NativeGate[Angle | float]]:
    """The circuit in RZ, SX and CZ, the same for all pairs, with angles in the order of ``angle_sets``."""
    ring = tuple(_native_ring(n_qubits))
    for layer in range(2 * n_layers - 1):
        if layer:
            # A Hadamard read backwards is one too, so the inverse ring is the ring from its end.
            yield from ring if layer < n_layers else ring[::-1]
        for qubit in range(n_qubits):
            start = 3 * (layer * n_qubits + qubit)
            first, second, third = angles[start : start + 3]
            for angle in (first, second):
                yield NativeGate("rz", (qubit,), angle)
                yield NativeGate("sx", (qubit,))
            yield NativeGate("rz", (qubit,), third)


def _native_ring(n_qubits: int) -> Iterator[NativeGate[float]]:
    """The CZs of CNOT 0→1, 1→2, …, n-1→0, with the Hadamard of each qubit between its two."""
    for control in range(n_qubits if n_qubits > 1 else 0):
        target = (control + 1) % n_qubits
        yield NativeGate("cz", (control, target))
        if control == 0:
            yield from _hadamard(control)
        if target != 0:
            yield from _hadamard(target)


def _hadamard(qubit: int) -> Iterator[NativeGate[float]]:
    yield NativeGate("rz", (qubit,), QUARTER_TURN)
    yield NativeGate("sx", (qubit,))
    yield NativeGate("rz", (qubit,), QUARTER_TURN)


def angle_sets(circuits: OverlapCircuits) -> FloatArray:
    """The native angles of every circuit, (N, M, P) from -π to π, by layer, then by qubit, then in time.

    Those of any other circuit than the paper's are the angles of its own gates, U(x) first, without constants.
    """
    if not isinstance(circuits.circuit, FeatureMap):
        free, shape = free_angles(circuits.circuit), circuits.shape
        pairs = circuits.samples[:, None, free], circuits.centroids[None, :, free]
        return np.concatenate([np.broadcast_to(own, (*shape, len(free))) for own in pairs], axis=-1)
    n_layers, n_qubits = circuits.n_layers, circuits.n_qubits
    samples, centroids = _dressed(circuits.samples), _inverse(_dressed(circuits.centroids))
    middle = n_layers - 1
    angles = np.empty((*circuits.shape, 2 * n_layers - 1, n_qubits, 3))
    angles[:, :, :middle] = _native(samples[:, :middle])[:, None]
    angles[:, :, middle] = _native(_product(centroids[None, :, middle], samples[:, None, middle]))
    angles[:, :, n_layers:] = _native(centroids[:, :middle][:, ::-1])[None]
    return angles.reshape(*circuits.shape, n_angles(circuits.circuit))


def _dressed(angles: NDArray[np.floating]) -> ComplexArray:
    """The rotations Rot(φ, θ, ω) of U, with the Hadamards of the rings around them, shape (N, L, n, 2).

    The first gate of a ring makes qubit 0 a control and the last one a target, so the Hadamard that is left of qubit 0
    comes after the ring; all others are targets first, and theirs comes before it.
    """
    phi, theta, omega = np.moveaxis(angles, -1, 0)
    gates = np.stack(
        [np.exp(-0.5j * (omega + phi)) * np.cos(theta / 2), np.exp(0.5j * (omega - phi)) * np.sin(theta / 2)], axis=-1
    )
    if angles.shape[2] > 1:  # a single qubit has no ring
        gates[:, 1:, 0] = _product(gates[:, 1:, 0], HADAMARD)
        gates[:, :-1, 1:] = _product(HADAMARD, gates[:, :-1, 1:])
    return gates


def _product(second: ComplexArray, first: ComplexArray) -> ComplexArray:
    (a, b), (c, d) = np.moveaxis(second, -1, 0), np.moveaxis(first, -1, 0)
    return np.stack([a * c - b.conj() * d, b * c + a.conj() * d], axis=-1)


def _inverse(gates: ComplexArray) -> ComplexArray:
    return np.stack([gates[..., 0].conj(), -gates[..., 1]], axis=-1)


def _native(gates: ComplexArray) -> FloatArray:
    """The angles of RZ SX RZ SX RZ, first to last: φ, θ + π and ω + π for RZ(ω) RY(θ) RZ(φ)."""
    a, b = np.moveaxis(gates, -1, 0)
    # Where a or b vanishes one of the phases is noise, and means nothing: only their sum or difference acts then.
    difference, total = np.angle(a), np.angle(b)
    theta = 2 * np.arctan2(np.abs(b), np.abs(a))
    angles = np.stack([-total - difference, theta + np.pi, total - difference + np.pi], axis=-1)
    return np.asarray(np.remainder(angles + np.pi, 2 * np.pi) - np.pi)


# Any circuit in rotations about the axes and CNOTs, up to the phase of whole states: gates that every vendor has.

_NAMES = {"rx": "rx", "ry": "ry", "rz": "rz", "cnot": "cx"}


def overlap_gates(circuits: OverlapCircuits, *, sample: int = 0, centroid: int = 0) -> Iterator[NativeGate[float]]:
    """U(x) and then U†(c) of one sample and one centroid in RX, RY, RZ and CNOT, nothing merged."""
    own, other = circuits.samples[sample], circuits.centroids[centroid]
    yield from _embedding(circuits.circuit, own.reshape(-1).tolist())
    for gate in reversed(list(_embedding(circuits.circuit, other.reshape(-1).tolist()))):
        yield gate if gate.angle is None else gate._replace(angle=-gate.angle)


def _embedding(circuit: Circuit, angles: Sequence[float]) -> Iterator[NativeGate[float]]:
    own = iter(angles)
    for gate in circuit.gates:
        turns = [next(own) for _ in gate.angles]
        for name, qubits, parts in decomposed(gate, turns, into=_NAMES, as_circuit=True):
            if name != PHASE:
                yield NativeGate(_NAMES[name], qubits, *parts)  # type: ignore[arg-type]


# OpenQASM, for devices and simulators of any vendor. Qiskit's own exporter rounds angles near simple fractions of π to
# them; here every angle keeps all its digits.

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
