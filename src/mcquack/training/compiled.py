"""Epochs on the CPU engines: memory laid out once, then one compiled call for each epoch."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.kernels.fidelity import CLASS_SCORE_CODES
from mcquack.kernels.losses import is_learned, loss_rule
from mcquack.simulators.compiled.lanes import lane_count
from mcquack.simulators.compiled.memory import aligned_zeros, available_bytes, require_bytes
from mcquack.simulators.compiled.team import Team, control
from mcquack.simulators.statevector.base import N_PARTIAL_SUMS, StateEngine
from mcquack.training.batches import Passes, blurred, epoch_passes
from mcquack.training.embeddings import PlainCircuit, Work
from mcquack.training.optimizer import OPTIMIZER_CODES
from mcquack.training.readouts.centroids import Centroids, CentroidSpace, KernelSums
from mcquack.training.settings import TrainingSettings
from mcquack.training.state import EpochSums, Parameters, Scores, TrainingData, TrainingState, check_shapes, flat_places
from mcquack.training.step import (
    BETA,
    DIRECT,
    GROUPS,
    ROWS,
    SUM,
    Config,
    Context,
    Data,
    LaunchSums,
    TrainedArrays,
    Workspace,
    by_group,
    run_epoch,
)

# States of all samples are kept through CO if they take no more than this, and no more than a quarter of what is free.
KEPT_STATES_LIMIT = 2 * 2**30
# So many parameters are moved in the time that it takes to hand out a ticket, or in little more.
WORTH_SHARING = 4096
NOTHING = np.zeros((1, 1, 1))


def training_rows(
    X: FloatArray,
    labels: NDArray[Any],
    row_weights: FloatArray | None = None,
    targets: FloatArray | None = None,
) -> Data:
    """Return samples as compiled code takes them: X in the engine's type, all other arrays as they come."""
    return Data(
        X=X,
        seen=X[None],
        labels=np.ascontiguousarray(labels, np.int64),
        targets=np.ascontiguousarray(np.zeros((0, 0)) if targets is None else targets, np.float64),
        row_weights=np.ones(len(X)) if row_weights is None else np.ascontiguousarray(row_weights, np.float64),
    )


def rowwise_space(
    n_parts: int, n_parameters: int, dtype: np.dtype[Any], *, n_threads: int = 1, currents: NDArray[Any] | None = None
) -> Workspace:
    """Return the memory of a readout in which no sample needs another: that of its partial gradients."""
    return Workspace(
        gradients=np.zeros((n_parts, n_parameters), dtype),
        currents=np.zeros((n_parts, 0, 0), dtype) if currents is None else currents,
        part_losses=np.zeros(n_parts),
        by_rows=aligned_zeros((0, 1, lane_count(dtype)), dtype),
        cells=np.zeros((n_threads, control().size), np.int64),
        own=None,
    )


