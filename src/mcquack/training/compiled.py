"""Epochs on the CPU engine: memory laid out once, then one compiled call for each epoch."""

import math
from typing import Any

import numpy as np

from mcquack.kernels.fidelity import CLASS_SCORE_CODES
from mcquack.kernels.losses import is_learned, loss_rule
from mcquack.simulators.compiled.lanes import lane_count
from mcquack.simulators.compiled.memory import aligned_zeros, available_bytes, require_bytes
from mcquack.simulators.compiled.team import compiled, control
from mcquack.simulators.statevector.base import N_PARTIAL_SUMS, StateEngine
from mcquack.training.epoch import Buffers, Pace, Problem, Totals, Trained, run_epoch
from mcquack.training.optimizer import OPTIMIZER_CODES, Moments
from mcquack.training.settings import TrainingSettings, blurred, epoch_orders
from mcquack.training.state import PARAMETERS, EpochSums, Parameters, Scores, TrainingData, TrainingState, check_shapes

# States of all samples are kept through CO if they take no more than this, and no more than a quarter of what is free.
KEPT_STATES_LIMIT = 2 * 2**30


class CompiledEpochs:
    """Runs epochs of one problem; holds the buffers that they reuse."""

    def __init__(self, engine: StateEngine, data: TrainingData, settings: TrainingSettings) -> None:
        self.engine = engine
        self.data = data
        self.settings = settings
        self.batch_size = min(settings.batch_size, len(data.X))
        self.n_centroids = data.n_classes * settings.n_centroids_per_class
        rows = engine.rows(data.X)
        self.problem = Problem(
            X=rows,
            seen=rows[None],
            labels=np.ascontiguousarray(data.labels, dtype=np.int64),
            row_weights=np.ascontiguousarray(data.row_weights, dtype=np.float64),
            form=engine.form,
        )
        n_batches = math.ceil(len(data.X) / self.batch_size)
        kao_rows = settings.epochs_ka * (len(data.X) + n_batches * self.n_centroids)
        co_rows = settings.passes_co * n_batches * self.n_centroids
        # Threads are called once for each epoch: what counts is all of its work, and not that of a step.
        flops = engine.flops(kao_rows + co_rows, with_gradient=True) + engine.flops(len(data.X), with_gradient=False)
        self.n_threads = engine.threads_for(flops, engine.n_blocks(self.batch_size + self.n_centroids))
        self.team = engine.team(self.n_threads, flops)
        states = engine.state_bytes(2 * self.batch_size + self.n_centroids)
        require_bytes(
            states + self.n_threads * engine.scratch_bytes(backward=True),
            f"training {engine.feature_map.n_qubits} qubits on batches of {self.batch_size}",
        )
        self.works = engine.scratch(self.n_threads, backward=True)
        self.room = self._buffers()
        self._run_epoch: Any = None  # for the types of this problem, once they are known

    def _keeps_all(self) -> bool:
        """Whether the states of all samples stay through CO; else those of a mini-batch are encoded for each step."""
        free = available_bytes()
        limit = KEPT_STATES_LIMIT if free is None else min(KEPT_STATES_LIMIT, free // 4)
        return self.engine.state_bytes(len(self.data.X)) <= limit

    def _buffers(self) -> Buffers:
        engine, n_centroids = self.engine, self.n_centroids
        dtype, width = engine.dtype, lane_count(engine.dtype)
        n_features, size = engine.feature_map.n_features, engine.feature_map.dimension
        shapes = engine.feature_map.weights_shape, engine.feature_map.bias_shape
        blocks = engine.n_blocks(self.batch_size + n_centroids)
        # A mini-batch of kept states may begin and end within a block; at the end each thread has one for itself.
        batch_blocks = max(engine.n_blocks(self.batch_size) + 1, self.n_threads)
        n_parts = min(N_PARTIAL_SUMS, blocks)
        kernel, scores = (np.zeros((batch_blocks * width, n), dtype) for n in (n_centroids, self.data.n_classes))
        by_w, by_b = (np.zeros((n_parts, *shape), dtype) for shape in shapes)
        return Buffers(
            features=aligned_zeros((blocks, n_features, width), dtype),
            states=aligned_zeros((blocks, size, 2, width), dtype),
            kept=aligned_zeros((self._kept_blocks(), size, 2, width), dtype),
            columns=np.zeros((self.n_threads, n_centroids, size, 2), dtype),
            overlaps=aligned_zeros((batch_blocks, n_centroids, 2, width), dtype),
            pulls=aligned_zeros((batch_blocks, n_centroids, 2, width), dtype),
            kernel=kernel,
            # With one centroid per class its fidelities are the scores: the same memory, and nothing to copy.
            scores=kernel if n_centroids == self.data.n_classes else scores,
            cotangent=np.zeros((batch_blocks * width, n_centroids), dtype),
            batch_labels=np.zeros(batch_blocks * width, np.int64),
            batch_weights=np.zeros(batch_blocks * width),
            by_w=by_w,
            by_b=by_b,
            flat_by_w=by_w.reshape(n_parts, engine.feature_map.n_weights),
            flat_by_b=by_b.reshape(n_parts, engine.feature_map.n_bias),
            by_features=aligned_zeros((engine.n_blocks(n_centroids) + 1, n_features, width), dtype),
            slope_w=np.zeros(engine.feature_map.n_weights, dtype),
            slope_b=np.zeros(engine.feature_map.n_bias, dtype),
            slope_c=np.zeros(n_centroids * n_features, dtype),
            slope_beta=np.zeros(int(is_learned(self.settings.loss)), dtype),
        )

    def _kept_blocks(self) -> int:
        if not self.settings.passes_co:
            return 0
        n_blocks = self.engine.n_blocks
        return n_blocks(len(self.data.X)) if self._keeps_all() else n_blocks(self.batch_size) + 1

    def __call__(self, state: TrainingState, *, with_kernel: bool = True) -> EpochSums:
        """One epoch further; ``state`` itself stays as it is. Without the kernel it costs the steps alone."""
        circuit, n_features = self.engine.feature_map, self.problem.X.shape[1]
        check_shapes(
            state.parameters,
            weights=circuit.weights_shape,
            bias=circuit.bias_shape,
            centroids=(self.n_centroids, n_features),
            log_beta=(int(is_learned(self.settings.loss)),),
        )
        trained = _working_copy(state, self.engine.dtype)
        n_samples, n_classes = len(self.data.X), self.data.n_classes
        kernel = np.empty((n_samples, self.n_centroids), self.engine.dtype)
        totals = Totals(
            losses=np.zeros(2),
            n_steps=np.zeros(2, np.int64),
            squared_norms=np.zeros(3),
            kernel=kernel,
            scores=kernel if n_classes == self.n_centroids else np.empty((n_samples, n_classes), self.engine.dtype),
            measures=np.zeros(3),
        )
        orders = epoch_orders(n_samples, state.epoch, self.settings)
        pace = _pace(self.settings, state.epoch, self.batch_size, with_kernel=with_kernel)
        problem = self.problem._replace(seen=blurred(self.problem.X, state.epoch, self.settings))
        arguments = problem, trained, pace, self.room, *orders, totals
        if self._run_epoch is None:
            self._run_epoch = compiled(run_epoch, control(), 0, 1, self.works[0], *arguments)
        self.team.run(self._run_epoch, self.works, *arguments)
        return _sums(state, trained, totals)


def _working_copy(state: TrainingState, dtype: np.dtype[Any]) -> Trained:
    moments = [each for name in PARAMETERS for each in getattr(state, f"{name}_moments")]
    arrays = [*(getattr(state.parameters, name) for name in PARAMETERS), *moments]
    return Trained._make([*(array.astype(dtype, order="C") for array in arrays), state.steps.copy()])


def _pace(settings: TrainingSettings, epoch: int, batch_size: int, *, with_kernel: bool) -> Pace:
    lr_ka, lr_co = settings.learning_rates(epoch)
    return Pace(
        batch_size=batch_size,
        joint=settings.steps == "joint",
        is_blurred=settings.is_blurred,
        passes_co=settings.passes_co,
        with_kernel=with_kernel,
        optimizer=OPTIMIZER_CODES[settings.optimizer],
        decoupled=settings.optimizer == "adamw",
        class_score=CLASS_SCORE_CODES[settings.loss.class_score],
        loss=loss_rule(settings.loss),
        lr_ka=lr_ka,
        lr_co=lr_co,
        reg_weights=float(settings.reg_param_weights),
        reg_bias=float(settings.reg_param_bias),
        reg_co=float(settings.reg_param_co),
        low=float(settings.feature_range[0]),
        high=float(settings.feature_range[1]),
    )


def _sums(before: TrainingState, trained: Trained, totals: Totals) -> EpochSums:
    n_kao, n_co = totals.n_steps.tolist()
    loss_kao, loss_co = totals.losses.tolist()
    by_w, by_b, by_c = totals.squared_norms.tolist()
    norms = (
        math.sqrt(by_w / n_kao) if n_kao else None,
        math.sqrt(by_b / n_kao) if n_kao else None,
        math.sqrt(by_c / n_co) if n_co else None,
    )
    after = TrainingState(
        epoch=before.epoch + 1,
        parameters=Parameters(trained.weights, trained.bias, trained.centroids, trained.log_beta),
        weights_moments=Moments(trained.weights_mean, trained.weights_square),
        bias_moments=Moments(trained.bias_mean, trained.bias_square),
        centroids_moments=Moments(trained.centroids_mean, trained.centroids_square),
        log_beta_moments=Moments(trained.log_beta_mean, trained.log_beta_square),
        steps=trained.steps,
    )
    kao, co = loss_kao / n_kao if n_kao else None, loss_co / n_co if n_co else None
    return EpochSums(after, kao, co, norms, totals.kernel, Scores(*totals.measures.tolist()))
