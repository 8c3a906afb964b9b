"""The gate engine: any circuit as statevectors on the CPU."""

from mcquack.simulators.gates.engine import GateEngine

__all__ = ["GateEngine"]