class CompiledTrainer:
    """Advances one training, or several that run apart, by compiled launches; holds the memory that they reuse.

    Parameters
    ----------
    embedding, readout, data, space : NamedTuple
        The parts of the context, as compiled code gets them.
    works : list
        What each thread works on; their number is the number of threads.
    team : Team
        The threads.
    shapes : mapping
        The shapes of the groups of parameters of one training; groups that are missing are empty.
    dtype : dtype
        In which numbers all is computed.
    config : Config
        How groups are moved.
    """

    def __init__(
        self,
        *,
        embedding: Any,
        readout: Any,
        data: Data,
        space: Workspace,
        works: Sequence[Work],
        team: Team,
        shapes: Mapping[str, tuple[int, ...]],
        dtype: np.dtype[Any],
        config: Config,
    ) -> None:
        self.embedding, self.readout, self.data, self.space = embedding, readout, data, space
        self.works, self.team, self.dtype = list(works), team, dtype
        self.shapes = {name: shapes.get(name, (0,)) for name in GROUPS}
        sizes = [math.prod(shape) for shape in self.shapes.values()]
        self._config = config._replace(firsts=np.cumsum([0, *sizes]))
        self._filled = {name: (at, shape) for name, (at, shape) in flat_places(self.shapes).items() if math.prod(shape)}
        self._empty = {name: np.zeros(shape, dtype) for name, shape in self.shapes.items() if not math.prod(shape)}
        self._run: Any = None  # compiled for the types of this context, once they are known

    def __call__(
        self, states: Sequence[TrainingState], passes: Passes, *, active: NDArray[np.bool_] | None = None, **given: Any
    ) -> tuple[list[TrainingState], LaunchSums]:
        """Return the states after all passes, which leave ``states`` as they are, and the sums over the steps.

        Parameters
        ----------
        states : One for each training.
        passes : What the launch does.
        active : Which trainings go on; by default all.
        **given : What :meth:`launch` takes.
        """
        active = np.ones(len(states), np.bool_) if active is None else active
        trained, sums = self.launch(states, passes, active, **given)
        return [self._after(state, trained, n) if active[n] else state for n, state in enumerate(states)], sums

    def launch(
        self,
        states: Sequence[TrainingState],
        passes: Passes,
        active: NDArray[np.bool_],
        *,
        readout: Any = None,
        seen: FloatArray | None = None,
        own_sums: Any = NOTHING,
    ) -> tuple[TrainedArrays, LaunchSums]:
        """Run all passes, and return the arrays that they have changed."""
        n_trainings = len(states)
        for state in states:
            check_shapes(state.parameters, self.shapes)
        trained = self._working_copy(states, passes)
        sums = LaunchSums(
            np.zeros((n_trainings, 2)),
            np.zeros((n_trainings, 2), np.int64),
            np.zeros((n_trainings, len(GROUPS))),
            own_sums,
        )
        context = Context(
            self.data if seen is None else self.data._replace(seen=seen),
            self.embedding,
            self.readout if readout is None else readout,
            trained,
            self._config._replace(rates=passes.rates, interval=passes.interval),
            self.space,
            sums,
        )
        orders = passes.orders
        if orders.ndim == 2:
            orders = orders[None] if n_trainings == 1 else np.repeat(orders[None], n_trainings, axis=0)
        arguments = context, active, orders, passes.moves
        if self._run is None:
            run = run_epoch(type(context.embedding), type(context.readout))
            self._run = run.version(control(), 0, 1, self.works[0], *arguments)
        self.team.run(self._run, self.works, *arguments)
        return trained, sums

    def _working_copy(self, states: Sequence[TrainingState], passes: Passes) -> TrainedArrays:
        n_trainings = len(states)
        values, mean, square, slopes = np.zeros((4, n_trainings, self._config.firsts[-1]), self.dtype)
        n_done = max(state.n_steps for state in states)
        losses = np.zeros((n_trainings, n_done + passes.orders.shape[-2] if self._config.records else 0))
        steps, progress = np.empty((n_trainings, len(GROUPS)), np.int64), np.zeros((n_trainings, 2), np.int64)
        for number, state in enumerate(states):
            for name, (place, _) in self._filled.items():
                values[number, place] = getattr(state.parameters, name).reshape(-1)
            mean[number], square[number], steps[number] = state.mean, state.square, state.steps
            if self._config.records:
                losses[number, : state.n_steps] = state.losses
                progress[number, 0] = state.n_steps
        return TrainedArrays(values, mean, square, slopes, steps, losses, progress)

    def _after(self, before: TrainingState, trained: TrainedArrays, number: int) -> TrainingState:
        """Return the state of one training from the arrays of all."""
        values = trained.values[number]
        losses, outcome = before.losses, int(trained.progress[number, 1])
        if self._config.records:
            losses = trained.losses[number, : trained.progress[number, 0]]
        return TrainingState(
            before.epoch + 1,
            Parameters(
                **self._empty, **{name: values[at].reshape(shape) for name, (at, shape) in self._filled.items()}
            ),
            trained.mean[number],
            trained.square[number],
            trained.steps[number],
            losses,
            outcome,
        )


