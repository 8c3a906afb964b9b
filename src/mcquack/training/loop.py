"""The training loop: it yields after every epoch, and whoever iterates decides what to do with that."""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.kernels.alignment import target_alignment
from mcquack.kernels.fidelity import centroid_kernel, class_scores
from mcquack.kernels.measured import SampledEngine
from mcquack.simulators.engine import Engine
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training.compiled import CompiledEpochs
from mcquack.training.seam import SeamEpochs
from mcquack.training.settings import TrainingSettings
from mcquack.training.state import EpochReport, EpochSums, TrainingData, TrainingState


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
    """Alternates KAO and CO without end, one epoch for each value that is taken."""
    run: Callable[[TrainingState], EpochSums]
    if isinstance(engine, StatevectorEngine):
        run = CompiledEpochs(engine, data, settings)
    else:
        run = SeamEpochs(engine, data, settings)
    counted = isinstance(getattr(engine, "engine", engine), SampledEngine)
    while True:
        started = time.perf_counter()
        sums = run(state)
        state = sums.state
        alignment, accuracy = _scores(sums.kernel, data, settings, counted=counted)
        held_out = (
            None
            if validation is None
            else _scores(_kernel(engine, validation, state), validation, settings, counted=counted)
        )
        yield Epoch(
            state,
            EpochReport(
                epoch=state.epoch,
                loss_kao=sums.loss_kao,
                loss_co=sums.loss_co,
                alignment=alignment,
                accuracy=accuracy,
                validation_alignment=None if held_out is None else held_out[0],
                validation_accuracy=None if held_out is None else held_out[1],
                grad_norm_weights=sums.grad_norms[0],
                grad_norm_bias=sums.grad_norms[1],
                grad_norm_centroids=sums.grad_norms[2],
                seconds=time.perf_counter() - started,
            ),
        )


def _kernel(engine: Engine[Any], data: TrainingData, state: TrainingState) -> FloatArray:
    parameters = state.parameters
    return centroid_kernel(engine, data.X, parameters.centroids, weights=parameters.weights, bias=parameters.bias)


def _scores(
    kernel: FloatArray, data: TrainingData, settings: TrainingSettings, *, counted: bool
) -> tuple[float, float]:
    """Alignment, and the share of (weighted) samples whose highest score is that of their class.

    Counted scores are often equal: then it is the share that drawing lots among them would give on average.
    """
    scores = class_scores(kernel, data.n_classes, class_score=settings.class_score)
    if counted:
        highest = scores == scores.max(axis=1, keepdims=True)
        hits = highest[np.arange(len(scores)), data.labels] / highest.sum(axis=1)
    else:
        hits = scores.argmax(axis=1) == data.labels
    mass = float(data.row_weights.sum())
    accuracy = float(np.sum(data.row_weights * hits) / mass) if mass > 0 else 0.0
    return target_alignment(scores, data.labels, row_weights=data.row_weights), accuracy
