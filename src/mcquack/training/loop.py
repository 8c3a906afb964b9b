"""The training loop, what it runs on, and what its epochs cost in shots.

The loop yields after every epoch, and whoever iterates decides what to do with that.
"""

import math
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.errors import ShotBudgetError
from mcquack.kernels.losses import Loss, target_alignment
from mcquack.simulators.engine import Engine, Wrt
from mcquack.simulators.statevector import StateEngine
from mcquack.training.compiled import CompiledEpochs
from mcquack.training.reference import ReferenceEpochs, epoch_kernel, outputs_of
from mcquack.training.settings import Steps, TrainingSettings
from mcquack.training.state import EpochReport, EpochSums, Parameters, Scores, TrainingData, TrainingState


class Epoch(NamedTuple):
    """The state after an epoch, and what there is to say about it."""

    state: TrainingState
    report: EpochReport


def train(
    engine: Engine[Any],
    data: TrainingData,
    state: TrainingState,
    *,
    settings: TrainingSettings,
    validation: TrainingData | None = None,
) -> Iterator[Epoch]:
    """Alternates KAO and CO, or takes joint steps, without end: one epoch for each value that is taken.

    Parameters
    ----------
    engine : Engine
        Runs the circuits, and has the derivatives that training goes by: an exact one, or what
        :func:`mcquack.training.training_engine` makes of one that counts.
    data : TrainingData
        What to learn from.
    state : TrainingState
        Where to begin; ``TrainingState.start(parameters)`` is the beginning of all.
    settings : TrainingSettings
        How to train.
    validation : TrainingData, optional
        What ``loss`` is told for in every epoch; by default the training data.

    Examples
    --------
    >>> import numpy as np
    >>> from mcquack import FeatureMap
    >>> from mcquack.simulators import StatevectorEngine
    >>> from mcquack.training import Parameters, TrainingData, TrainingSettings, TrainingState, train
    >>> circuit = FeatureMap(n_qubits=2, n_features=1, n_layers=2)
    >>> ones = np.ones(circuit.parameter_shape)
    >>> data = TrainingData(np.array([[0.0], [1.0]]), np.array([0, 1]), np.ones(2), 2)
    >>> start = TrainingState.start(Parameters(ones, ones, np.array([[0.3], [0.7]])))
    >>> epochs = train(StatevectorEngine(circuit, dtype="float64"), data, start, settings=TrainingSettings())
    >>> losses = [next(epochs).report.loss for _ in range(5)]
    >>> losses[-1] < losses[0]
    True
    """
    run = _epochs(engine, data, settings)
    counted = engine.shots_per_entry > 0
    while True:
        started = time.perf_counter()
        sums = run(state)
        state, parameters = sums.state, sums.state.parameters
        current = parameters.loss(settings.loss)
        loss, alignment, accuracy = sums.scores or _scores(sums.kernel, data, parameters, current, counted=counted)
        held_out: tuple[float | None, float | None] = None, None
        if validation is not None:
            kernel = epoch_kernel(engine, validation.X, parameters, settings.loss)
            loss, *held_out = _scores(kernel, validation, parameters, current, counted=counted)  # type: ignore[assignment]
        yield Epoch(
            state,
            EpochReport(
                epoch=state.epoch,
                loss=loss,
                loss_kao=sums.loss_kao,
                loss_co=sums.loss_co,
                alignment=alignment,
                accuracy=accuracy,
                validation_alignment=held_out[0],
                validation_accuracy=held_out[1],
                grad_norm_weights=sums.grad_norms[0],
                grad_norm_bias=sums.grad_norms[1],
                grad_norm_centroids=sums.grad_norms[2],
                seconds=time.perf_counter() - started,
            ),
        )


def _epochs(
    engine: Engine[Any], data: TrainingData, settings: TrainingSettings
) -> Callable[[TrainingState], EpochSums]:
    """Return what runs an epoch on this engine: one compiled call where engine and loss allow it."""
    if getattr(settings.loss, "compiled", None) is not None:
        if isinstance(engine, StateEngine):
            return CompiledEpochs(engine, data, settings)
        if engine.name == "jax":
            from mcquack.training.jax_epochs import JaxEpochs  # not above: it imports JAX

            return JaxEpochs(engine, data, settings)  # type: ignore[arg-type]
    return ReferenceEpochs(engine, data, settings)


