"""What a user asks for with --search."""

import statistics
import warnings
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, Self, get_args

from mcquack.bench.outcome import Metric, Outcome
from mcquack.checks import OPTUNA
from mcquack.errors import InvalidInputError
from mcquack.models.catalog import SearchSpace
from mcquack.randomness import stream

Kind = Literal["grid", "random", "optuna", "none"]
_BUDGETED = ("random", "optuna")
_EXPECTED = "a search is grid, none, random:K or optuna:K, as random:30 for thirty settings"


@dataclass(frozen=True)
class SearchMethod:
    """A way to go through a search space, with the number of settings to try where it does not try all."""

    kind: Kind
    budget: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """From "grid", "none", "random:30" or "optuna:30"."""
        name, _, budget = text.partition(":")
        kind: Kind | None = next((known for known in get_args(Kind) if known == name), None)
        if kind is None or (kind in _BUDGETED) != bool(budget):
            raise InvalidInputError(f"{_EXPECTED}, got {text!r}.")
        if not budget:
            return cls(kind)
        if not (budget.isascii() and budget.isdigit() and int(budget) > 0):
            raise InvalidInputError(f"{_EXPECTED}, got {text!r}: K must be a whole number of at least 1.")
        return cls(kind, int(budget))

    def most_settings(self, size: int) -> int:
        """How many settings it tries at most in a space of this size; one alone needs no search."""
        if self.kind == "none" or size == 1:
            return 0
        return size if self.budget is None else min(self.budget, size)

    def __str__(self) -> str:
        return self.kind if self.budget is None else f"{self.kind}:{self.budget}"


# Scores of settings over the splits of a search, and which are best.

Settings = dict[str, Any]
_DECIMALS = 8  # float noise in a mean must not break a tie


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Settings with their outcomes on the splits, in order; ``complete`` if they were tried on all of them."""

    settings: Settings
    outcomes: tuple[Outcome, ...]
    complete: bool = True

    @property
    def failed(self) -> bool:
        """Settings that fail on one split are no choice."""
        return any(outcome.failed for outcome in self.outcomes)

    def score(self, metric: Metric) -> float | None:
        """Mean over the splits; None if one failed or is missing, or does not have the metric."""
        scores = [outcome.score("validation", metric) for outcome in self.outcomes]
        known = [score for score in scores if score is not None]
        if not self.complete or not scores or len(known) < len(scores):
            return None
        return round(statistics.fmean(known), _DECIMALS)


def best_trial(trials: Sequence[Trial], metric: Metric) -> Trial | None:
    """The one with the highest score, the first of several; None if no settings have a score."""
    scored = [(score, trial) for trial in trials if (score := trial.score(metric)) is not None]
    return max(scored, key=lambda each: each[0])[1] if scored else None


# Searches whose settings are known beforehand: the whole grid, or a part of it drawn by chance.


def listed_settings(space: SearchSpace, method: SearchMethod, *, purpose: tuple[str, ...]) -> list[Settings]:
    """The settings to try, in the order of the grid.

    A larger budget tries all that a smaller one would, so that a search can be extended.
    """
    if method.kind == "grid":
        return list(space)
    order = stream(0, "random search", *purpose).permutation(len(space))
    return [space[number] for number in sorted(order[: method.budget].tolist())]


# Optuna's tree-structured Parzen estimator, asked and told; whoever runs the trials decides where.

_STARTUP_TRIALS = 10  # drawn by chance before the estimator takes over
_ASKS_PER_TRIAL = 5  # in a small space it often asks again for what is known; after so many it has run dry
_TRIALS_BEFORE_PRUNING = 5
_LARGEST_SEED = 2**31

Question = tuple[Settings, int]  # settings and the number of the split on which to try them next


def optuna_trials(
    space: SearchSpace, *, budget: int, n_splits: int, metric: Metric, purpose: tuple[str, ...]
) -> Generator[Question, Outcome, list[Trial]]:
    """Asks for one outcome at a time and returns all trials.

    Split after split, settings that do worse than the median of those before are given up. The same outcomes give the
    same questions, whatever machine or process answers them.
    """
    optuna = _optuna()
    study = _study(optuna, seed=int(stream(0, "optuna search", *purpose).integers(_LARGEST_SEED)))
    known: dict[int, Trial] = {}
    for _ in range(_ASKS_PER_TRIAL * budget):
        if len(known) == min(budget, len(space)):
            break
        asked = study.ask()
        positions = {name: asked.suggest_int(name, 0, len(values) - 1) for name, values in space.searched.items()}
        number = _number(space, positions)
        if number not in known:
            known[number] = yield from _tried(asked, space.at(positions), n_splits=n_splits, metric=metric)
        _tell(optuna, study, asked, known[number], metric)
    return [known[number] for number in sorted(known)]


def _tried(asked: Any, settings: Settings, *, n_splits: int, metric: Metric) -> Generator[Question, Outcome, Trial]:
    outcomes: list[Outcome] = []
    for split in range(n_splits):
        outcomes.append((yield settings, split))
        so_far = Trial(settings=settings, outcomes=tuple(outcomes)).score(metric)
        if so_far is None:
            break
        asked.report(so_far, step=split)
        if split + 1 < n_splits and asked.should_prune():
            break
    return Trial(settings=settings, outcomes=tuple(outcomes), complete=len(outcomes) == n_splits)


def _tell(optuna: ModuleType, study: Any, asked: Any, trial: Trial, metric: Metric) -> None:
    score = trial.score(metric)
    if score is not None:
        study.tell(asked, score)
    elif trial.failed:
        study.tell(asked, state=optuna.trial.TrialState.FAIL)
    else:
        study.tell(asked, state=optuna.trial.TrialState.PRUNED)


def _number(space: SearchSpace, positions: dict[str, int]) -> int:
    """Of the settings in the order of the grid, which decides between equal scores."""
    number = 0
    for name, values in space.values.items():
        number = number * len(values) + positions.get(name, 0)
    return number


def _study(optuna: ModuleType, *, seed: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an option is experimental is no news for whoever runs a benchmark
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=_STARTUP_TRIALS)
        pruner = optuna.pruners.MedianPruner(n_startup_trials=_TRIALS_BEFORE_PRUNING, n_warmup_steps=0)
        return optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner)


def _optuna() -> ModuleType:
    optuna = OPTUNA.imported(what="this search (grid and random:K are others)")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
