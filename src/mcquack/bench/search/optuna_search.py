"""Optuna's tree-structured Parzen estimator, asked and told; whoever runs the trials decides where."""

import warnings
from collections.abc import Generator
from types import ModuleType
from typing import Any

from mcquack.bench.outcome import Metric, Outcome
from mcquack.bench.search.tally import Settings, Trial
from mcquack.extras import OPTUNA
from mcquack.models.search_space import SearchSpace
from mcquack.randomness import stream

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
