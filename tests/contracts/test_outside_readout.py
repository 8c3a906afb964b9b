"""A readout from outside of the package: its compiled functions run in the trainer, and its gradient is right.

The score of a sample is the chance to measure zeros only, and the loss the mean squared distance to a target.
"""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.circuits.feature_map import FeatureMap
from mcquack.simulators import StatevectorEngine
from mcquack.simulators.compiled.lanes import lane_count
from mcquack.simulators.compiled.memory import clear_block
from mcquack.training import Parameters, TrainingState
from mcquack.training.batches import Passes
from mcquack.training.compiled import CompiledTrainer, rowwise_space, training_rows
from mcquack.training.embeddings import PlainCircuit, Work
from mcquack.training.readouts.expectations import ROWWISE, clear_part
from mcquack.training.step import GROUPS, Config, Step, embed_rows, functions_of, pull_rows
from tests.oracles import gradient

N_SAMPLES, BATCH = 37, 16
FEATURE_MAP = FeatureMap(n_qubits=3, n_features=4, n_layers=2)


class ChanceOfZeros(NamedTuple):
    """The readout as compiled code gets it; all else it needs is in the context."""

    per_block: int
    has_members: bool = False


def _backward_item(context: Any, step: Any, item: int, n_items: int, rank: int, work: Any, terms: Any) -> None:
    """Encode the blocks of one part, score them, and pull the derivatives of the loss back."""
    clear_part(context.space, item)
    state, adjoint, width = work.scratch.state, work.scratch.adjoint, context.readout.per_block
    loss = 0.0
    for block in range(item * step.n_blocks // step.n_parts, (item + 1) * step.n_blocks // step.n_parts):
        embed_rows(context, step, item, block, work)
        clear_block(adjoint)
        for lane in range(min(width, step.n_rows - block * width)):
            target = context.data.targets[step.order[step.first + block * width + lane], 0]
            real, imag = state[0, 0, lane], state[0, 1, lane]  # the amplitude of zeros is stored first
            off = float(real) * float(real) + float(imag) * float(imag) - target
            loss += off * off / step.n_rows
            adjoint[0, 0, lane], adjoint[0, 1, lane] = 2 * off / step.n_rows * real, 2 * off / step.n_rows * imag
        pull_rows(context, step, item, work)
    context.space.part_losses[item] = loss


def _new_step(context: Any, member: int, number: int, first: int, order: Any, moves: Any, cursor: int) -> Any:
    n_rows, per_block = min(context.config.batch_size, order.size - first), context.readout.per_block
    n_blocks = (n_rows + per_block - 1) // per_block
    n_parts = min(context.config.n_parts, n_blocks)
    return Step(member, context.data.seen[0], order, first, n_rows, moves, True, False, 0, n_blocks, n_parts, 0, 0, 0)


functions_of(ChanceOfZeros, **ROWWISE, backward_item=_backward_item, new_step=_new_step)


def trainer_of(engine: StatevectorEngine, X: Any, targets: Any, n_threads: int) -> CompiledTrainer:
    width, n_parts = lane_count(engine.dtype), 2
    return CompiledTrainer(
        embedding=PlainCircuit(engine.form, FEATURE_MAP.n_weights, FEATURE_MAP.n_bias, has_members=False),
        readout=ChanceOfZeros(width),
        data=training_rows(engine.rows(X), np.zeros(len(X)), targets=targets),
        space=rowwise_space(n_parts, FEATURE_MAP.n_weights + FEATURE_MAP.n_bias, engine.dtype),
        works=[Work(scratch, None, None) for scratch in engine.scratch(n_threads, backward=True)],
        team=engine.team(n_threads, 0.0),
        shapes={"weights": FEATURE_MAP.weights_shape, "bias": FEATURE_MAP.bias_shape},
        dtype=engine.dtype,
        config=Config(batch_size=BATCH, n_parts=n_parts),
    )


@pytest.mark.parametrize("n_threads", [1, 2])
def test_it_trains_down_its_own_gradient(n_threads: int) -> None:
    draws = np.random.default_rng(0)
    engine = StatevectorEngine(FEATURE_MAP, dtype="float64", n_threads=n_threads)
    X, targets = draws.uniform(size=(N_SAMPLES, 4)), draws.uniform(size=(N_SAMPLES, 1))
    weights, bias = draws.normal(size=(2, *FEATURE_MAP.weights_shape))
    start = TrainingState.start(Parameters(weights, bias))
    train, moves = trainer_of(engine, X, targets, n_threads), np.array([[True, True, False, False, False]])

    def loss(weights: Any, bias: Any) -> float:
        states = engine.statevectors(engine.encode(X[:BATCH], weights, bias))
        return float(np.mean((abs(states[:, 0]) ** 2 - targets[:BATCH, 0]) ** 2))

    first = Passes(np.arange(BATCH)[None], moves, np.zeros(len(GROUPS)))
    arrays, sums = train.launch([start], first, np.ones(1, np.bool_))
    assert sums.losses[0, 0] == pytest.approx(loss(weights, bias))
    by_weights, by_bias = arrays.slopes[0, : weights.size], arrays.slopes[0, weights.size :]
    assert_allclose(by_weights, gradient(lambda w: loss(w, bias), weights).ravel(), atol=1e-7)
    assert_allclose(by_bias, gradient(lambda b: loss(weights, b), bias).ravel(), atol=1e-7)

    everything = Passes(np.arange(N_SAMPLES)[None], moves, np.full(len(GROUPS), 0.05))
    states, losses = [start], []
    for _ in range(30):
        states, sums = train(states, everything)
        losses.append(sums.losses[0, 0] / sums.n_steps[0, 0])
    assert losses[-1] < 0.7 * losses[0]
