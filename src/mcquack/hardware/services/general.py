"""Any circuit on a device: its overlap with itself as one template, laid out and made of native gates by Qiskit, once.

The paper's circuit has its own form (``mcquack.hardware.native``) and lies on a ring, without a SWAP. For all others
the transpiler finds the place and the gates, while the angles are symbols, so that one template serves all samples and
centroids.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from typing import Any
from uuid import uuid4

from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister, transpile
from qiskit.circuit import Delay, Parameter, ParameterVector
from qiskit.transpiler import (
    InstructionProperties,
    QubitProperties,
    StagedPassManager,
    Target,
    TranspilerError,
    generate_preset_pass_manager,
)

from mcquack.circuits.circuit import Circuit
from mcquack.circuits.exchange import append_to_qiskit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import LayoutError
from mcquack.hardware.jobs.service import Speed
from mcquack.hardware.layout.coupling import FAULTY, RingProperties
from mcquack.hardware.native import free_angles, n_angles, native_gates
from mcquack.hardware.services.account import TWO_QUBIT_GATES

# Angles are symbols when gates are chosen, so that gates for some angles only, as devices offer them too, are left out.
_ONE_QUBIT_GATES = ("rz", "sx", "x")
_OTHERS = ("measure", "reset", "delay")
_LEVEL = 2  # beyond that level symbols gain little
USUAL_DT = 4e-9


def overlap_template(circuit: Circuit) -> QuantumCircuit:
    """U(x) and then U†(c), measured; its parameters are in the order of ``angle_sets``, and constants stay numbers.

    The paper's circuit is in RZ, SX and CZ, any other in its own gates.
    """
    n_qubits = circuit.n_qubits
    # Two templates in one circuit would clash if their parameters had one name.
    angles = ParameterVector(f"mcquack_{uuid4().hex[:12]}", n_angles(circuit))
    registers = QuantumRegister(n_qubits, "q"), ClassicalRegister(n_qubits, "meas")
    found = QuantumCircuit(*registers, name=f"mcquack_overlap_{n_qubits}")
    if isinstance(circuit, FeatureMap):
        for gate in native_gates(n_qubits, circuit.n_layers, list(angles)):
            getattr(found, gate.name)(*(() if gate.angle is None else (gate.angle,)), *gate.qubits)
    else:
        half = len(angles) // 2
        found.compose(_embedding(circuit, angles[:half]), inplace=True)
        found.compose(_embedding(circuit, angles[half:]).inverse(), inplace=True)
    # Qubits that are done wait for the others: reading some while gates act on their neighbours would disturb these,
    # and twirling of measurements takes them in one layer.
    found.barrier()
    found.measure(range(n_qubits), range(n_qubits))
    return found


def _embedding(circuit: Circuit, symbols: Sequence[Parameter]) -> QuantumCircuit:
    values: list[Any] = circuit.angle_table.offset.tolist()
    for place, symbol in zip(free_angles(circuit), symbols, strict=True):
        values[place] = symbol
    found, own = QuantumCircuit(circuit.n_qubits), iter(values)
    for gate in circuit.gates:
        append_to_qiskit(found, gate, [next(own) for _ in gate.angles])
    return found


def chosen_qubits(circuit: Circuit, target: Target) -> tuple[int, ...]:
    """The device's qubits for those of a circuit, where Qiskit would lay it: few SWAPs, and then small errors."""
    _require_room(circuit.n_qubits, target)
    passes = generate_preset_pass_manager(_LEVEL, target=symbolic_target(target), seed_transpiler=0)
    placing = StagedPassManager(["init", "layout"], init=passes.init, layout=passes.layout)
    with _explained(circuit.n_qubits):
        found = placing.run(overlap_template(circuit)).layout
    return tuple(map(int, found.initial_index_layout(filter_ancillas=True)))


def routed(template: QuantumCircuit, qubits: Sequence[int], target: Target) -> QuantumCircuit:
    """The template in the gates of a device; qubit q begins on ``qubits[q]``, and SWAPs may move it."""
    _require_room(template.num_qubits, target)
    if not all(0 <= qubit < (target.num_qubits or template.num_qubits) for qubit in qubits):
        raise LayoutError(f"the device has the qubits 0 to {target.num_qubits - 1}, got {list(qubits)}.")
    with _explained(template.num_qubits):
        return transpile(
            template,
            target=symbolic_target(target),
            initial_layout=list(qubits),
            optimization_level=_LEVEL,
            seed_transpiler=0,
        )


