"""A device that is nothing but a ring, for simulators: the qubits beside it would only take their memory."""

import math
from dataclasses import dataclass

from qiskit.circuit import Delay, Gate, Measure, Parameter, Reset
from qiskit.circuit.library import CXGate, CZGate, ECRGate, RZGate, SXGate, XGate
from qiskit.providers import BackendV2
from qiskit.transpiler import InstructionProperties, QubitProperties, Target

from mcquack.hardware.layout.properties import RingProperties
from mcquack.hardware.snapshot import ring_properties

_SECONDS = 1e-6
_TWO_QUBIT_GATES: dict[str, type[Gate]] = {"cz": CZGate, "ecr": ECRGate, "cx": CXGate}
# What a Heron processor takes, for a simulator that is no device: decoupling needs times.
_USUAL_US = {"sx_us": 0.032, "two_qubit_us": 0.088, "readout_us": 2.584}
_USUAL_DT = 4e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class RingDevice:
    """The qubits of a ring under the numbers 0 to n - 1, what is known of them, and the gates between them.

    ``pairs`` are the directions in which the two-qubit gate is offered.
    """

    properties: RingProperties
    two_qubit_gate: str = "cz"
    pairs: tuple[tuple[int, int], ...]
    dt: float | None = _USUAL_DT

    @property
    def n_qubits(self) -> int:
        return len(self.properties.values["sx_error"])

    @property
    def target(self) -> Target:
        """As Qiskit wants it; times are rounded to the device's clock."""
        values = self.properties.values
        qubits = range(self.n_qubits)
        coherence = zip(values["t1_us"], values["t2_us"], strict=True)
        target = Target(
            num_qubits=self.n_qubits,
            dt=self.dt,
            qubit_properties=[QubitProperties(t1=t1 * _SECONDS, t2=t2 * _SECONDS) for t1, t2 in coherence],
        )
        pulses = {(q,): self._known(values["sx_error"][q], values["sx_us"][q]) for q in qubits}
        readout = {(q,): self._known(values["readout_error"][q], values["readout_us"][q]) for q in qubits}
        pairs = {
            pair: self._known(values["two_qubit_error"][place], values["two_qubit_us"][place])
            for pair in self.pairs
            for place in [self.coupler(pair)]
        }
        # Turns about z are made by the clock.
        target.add_instruction(RZGate(Parameter("angle")), {(q,): self._known(0.0, 0.0) for q in qubits})
        target.add_instruction(SXGate(), pulses)
        target.add_instruction(XGate(), pulses)
        if pairs:
            target.add_instruction(_TWO_QUBIT_GATES[self.two_qubit_gate](), pairs)
        target.add_instruction(Measure(), readout)
        target.add_instruction(Reset(), dict.fromkeys(readout))
        target.add_instruction(Delay(Parameter("time")), dict.fromkeys(readout))
        return target

    def coupler(self, pair: tuple[int, int]) -> int:
        """Number q for the qubits q and q+1 mod n, either way round; of two qubits both are one."""
        first, second = pair
        return first if (first + 1) % self.n_qubits == second else second

    def _known(self, error: float, microseconds: float) -> InstructionProperties:
        duration = microseconds * _SECONDS
        if self.dt:
            duration = round(duration / self.dt) * self.dt
        return InstructionProperties(error=error, duration=duration)


def ring_device(backend: BackendV2, ring: tuple[int, ...], *, n_layers: int = 2) -> RingDevice:
    """A ring cut out of a snapshot; faults in it count as the median of the others, which the notes of it say.

    For a circuit of one layer, which has no CNOTs, the qubits need not be a ring.
    """
    target = backend.target
    offered = [name for name in _TWO_QUBIT_GATES if name in target.operation_names]
    gate = offered[0] if offered else "cz"
    places = {qubit: place for place, qubit in enumerate(ring)}
    pairs = tuple(
        (places[first], places[second])
        for first, second in (target[gate] if offered else ())
        if first in places and second in places and _are_neighbours(places[first], places[second], len(ring))
    )
    return RingDevice(
        properties=ring_properties(backend, ring, n_layers=n_layers),
        two_qubit_gate=gate,
        pairs=pairs,
        dt=target.dt or _USUAL_DT,
    )


def noiseless_ring(n_qubits: int) -> RingDevice:
    """One without any errors, as fast as a real one."""
    everywhere = {
        **dict.fromkeys(("sx_error", "two_qubit_error", "readout_error"), 0.0),
        **dict.fromkeys(("t1_us", "t2_us"), math.inf),
        **_USUAL_US,
    }
    values = {name: (value,) * n_qubits for name, value in everywhere.items()}
    steps = [(q, (q + 1) % n_qubits) for q in range(n_qubits)] if n_qubits > 1 else []
    pairs = dict.fromkeys(pair for first, second in steps for pair in ((first, second), (second, first)))
    return RingDevice(properties=RingProperties(values, ()), pairs=tuple(pairs))


def _are_neighbours(first: int, second: int, n_qubits: int) -> bool:
    """On the ring, that is: it may pass couplers that it does not use."""
    return (first - second) % n_qubits in (1, n_qubits - 1)
