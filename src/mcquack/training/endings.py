"""When a training ends, and what is kept of it: the best parameters by patience, or the last by convergence.

A run has one training or several that go on side by side, such as one circuit for each class. :class:`Progress` is how
far all of them are, and an ending says which of them go on.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mcquack.arrays import FloatArray
from mcquack.training.state import Parameters, TrainingState
from mcquack.training.step import CONVERGED, GOING

Row = dict[str, float | int | None]


class TrainedEpoch(NamedTuple):
    """What an epoch of all trainings gives.

    ``row`` is the epoch's row of the history, whose loss is None if training diverged. ``losses`` (T,) are those that
    patience watches, and ``shots`` all that a device has run so far.
    """

    states: Sequence[TrainingState]
    row: Row
    losses: Sequence[float] | FloatArray
    shots: int = 0


@dataclass(frozen=True, eq=False)
class Progress:
    """How far T trainings are: their states, what is kept of each, and the rows of their history.

    ``epoch`` is the number of the last epoch, and ``n_epochs`` counts those of this run: a warm start goes on with the
    former and begins the latter anew.
    """

    states: Sequence[TrainingState]
    kept: Sequence[Parameters]
    best_epochs: NDArray[np.int64]  # (T,) in which the kept parameters were found
    best_losses: NDArray[np.float64]  # (T,) their losses
    history: Sequence[Row] = ()
    epoch: int = 0
    n_epochs: int = 0
    shots: int = 0

    @classmethod
    def start(cls, states: Sequence[TrainingState], **known: Any) -> Self:
        """Return the progress before the next epoch from these states; fields that are known may be given."""
        epoch = states[0].epoch
        fields = {
            "kept": [state.parameters for state in states],
            "best_epochs": np.full(len(states), epoch),
            "best_losses": np.full(len(states), np.inf),
            "epoch": epoch,
        }
        return cls(states, **{**fields, **known})

    def after(self, trained: TrainedEpoch, better: NDArray[np.bool_]) -> Self:
        """Return the progress after one more epoch, which keeps the parameters of the trainings that are better."""
        epoch = int(trained.row["epoch"] or 0)
        pairs = zip(trained.states, self.kept, better, strict=True)
        return replace(
            self,
            states=trained.states,
            kept=[state.parameters.copy() if is_better else kept for state, kept, is_better in pairs],
            best_epochs=np.where(better, epoch, self.best_epochs),
            best_losses=np.where(better, trained.losses, self.best_losses),
            history=[*self.history, trained.row],
            epoch=epoch,
            n_epochs=self.n_epochs + 1,
            shots=trained.shots,
        )

    def resting(self, going: NDArray[np.bool_]) -> Self:
        """Return the progress with the kept parameters in the states of trainings that do not go on."""
        triples = zip(self.states, self.kept, going, strict=True)
        states = [state if goes else replace(state, parameters=kept) for state, kept, goes in triples]
        return replace(self, states=states)


class Ending:
    """When training ends, and which parameters are kept: by default the last ones."""

    kept: ClassVar[str]  # what an interrupt keeps

    @abstractmethod
    def going(self, progress: Progress) -> NDArray[np.bool_]:
        """Return which trainings go on (T,)."""

    @abstractmethod
    def length(self, progress: Progress) -> int:
        """Return the number of epochs or steps so far."""

    def better(self, progress: Progress, trained: TrainedEpoch) -> NDArray[np.bool_]:
        """Return the trainings whose new parameters are kept (T,)."""
        return np.ones(len(trained.states), np.bool_)

    def warn(self, progress: Progress) -> None:
        """Warn if training should have gone on."""


@dataclass(frozen=True)
class Patience(Ending):
    """A training ends after so many epochs without a better loss, and keeps its best parameters."""

    epochs: int | None
    max_epochs: int
    kept = "the best of them is kept"

    def going(self, progress: Progress) -> NDArray[np.bool_]:
        patience = np.inf if self.epochs is None else self.epochs
        return (progress.epoch - progress.best_epochs < patience) & (progress.n_epochs < self.max_epochs)

    def length(self, progress: Progress) -> int:
        return progress.n_epochs

    def better(self, progress: Progress, trained: TrainedEpoch) -> NDArray[np.bool_]:
        return np.asarray(trained.losses < progress.best_losses)


@dataclass(frozen=True)
class Convergence(Ending):
    """A training ends when its loss stands still, and keeps its last parameters.

    The compiled step compares the mean loss of the last ``interval`` steps with that of as many before; None goes on
    for ``max_steps``.
    """

    interval: int | None
    max_steps: int
    kept = "the model is what it was then"

    def going(self, progress: Progress) -> NDArray[np.bool_]:
        return np.array([state.outcome == GOING and state.n_steps < self.max_steps for state in progress.states])

    def length(self, progress: Progress) -> int:
        return max(state.n_steps for state in progress.states)

    def warn(self, progress: Progress) -> None:
        if self.interval and not all(state.outcome == CONVERGED for state in progress.states):
            message = f"the loss had not settled after {self.max_steps} steps; raise max_steps or learning_rate."
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
