"""Epochs of training with centroids as one compiled call of JAX: all steps of an epoch run without a return to Python.

The steps are those of the reference trainer: the same batches, losses, penalties and optimizers. JAX compiles an epoch
once for each circuit, shape of the data and kind of steps; rates, penalties and the numbers of a loss are arguments, so
that changing them compiles nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcquack.circuits.circuit import Circuit
from mcquack.kernels.fidelity import ClassScore
from mcquack.kernels.losses import ALIGNMENT, LOG_CROSS_ENTROPY, SQUARED_ERROR, loss_rule
from mcquack.simulators.jax.engine import JaxEngine
from mcquack.simulators.jax.functions import fidelities, jax, jnp, lax, precision, program_of
from mcquack.training.batches import blurred, epoch_passes
from mcquack.training.optimizer import ADAM, BETA_1, BETA_2, EPSILON, MOMENTUM, OPTIMIZER_CODES
from mcquack.training.reference import HALVES, epoch_kernel
from mcquack.training.settings import TrainingSettings
from mcquack.training.state import EpochSums, Parameters, TrainingData, TrainingState
from mcquack.training.step import GROUPS

Array: TypeAlias = Any
Groups: TypeAlias = dict[str, Array]


class Kind(NamedTuple):
    """What an epoch is compiled for, besides the shapes of its arrays."""

    loss: int
    class_score: ClassScore
    learned: bool
    n_classes: int
    optimizer: int
    decoupled: bool
    """Whether the penalties on the embedding act beside the optimizer, as in AdamW."""
    moves: tuple[frozenset[str], ...]
    """The groups that each run of equal passes moves."""


class Numbers(NamedTuple):
    """The numbers of an epoch's settings, which may change without compiling."""

    rates: Groups
    ridges: Groups
    reg_param_co: float
    feature_range: tuple[float, float]
    beta: float
    smoothing: float
    floor: float


class Rows(NamedTuple):
    """All samples, with one copy or one for each pass; targets, and how much each sample counts."""

    copies: Array
    targets: Array
    weights: Array


class Steps(NamedTuple):
    """The batches of equal passes, one step in each row: sample numbers, which of them count, and the copy to take."""

    rows: Array
    counted: Array
    copy: Array


class Carried(NamedTuple):
    """What goes from one step to the next."""

    parameters: Groups
    mean: Groups
    square: Groups
    n_moved: Groups
    losses: tuple[Array, Array]
    """Sums of the losses of both halves of an epoch."""
    n_losses: tuple[Array, Array]
    squared_norms: Groups


