"""The trainer in NumPy: the oracle of the compiled one, and the trainer of engines that it does not know.

Both take the same passes over the same batches and move the same groups of parameters by the same rules. Here a step
is three lines: a loss with its gradient by group, penalties, and a move of every group that the pass moves. What has a
loss and a gradient can be trained: fidelities with centroids on any engine, ensembles of expectation values, or a
function from outside.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Generic, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.kernels.fidelity import centroid_slopes, class_scores
from mcquack.kernels.losses import Loss, is_learned
from mcquack.simulators.engine import E, Engine, Gradient, Wrt, lifted
from mcquack.training.batches import Passes, blurred, epoch_passes
from mcquack.training.optimizer import OPTIMIZER_CODES, descend
from mcquack.training.settings import TrainingSettings
from mcquack.training.state import EpochSums, Parameters, TrainingData, TrainingState
from mcquack.training.step import GROUPS

_LOG_TINY = math.log(1e-100)  # squares of smaller fidelities vanish


class Batch(NamedTuple):
    """The rows of one step, and where they stand."""

    rows: NDArray[np.int64]
    number: int  # of the pass
    first: int  # of the rows in the order of the pass


class LossAndGradient(Protocol):
    """What the reference trainer trains: (parameters, batch, groups that move) -> loss, gradient by group."""

    def __call__(
        self, parameters: Parameters, batch: Batch, moves: frozenset[str]
    ) -> tuple[float, Mapping[str, FloatArray]]: ...


class ReferenceSums:
    """What the steps of a launch add to: losses with their penalties by half, and squared norms by group."""

    def __init__(self) -> None:
        self.losses: tuple[list[float], list[float]] = ([], [])
        self.squared_norms = dict.fromkeys(GROUPS, 0.0)
        self.n_moved = dict.fromkeys(GROUPS, 0)

    def mean_loss(self, half: int) -> float | None:
        return float(np.mean(self.losses[half])) if self.losses[half] else None

    def norm(self, group: str) -> float | None:
        """The root of the mean squared norm of a group's gradient."""
        count = self.n_moved[group]
        return math.sqrt(self.squared_norms[group] / count) if count else None


def advance(
    state: TrainingState, passes: Passes, gradient: LossAndGradient, *, settings: Any, ridges: Mapping[str, float]
) -> tuple[TrainingState, ReferenceSums]:
    """Return the state after all passes, and the sums over their steps.

    Parameters
    ----------
    state : Where to begin.
    passes : Orders, what each pass moves, and learning rates.
    gradient : The loss of a batch and its derivatives.
    settings : With ``batch_size`` and ``optimizer``, and where there are centroids ``reg_param_co`` and
        ``feature_range``.
    ridges : λ of the penalty λ‖p‖² by group.
    """
    sums = ReferenceSums()
    rates = dict(zip(GROUPS, passes.rates.tolist(), strict=True))
    for number, (order, moved) in enumerate(zip(passes.orders, passes.moves, strict=True)):
        moves = frozenset(name for name, moves in zip(GROUPS, moved, strict=True) if moves)
        for first in range(0, len(order), settings.batch_size):
            batch = Batch(order[first : first + settings.batch_size], number, first)
            loss, slopes = gradient(state.parameters, batch, moves)
            state = _moved(state, float(loss), slopes, moves, rates, settings, ridges, sums)
    return replace(state, epoch=state.epoch + 1), sums


def _moved(
    state: TrainingState, loss: float, slopes: Mapping[str, FloatArray], moves: frozenset[str],
    rates: Mapping[str, float], settings: Any, ridges: Mapping[str, float], sums: ReferenceSums,
) -> TrainingState:  # fmt: skip
    """The state after every moved group has gone downhill on the loss and its penalties."""
    parameters, steps = dict(vars(state.parameters)), state.steps.copy()
    after = replace(state, mean=state.mean.copy(), square=state.square.copy(), steps=steps)
    moments, optimizer = after.moments, OPTIMIZER_CODES[settings.optimizer]
    penalties: dict[int, float] = {}
    for place, name in enumerate(GROUPS):
        old = parameters[name]
        if name not in moves or name not in slopes:
            continue
        slope, ridge, half = slopes[name], ridges.get(name, 0.0), HALVES[name]
        penalty = ridge * np.sum(old**2)
        if name == "centroids":
            penalty, by_range = _range_penalty(old, settings)
            slope = slope + by_range
        elif settings.optimizer == "adamw":
            old = old * (1 - 2 * rates[name] * ridge)
        elif ridge:
            slope = slope + 2 * ridge * old
        if half is not None:
            penalties[half] = penalties.get(half, 0.0) + penalty
        sums.squared_norms[name] += float(np.sum(slope**2))
        sums.n_moved[name] += 1
        steps[place] += 1
        parameters[name] = moved = old.copy()
        flat = (array.reshape(-1) for array in (moved, np.asarray(slope, moved.dtype), *moments[name]))
        descend(*flat, optimizer, rates[name], int(steps[place]), 0, moved.size)
    for half, penalty in penalties.items():
        sums.losses[half].append(float(loss + penalty))
    return replace(after, parameters=Parameters(**parameters))


HALVES: Mapping[str, int | None] = {"weights": 0, "bias": 0, "centroids": 1, "log_beta": None, "head": 1}


def _range_penalty(centroids: FloatArray, settings: Any) -> tuple[float, FloatArray]:
    """λ·R of the paper, how far centroids lie outside the range of the features, and its derivative."""
    low, high = settings.feature_range
    outside = (centroids > high).astype(float) - (centroids < low)
    penalty = np.sum(np.maximum(centroids - high, 0) + np.maximum(low - centroids, 0))
    return float(settings.reg_param_co * penalty), settings.reg_param_co * outside


