"""The same epochs through the engine seam alone: for engines that have no compiled epoch, and as its oracle."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.kernels.fidelity import centroid_slopes, class_scores
from mcquack.kernels.losses import Loss
from mcquack.simulators.engine import E, Engine, Gradient, Wrt, lifted
from mcquack.training.optimizer import OPTIMIZER_CODES, Moments, descend
from mcquack.training.settings import TrainingSettings, epoch_orders
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
        kao_losses, co_losses, norms = [], [], np.zeros(3)
        for order in kao_orders:
            for batch in self._batches(order):
                state, loss, squares = self._kao_step(state, batch, lr_ka)
                kao_losses.append(loss)
                norms[:2] += squares
        encoded = [self._encoded(state, batch) for batch in self._batches(co_order)] if self.settings.epochs_co else []
        for _ in range(self.settings.epochs_co):
            for batch, samples in zip(self._batches(co_order), encoded, strict=True):
                state, loss, square = self._co_step(state, batch, samples, lr_co)
                co_losses.append(loss)
                norms[2] += square
        parameters = state.parameters
        kernel = epoch_kernel(self.engine, self.data.X, parameters, self.settings.loss)
        counts = len(kao_losses), len(kao_losses), len(co_losses)
        roots = [math.sqrt(n / count) if count else None for n, count in zip(norms, counts, strict=True)]
        return EpochSums(
            replace(state, epoch=state.epoch + 1),
            float(np.mean(kao_losses)) if kao_losses else None,
            float(np.mean(co_losses)) if co_losses else None,
            (roots[0], roots[1], roots[2]),
            kernel,
        )

    def _batches(self, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        size = self.settings.batch_size
        return (order[first : first + size] for first in range(0, len(order), size))

    def _encoded(self, state: TrainingState, batch: NDArray[np.int64]) -> E:
        return self.engine.encode(self.data.X[batch], state.parameters.weights, state.parameters.bias)

    def _pulled(self, batch: NDArray[np.int64], samples: E, centroids: E, wrt: Wrt) -> tuple[float, Gradient]:
        """The loss of a mini-batch, and its derivatives."""
        engine, loss = self.engine, self.settings.loss
        in_logs = _measured_in_logs(engine, loss)
        if in_logs:
            K = _in_common_unit(engine.log_fidelities(samples, centroids))
        else:
            K = engine.fidelities(samples, centroids)
        scores = class_scores(K, self.data.n_classes, class_score=loss.class_score)
        value, by_scores = loss(scores, self.data.labels[batch], self.data.row_weights[batch])
        slopes = centroid_slopes(K, by_scores, class_score=loss.class_score)
        if in_logs:  # K ∂f/∂K is the same in any unit
            return value, engine.pull_logs(samples, centroids, K * slopes, wrt=wrt)
        return value, engine.pullback(samples, centroids, slopes, wrt=wrt)

    def _kao_step(
        self, state: TrainingState, batch: NDArray[np.int64], rate: float
    ) -> tuple[TrainingState, float, tuple[float, float]]:
        old, settings = state.parameters, self.settings
        samples = self._encoded(state, batch)
        centroids = self.engine.encode(old.centroids, old.weights, old.bias)
        loss, gradient = self._pulled(batch, samples, centroids, "embedding")
        assert gradient.weights is not None
        assert gradient.bias is not None
        by_w = gradient.weights + 2 * settings.reg_param_weights * old.weights
        by_b = gradient.bias + 2 * settings.reg_param_bias * old.bias
        penalty = settings.reg_param_weights * np.sum(old.weights**2) + settings.reg_param_bias * np.sum(old.bias**2)
        step = int(state.steps[0]) + 1
        weights, weights_moments = self._descended(old.weights, by_w, state.weights_moments, rate, step)
        bias, bias_moments = self._descended(old.bias, by_b, state.bias_moments, rate, step)
        after = replace(
            state,
            parameters=Parameters(weights, bias, old.centroids),
            weights_moments=weights_moments,
            bias_moments=bias_moments,
            steps=state.steps + np.array([1, 0]),
        )
        return after, float(loss + penalty), (float(np.sum(by_w**2)), float(np.sum(by_b**2)))

    def _co_step(
        self, state: TrainingState, batch: NDArray[np.int64], samples: E, rate: float
    ) -> tuple[TrainingState, float, float]:
        old, (low, high) = state.parameters, self.settings.feature_range
        centroids = self.engine.encode(old.centroids, old.weights, old.bias)
        loss, gradient = self._pulled(batch, samples, centroids, "centroids")
        assert gradient.centroids is not None
        outside = (old.centroids > high).astype(float) - (old.centroids < low)
        by_c = gradient.centroids + self.settings.reg_param_co * outside
        penalty = np.sum(np.maximum(old.centroids - high, 0) + np.maximum(low - old.centroids, 0))
        moved, moments = self._descended(old.centroids, by_c, state.centroids_moments, rate, int(state.steps[1]) + 1)
        after = replace(
            state,
            parameters=Parameters(old.weights, old.bias, moved),
            centroids_moments=moments,
            steps=state.steps + np.array([0, 1]),
        )
        return after, float(loss + self.settings.reg_param_co * penalty), float(np.sum(by_c**2))

    def _descended(
        self, parameter: FloatArray, gradient: FloatArray, moments: Moments, rate: float, step: int
    ) -> tuple[FloatArray, Moments]:
        moved, after = parameter.copy(), Moments(moments.mean.copy(), moments.square.copy())
        code = OPTIMIZER_CODES[self.settings.optimizer]
        flat = (array.reshape(-1) for array in (moved, gradient.astype(moved.dtype), *after))
        descend(*flat, code, rate, step, 0, moved.size)
        return moved, after