class JaxEpochs:
    """Runs epochs of one problem whose scores are fidelities with centroids, on the JAX engine.

    Parameters
    ----------
    engine : JaxEngine
        The engine with its circuit.
    data : TrainingData
        What to learn from.
    settings : TrainingSettings
        How to train, with one of the losses of this package.
    """

    def __init__(self, engine: JaxEngine, data: TrainingData, settings: TrainingSettings) -> None:
        self.engine, self.data, self.settings = engine, data, settings
        self._rule = loss_rule(settings.loss)
        with precision(engine.dtype):
            targets = data.labels.astype(engine.dtype if data.is_regression else np.int32)
            self._targets = jnp.asarray(targets), jnp.asarray(data.row_weights.astype(engine.dtype))
            self._plain = None if settings.is_blurred else jnp.asarray(data.X[None].astype(engine.dtype))

    def __call__(self, state: TrainingState) -> EpochSums:
        settings, dtype = self.settings, self.engine.dtype
        passes = epoch_passes(len(self.data.X), state.epoch, settings)
        runs = _runs(passes.moves)
        kind = self._kind(tuple(moves for moves, _ in runs))
        with precision(dtype):
            copies = self._plain
            if copies is None:
                copies = jnp.asarray(blurred(self.data.X, state.epoch, settings).astype(dtype))
            steps = [_steps(passes.orders, numbers, settings, n_copies=len(copies)) for _, numbers in runs]
            numbers = self._numbers(passes.rates)
            run = _compiled(self.engine.feature_map, kind)
            found = run(_carried(state, dtype), Rows(copies, *self._targets), steps, numbers)
            return self._sums(state, jax.device_get(found))

    def _kind(self, moves: tuple[frozenset[str], ...]) -> Kind:
        optimizer = self.settings.optimizer
        return Kind(
            self._rule.code,
            self.settings.loss.class_score,
            self._rule.learned,
            self.data.n_classes,
            OPTIMIZER_CODES[optimizer],
            optimizer == "adamw",
            moves,
        )

    def _numbers(self, rates: NDArray[np.float64]) -> Numbers:
        settings, rule = self.settings, self._rule
        ridges = {"weights": settings.reg_param_weights, "bias": settings.reg_param_bias}
        return Numbers(
            dict(zip(GROUPS, map(float, rates), strict=True)),
            {name: float(ridge) for name, ridge in ridges.items()},
            float(settings.reg_param_co),
            tuple(map(float, settings.feature_range)),  # type: ignore[arg-type]
            rule.beta,
            rule.smoothing,
            rule.floor,
        )

    def _sums(self, before: TrainingState, found: Carried) -> EpochSums:
        parameters = Parameters(**{name: np.array(found.parameters[name]) for name in GROUPS})
        mean, square = (
            np.concatenate([memory[name].reshape(-1) for name in GROUPS]) for memory in (found.mean, found.square)
        )
        steps = np.array([int(found.n_moved[name]) for name in GROUPS], dtype=np.int64)
        added = dict(zip(GROUPS, (steps - before.steps).tolist(), strict=True))
        after = TrainingState(before.epoch + 1, parameters, mean, square, steps)
        losses = [
            float(total) / int(count) if count else None
            for total, count in zip(found.losses, found.n_losses, strict=True)
        ]
        norms = [
            math.sqrt(float(found.squared_norms[name]) / added[name]) if added[name] else None
            for name in ("weights", "bias", "centroids")
        ]
        kernel = epoch_kernel(self.engine, self.data.X, parameters, self.settings.loss)
        return EpochSums(after, losses[0], losses[1], (norms[0], norms[1], norms[2]), kernel)


# --- The data of an epoch ---------------------------------------------------------------------------------------------


def _runs(moves: NDArray[np.bool_]) -> list[tuple[frozenset[str], list[int]]]:
    """Return the runs of passes that move the same groups: these groups, and the numbers of the passes."""
    named = [frozenset(name for name, moved in zip(GROUPS, row, strict=True) if moved) for row in moves]
    return [(own, [number for number, _ in run]) for own, run in groupby(enumerate(named), key=lambda each: each[1])]


