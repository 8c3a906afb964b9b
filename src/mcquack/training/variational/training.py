"""One epoch of variational classifiers after the other, with what there is to say about each."""

import math
import time
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.simulators.compiled.lanes import lane_count
from mcquack.simulators.compiled.memory import aligned_zeros, require_bytes
from mcquack.simulators.statevector import StateEngine
from mcquack.training.optimizer import OPTIMIZER_CODES, Moments
from mcquack.training.state import HistoryRow, TrainingData, check_shapes
from mcquack.training.variational.settings import VariationalParameters, VariationalSettings, VariationalState
from mcquack.training.variational.steps import (
    Pace,
    Problem,
    Room,
    Totals,
    Trained,
    measure_classes,
    run_own_epoch,
    run_shared_epoch,
)

MEASURED_QUBITS = (0, 1)


class ClassLogits:
    """Measures the same samples with one set of parameters after the other; holds the memory that they reuse."""

    def __init__(self, engine: StateEngine, X: FloatArray, *, n_classes: int) -> None:
        self.engine = engine
        self.shape = len(X), n_classes, len(MEASURED_QUBITS)
        flops = engine.flops(n_classes * len(X), with_gradient=False)
        n_threads = engine.threads_for(flops, n_classes * engine.n_blocks(len(X)))
        require_bytes(
            n_threads * engine.scratch_bytes(backward=True), f"measuring {engine.feature_map.n_qubits} qubits"
        )
        self.team = engine.team(n_threads, flops)
        self.works = engine.scratch(n_threads, backward=True)
        self.measured = aligned_zeros((n_threads, len(MEASURED_QUBITS), lane_count(engine.dtype)), engine.dtype)
        self.problem = Problem(
            X=engine.rows(X),
            labels=np.zeros(0, np.int64),
            row_weights=np.zeros(0),
            form=engine.form,
            signs=engine.z_signs(MEASURED_QUBITS),
        )

    def __call__(self, parameters: VariationalParameters) -> FloatArray:
        """⟨Z₀⟩ and ⟨Z₁⟩ of every sample behind every classifier's circuit, (N, M, 2)."""
        logits = np.empty(self.shape, self.engine.dtype)
        arrays = (np.require(array, self.engine.dtype, ["C", "W"]) for array in (parameters.weights, parameters.bias))
        self.team.run(measure_classes, self.works, self.problem, *arrays, self.measured, logits)
        return np.clip(logits, -1, 1, out=logits)


class VariationalEpochs:
    """Runs epochs of one problem; holds the memory that they reuse."""

    def __init__(self, engine: StateEngine, data: TrainingData, settings: VariationalSettings) -> None:
        self.engine = engine
        self.data = data
        self.settings = settings
        self.batch_size = min(settings.batch_size, len(data.X))
        self.problem = Problem(
            X=engine.rows(data.X),
            labels=np.ascontiguousarray(data.labels, dtype=np.int64),
            row_weights=np.ascontiguousarray(data.row_weights, dtype=np.float64),
            form=engine.form,
            signs=engine.z_signs(MEASURED_QUBITS),
        )
        passes = settings.passes_weights + settings.passes_bias if settings.shared else 1
        work = engine.flops(passes * data.n_classes * len(data.X), with_gradient=True)
        # Classifiers of their own meet at the end of an epoch only, so even short steps are worth sharing there.
        per_meeting = work / passes / (math.ceil(len(data.X) / self.batch_size) if settings.shared else 1)
        self.n_threads = engine.threads_for(per_meeting, data.n_classes)
        self.team = engine.team(self.n_threads, work)
        require_bytes(
            self.n_threads * engine.scratch_bytes(backward=True),
            f"training {engine.feature_map.n_qubits} qubits on {self.n_threads} threads",
        )
        self.works = engine.scratch(self.n_threads, backward=True)
        dtype, width, circuit = engine.dtype, lane_count(engine.dtype), engine.feature_map
        shapes = circuit.weights_shape, circuit.bias_shape
        by_w, by_b = (np.zeros((data.n_classes, *shape), dtype) for shape in shapes)
        self.room = Room(
            expectations=aligned_zeros((self.n_threads, len(MEASURED_QUBITS), width), dtype),
            cotangent=aligned_zeros((self.n_threads, len(MEASURED_QUBITS), width), dtype),
            by_w=by_w,
            by_b=by_b,
            flat_by_w=by_w.reshape(len(by_w), circuit.n_weights),
            flat_by_b=by_b.reshape(len(by_b), circuit.n_bias),
            slope=np.zeros(circuit.n_weights, dtype),
        )

    def __call__(self, state: VariationalState) -> tuple[VariationalState, float, list[float | None]]:
        """The state after one epoch more, and over its steps the mean loss and the norms of both gradients."""
        circuit, n_classes = self.engine.feature_map, self.data.n_classes
        n_weights = 1 if self.settings.shared else n_classes
        check_shapes(
            state.parameters,
            weights=(n_weights, *circuit.weights_shape),
            bias=(n_classes, *circuit.bias_shape),
        )
        trained = _working_copy(state, self.engine.dtype)
        totals = Totals(np.zeros(n_classes), np.zeros(n_classes, np.int64), np.zeros((n_classes, 2)))
        lr_weights, lr_bias = self.settings.learning_rates(state.epoch)
        pace = Pace(
            batch_size=self.batch_size,
            optimizer=OPTIMIZER_CODES[self.settings.optimizer],
            lr_weights=lr_weights,
            lr_bias=lr_bias,
            reg_weights=float(self.settings.reg_param_weights),
            reg_bias=float(self.settings.reg_param_bias),
        )
        common = self.works, self.problem, trained, pace, self.room
        if self.settings.shared:
            self.team.run(run_shared_epoch, *common, *self.settings.orders(len(self.data.X), state.epoch), totals)
        else:
            order = self.settings.orders(len(self.data.X), state.epoch)[0][0]
            self.team.run(run_own_epoch, *common, order, state.active, totals)
        after = replace(
            state,
            epoch=state.epoch + 1,
            parameters=VariationalParameters(trained.weights, trained.bias),
            weights_moments=_shaped_moments(trained.weights_mean, trained.weights_square, trained.weights),
            bias_moments=_shaped_moments(trained.bias_mean, trained.bias_square, trained.bias),
            weights_steps=trained.weights_steps,
            bias_steps=trained.bias_steps,
        )
        n_steps = max(int(totals.n_steps.sum()), 1)
        of_weights, of_bias = trained.weights_steps - state.weights_steps, trained.bias_steps - state.bias_steps
        taken = int(of_weights.sum()), int(of_bias.sum())
        norms = [
            math.sqrt(float(total) / count) if count else None
            for total, count in zip(totals.squared_norms.sum(axis=0), taken, strict=True)
        ]
        return after, float(totals.losses.sum()) / n_steps, norms


