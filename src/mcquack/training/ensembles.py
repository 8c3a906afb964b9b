"""Variational classifiers: one circuit for each class, measured on two qubits, alone or with shared weights.

Classifier m sees a sample through its circuit and measures Z on two qubits: the logits of "class m" and of "another
class". Classifiers with weights of their own are trainings that run apart; those that share their weights are one.
"""

import math
import time
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.constraints import POSITIVE, Boolean, Constraints, OneOf
from mcquack.errors import InvalidInputError
from mcquack.simulators.compiled.lanes import lane_count
from mcquack.simulators.compiled.memory import aligned_zeros, require_bytes
from mcquack.simulators.statevector import StateEngine
from mcquack.training.batches import Passes, sample_order
from mcquack.training.compiled import CompiledTrainer, rowwise_space, training_rows
from mcquack.training.embeddings import PlainCircuit, Work
from mcquack.training.optimizer import OPTIMIZER_CODES
from mcquack.training.readouts.expectations import TWO_LOGITS, Expectations, MeasuredSpace, measured_rows
from mcquack.training.settings import PASSES, LoopSettings, Optimizer, decayed
from mcquack.training.state import HistoryRow, Parameters, TrainingData, TrainingState
from mcquack.training.step import MEAN, OWN, SUM, Config, by_group

MEASURED_QUBITS = (0, 1)


