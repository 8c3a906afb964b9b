"""The overlap circuit as Qiskit runs it: one circuit for all pairs, on a ring, sent by the vendor's samplers.

The vendor has two samplers, SamplerV2 and its successor which is built on the executor; both are behind one call here.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import combinations
from typing import Any, Literal, Self
from uuid import uuid4

import numpy as np
from qiskit import QuantumCircuit, transpile
from qiskit.circuit import Parameter, ParameterVector
from qiskit.transpiler import Target

from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import DeviceError, LayoutError
from mcquack.hardware.jobs.service import Angles, Bits
from mcquack.hardware.layout import Coupling
from mcquack.hardware.services.general import overlap_template, routed
from mcquack.hardware.services.options import Api, Options, Setup

_NATIVE_GATES = {"rz", "sx", "cz", "measure"}
# To round angles to this many digits is to leave them as they are.
_ALL_DECIMALS = 15


def placed(template: QuantumCircuit, ring: Sequence[int], target: Target) -> QuantumCircuit:
    """The template in the gates of a device, qubit q on the physical qubit ``ring[q]``, without a SWAP."""
    qubits = [int(qubit) for qubit in ring]
    _require_fit(template, qubits, target)
    is_native = set(target.operation_names) >= _NATIVE_GATES
    return transpile(
        template,
        target=target,
        initial_layout=qubits,
        # Level 0 only translates. What a translation leaves behind is worth joining, and as the angles of the circuit
        # are symbols then, none can vanish.
        optimization_level=0 if is_native else 1,
        seed_transpiler=0,
    )


def _require_fit(template: QuantumCircuit, ring: list[int], target: Target) -> None:
    n_qubits = template.num_qubits
    if len(ring) != n_qubits:
        raise LayoutError(f"the circuit needs {n_qubits} different qubits, got {len(ring)}: {ring}.")
    # A target that fits devices of any size has as many qubits as the circuit.
    n_physical = n_qubits if target.num_qubits is None else target.num_qubits
    couplers = target.build_coupling_map()
    pairs = combinations(range(n_physical), 2) if couplers is None else couplers.get_edges()
    edges = tuple({(min(pair), max(pair)) for pair in pairs})
    coupling = Coupling(name="the device", n_qubits=n_physical, edges=edges)
    # A circuit of one layer has no gates on two qubits, and needs no couplers.
    has_rings = any(gate.operation.name == "cz" for gate in template.data)
    _ = coupling.ring_couplers(ring) if has_rings else coupling.ring_qubits(ring)


def _turned(circuit: QuantumCircuit) -> QuantumCircuit:
    found = circuit.copy_empty_like()
    (qubit,) = next(step.qubits for step in circuit.data if step.operation.name == "measure")
    found.rz(ParameterVector(f"mcquack_{uuid4().hex[:12]}", 1)[0], qubit)
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceProgram:
    """The overlap circuit on a device, and the place of each of its parameters among the angles."""

    circuit: QuantumCircuit
    places: dict[Parameter, int]

    @classmethod
    def on(cls, target: Target, ring: Sequence[int], circuit: Circuit) -> Self:
        """``ring`` is the device's qubits in the order of the circuit's."""
        lay = placed if isinstance(circuit, FeatureMap) else routed
        found = lay(overlap_template(circuit), ring, target)
        if not found.parameters:
            # Samplers run a circuit once that has no parameters. A turn about z of a zero changes nothing.
            found.compose(_turned(found), inplace=True, front=True)
        # A translation may find that some change nothing, and those are not there any more.
        return cls(circuit=found, places={one: one.index for one in found.parameters})

    def pub(self, angles: Angles) -> tuple[QuantumCircuit, Any]:
        """All sets of angles (K, P) for one circuit, which is sent and compiled once."""
        return self.circuit, {tuple(self.places): angles[:, list(self.places.values())]}


class SetupService:
    """What services share: a setup, which is all that a copy in another process needs, or may have, of them."""

    _setup: Setup

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._setup!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Jobs stay where they are, and an account is opened anew, so that no copy or file ever has its token.
        from mcquack.hardware.services.opening import opened

        return opened, (self._setup,)


def chosen_api(api: Api) -> Literal["v2", "executor"]:
    """The sampler to take: the successor where the installed version has it."""
    if api != "auto":
        return api
    return "executor" if find_spec("qiskit_ibm_runtime.executor_sampler") else "v2"


def sent(
    program: DeviceProgram,
    angles: Angles,
    *,
    shots: int,
    options: Options,
    mode: Any,
    tag: str = "",
    seed: int | None = None,
) -> Any:
    """The vendor's job, sent to the device, batch or session that ``mode`` is; ``seed`` is for simulators."""
    make = _v2_sampler if chosen_api(options.api) == "v2" else _executor_sampler
    sampler = make(mode, sampler_settings(options, shots=shots, tag=tag, seed=seed))
    return sampler.run([program.pub(angles)], shots=shots)


def sampler_settings(options: Options, *, shots: int, tag: str = "", seed: int | None = None) -> dict[str, Any]:
    """The options of both samplers, whose names agree as far as they go here."""
    settings: dict[str, Any] = {"environment": {"job_tags": [tag]}} if tag else {}
    if options.decoupling is not None:
        # A qubit in its ground state waits at no risk, and those beside the ring had better not be driven at all.
        pulses = {"enable": True, "sequence_type": options.decoupling, "skip_reset_qubits": True}
        settings["dynamical_decoupling"] = pulses
    if options.measure_twirling:
        ways, shots_each = options.split(shots)
        # Left to itself, the vendor rounds 100 shots up to 128.
        settings["twirling"] = {
            "enable_gates": False,
            "enable_measure": True,
            "num_randomizations": ways,
            "shots_per_randomization": shots_each,
        }
    if seed is not None:
        settings["simulator"] = {"seed_simulator": seed}
    return settings


def outcomes_of(result: Any, shape: tuple[int, int] | None = None) -> Bits:
    """The packed bits of every shot; ``shape`` is how many circuits and shots are due, None if others know that."""
    bits: Bits = np.ascontiguousarray(result[0].data.meas.array, dtype=np.uint8)
    if shape is not None and (bits.ndim != 3 or bits.shape[:2] != shape):
        raise DeviceError(
            f"a job for {shape[0]} circuits with {shape[1]} shots each came back with outcomes of the shape "
            f"{bits.shape}; have it measured anew."
        )
    return bits


def _v2_sampler(mode: Any, settings: dict[str, Any]) -> Any:
    from qiskit_ibm_runtime import SamplerV2

    with warnings.catch_warnings():
        # Whoever asks for this one knows that it has a successor, or has an older version without it.
        warnings.simplefilter("ignore", DeprecationWarning)
        return SamplerV2(mode=mode, options=settings)


def _executor_sampler(mode: Any, settings: dict[str, Any]) -> Any:
    from qiskit_ibm_runtime.executor_sampler import Sampler

    sampler = Sampler(mode=mode, options=settings)
    if hasattr(sampler.options.simulator, "angle_decimals"):
        # Simulations round angles by default, so that some become those of Clifford gates.
        sampler.options.simulator.angle_decimals = _ALL_DECIMALS
    return sampler
