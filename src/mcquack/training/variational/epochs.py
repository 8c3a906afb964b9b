"""Epochs of variational classifiers: memory laid out once, then one compiled call for each epoch."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mcquack.errors import InvalidInputError
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.simulators.statevector.lanes import lane_count
from mcquack.simulators.statevector.memory import aligned_zeros, require_bytes
from mcquack.training.optimizer import OPTIMIZER_CODES, shaped_moments
from mcquack.training.state import TrainingData
from mcquack.training.variational.logits import MEASURED_QUBITS
from mcquack.training.variational.settings import VariationalSettings
from mcquack.training.variational.state import VariationalParameters, VariationalState
from mcquack.training.variational.steps import (
    Outcome,
    Pace,
    Problem,
    Room,
    Trained,
    run_own_epoch,
    run_shared_epoch,
)


@dataclass(frozen=True, eq=False)
class VariationalSums:
    """What an epoch leaves behind: the state after it, and means over its steps."""

    state: VariationalState
    loss: float
    grad_norm_weights: float | None
    grad_norm_bias: float | None


class VariationalEpochs:
    """Runs epochs of one problem; holds the memory that they reuse."""

    def __init__(self, engine: StatevectorEngine, data: TrainingData, settings: VariationalSettings) -> None:
        self.engine = engine
        self.data = data
        self.settings = settings
        self.batch_size = min(settings.batch_size, len(data.X))
        self.problem = Problem(
            X=engine.rows(data.X),
            labels=np.ascontiguousarray(data.labels, dtype=np.int64),
            row_weights=np.ascontiguousarray(data.row_weights, dtype=np.float64),
            feature_index=engine.feature_map.feature_index,
            masks=engine.masks,
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
        self.room = self._room()

    def _room(self) -> Room:
        dtype, width = self.engine.dtype, lane_count(self.engine.dtype)
        shape = self.engine.feature_map.parameter_shape
        by_w, by_b = (np.zeros((self.data.n_classes, *shape), dtype) for _ in range(2))
        return Room(
            expectations=aligned_zeros((self.n_threads, len(MEASURED_QUBITS), width), dtype),
            cotangent=aligned_zeros((self.n_threads, len(MEASURED_QUBITS), width), dtype),
            by_w=by_w,
            by_b=by_b,
            flat_by_w=by_w.reshape(len(by_w), -1),
            flat_by_b=by_b.reshape(len(by_b), -1),
            slope=np.zeros(math.prod(shape), dtype),
        )

    def __call__(self, state: VariationalState) -> VariationalSums:
        """One epoch further; ``state`` itself stays as it is."""
        self._check_shapes(state.parameters)
        trained = _working_copy(state, self.engine.dtype)
        n_classes = self.data.n_classes
        outcome = Outcome(np.zeros(n_classes), np.zeros(n_classes, np.int64), np.zeros((n_classes, 2)))
        common = self.works, self.problem, trained, self._pace(state.epoch), self.room
        if self.settings.shared:
            self.team.run(run_shared_epoch, *common, *self.settings.orders(len(self.data.X), state.epoch), outcome)
        else:
            order = self.settings.orders(len(self.data.X), state.epoch)[0][0]
            self.team.run(run_own_epoch, *common, order, state.active, outcome)
        return self._sums(state, trained, outcome)

    def _check_shapes(self, parameters: VariationalParameters) -> None:
        """Compiled code trusts shapes; here they are checked."""
        shape, n_classes = self.engine.feature_map.parameter_shape, self.data.n_classes
        n_weights = 1 if self.settings.shared else n_classes
        for name, expected in (("weights", (n_weights, *shape)), ("bias", (n_classes, *shape))):
            found = getattr(parameters, name).shape
            if found != expected:
                raise InvalidInputError(f"{name} must have the shape {expected}, got {found}.")

    def _pace(self, epoch: int) -> Pace:
        lr_weights, lr_bias = self.settings.learning_rates(epoch)
        return Pace(
            batch_size=self.batch_size,
            optimizer=OPTIMIZER_CODES[self.settings.optimizer],
            lr_weights=lr_weights,
            lr_bias=lr_bias,
            reg_weights=float(self.settings.reg_param_weights),
            reg_bias=float(self.settings.reg_param_bias),
        )

    def _sums(self, before: VariationalState, trained: Trained, outcome: Outcome) -> VariationalSums:
        after = replace(
            before,
            epoch=before.epoch + 1,
            parameters=VariationalParameters(trained.weights, trained.bias),
            weights_moments=shaped_moments(trained.weights_mean, trained.weights_square, trained.weights),
            bias_moments=shaped_moments(trained.bias_mean, trained.bias_square, trained.bias),
            weights_steps=trained.weights_steps,
            bias_steps=trained.bias_steps,
        )
        n_steps = max(int(outcome.n_steps.sum()), 1)
        taken = [
            int(np.sum(new - old))
            for new, old in (
                (trained.weights_steps, before.weights_steps),
                (trained.bias_steps, before.bias_steps),
            )
        ]
        norms = [
            math.sqrt(float(total) / count) if count else None
            for total, count in zip(outcome.squared_norms.sum(axis=0), taken, strict=True)
        ]
        return VariationalSums(after, float(outcome.losses.sum()) / n_steps, norms[0], norms[1])


def _working_copy(state: VariationalState, dtype: np.dtype[Any]) -> Trained:
    shaped = [np.array(array, dtype, order="C") for array in (state.parameters.weights, state.parameters.bias)]
    moments = [np.array(moment, dtype) for moment in (*state.weights_moments, *state.bias_moments)]
    flat = [array.reshape(len(array), -1) for array in (*shaped, *moments)]
    return Trained._make([*shaped, *flat, state.weights_steps.copy(), state.bias_steps.copy()])
