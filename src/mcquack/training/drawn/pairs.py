"""Steps of training by drawn batches whose loss is the overlap between samples of different classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.circuits.circuit import Circuit
from mcquack.simulators.compiled.complex_rows import load_complex
from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.gates import (
    OF_PARAMETERS,
    TURN,
    start_state,
    steps_backward,
    steps_forward,
)
from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.lanes import fma, lane_count, load, splat, store
from mcquack.simulators.compiled.memory import aligned_zeros, copy_block, gather_rows, require_bytes
from mcquack.simulators.compiled.shared import fill_shared
from mcquack.simulators.compiled.team import barrier, stop_barrier
from mcquack.simulators.gates import GateEngine
from mcquack.training.drawn.loop import CompiledTraining, threads_for
from mcquack.training.drawn.steps import GOING, clear_sums, finish_batch


class PairProblem(NamedTuple):
    """What is fixed during training."""

    rows: Any  # (N, d)
    form: Any


class PairWork(NamedTuple):
    """What one thread works on: the memory of the gate engine, and states and adjoints (M, 2**n, 2, W) of a block."""

    gates: Any
    states: Any
    adjoints: Any
    overlaps: Any  # (2, W)


@inner
def _overlap(left: Any, right: Any, overlaps: Any) -> None:
    """⟨left|right⟩ of every lane."""
    real, imag = splat(left.dtype.type(0)), splat(left.dtype.type(0))
    for row in range(left.shape[0]):
        a, b = load_complex(left, row)
        c, d = load_complex(right, row)
        real = fma(b, d, fma(a, c, real))
        imag = fma(-b, c, fma(a, d, imag))
    store(overlaps, 0, real)
    store(overlaps, 1, imag)


@inner
def _add_pull(state: Any, real: Any, imag: Any, adjoint: Any) -> None:
    """adjoint += (real + i imag) · state."""
    for row in range(state.shape[0]):
        a, b = load_complex(state, row)
        store(adjoint, 2 * row, fma(real, a, fma(-imag, b, load(adjoint, 2 * row))))
        store(adjoint, 2 * row + 1, fma(real, b, fma(imag, a, load(adjoint, 2 * row + 1))))


@inner
def _block_gradient(
    problem: Any, shared: Any, bias: Any, orders: Any, block: int, work: Any, gradient: Any, currents: Any
) -> float:
    """The block's part of the mean overlap between classes; its derivatives go to ``gradient`` and ``currents``."""
    gates, n_classes, batch_size = work.gates, orders.shape[0], orders.shape[1]
    width = gates.features.shape[1]
    zero = splat(bias.dtype.type(0))
    clear_sums(gradient, currents)
    for own in range(n_classes):
        gather_rows(problem.rows, orders[own], 0, batch_size, block, gates.features)
        start_state(problem.form, gates.features, work.states[own], gates)
        steps_forward(problem.form, shared, bias, bias, gates.features, work.states[own], gates)
        for row in range(2 * work.states.shape[1]):
            store(work.adjoints[own], row, zero)
    share = bias.dtype.type(2.0 / (n_classes * (n_classes - 1) * batch_size))
    loss = 0.0
    for left in range(n_classes):
        for right in range(left + 1, n_classes):
            _overlap(work.states[left], work.states[right], work.overlaps)
            for lane in range(width):
                real, imag = work.overlaps[0, lane], work.overlaps[1, lane]
                counts = block * width + lane < batch_size
                loss += share * (real * real + imag * imag) if counts else 0.0
                work.overlaps[0, lane] = share * real if counts else 0
                work.overlaps[1, lane] = share * imag if counts else 0
            of_real, of_imag = load(work.overlaps, 0), load(work.overlaps, 1)
            _add_pull(work.states[left], of_real, of_imag, work.adjoints[right])
            _add_pull(work.states[right], of_real, -of_imag, work.adjoints[left])
    for own in range(n_classes):
        gather_rows(problem.rows, orders[own], 0, batch_size, block, gates.features)
        copy_block(work.adjoints[own], gates.adjoint)
        steps_backward(
            problem.form, shared, bias, bias, gates.features, work.states[own], gates,
            gradient, gradient, currents, OF_PARAMETERS,
        )  # fmt: skip
    return loss


@entry
def run_pair_steps(
    cells: Any,
    rank: int,
    n_threads: int,
    work: Any,
    problem: Any,
    shared: Any,
    trained: Any,
    sums: Any,
    orders: Any,
    rate: float,
    interval: int,
) -> None:
    """A step for each of the batches in ``orders`` (steps, M, B), until training has converged or diverged."""
    n_blocks = sums.losses.size
    for number in range(orders.shape[0]):
        fill_shared(problem.form, shared, TURN, trained.parameters, rank, n_threads)
        barrier(cells, n_threads)
        for block in range(rank, n_blocks, n_threads):
            sums.losses[block] = _block_gradient(
                problem, shared, trained.parameters, orders[number], block, work,
                sums.gradients[block], sums.currents[block],
            )  # fmt: skip
        barrier(cells, n_threads)
        if rank == 0:
            finish_batch(problem.form, shared, trained, sums, 0, rate, interval)
        if stop_barrier(cells, rank, n_threads) or trained.progress[1] != GOING:
            return


class PairTraining(CompiledTraining):
    """Trains the biases of a circuit so that samples of different classes overlap less.

    The loss is the mean of |⟨a|b⟩|² over the pairs of classes and over the places of a batch (M, B), which has one row
    of each class at every place.

    Parameters
    ----------
    circuit : What embeds a sample; it has biases alone.
    rows : Samples (N, d).
    n_classes, batch_size, dtype : The sizes of a batch, and in which numbers all is computed.
    """

    def __init__(
        self, circuit: Circuit, rows: FloatArray, *, n_classes: int, batch_size: int, dtype: np.dtype[Any]
    ) -> None:
        engine, width = GateEngine(circuit, dtype=dtype), lane_count(dtype)
        n_blocks, flops = engine.n_blocks(batch_size), engine.flops(n_classes * batch_size, with_gradient=True)
        n_threads = threads_for(engine, flops, n_blocks)
        n_bytes = 2 * n_classes * engine.state_bytes(width) + engine.scratch_bytes(backward=True)
        require_bytes(n_threads * n_bytes, f"training {n_classes} states of {circuit.n_qubits} qubits at a time")
        shape = n_classes, circuit.dimension, 2, width
        works = [
            PairWork(gates, aligned_zeros(shape, dtype), aligned_zeros(shape, dtype), aligned_zeros((2, width), dtype))
            for gates in engine.scratch(n_threads, backward=True)
        ]
        super().__init__(
            run_pair_steps,
            PairProblem(np.require(rows, dtype, ["C", "W"]), engine.form),
            works,
            engine=engine,
            n_parameters=circuit.n_bias,
            n_blocks=n_blocks,
            flops=flops,
        )
