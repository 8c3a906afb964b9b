"""Exact overlaps of shallow circuits on a ring of any number of qubits."""

from mcquack.simulators.ring.engine import MAX_LAYERS, RingEngine

__all__ = ["MAX_LAYERS", "RingEngine"]
