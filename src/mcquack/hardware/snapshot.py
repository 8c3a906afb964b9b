"""What a backend of Qiskit tells about its device: couplers, errors and times, as they were last calibrated."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TypeAlias

from qiskit.circuit import Gate
from qiskit.providers import BackendV2
from qiskit.transpiler import InstructionProperties, Target

from mcquack.errors import DeviceError
from mcquack.hardware.layout.coupling import Coupling, Known
from mcquack.hardware.layout.properties import RingProperties, properties_along

_PREFERRED = ("cz", "ecr", "cx")
_MICROSECONDS = 1e6

Properties: TypeAlias = InstructionProperties | None
Pair: TypeAlias = tuple[int, int]


def coupling_of(backend: BackendV2) -> Coupling:
    """The couplers of a backend with its last calibration; a backend without a coupling map couples every pair.

    A coupler counts with the gate that CNOTs are made of there. If its two directions differ, the worse one counts.
    """
    target = backend.target
    n_qubits = target.num_qubits
    if not n_qubits:
        raise DeviceError(f"{backend.name} does not say how many qubits it has; choose a backend for a device.")
    gates = _two_qubit_gates(target)
    edges = tuple(sorted(gates))
    qubits = range(n_qubits)
    sx, readout = ([_of_qubit(target, name, qubit) for qubit in qubits] for name in ("sx", "measure"))
    coherence = target.qubit_properties or [None] * n_qubits
    return Coupling(
        name=backend.name,
        n_qubits=n_qubits,
        edges=edges,
        two_qubit_error=tuple(_worst(_error(one) for one in gates[edge]) for edge in edges),
        two_qubit_us=tuple(_worst(_duration(one) for one in gates[edge]) for edge in edges),
        sx_error=tuple(map(_error, sx)),
        sx_us=tuple(map(_duration, sx)),
        readout_error=tuple(map(_error, readout)),
        readout_us=tuple(map(_duration, readout)),
        t1_us=_coherence_times(coherence, "t1"),
        t2_us=_coherence_times(coherence, "t2"),
    )


def ring_properties(backend: BackendV2, ring: Sequence[int], *, n_layers: int = 2) -> RingProperties:
    """Errors and times along a ring of the backend, of which ``mcquack.simulators.noise`` makes a noisy twin."""
    return properties_along(coupling_of(backend), ring, n_layers=n_layers)


def _two_qubit_gates(target: Target) -> dict[Pair, list[Properties]]:
    """The properties of each coupler's gate, in all directions in which it is offered."""
    found: dict[Pair, tuple[str, list[Properties]]] = {}
    for name in sorted(target.operation_names, key=_preference):
        operation = target.operation_from_name(name)
        if not (isinstance(operation, Gate) and operation.num_qubits == 2):
            continue
        for pair, properties in _offered(target, name).items():
            gate, known = found.setdefault((min(pair), max(pair)), (name, []))
            if gate == name:
                known.append(properties)
    return {pair: known for pair, (_, known) in found.items()}


def _preference(name: str) -> tuple[int, str]:
    return (_PREFERRED.index(name) if name in _PREFERRED else len(_PREFERRED)), name


def _offered(target: Target, name: str) -> dict[Pair, Properties]:
    """The pairs that a gate acts on; one that is offered without any acts on all."""
    offered = target[name]
    if None in offered:
        return dict.fromkeys(combinations(range(target.num_qubits), 2))
    return {(pair[0], pair[1]): properties for pair, properties in offered.items()}


def _of_qubit(target: Target, name: str, qubit: int) -> Properties:
    if name not in target.operation_names:
        return None
    properties: Properties = target[name].get((qubit,))
    return properties


def _error(properties: Properties) -> float | None:
    """Below 1: a fault may be reported as more than certain."""
    error = getattr(properties, "error", None)
    return None if error is None else min(float(error), 1.0)


def _duration(properties: Properties) -> float | None:
    duration = getattr(properties, "duration", None)
    return None if duration is None else float(duration) * _MICROSECONDS


def _coherence_times(qubits: Iterable[object], name: str) -> Known:
    """A time of zero is one that was not measured."""
    times = (getattr(qubit, name, None) for qubit in qubits)
    return tuple(float(time) * _MICROSECONDS if time else None for time in times)


def _worst(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
