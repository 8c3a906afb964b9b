"""Circuits as pure functions of JAX, and the engine on top of them; JAX itself is imported when a circuit is run.

``mcquack.simulators.jax.functions`` has what one differentiates further: ``jax_states`` and ``jax_kernel``.
"""

from mcquack.simulators.jax.engine import JaxEngine

__all__ = ["JaxEngine"]
