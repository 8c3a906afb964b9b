"""The two samplers of the vendor behind one call: SamplerV2, and its successor which is built on the executor."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import Parameter

from mcquack.errors import DeviceError
from mcquack.hardware.circuit.assembly import MEASURED
from mcquack.hardware.jobs.service import Angles, Bits
from mcquack.hardware.services.options import Api, Options

# To round angles to this many digits is to leave them as they are.
_ALL_DECIMALS = 15


def chosen_api(api: Api) -> Literal["v2", "executor"]:
    """The successor where the installed version has it."""
    if api != "auto":
        return api
    return "executor" if find_spec("qiskit_ibm_runtime.executor_sampler") else "v2"


@dataclass(frozen=True, kw_only=True, eq=False)
class Program:
    """A circuit on a device whose parameters take their angles in the order of ``parameters``."""

    circuit: QuantumCircuit
    parameters: tuple[Parameter, ...]

    def pub(self, angles: Angles) -> tuple[QuantumCircuit, dict[tuple[Parameter, ...], Angles]]:
        """All sets of angles (K, P) for one circuit, which is sent and compiled once."""
        return self.circuit, {self._kept_parameters: angles[:, self._kept]}

    @cached_property
    def _kept(self) -> list[int]:
        """The places of the angles that the circuit still has: a translation may find that some change nothing."""
        kept = set(self.circuit.parameters)
        return [place for place, parameter in enumerate(self.parameters) if parameter in kept]

    @cached_property
    def _kept_parameters(self) -> tuple[Parameter, ...]:
        return tuple(self.parameters[place] for place in self._kept)


def sent(
    program: Program, angles: Angles, *, shots: int, options: Options, mode: Any, tag: str = "", seed: int | None = None
) -> Any:
    """The vendor's job for a device, batch or session; ``seed`` is for simulators."""
    make = _v2_sampler if chosen_api(options.api) == "v2" else _executor_sampler
    sampler = make(mode, sampler_settings(options, shots=shots, tag=tag, seed=seed))
    return sampler.run([program.pub(angles)], shots=shots)


def sampler_settings(options: Options, *, shots: int, tag: str = "", seed: int | None = None) -> dict[str, Any]:
    """The options of both samplers, whose names agree as far as they go here."""
    settings: dict[str, Any] = {"environment": {"job_tags": [tag]}} if tag else {}
    if options.decoupling is not None:
        settings["dynamical_decoupling"] = {
            "enable": True,
            "sequence_type": options.decoupling,
            # A qubit in its ground state waits at no risk, and those beside the ring had better not be driven at all.
            "skip_reset_qubits": True,
        }
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
    measured = getattr(result[0].data, MEASURED)
    bits: Bits = np.ascontiguousarray(measured.array, dtype=np.uint8)
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
        warnings.filterwarnings("ignore", message=".*SamplerV2 class is deprecated", category=DeprecationWarning)
        return SamplerV2(mode=mode, options=settings)


def _executor_sampler(mode: Any, settings: dict[str, Any]) -> Any:
    from qiskit_ibm_runtime.executor_sampler import Sampler

    sampler = Sampler(mode=mode, options=settings)
    if hasattr(sampler.options.simulator, "angle_decimals"):
        # Simulations round angles by default, so that some become those of Clifford gates.
        sampler.options.simulator.angle_decimals = _ALL_DECIMALS
    return sampler
