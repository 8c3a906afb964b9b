"""Expectation values of Pauli Z on blocks of W samples, and their way back.

``signs`` (Q, 2**n) holds the eigenvalue ±1 of each observable for every stored row of a state.
"""

from typing import Any

from numba import njit

from mcquack.simulators.statevector.lanes import fma, load, splat, store


@njit(nogil=True)
def expectation_block(state: Any, signs: Any, expectations: Any) -> None:
    """⟨ψ|O_q|ψ⟩ of every lane into row q."""
    zero = splat(state.dtype.type(0))
    for observable in range(signs.shape[0]):
        # Two sums, so that an addition need not wait for the one before it.
        reals, imaginaries = zero, zero
        for row in range(state.shape[0]):
            sign = splat(signs[observable, row])
            real, imag = load(state, 2 * row), load(state, 2 * row + 1)
            reals = fma(sign * real, real, reals)
            imaginaries = fma(sign * imag, imag, imaginaries)
        store(expectations, observable, reals + imaginaries)


@njit(nogil=True)
def observable_adjoint(state: Any, signs: Any, cotangent: Any, adjoint: Any) -> None:
    """λ = Σ_q cotangent_q O_q |ψ⟩ for one block; ``cotangent`` (Q, W) differs from lane to lane."""
    zero = splat(state.dtype.type(0))
    for row in range(state.shape[0]):
        factor = zero
        for observable in range(signs.shape[0]):
            factor = fma(splat(signs[observable, row]), load(cotangent, observable), factor)
        store(adjoint, 2 * row, factor * load(state, 2 * row))
        store(adjoint, 2 * row + 1, factor * load(state, 2 * row + 1))