@contextmanager
def _explained(n_qubits: int) -> Iterator[None]:
    try:
        yield
    except TranspilerError as error:
        raise LayoutError(
            f"Qiskit cannot lay a circuit of {n_qubits} qubits on what is not faulty of the device ({error}); take "
            "fewer qubits, others, or another device."
        ) from error


def _require_room(n_qubits: int, target: Target) -> None:
    if target.num_qubits is not None and target.num_qubits < n_qubits:
        raise LayoutError(f"the circuit needs {n_qubits} qubits, and the device has {target.num_qubits}.")


def symbolic_target(target: Target) -> Target:
    """What of a device may be used before angles are known: turns about z, SX, X, one two-qubit gate, no faults."""
    pairs = [name for name in TWO_QUBIT_GATES if name in target.operation_names]
    usual = {"rz", "sx", "measure"} <= set(target.operation_names)
    if not usual or not pairs or target.num_qubits is None or None in target[pairs[0]]:
        return target
    names = (*_ONE_QUBIT_GATES, pairs[0], *_OTHERS)
    faulty = {own for name in ("sx", "measure") for own, known in target[name].items() if _is_faulty(known)}
    broken = {
        own for own, known in target[pairs[0]].items() if _is_faulty(known) or any((qubit,) in faulty for qubit in own)
    }
    return _part(target, names, range(target.num_qubits), without=broken)


def _part(
    target: Target, names: Sequence[str], qubits: Sequence[int], *, without: Collection[tuple[int, ...]] = ()
) -> Target:
    """Some gates on some qubits of a device, under the numbers 0, 1, …, without some couplers."""
    # What is offered on no qubits in particular is control flow.
    offering = [name for name in names if name in target.operation_names and None not in target[name]]
    places = {qubit: place for place, qubit in enumerate(qubits)}
    known = target.qubit_properties
    found = Target(
        num_qubits=len(qubits),
        dt=target.dt or USUAL_DT,
        qubit_properties=None if known is None else [known[qubit] for qubit in qubits],
    )
    for name in offering:
        offered = {
            tuple(places[qubit] for qubit in own): properties
            for own, properties in target[name].items()
            if own not in without and all(qubit in places for qubit in own)
        }
        operation = target.operation_from_name(name)
        if offered:
            found.add_instruction(Delay(Parameter("time")) if name == "delay" else operation, offered)
    return found


def _is_faulty(properties: Any) -> bool:
    error = getattr(properties, "error", None)
    return error is not None and error >= FAULTY


@dataclass(frozen=True, kw_only=True, eq=False)
class CutDevice:
    """The qubits of a device that a circuit uses, under the numbers 0 to k - 1, for a simulator of them alone."""

    target: Target

    @property
    def properties(self) -> RingProperties:
        known = self.target.qubit_properties or [QubitProperties()] * self.target.num_qubits
        times = {name: tuple((getattr(one, name) or inf) * 1e6 for one in known) for name in ("t1", "t2")}
        return RingProperties({f"{name}_us": values for name, values in times.items()}, ())


def cut_out(circuit: QuantumCircuit, target: Target) -> tuple[QuantumCircuit, CutDevice]:
    """A circuit on a device without all qubits that it does not use, and the device without them.

    What the device does not say how long it takes, takes as long as it usually does.
    """
    used = sorted({circuit.find_bit(qubit).index for step in circuit.data for qubit in step.qubits})
    places = {qubit: place for place, qubit in enumerate(used)}
    found = QuantumCircuit(QuantumRegister(len(used), "q"), *circuit.cregs, name=circuit.name)
    found.global_phase = circuit.global_phase
    for step in circuit.data:
        own = [places[circuit.find_bit(qubit).index] for qubit in step.qubits]
        found.append(step.operation, own, step.clbits)
    symbolic = symbolic_target(target)
    part = _part(symbolic, list(symbolic.operation_names), used)
    for name in part.operation_names:
        for own, properties in part[name].items() if name not in ("delay", "reset") else ():
            usual = Speed().readout_us if name == "measure" else (Speed().sx_us, Speed().two_qubit_us)[len(own) - 1]
            seconds = getattr(properties, "duration", None)
            # In ticks of the device's clock, in which waiting is counted.
            ticks = round((usual * 1e-6 if seconds is None else seconds) / part.dt)
            known = InstructionProperties(duration=ticks * part.dt, error=getattr(properties, "error", None))
            part.update_instruction_properties(name, own, known)
    return found, CutDevice(target=part)
