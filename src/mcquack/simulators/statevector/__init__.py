"""Exact statevectors on the CPU: Numba, many samples side by side, reversible adjoint."""

from mcquack.simulators.statevector.engine import StateBlocks, StatevectorEngine

__all__ = ["StateBlocks", "StatevectorEngine"]
