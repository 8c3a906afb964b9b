"""The same epochs through the engine seam alone: for engines that have no compiled epoch, and as its oracle."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.kernels.fidelity import centroid_slopes, class_scores
from mcquack.kernels.losses import Loss, is_learned
from mcquack.simulators.engine import E, Engine, Gradient, Wrt, lifted
from mcquack.training.optimizer import OPTIMIZER_CODES, Moments, descend
from mcquack.training.settings import TrainingSettings, blurred, epoch_orders
from mcquack.training.state import EpochSums, Parameters, TrainingData, TrainingState

_LOG_TINY = math.log(1e-100)  # squares of smaller fidelities vanish


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


class _Sums(NamedTuple):
    """What the steps of an epoch add to."""

    kao_losses: list[float]
    co_losses: list[float]
    squared_norms: FloatArray  # by weights, biases and centroids


class SeamEpochs(Generic[E]):
    """Runs epochs of one problem with nothing but ``encode``, ``fidelities`` and ``pullback``, or their logarithms."""

    def __init__(self, engine: Engine[E], data: TrainingData, settings: TrainingSettings) -> None:
        self.engine = engine
        self.data = data
        self.settings = settings

    def __call__(self, state: TrainingState) -> EpochSums:
        kao_orders, co_order = epoch_orders(len(self.data.X), state.epoch, self.settings)
        lr_ka, lr_co = self.settings.learning_rates(state.epoch)
        state = replace(state, steps=state.steps.copy())
        sums = _Sums([], [], np.zeros(3))
        # Where nothing is blurred there is one copy for all passes.
        copies = blurred(self.data.X, state.epoch, self.settings)
        for number, order in enumerate(kao_orders):
            X = copies[min(number, len(copies) - 1)]
            for batch in self._batches(order):
                rates = lr_ka, lr_co if self.settings.steps == "joint" else None
                state = self._step(state, batch, self._encoded(state, X[batch]), rates, sums)
        batches = self._batches(co_order) if self.settings.passes_co else ()
        encoded = [self._encoded(state, copies[-1][batch]) for batch in batches]
        for _ in range(self.settings.passes_co):
            for batch, samples in zip(self._batches(co_order), encoded, strict=True):
                state = self._step(state, batch, samples, (None, lr_co), sums)
        parameters = state.parameters
        kernel = epoch_kernel(self.engine, self.data.X, parameters, self.settings.loss)
        counts = len(sums.kao_losses), len(sums.kao_losses), len(sums.co_losses)
        roots = [math.sqrt(n / count) if count else None for n, count in zip(sums.squared_norms, counts, strict=True)]
        return EpochSums(
            replace(state, epoch=state.epoch + 1),
            float(np.mean(sums.kao_losses)) if sums.kao_losses else None,
            float(np.mean(sums.co_losses)) if sums.co_losses else None,
            (roots[0], roots[1], roots[2]),
            kernel,
        )

    def _batches(self, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        size = self.settings.batch_size
        return (order[first : first + size] for first in range(0, len(order), size))

    def _encoded(self, state: TrainingState, rows: FloatArray) -> E:
        return self.engine.encode(rows, state.parameters.weights, state.parameters.bias)

    def _loss(
        self, loss: Loss, batch: NDArray[np.int64], samples: E, centroids: E
    ) -> tuple[float, Callable[[Wrt], Gradient], float]:
        """The loss of a mini-batch, what gives its derivatives, and the derivative by log β where that is learned."""
        engine = self.engine
        in_logs = _measured_in_logs(engine, loss)
        if in_logs:
            K = _in_common_unit(engine.log_fidelities(samples, centroids))
        else:
            K = engine.fidelities(samples, centroids)
        scores = class_scores(K, self.data.n_classes, class_score=loss.class_score)
        given = scores, self.data.labels[batch], self.data.row_weights[batch]
        value, by_scores = loss(*given)
        by_log_beta = loss.beta * loss.slope_by_beta(*given) if is_learned(loss) else 0.0  # type: ignore[attr-defined]
        slopes = centroid_slopes(K, by_scores, class_score=loss.class_score)
        if in_logs:  # K ∂f/∂K is the same in any unit
            return value, lambda wrt: engine.pull_logs(samples, centroids, K * slopes, wrt=wrt), by_log_beta
        return value, lambda wrt: engine.pullback(samples, centroids, slopes, wrt=wrt), by_log_beta

    def _step(
        self, state: TrainingState, batch: NDArray[np.int64], samples: E, rates: tuple[float | None, float | None],
        sums: _Sums,
    ) -> TrainingState:  # fmt: skip
        """Moves the embedding and the centroids, each where it has a rate, from one kernel."""
        old, (lr_ka, lr_co) = state.parameters, rates
        centroids = self.engine.encode(old.centroids, old.weights, old.bias)
        given = old.loss(self.settings.loss)
        loss, pulled, by_log_beta = self._loss(given, batch, samples, centroids)
        if is_learned(given):
            state = self._with_moved_beta(state, by_log_beta)
        if lr_ka is not None:
            state = self._with_moved_embedding(state, pulled("embedding"), loss, lr_ka, sums)
        if lr_co is not None:
            state = self._with_moved_centroids(state, pulled("centroids"), loss, lr_co, sums)
        return state

    def _with_moved_beta(self, state: TrainingState, slope: float) -> TrainingState:
        _, rate = self.settings.learning_rates(state.epoch)
        joint = self.settings.steps == "joint"
        step = int(state.steps[0] if joint else state.steps.sum()) + 1
        old = state.parameters
        moved, moments = self._descended(old.log_beta, np.array([slope]), state.log_beta_moments, rate, step)
        return replace(state, parameters=replace(old, log_beta=moved), log_beta_moments=moments)

    def _with_moved_embedding(
        self, state: TrainingState, gradient: Gradient, loss: float, rate: float, sums: _Sums
    ) -> TrainingState:
        old, settings = state.parameters, self.settings
        assert gradient.weights is not None
        assert gradient.bias is not None
        by_w, by_b, old_w, old_b = gradient.weights, gradient.bias, old.weights, old.bias
        if settings.optimizer == "adamw":
            old_w = old_w * (1 - 2 * rate * settings.reg_param_weights)
            old_b = old_b * (1 - 2 * rate * settings.reg_param_bias)
        else:
            by_w = by_w + 2 * settings.reg_param_weights * old_w
            by_b = by_b + 2 * settings.reg_param_bias * old_b
        penalty = settings.reg_param_weights * np.sum(old.weights**2) + settings.reg_param_bias * np.sum(old.bias**2)
        sums.kao_losses.append(float(loss + penalty))
        sums.squared_norms[:2] += np.sum(by_w**2), np.sum(by_b**2)
        step = int(state.steps[0]) + 1
        weights, weights_moments = self._descended(old_w, by_w, state.weights_moments, rate, step)
        bias, bias_moments = self._descended(old_b, by_b, state.bias_moments, rate, step)
        return replace(
            state,
            parameters=replace(old, weights=weights, bias=bias),
            weights_moments=weights_moments,
            bias_moments=bias_moments,
            steps=state.steps + np.array([1, 0]),
        )

    def _with_moved_centroids(
        self, state: TrainingState, gradient: Gradient, loss: float, rate: float, sums: _Sums
    ) -> TrainingState:
        old, (low, high) = state.parameters, self.settings.feature_range
        assert gradient.centroids is not None
        outside = (old.centroids > high).astype(float) - (old.centroids < low)
        by_c = gradient.centroids + self.settings.reg_param_co * outside
        penalty = np.sum(np.maximum(old.centroids - high, 0) + np.maximum(low - old.centroids, 0))
        sums.co_losses.append(float(loss + self.settings.reg_param_co * penalty))
        sums.squared_norms[2] += np.sum(by_c**2)
        moved, moments = self._descended(old.centroids, by_c, state.centroids_moments, rate, int(state.steps[1]) + 1)
        return replace(
            state,
            parameters=replace(old, centroids=moved),
            centroids_moments=moments,
            steps=state.steps + np.array([0, 1]),
        )

    def _descended(
        self, parameter: FloatArray, gradient: FloatArray, moments: Moments, rate: float, step: int
    ) -> tuple[FloatArray, Moments]:
        moved, after = parameter.copy(), Moments(moments.mean.copy(), moments.square.copy())
        code = OPTIMIZER_CODES[self.settings.optimizer]
        flat = (array.reshape(-1) for array in (moved, gradient.astype(moved.dtype), *after))
        descend(*flat, code, rate, step, 0, moved.size)
        return moved, after