# Fidelities with centroids


def _measured_in_logs(engine: Engine[Any], loss: Loss) -> bool:
    return engine.tiny_fidelities and getattr(loss, "scale_free", False)


def _in_common_unit(logs: FloatArray) -> FloatArray:
    """Fidelities from their logarithms; where all of them are tiny, in units of the largest."""
    top = float(logs.max(initial=-np.inf))
    return lifted(logs - top if -math.inf < top < _LOG_TINY else logs)


def epoch_kernel(engine: Engine[Any], X: FloatArray, parameters: Parameters, loss: Loss) -> FloatArray:
    """What an epoch is judged by: the kernel, in units of its largest entry where all are tiny and the loss allows."""
    embedding = {"weights": parameters.weights, "bias": parameters.bias}
    if _measured_in_logs(engine, loss):
        return _in_common_unit(engine.log_kernel(X, parameters.centroids, **embedding))
    return engine.kernel(X, parameters.centroids, **embedding)


def outputs_of(kernel: FloatArray, parameters: Parameters, n_scores: int, loss: Loss) -> FloatArray:
    """What the loss looks at: scores of classes, or what a linear head makes of them."""
    return _with_head(class_scores(kernel, n_scores, class_score=loss.class_score), parameters)


def _with_head(scores: FloatArray, parameters: Parameters) -> FloatArray:
    if not parameters.head.size:
        return scores
    outputs: FloatArray = scores @ parameters.head[:-1] + parameters.head[-1]
    return outputs


class CentroidGradient(Generic[E]):
    """Loss and gradient of fidelities with centroids, by nothing but the methods that every engine has.

    While the embedding rests, the encoded samples of each batch are kept.
    """

    def __init__(self, engine: Engine[E], data: TrainingData, loss: Loss, copies: FloatArray, n_first: int) -> None:
        self.engine, self.data, self.given = engine, data, loss
        self._copies, self._n_first = copies, n_first
        self._kept: dict[int, E] = {}

    def __call__(
        self, parameters: Parameters, batch: Batch, moves: frozenset[str]
    ) -> tuple[float, Mapping[str, FloatArray]]:
        engine, loss = self.engine, parameters.loss(self.given)
        samples = self._samples(parameters, batch, moves)
        centroids = engine.encode(parameters.centroids, parameters.weights, parameters.bias)
        in_logs = _measured_in_logs(engine, loss)
        if in_logs:
            K = _in_common_unit(engine.log_fidelities(samples, centroids))
        else:
            K = engine.fidelities(samples, centroids)
        scores = class_scores(K, self.data.n_classes, class_score=loss.class_score)
        given = _with_head(scores, parameters), self.data.labels[batch.rows], self.data.row_weights[batch.rows]
        value, by_outputs = loss(*given)
        slopes: dict[str, FloatArray] = {}
        if is_learned(loss):
            slopes["log_beta"] = np.array([loss.beta * loss.slope_by_beta(*given)])  # type: ignore[attr-defined]
        by_scores = by_outputs
        if parameters.head.size:
            slopes["head"] = np.concatenate([scores.T @ by_outputs, by_outputs.sum(axis=0, keepdims=True)])
            by_scores = by_outputs @ parameters.head[:-1].T
        by_kernel = centroid_slopes(K, by_scores, class_score=loss.class_score)

        def pulled(wrt: Wrt) -> Gradient:
            if in_logs:  # K ∂f/∂K is the same in any unit
                return engine.pull_logs(samples, centroids, K * by_kernel, wrt=wrt)
            return engine.pullback(samples, centroids, by_kernel, wrt=wrt)

        if "weights" in moves:
            found = pulled("embedding")
            assert found.weights is not None
            assert found.bias is not None
            slopes |= {"weights": found.weights, "bias": found.bias}
        if "centroids" in moves:
            by_centroids = pulled("centroids").centroids
            assert by_centroids is not None
            slopes["centroids"] = by_centroids
        return value, slopes

    def _samples(self, parameters: Parameters, batch: Batch, moves: frozenset[str]) -> E:
        """The encoded samples of a batch; where nothing is blurred there is one copy for all passes."""
        X = self._copies[min(batch.number, self._n_first, len(self._copies) - 1)]
        if "weights" in moves:
            return self.engine.encode(X[batch.rows], parameters.weights, parameters.bias)
        if batch.first not in self._kept:
            self._kept[batch.first] = self.engine.encode(X[batch.rows], parameters.weights, parameters.bias)
        return self._kept[batch.first]


class ReferenceEpochs(Generic[E]):
    """Runs epochs of one problem whose scores are fidelities with centroids, on any engine."""

    def __init__(self, engine: Engine[E], data: TrainingData, settings: TrainingSettings) -> None:
        self.engine = engine
        self.data = data
        self.settings = settings

    def __call__(self, state: TrainingState) -> EpochSums:
        settings, data = self.settings, self.data
        copies = blurred(data.X, state.epoch, settings)
        gradient = CentroidGradient(self.engine, data, settings.loss, copies, settings.epochs_ka)
        ridges = {"weights": settings.reg_param_weights, "bias": settings.reg_param_bias}
        passes = epoch_passes(len(data.X), state.epoch, settings)
        after, sums = advance(state, passes, gradient, settings=settings, ridges=ridges)
        return EpochSums(
            after,
            sums.mean_loss(0),
            sums.mean_loss(1),
            (sums.norm("weights"), sums.norm("bias"), sums.norm("centroids")),
            epoch_kernel(self.engine, data.X, after.parameters, settings.loss),
        )
