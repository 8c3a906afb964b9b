"""Where on a device a ring of qubits lies best, and what is known of the device there."""

from mcquack.hardware.layout.coupling import FAULTY, Coupling
from mcquack.hardware.layout.ring import Ring, best_ring, ring_lengths, simulated_ring

__all__ = ["FAULTY", "Coupling", "Ring", "best_ring", "ring_lengths", "simulated_ring"]
