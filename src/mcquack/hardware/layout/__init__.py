"""Where on a device a ring of qubits lies best."""

from mcquack.hardware.layout.coupling import Coupling
from mcquack.hardware.layout.properties import FAULTY
from mcquack.hardware.layout.ring import Ring, best_ring, ring_lengths

__all__ = ["FAULTY", "Coupling", "Ring", "best_ring", "ring_lengths"]