@dataclass(frozen=True, kw_only=True)
class VariationalSettings(LoopSettings):
    """The hyperparameters of the training loop, checked when they are made.

    Classifiers of their own train weights and biases together, at ``lr_weights`` and ``lr_bias``. With ``shared``
    weights an epoch is ``passes_weights`` passes over the samples that move the weights, then ``passes_bias`` passes
    that move the biases.
    """

    shared: bool = False
    passes_weights: int = 1
    passes_bias: int = 1
    lr_weights: float = 1e-2
    lr_bias: float = 1e-2
    optimizer: Optimizer = "adam"

    _constraints: ClassVar[Constraints] = {
        "shared": Boolean(),
        "passes_weights": PASSES,
        "passes_bias": PASSES,
        "lr_weights": POSITIVE,
        "lr_bias": POSITIVE,
        "optimizer": OneOf(*get_args(Optimizer)),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.passes_weights + self.passes_bias == 0:
            raise InvalidInputError("the passes over weights and biases are both 0, which trains nothing; set one.")

    @property
    def n_passes(self) -> tuple[int, int]:
        """Passes that move the weights, and passes that move the biases alone; own classifiers move both in one."""
        return (self.passes_weights, self.passes_bias) if self.shared else (1, 0)

    def orders(self, n_samples: int, epoch: int) -> NDArray[np.int64]:
        """Return the order of samples in each pass (passes, N) of an epoch."""
        named = zip(("weights", "bias"), self.n_passes, strict=True)
        purposes = [f"{part} {epoch} {number}" for part, count in named for number in range(count)]
        return np.array([sample_order(n_samples, self, purpose=purpose) for purpose in purposes], np.int64)

    def learning_rates(self, epoch: int) -> tuple[float, float]:
        factor = decayed(self.decay_rate, epoch)
        return self.lr_weights * factor, self.lr_bias * factor


@dataclass(frozen=True, eq=False)
class EnsembleState:
    """Everything that decides how training goes on.

    ``trainings`` are one for each classifier, or a single one where they share their weights: its weights are then
    (1, …) and its biases (M, …). ``active`` (M,) are the classifiers that are still trained.
    """

    epoch: int
    trainings: list[TrainingState]
    active: NDArray[np.bool_]

    @classmethod
    def start(cls, parameters: Parameters) -> Self:
        """Return the state before the first epoch, from weights (M or 1, …) and biases (M, …)."""
        n_classes = len(parameters.bias)
        several = [parameters]
        if len(parameters.weights) == n_classes:
            several = [Parameters(*pair) for pair in zip(parameters.weights, parameters.bias, strict=True)]
        return cls(0, [TrainingState.start(each) for each in several], np.ones(n_classes, dtype=bool))

    @property
    def parameters(self) -> Parameters:
        """The weights (M or 1, …) and biases (M, …) of all classifiers."""
        found = [training.parameters for training in self.trainings]
        if len(found) == 1 and len(self.active) > 1:
            return found[0]
        return Parameters(np.stack([each.weights for each in found]), np.stack([each.bias for each in found]))


def _readout(engine: StateEngine, *, has_members: bool) -> Expectations:
    """The two logits, as compiled code takes them."""
    signs, width = engine.z_signs(MEASURED_QUBITS), lane_count(engine.dtype)
    return Expectations(signs, TWO_LOGITS, per_block=width, has_members=has_members)


def _works(engine: StateEngine, n_threads: int) -> list[Work]:
    require_bytes(n_threads * engine.scratch_bytes(backward=True), f"running {engine.feature_map.n_qubits} qubits")
    shape, dtype = (len(MEASURED_QUBITS), 1, lane_count(engine.dtype)), engine.dtype
    return [
        Work(scratch, None, MeasuredSpace(*(aligned_zeros(each, dtype) for each in ((1, 1, 1), shape, shape))))
        for scratch in engine.scratch(n_threads, backward=True)
    ]


class ClassLogits:
    """Measures the same samples with one set of parameters after the other; holds the memory that they reuse."""

    def __init__(self, engine: StateEngine, X: FloatArray, *, n_classes: int) -> None:
        self.engine, self.X, self.n_classes = engine, engine.rows(X), n_classes
        flops = engine.flops(n_classes * len(X), with_gradient=False)
        n_threads = engine.threads_for(flops, n_classes * engine.n_blocks(len(X)))
        self.team, self.works = engine.team(n_threads, flops), _works(engine, n_threads)
        self._readout = _readout(engine, has_members=False)

    def __call__(self, parameters: Parameters) -> FloatArray:
        """Return ⟨Z₀⟩ and ⟨Z₁⟩ of every sample behind every classifier's circuit, (N, M, 2)."""
        circuit, n_classes = self.engine.feature_map, self.n_classes
        shared = len(parameters.weights) < n_classes
        if shared:
            values = np.concatenate([parameters.weights.reshape(1, -1), parameters.bias.reshape(1, -1)], axis=1)
        else:
            flat = (array.reshape(n_classes, -1) for array in (parameters.weights, parameters.bias))
            values = np.concatenate(list(flat), axis=1)
        found = measured_rows(
            PlainCircuit(self.engine.form, circuit.n_weights, circuit.n_bias, has_members=shared),
            self._readout._replace(has_members=shared),
            self.X,
            values.astype(self.engine.dtype, copy=False),
            works=self.works,
            team=self.team,
            n_members=n_classes,
        )
        return np.ascontiguousarray(found.transpose(1, 0, 2))


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

    state: EnsembleState
    report: VariationalReport
    watched: NDArray[np.float64]


class EnsembleEpochs:
    """Runs epochs of one problem; holds the memory that they reuse."""

    def __init__(self, engine: StateEngine, data: TrainingData, settings: VariationalSettings) -> None:
        self.engine, self.data, self.settings = engine, data, settings
        circuit, n_classes, shared = engine.feature_map, data.n_classes, settings.shared
        batch_size, n_passes = min(settings.batch_size, len(data.X)), sum(settings.n_passes)
        work = engine.flops(n_passes * n_classes * len(data.X), with_gradient=True)
        # Classifiers of their own meet at the end of an epoch only, so even short steps are worth sharing there.
        per_meeting = work / n_passes / (math.ceil(len(data.X) / batch_size) if shared else 1)
        n_threads = engine.threads_for(per_meeting, n_classes)
        self._members = (n_classes,) if shared else ()
        self._trainer = CompiledTrainer(
            embedding=PlainCircuit(engine.form, circuit.n_weights, circuit.n_bias, has_members=shared),
            readout=_readout(engine, has_members=shared),
            data=training_rows(engine.rows(data.X), data.labels, data.row_weights),
            space=rowwise_space(n_classes, circuit.n_weights + circuit.n_bias, engine.dtype, n_threads=n_threads),
            works=_works(engine, n_threads),
            team=engine.team(n_threads, work),
            shapes={
                "weights": (1, *circuit.weights_shape) if shared else circuit.weights_shape,
                "bias": (*self._members, *circuit.bias_shape),
            },
            dtype=engine.dtype,
            config=Config(
                batch_size=batch_size,
                n_parts=n_classes if shared else 1,
                apart=not shared,
                optimizer=OPTIMIZER_CODES[settings.optimizer],
                sources=by_group(SUM, weights=MEAN, bias=OWN) if shared else by_group(SUM),
                halves=by_group(0, bias=1) if shared else by_group(0),
                ridges=by_group(0.0, weights=settings.reg_param_weights, bias=settings.reg_param_bias),
            ),
        )
        of_weights, of_bias = settings.n_passes
        self._moves = np.array(
            [[True, not shared, False, False, False]] * of_weights + [[False, True, False, False, False]] * of_bias
        )

    def __call__(self, state: EnsembleState) -> tuple[EnsembleState, float, list[float | None]]:
        """Return the state after one epoch more, and over its steps the mean loss and the norms of both gradients."""
        rates = np.array([*self.settings.learning_rates(state.epoch), 0.0, 0.0, 0.0])
        passes = Passes(self.settings.orders(len(self.data.X), state.epoch), self._moves, rates)
        active = np.ones(1, np.bool_) if self.settings.shared else state.active
        trainings, sums = self._trainer(state.trainings, passes, active=active)
        n_first, n_second = sums.n_steps.sum(axis=0).tolist()
        # With shared weights the second half of an epoch moves the biases of all members; else each step moves both.
        counts = n_first, n_second * math.prod(self._members) if self.settings.shared else n_first
        squares = sums.squared_norms.sum(axis=0).tolist()
        norms = [math.sqrt(squares[place] / count) if count else None for place, count in enumerate(counts)]
        loss = float(sums.losses.sum()) / max(int(sums.n_steps.sum()), 1)
        return replace(state, epoch=state.epoch + 1, trainings=trainings), loss, norms


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
        self._run = EnsembleEpochs(engine, data, settings)
        parts = [data] if validation is None else [data, validation]
        self._parts = [(part, ClassLogits(engine, part.X, n_classes=part.n_classes)) for part in parts]

    def __call__(self, state: EnsembleState) -> VariationalEpoch:
        started = time.perf_counter()
        after, step_loss, norms = self._run(state)
        parameters = after.parameters
        (watched, accuracy), *held_out = [_scores(part, logits(parameters)) for part, logits in self._parts]
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
