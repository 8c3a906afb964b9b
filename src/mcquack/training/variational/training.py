"""One epoch of variational classifiers after the other, with what there is to say about each."""

import time
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training.state import TrainingData, finite_row
from mcquack.training.variational.epochs import VariationalEpochs
from mcquack.training.variational.logits import ClassLogits
from mcquack.training.variational.settings import VariationalSettings
from mcquack.training.variational.state import FloatArray, VariationalParameters, VariationalState


@dataclass(frozen=True, kw_only=True)
class VariationalReport:
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

    def as_row(self) -> dict[str, float | int | None]:
        """Plain numbers by name; None for what is not finite."""
        return finite_row(asdict(self))


class VariationalEpoch(NamedTuple):
    """The state after an epoch, what there is to say about it, and the loss of each classifier that is watched."""

    state: VariationalState
    report: VariationalReport
    watched: NDArray[np.float64]


class VariationalTraining:
    """Trains on one problem, epoch by epoch; whoever calls it decides what to go on from, and when to stop."""

    def __init__(
        self,
        engine: StatevectorEngine,
        data: TrainingData,
        *,
        settings: VariationalSettings,
        validation: TrainingData | None = None,
    ) -> None:
        self._run = VariationalEpochs(engine, data, settings)
        self._training = _Judge(engine, data)
        self._validation = None if validation is None else _Judge(engine, validation)

    def __call__(self, state: VariationalState) -> VariationalEpoch:
        """One epoch further; ``state`` itself stays as it is."""
        started = time.perf_counter()
        sums = self._run(state)
        watched, accuracy = self._training.scores(sums.state.parameters)
        validation_loss, validation_accuracy = None, None
        if self._validation is not None:
            watched, validation_accuracy = self._validation.scores(sums.state.parameters)
            validation_loss = float(watched.mean())
        report = VariationalReport(
            epoch=sums.state.epoch,
            loss=float(watched.mean()),
            step_loss=sums.loss,
            accuracy=accuracy,
            validation_loss=validation_loss,
            validation_accuracy=validation_accuracy,
            grad_norm_weights=sums.grad_norm_weights,
            grad_norm_bias=sums.grad_norm_bias,
            seconds=time.perf_counter() - started,
        )
        return VariationalEpoch(sums.state, report, watched)


def cross_entropies(logits: FloatArray, labels: NDArray[np.int64], row_weights: FloatArray) -> NDArray[np.float64]:
    """Mean cross entropy of each classifier (M,), whose logits are those of its class and of all others."""
    ahead = (logits[..., 0] - logits[..., 1]).astype(np.float64)
    own = labels[:, None] == np.arange(logits.shape[1])
    losses = np.logaddexp(0, np.where(own, -ahead, ahead))
    return np.asarray(np.average(losses, axis=0, weights=row_weights))


class _Judge:
    """What parameters achieve on one part of the data; holds the memory that it takes."""

    def __init__(self, engine: StatevectorEngine, data: TrainingData) -> None:
        self.data = data
        self.logits = ClassLogits(engine, data.X, n_classes=data.n_classes)

    def scores(self, parameters: VariationalParameters) -> tuple[NDArray[np.float64], float]:
        """The loss of each classifier, and the share of (weighted) samples whose class has the largest ⟨Z₀⟩."""
        logits = self.logits(parameters)
        hits = logits[..., 0].argmax(axis=1) == self.data.labels
        accuracy = float(np.average(hits, weights=self.data.row_weights))
        return cross_entropies(logits, self.data.labels, self.data.row_weights), accuracy