def _scores(kernel: FloatArray, data: TrainingData, parameters: Parameters, given: Loss, *, counted: bool) -> Scores:
    """Loss, alignment and weighted accuracy; among equal counted scores it is that of drawing lots, on average.

    A head has no alignment, and a regression no accuracy.
    """
    outputs = outputs_of(kernel, parameters, data.n_classes, given)
    loss, _ = given(outputs, data.labels, data.row_weights)
    accuracy, alignment = math.nan, math.nan
    if not data.is_regression:
        if counted:
            highest = outputs == outputs.max(axis=1, keepdims=True)
            hits = highest[np.arange(len(outputs)), data.labels] / highest.sum(axis=1)
        else:
            hits = outputs.argmax(axis=1) == data.labels
        mass = float(data.row_weights.sum())
        accuracy = float(np.sum(data.row_weights * hits) / mass) if mass > 0 else 0.0
    if not parameters.head.size:
        alignment = target_alignment(outputs, data.labels, row_weights=data.row_weights)
    return Scores(float(loss), alignment, accuracy)


# What training runs on, and what it costs there


def training_engine(engine: Engine[Any], *, seed: int = 0, spent: int = 0) -> Engine[Any]:
    """The engine that training runs on: with derivatives, whether exact or from values.

    Parameters
    ----------
    engine : Engine
        What a model runs on, on its circuit.
    seed : int
        Where random directions and random angles come from.
    spent : int
        How many shots of the engine's budget are used up already.

    Examples
    --------
    >>> from mcquack import FeatureMap
    >>> from mcquack.simulators import RingEngine, SampledEngine, SimulatedSampler
    >>> circuit = FeatureMap(n_qubits=2, n_features=2, n_layers=1)
    >>> type(training_engine(RingEngine(circuit))).__name__
    'RingEngine'
    >>> type(training_engine(SampledEngine(SimulatedSampler(), circuit, shots=10))).__name__
    'SpsaEngine'
    """
    aligned = engine.for_training(spent=spent)
    if engine.gradient == "exact":
        return aligned
    from mcquack.training.shifts import ParameterShiftEngine, SpsaEngine, StochasticShiftEngine  # simulators need none

    if engine.gradient == "parameter_shift":
        return ParameterShiftEngine(aligned)
    return (SpsaEngine if engine.gradient == "spsa" else StochasticShiftEngine)(aligned, seed=seed)


def step_shots(engine: Engine[Any], *, n_samples: int, n_centroids: int, wrt: Wrt) -> int:
    """Shots of one step on a batch: the kernel, and what its derivatives take."""
    cost = engine.cost(wrt)
    return n_samples * n_centroids * cost.shots_per_entry * (1 + cost.kernels_per_pullback)


def epoch_shots(
    engine: Engine[Any],
    *,
    n_samples: int,
    n_centroids: int,
    epochs_ka: int = 1,
    epochs_co: int = 1,
    steps: Steps = "alternating",
    n_validation: int = 0,
) -> int:
    """Shots of one epoch: its passes of KAO and CO, and the kernel at its end; batches of any size take the same.

    This is what is spent here. The paper's formula is :func:`total_shots`: it shifts weights and biases one by one,
    where here a shifted angle serves both, and leaves out the kernels that the loss is read from.

    Parameters
    ----------
    engine : Engine
        What training runs on, see :func:`training_engine`; simulators spend no shots.
    n_samples, n_centroids, n_validation : int
        Numbers of training samples, of all centroids, and of validation samples.
    epochs_ka, epochs_co : int
        Passes of KAO and CO in an epoch.
    steps : "alternating" or "joint"
        In joint steps one kernel serves the derivatives by the embedding and by the centroids.
    """
    sizes = {"n_samples": n_samples, "n_centroids": n_centroids}
    kao = epochs_ka * step_shots(engine, **sizes, wrt="embedding")
    if steps == "joint":
        cost = engine.cost("centroids")
        co = epochs_ka * n_samples * n_centroids * cost.shots_per_entry * cost.kernels_per_pullback
    else:
        co = epochs_co * step_shots(engine, **sizes, wrt="centroids") if epochs_co else 0
    return kao + co + (n_samples + n_validation) * n_centroids * engine.shots_per_entry


def affords(engine: Engine[Any], shots: int) -> bool:
    """Whether so many more shots are within the engine's budget."""
    return engine.budget is None or engine.spent + shots <= engine.budget


def require_affordable(engine: Engine[Any], per_epoch: int) -> None:
    """Refuses, before anything is sent, to begin an epoch that the budget does not let come to its end."""
    if not affords(engine, per_epoch):
        spent = f", of which {engine.spent:,} are spent" if engine.spent else ""
        raise ShotBudgetError(
            f"one epoch takes {per_epoch:,} shots, and the budget is {engine.budget:,}{spent}; nothing was sent. Raise "
            'the budget, or take fewer samples, fewer shots or gradient="spsa".'
        )
