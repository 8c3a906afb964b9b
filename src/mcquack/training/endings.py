"""When a training ends, and what is kept of it: the best parameters by patience, or the last by convergence.

A run has one training or several that go on side by side, such as one circuit for each class. :class:`Progress` is how
far all of them are, and an ending says which of them go on.
"""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

from sklearn.exceptions import ConvergenceWarning

from mcquack.training.state import Parameters, TrainingState
from mcquack.training.step import CONVERGED, GOING

Row = dict[str, float | int | None]


class TrainedEpoch(NamedTuple):
    """What an epoch of all trainings gives.

    ``row`` is the epoch's row of the history, whose loss is None if training diverged. ``losses`` are those that
    patience watches, and ``shots`` all that a device has run so far.
    """

    states: Sequence[TrainingState]
    row: Row
    losses: Sequence[float]
    shots: int = 0


@dataclass(frozen=True, eq=False)
class Progress:
    """How far T trainings are: their states, what is kept of each, and the rows of their history.

    ``epoch`` is the number of the last epoch, and ``n_epochs`` counts those of this run: a warm start goes on with the
    former and begins the latter anew.
    """

    states: Sequence[TrainingState]
    kept: Sequence[Parameters]
    best_epochs: Sequence[int]  # in which the kept parameters were found
    best_losses: Sequence[float]  # of the kept parameters
    history: list[Row] = field(default_factory=list)
    epoch: int = 0
    n_epochs: int = 0
    shots: int = 0

    @classmethod
    def start(cls, states: Sequence[TrainingState], **known: Any) -> Self:
        """Return the progress before the next epoch from these states; fields that are known may be given."""
        epoch = states[0].epoch
        fields = {
            "kept": [state.parameters for state in states],
            "best_epochs": [epoch] * len(states),
            "best_losses": [math.inf] * len(states),
            "epoch": epoch,
        }
        return cls(states, **{**fields, **known})

    def after(self, trained: TrainedEpoch, better: Sequence[bool]) -> Self:
        """Return the progress after one more epoch, which keeps the parameters of the trainings that are better."""
        epoch = int(trained.row["epoch"] or 0)
        kept, epochs, losses = list(self.kept), list(self.best_epochs), list(self.best_losses)
        for number, is_better in enumerate(better):
            if is_better:
                kept[number] = trained.states[number].parameters.copy()
                epochs[number], losses[number] = epoch, trained.losses[number]
        history, n_epochs = [*self.history, trained.row], self.n_epochs + 1
        return type(self)(trained.states, kept, epochs, losses, history, epoch, n_epochs, trained.shots)

    def resting(self, going: Sequence[bool]) -> Self:
        """Return the progress with the kept parameters in the states of trainings that do not go on."""
        if all(going):
            return self
        triples = zip(self.states, self.kept, going, strict=True)
        return replace(self, states=[s if goes else replace(s, parameters=kept) for s, kept, goes in triples])


class Ending:
    """When training ends, and which parameters are kept: by default the last ones."""

    kept: ClassVar[str]  # what an interrupt keeps

    @abstractmethod
    def going(self, progress: Progress) -> list[bool]:
        """Return whether each training goes on."""

    @abstractmethod
    def length(self, progress: Progress) -> int:
        """Return the number of epochs or steps so far."""

    def better(self, progress: Progress, trained: TrainedEpoch) -> list[bool]:
        """Return whether the new parameters of each training are kept."""
        return [True] * len(trained.states)

    def warn(self, progress: Progress) -> None:
        """Warn if training should have gone on."""


@dataclass(frozen=True)
class Patience(Ending):
    """A training ends after so many epochs without a better loss, and keeps its best parameters."""

    epochs: int | None
    max_epochs: int
    kept = "the best of them is kept"

    def going(self, progress: Progress) -> list[bool]:
        patience = math.inf if self.epochs is None else self.epochs
        is_over = progress.n_epochs >= self.max_epochs
        return [not is_over and progress.epoch - best < patience for best in progress.best_epochs]

    def length(self, progress: Progress) -> int:
        return progress.n_epochs

    def better(self, progress: Progress, trained: TrainedEpoch) -> list[bool]:
        return [new < best for new, best in zip(trained.losses, progress.best_losses, strict=True)]


@dataclass(frozen=True)
class Convergence(Ending):
    """A training ends when its loss stands still, and keeps its last parameters.

    The compiled step compares the mean loss of the last ``interval`` steps with that of as many before; None goes on
    for ``max_steps``.
    """

    interval: int | None
    max_steps: int
    kept = "the model is what it was then"

    def going(self, progress: Progress) -> list[bool]:
        return [state.outcome == GOING and state.n_steps < self.max_steps for state in progress.states]

    def length(self, progress: Progress) -> int:
        return max(state.n_steps for state in progress.states)

    def warn(self, progress: Progress) -> None:
        if self.interval and not all(state.outcome == CONVERGED for state in progress.states):
            message = f"the loss had not settled after {self.max_steps} steps; raise max_steps or learning_rate."
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