def _working_copy(state: VariationalState, dtype: np.dtype[Any]) -> Trained:
    shaped = [np.array(array, dtype, order="C") for array in (state.parameters.weights, state.parameters.bias)]
    moments = [np.array(moment, dtype) for moment in (*state.weights_moments, *state.bias_moments)]
    flat = [array.reshape(len(array), math.prod(array.shape[1:])) for array in (*shaped, *moments)]
    return Trained._make([*shaped, *flat, state.weights_steps.copy(), state.bias_steps.copy()])


@dataclass(frozen=True, kw_only=True)
class VariationalReport(HistoryRow):
    """One row of a training history: means over the epoch's steps, and losses and accuracies at its end."""

    epoch: int
    loss: float
    step_loss: float
    accuracy: float
    validation_loss: float | None
    validation_accuracy: float | None
    grad_norm_weights: float | None
    grad_norm_bias: float | None
    seconds: float


class VariationalEpoch(NamedTuple):
    """The state after an epoch, what there is to say about it, and the loss of each classifier that is watched."""

    state: VariationalState
    report: VariationalReport
    watched: NDArray[np.float64]


class VariationalTraining:
    """Trains on one problem, epoch by epoch; whoever calls it decides what to go on from, and when to stop."""

    def __init__(
        self,
        engine: StateEngine,
        data: TrainingData,
        *,
        settings: VariationalSettings,
        validation: TrainingData | None = None,
    ) -> None:
        self._run = VariationalEpochs(engine, data, settings)
        parts = [data] if validation is None else [data, validation]
        self._parts = [(part, ClassLogits(engine, part.X, n_classes=part.n_classes)) for part in parts]

    def __call__(self, state: VariationalState) -> VariationalEpoch:
        started = time.perf_counter()
        after, step_loss, norms = self._run(state)
        (watched, accuracy), *held_out = [_scores(part, logits(after.parameters)) for part, logits in self._parts]
        validation_loss, validation_accuracy = None, None
        if held_out:
            watched, validation_accuracy = held_out[0]
            validation_loss = float(watched.mean())
        report = VariationalReport(
            epoch=after.epoch,
            loss=float(watched.mean()),
            step_loss=step_loss,
            accuracy=accuracy,
            validation_loss=validation_loss,
            validation_accuracy=validation_accuracy,
            grad_norm_weights=norms[0],
            grad_norm_bias=norms[1],
            seconds=time.perf_counter() - started,
        )
        return VariationalEpoch(after, report, watched)


def cross_entropies(logits: FloatArray, labels: NDArray[np.int64], row_weights: FloatArray) -> NDArray[np.float64]:
    """Mean cross entropy of each classifier (M,), whose logits are those of its class and of all others."""
    ahead = (logits[..., 0] - logits[..., 1]).astype(np.float64)
    own = labels[:, None] == np.arange(logits.shape[1])
    losses = np.logaddexp(0, np.where(own, -ahead, ahead))
    return np.asarray(np.average(losses, axis=0, weights=row_weights))


def _scores(data: TrainingData, logits: FloatArray) -> tuple[NDArray[np.float64], float]:
    """The loss of each classifier, and the share of (weighted) samples whose class has the largest ⟨Z₀⟩."""
    hits = logits[..., 0].argmax(axis=1) == data.labels
    accuracy = float(np.average(hits, weights=data.row_weights))
    return cross_entropies(logits, data.labels, data.row_weights), accuracy


def _shaped_moments(mean: NDArray[Any], square: NDArray[Any], parameter: NDArray[Any]) -> Moments:
    """Memory that was kept flat, in the shape of its parameter."""
    return Moments(mean.reshape(parameter.shape), square.reshape(parameter.shape))
