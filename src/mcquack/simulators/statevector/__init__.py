"""Exact statevectors on the CPU: what all such engines share, and the engine of the paper's feature map."""

from mcquack.simulators.statevector.base import StateBlocks, StateEngine
from mcquack.simulators.statevector.engine import StatevectorEngine

__all__ = ["StateBlocks", "StateEngine", "StatevectorEngine"]
