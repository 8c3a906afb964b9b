"""Aer as a ring of qubits that err and wait."""

from collections.abc import Sequence
from typing import Any

from qiskit import QuantumCircuit
from qiskit_aer import AerSimulator

from mcquack.hardware.services.noise import Change, idle_noise, noise_model
from mcquack.hardware.services.options import Noise
from mcquack.hardware.services.ring_device import RingDevice

# Up to two layers entangle little beyond neighbours, so that tensors soon are faster than all amplitudes.
_LARGEST_WHOLE_STATE = 12
_LARGEST_WHOLE_STATE_OF_MORE_LAYERS = 20


class RingSimulator(AerSimulator):  # type: ignore[misc]
    """Puts the errors of waiting qubits into circuits when they are run.

    Only then are they complete: samplers decouple and twirl just before.
    """

    _waiting: Change | None = None

    @classmethod
    def of(cls, device: RingDevice, *, noise: Noise, method: str) -> "RingSimulator":
        """For a ring, by one of Aer's methods."""
        model = noise_model(device, noise)
        simulator = cls(
            target=device.target,
            method=method,
            # Circuits side by side, but not shots: these would be other ones with another number of threads.
            max_parallel_experiments=0,
            max_parallel_shots=1,
            **({} if model is None else {"noise_model": model}),
        )
        simulator._waiting = idle_noise(device, noise)
        return simulator

    def run(self, circuits: QuantumCircuit | Sequence[QuantumCircuit], **options: Any) -> Any:
        """Of Aer, for circuits with their waiting times."""
        wait = self._waiting or (lambda circuit: circuit)
        changed = [wait(circuit) for circuit in ([circuits] if isinstance(circuits, QuantumCircuit) else circuits)]
        return super().run(changed, **options)


def method_for(n_qubits: int, n_layers: int) -> str:
    """The method of Aer that suits the size of a circuit."""
    largest = _LARGEST_WHOLE_STATE if n_layers <= 2 else _LARGEST_WHOLE_STATE_OF_MORE_LAYERS
    return "automatic" if n_qubits <= largest else "matrix_product_state"