def _steps(orders: NDArray[np.int64], passes: list[int], settings: TrainingSettings, *, n_copies: int) -> Steps:
    """Return all batches of some passes; the last batch of each is filled with samples that do not count."""
    n_samples = orders.shape[1]
    size = min(settings.batch_size, n_samples)
    n_batches = -(-n_samples // size)
    filled = np.zeros((len(passes), n_batches * size), np.int32)
    filled[:, :n_samples] = orders[passes]
    counted = np.broadcast_to(np.arange(n_batches * size) < n_samples, filled.shape)
    copy = [min(number, settings.epochs_ka, n_copies - 1) for number in passes]
    shape = len(passes) * n_batches, size
    return Steps(filled.reshape(shape), counted.reshape(shape), np.repeat(np.array(copy, np.int32), n_batches))


def _carried(state: TrainingState, dtype: np.dtype[Any]) -> Carried:
    nothing, moments = np.zeros((), dtype), state.moments
    return Carried(
        {name: np.asarray(getattr(state.parameters, name), dtype) for name in GROUPS},
        {name: np.asarray(moments[name].mean, dtype) for name in GROUPS},
        {name: np.asarray(moments[name].square, dtype) for name in GROUPS},
        {name: np.int32(count) for name, count in zip(GROUPS, state.steps, strict=True)},
        (nothing, nothing),
        (np.int32(0), np.int32(0)),
        dict.fromkeys(GROUPS, nothing),
    )


# --- An epoch ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def _compiled(circuit: Circuit, kind: Kind) -> Any:
    """Return the function (carried, rows, steps, numbers) -> carried; its first argument's memory is used again."""
    return jax.jit(partial(_epoch, states_of(circuit), kind), donate_argnums=0)


def states_of(circuit: Circuit) -> Callable[[Array, Array, Array], Array]:
    """Return (X, weights, bias) -> states, whose derivatives undo the gates and keep no state on the way forward."""
    program = program_of(circuit)
    states = jax.custom_vjp(program.states)

    def forward(X: Array, weights: Array, bias: Array) -> tuple[Array, tuple[Array, Array, Array, Array]]:
        found = program.states(X, weights, bias)
        return found, (X, weights, bias, found)

    def backward(kept: tuple[Array, Array, Array, Array], cotangent: Array) -> tuple[Array, ...]:
        return program.pulled(*kept, cotangent)

    states.defvjp(forward, backward)
    found: Callable[[Array, Array, Array], Array] = states
    return found


def _epoch(
    states: Callable[..., Array], kind: Kind, carried: Carried, rows: Rows, runs: list[Steps], numbers: Numbers
) -> Carried:
    for moves, steps in zip(kind.moves, runs, strict=True):

        def step(at: Carried, one: Steps, moves: frozenset[str] = moves) -> tuple[Carried, None]:
            return _step(states, kind, moves, at, rows, one, numbers), None

        carried, _ = lax.scan(step, carried, steps)
    return carried


def _step(
    states: Callable[..., Array], kind: Kind, moves: frozenset[str], at: Carried, rows: Rows, one: Steps,
    numbers: Numbers,
) -> Carried:  # fmt: skip
    """Move every group downhill on the loss of one batch and the penalties."""
    X, targets = rows.copies[one.copy, one.rows], rows.targets[one.rows]
    weights = jnp.where(one.counted, rows.weights[one.rows], 0)
    moved = {name: at.parameters[name] for name in GROUPS if name in moves and at.parameters[name].size}
    resting = {name: value for name, value in at.parameters.items() if name not in moved}

    def loss_of(own: Groups) -> Array:
        parameters = resting | own
        outputs = _outputs(states, kind, parameters, X, embedding_moves="weights" in own)
        return _loss(kind, parameters, outputs, targets, weights, numbers)

    loss, slopes = jax.value_and_grad(loss_of)(moved)
    parameters, mean, square = dict(at.parameters), dict(at.mean), dict(at.square)
    n_moved, squared_norms = dict(at.n_moved), dict(at.squared_norms)
    penalties: dict[int, Array] = {}
    for name, old in moved.items():
        slope, penalty, rate = slopes[name], jnp.zeros_like(loss), numbers.rates[name]
        if name == "centroids":
            penalty, by_range = _range_penalty(old, numbers)
            slope = slope + by_range
        elif name in numbers.ridges:
            ridge = numbers.ridges[name]
            penalty = ridge * jnp.sum(old**2)
            if kind.decoupled:
                old = old * (1 - 2 * rate * ridge)
            else:
                slope = slope + 2 * ridge * old
        half = HALVES[name]
        if half is not None:
            penalties[half] = penalties.get(half, 0) + penalty
        n_moved[name] = at.n_moved[name] + 1
        squared_norms[name] = at.squared_norms[name] + jnp.sum(slope**2)
        parameters[name], mean[name], square[name] = _descended(
            kind.optimizer, old, slope, at.mean[name], at.square[name], rate, n_moved[name]
        )
    sums, counts = list(at.losses), list(at.n_losses)
    for half, penalty in penalties.items():
        sums[half] = sums[half] + loss + penalty
        counts[half] = counts[half] + 1
    return Carried(parameters, mean, square, n_moved, (sums[0], sums[1]), (counts[0], counts[1]), squared_norms)


def _outputs(states: Callable[..., Array], kind: Kind, parameters: Groups, X: Array, *, embedding_moves: bool) -> Array:
    """Return the scores of all classes, or what a linear head makes of them."""
    embedding, centroids = (parameters["weights"], parameters["bias"]), parameters["centroids"]
    if embedding_moves:  # all rows are one batch of circuits, so that gates are applied once
        encoded = states(jnp.concatenate([X, centroids]), *embedding)
        left, right = encoded[: len(X)], encoded[len(X) :]
    else:
        left, right = lax.stop_gradient(states(X, *embedding)), states(centroids, *embedding)
    by_class = fidelities(left, right).reshape(len(X), kind.n_classes, -1)
    if kind.class_score == "sum":
        scores = by_class.sum(axis=2)
    else:  # of equal fidelities the first counts, as elsewhere in the package
        highest = by_class.argmax(axis=2, keepdims=True)
        scores = jnp.take_along_axis(by_class, highest, axis=2)[:, :, 0]
    head = parameters["head"]
    return jnp.matmul(scores, head[:-1], precision="highest") + head[-1] if head.size else scores


def _loss(kind: Kind, parameters: Groups, outputs: Array, targets: Array, weights: Array, numbers: Numbers) -> Array:
    """Return the value of a loss of this package; rows of weight zero do not count."""
    mass = jnp.sum(weights)
    share = jnp.where(mass > 0, weights / jnp.where(mass > 0, mass, 1), 0)
    if kind.loss == SQUARED_ERROR:
        return jnp.sum(share[:, None] * (outputs - targets) ** 2) / outputs.shape[1]
    own = targets[:, None] == jnp.arange(outputs.shape[1])
    if kind.loss == ALIGNMENT:
        along = jnp.sum(weights[:, None] * jnp.where(own, outputs, -outputs))
        power = jnp.sum(weights[:, None] * outputs**2)
        defined = (power > 0) & (mass > 0)
        norms = jnp.sqrt(jnp.where(defined, power, 1)) * jnp.sqrt(jnp.where(defined, mass * outputs.shape[1], 1))
        return 1 - jnp.where(defined, along / norms, 0)
    beta = jnp.exp(parameters["log_beta"][0]) if kind.learned else numbers.beta
    logits = jnp.log(outputs + numbers.floor) if kind.loss == LOG_CROSS_ENTROPY else outputs
    wanted = own + numbers.smoothing * (1 / outputs.shape[1] - own)
    return -jnp.sum(share[:, None] * wanted * jax.nn.log_softmax(beta * logits, axis=1))


def _range_penalty(centroids: Array, numbers: Numbers) -> tuple[Array, Array]:
    """Return λ·R of the paper, how far centroids lie outside the range of the features, and its derivative."""
    low, high = numbers.feature_range
    above, below = centroids > high, centroids < low
    outside = jnp.where(above, centroids - high, 0) + jnp.where(below, low - centroids, 0)
    slope = above.astype(centroids.dtype) - below
    return numbers.reg_param_co * jnp.sum(outside), numbers.reg_param_co * slope


def _descended(
    optimizer: int, old: Array, slope: Array, mean: Array, square: Array, rate: Array, step: Array
) -> tuple[Array, Array, Array]:
    """Return a parameter after one step, and the optimizer's memory; see ``mcquack.training.optimizer.descend``."""
    if optimizer != ADAM:
        mean = MOMENTUM * mean + slope
        return old - rate * mean, mean, square
    mean = BETA_1 * mean + (1 - BETA_1) * slope
    square = BETA_2 * square + (1 - BETA_2) * slope**2
    root = jnp.sqrt(1 - BETA_2 ** step.astype(old.dtype))
    scaled = rate * root / (1 - BETA_1 ** step.astype(old.dtype))
    return old - scaled * mean / (jnp.sqrt(square) + EPSILON * root), mean, square