class CompiledEpochs:
    """Runs epochs of one problem whose scores are fidelities with centroids; holds the memory that they reuse."""

    def __init__(self, engine: StateEngine, data: TrainingData, settings: TrainingSettings) -> None:
        self.engine = engine
        self.data = data
        self.settings = settings
        self.batch_size = min(settings.batch_size, len(data.X))
        self.n_centroids = data.n_classes * settings.n_centroids_per_class
        self.n_outputs = 0 if settings.n_outputs is None else settings.n_outputs
        self.X = engine.rows(data.X)
        labels, targets = (np.zeros(len(data.X)), data.labels) if data.is_regression else (data.labels, None)
        circuit, n_batches = engine.feature_map, math.ceil(len(data.X) / self.batch_size)
        kao_rows = settings.epochs_ka * (len(data.X) + n_batches * self.n_centroids)
        co_rows = settings.passes_co * n_batches * self.n_centroids
        # Threads are called once for each epoch: what counts is all of its work, and not that of a step.
        flops = engine.flops(kao_rows + co_rows, with_gradient=True) + engine.flops(len(data.X), with_gradient=False)
        self.n_threads = engine.threads_for(flops, engine.n_blocks(self.batch_size + self.n_centroids))
        states = engine.state_bytes(2 * self.batch_size + self.n_centroids)
        require_bytes(
            states + self.n_threads * engine.scratch_bytes(backward=True),
            f"training {circuit.n_qubits} qubits on batches of {self.batch_size}",
        )
        n_parts = min(N_PARTIAL_SUMS, engine.n_blocks(self.batch_size + self.n_centroids))
        n_moved = circuit.n_weights + self.n_centroids * circuit.n_features
        keeps_all = settings.passes_co > 0 and self._fits_kept()
        self.readout, self.space = self._readout(keeps_all), self._space(n_parts, keeps_all)
        self._trainer = CompiledTrainer(
            embedding=PlainCircuit(engine.form, circuit.n_weights, circuit.n_bias, has_members=False),
            readout=self.readout,
            data=training_rows(self.X, labels, data.row_weights, targets),
            space=self.space,
            works=[Work(scratch, None, None) for scratch in engine.scratch(self.n_threads, backward=True)],
            team=engine.team(self.n_threads, flops),
            shapes={
                "weights": circuit.weights_shape,
                "bias": circuit.bias_shape,
                "centroids": (self.n_centroids, circuit.n_features),
                "log_beta": (int(is_learned(settings.loss)),),
                "head": (data.n_classes + 1, self.n_outputs) if self.n_outputs else (0,),
            },
            dtype=engine.dtype,
            config=Config(
                batch_size=self.batch_size,
                n_parts=n_parts,
                n_shares=1 + n_moved // WORTH_SHARING,
                is_rowwise=False,
                optimizer=OPTIMIZER_CODES[settings.optimizer],
                decoupled=settings.optimizer == "adamw",
                sources=by_group(SUM, centroids=ROWS, log_beta=BETA, head=DIRECT),
                halves=by_group(0, centroids=1, log_beta=-1, head=1),
                ridges=by_group(0.0, weights=settings.reg_param_weights, bias=settings.reg_param_bias),
                reg_rows=float(settings.reg_param_co),
                low=float(settings.feature_range[0]),
                high=float(settings.feature_range[1]),
            ),
        )

    def _fits_kept(self) -> bool:
        """Whether the states of all samples stay through CO; else those of a mini-batch are encoded for each step."""
        free = available_bytes()
        limit = KEPT_STATES_LIMIT if free is None else min(KEPT_STATES_LIMIT, free // 4)
        return self.engine.state_bytes(len(self.data.X)) <= limit

    def _readout(self, keeps_all: bool) -> Centroids:
        circuit, loss = self.engine.feature_map, self.settings.loss
        rows_at = circuit.n_weights + circuit.n_bias
        beta_at = rows_at + self.n_centroids * circuit.n_features
        return Centroids(
            rule=loss_rule(loss),
            class_score=CLASS_SCORE_CODES[loss.class_score],
            n_centroids=self.n_centroids,
            rows_at=rows_at,
            head_at=beta_at + int(is_learned(loss)),
            n_outputs=self.n_outputs,
            beta_at=beta_at,
            n_first=self.settings.epochs_ka,
            is_blurred=self.settings.is_blurred,
            keeps_all=keeps_all,
            with_kernel=True,
        )

    def _space(self, n_parts: int, keeps_all: bool) -> Workspace:
        engine, n_centroids, n_scores = self.engine, self.n_centroids, self.data.n_classes
        dtype, width, circuit = engine.dtype, lane_count(engine.dtype), engine.feature_map
        n_features, size = circuit.n_features, circuit.dimension
        blocks = engine.n_blocks(self.batch_size + n_centroids)
        # A mini-batch of kept states may begin and end within a block; at the end each thread has one for itself.
        batch_blocks = max(engine.n_blocks(self.batch_size) + 1, self.n_threads)
        n_rows = batch_blocks * width
        kernel, scores, outputs = (np.zeros((n_rows, n), dtype) for n in (n_centroids, n_scores, self.n_outputs))
        # With one centroid per class its fidelities are the scores: the same memory, and nothing to copy.
        scores = kernel if n_centroids == n_scores else scores
        kept = 0
        if self.settings.passes_co:
            kept = engine.n_blocks(len(self.data.X)) if keeps_all else engine.n_blocks(self.batch_size) + 1
        n_targets = self.data.labels.shape[1] if self.data.is_regression else 0
        return Workspace(
            gradients=np.zeros((n_parts, circuit.n_weights + circuit.n_bias), dtype),
            currents=np.zeros((1, 0, 0), dtype),
            part_losses=np.zeros(0),
            by_rows=aligned_zeros((engine.n_blocks(n_centroids) + 1, n_features, width), dtype),
            cells=np.zeros((0, 0), np.int64),
            own=CentroidSpace(
                features=aligned_zeros((blocks, n_features, width), dtype),
                states=aligned_zeros((blocks, size, 2, width), dtype),
                kept=aligned_zeros((kept, size, 2, width), dtype),
                columns=np.zeros((self.n_threads, n_centroids, size, 2), dtype),
                overlaps=aligned_zeros((batch_blocks, n_centroids, 2, width), dtype),
                pulls=aligned_zeros((batch_blocks, n_centroids, 2, width), dtype),
                kernel=kernel,
                scores=scores,
                outputs=outputs if self.n_outputs else scores,
                cotangent=np.zeros((n_rows, n_centroids), dtype),
                by_outputs=np.zeros((n_rows, self.n_outputs), dtype),
                labels=np.zeros(n_rows, np.int64),
                targets=np.zeros((n_rows, n_targets)),
                weights=np.zeros(n_rows),
            ),
        )

    def __call__(self, state: TrainingState, *, with_kernel: bool = True) -> EpochSums:
        """One epoch further; ``state`` itself stays as it is. Without the kernel it costs the steps alone."""
        settings, n_samples, n_scores = self.settings, len(self.data.X), self.data.n_classes
        kernel = np.empty((n_samples, self.n_centroids), self.engine.dtype)
        scores = kernel if n_scores == self.n_centroids else np.empty((n_samples, n_scores), self.engine.dtype)
        outputs = np.empty((n_samples, self.n_outputs), self.engine.dtype) if self.n_outputs else scores
        own = KernelSums(kernel, scores, outputs, np.zeros(3))
        (after,), sums = self._trainer(
            [state],
            epoch_passes(n_samples, state.epoch, settings),
            readout=self.readout if with_kernel else self.readout._replace(with_kernel=False),
            seen=blurred(self.X, state.epoch, settings) if settings.is_blurred else None,
            own_sums=own,
        )
        n_kao, n_co = sums.n_steps[0].tolist()
        kao, co = (total / n if n else None for total, n in zip(sums.losses[0].tolist(), (n_kao, n_co), strict=True))
        squares = zip(sums.squared_norms[0, :3].tolist(), (n_kao, n_kao, n_co), strict=True)
        by_w, by_b, by_c = (math.sqrt(total / n) if n else None for total, n in squares)
        return EpochSums(after, kao, co, (by_w, by_b, by_c), kernel, Scores(*own.measures.tolist()))
