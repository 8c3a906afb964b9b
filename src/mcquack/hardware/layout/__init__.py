"""Where on a device a ring of qubits lies best."""

from mcquack.hardware.layout.coupling import Coupling
from mcquack.hardware.layout.lengths import ring_lengths
from mcquack.hardware.layout.ring import Ring, best_ring
from mcquack.hardware.layout.usable import FAULTY

__all__ = ["FAULTY", "Coupling", "Ring", "best_ring", "ring_lengths"]
