"""What is to be done for one model on one dataset: first the search, then the final scores with what it chose."""

import re
import statistics
import warnings
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from mcquack.bench.task import TEST, AucScores, Metric, Outcome, Split, TableSource, Task
from mcquack.checks import OPTUNA
from mcquack.errors import InvalidInputError
from mcquack.models.catalog import SearchSpace
from mcquack.randomness import stream

SearchKind = Literal["grid", "random", "optuna", "published", "none"]
Settings = dict[str, Any]
Outcomes = Mapping[str, Outcome]  # by the ids of their tasks

_EXPECTED = "a search is grid, published, none, random:K or optuna:K, as random:30 for thirty settings"
_DECIMALS = 8  # float noise in a mean must not break a tie
_STARTUP_TRIALS = 10  # drawn by chance before Optuna's estimator takes over
_ASKS_PER_TRIAL = 5  # in a small space it often asks again for what is known; after so many it has run dry
_TRIALS_BEFORE_PRUNING = 5
_LARGEST_SEED = 2**31


@dataclass(frozen=True)
class SearchMethod:
    """A way to go through a search space, with the number of settings to try where it does not try all.

    The kinds "published" and "none" try nothing: they take settings that others have found, or the defaults.

    >>> SearchMethod.parse("random:30")
    SearchMethod(kind='random', budget=30)
    """

    kind: SearchKind
    budget: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """The method that is written as "grid", "published", "none", "random:30" or "optuna:30"."""
        found = re.fullmatch(r"(grid|published|none)|(random|optuna):0*([1-9][0-9]{0,9})", text)
        if found is None:
            raise InvalidInputError(f"{_EXPECTED}, got {text[:40]!r}: K must be a whole number of at least 1.")
        kind: Any = found[1] or found[2]
        return cls(kind, int(found[3]) if found[3] else None)

    def most_settings(self, size: int) -> int:
        """How many settings it tries at most in a space of this size; one alone needs no search."""
        if self.kind in ("published", "none") or size == 1:
            return 0
        return size if self.budget is None else min(self.budget, size)

    def __str__(self) -> str:
        return self.kind if self.budget is None else f"{self.kind}:{self.budget}"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One model on one dataset, with all that decides what is tried and how often it is scored.

    Parameters
    ----------
    dataset, model, data_seed, table, scaled, auc_scores : as those of a ``Task``.
    space, method, splits, metric : which settings there are, how a search goes through them, on which splits it tries
        each, and the metric whose mean over the splits chooses the best.
    n_seeds : the chosen settings are scored on the test part with each seed below it.

    Examples
    --------
    >>> space = SearchSpace.of({"C": [1, 10, 100]})
    >>> folds = tuple(Split(kind="fold", fold=fold, n_folds=5) for fold in range(5))
    >>> grid = SearchMethod.parse("grid")
    >>> cell = Cell(dataset="iris3", model="svc", space=space, method=grid, splits=folds, metric="accuracy", n_seeds=2)
    >>> cell.most_tasks
    17
    """

    dataset: str
    model: str
    data_seed: int = 0
    table: TableSource | None = None
    scaled: bool = False
    auc_scores: AucScores = "raw"
    space: SearchSpace
    method: SearchMethod
    splits: tuple[Split, ...]
    metric: Metric
    n_seeds: int

    @property
    def most_tasks(self) -> int:
        return self.method.most_settings(len(self.space)) * len(self.splits) + self.n_seeds

    def task(self, settings: Mapping[str, Any], *, split: Split, seed: int = 0) -> Task:
        kept = {name: getattr(self, name) for name in ("data_seed", "table", "scaled", "auc_scores")}
        return Task.of(self.dataset, self.model, settings, **kept, split=split, seed=seed)

    def may_ask_for(self, task: Task) -> bool:
        """Whether a task can be one of its own, whatever its search draws and chooses."""
        settings, values = dict(task.settings), self.space.values
        if settings.keys() != values.keys() or any(settings[name] not in values[name] for name in values):
            return False
        is_due = task.seed < self.n_seeds if task.phase == "final" else task.split in self.splits and task.seed == 0
        return is_due and task.id == self.task(settings, split=task.split, seed=task.seed).id

    def __str__(self) -> str:
        return f"{self.model} on {self.dataset}"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The best settings of a search, as its search tasks alone decide them.

    ``score`` is their mean over the splits of the search, None where nothing was searched. ``search`` is what the user
    asked for, as "grid" or "random:30". ``task_ids`` are the search tasks it rests on, ``final_ids`` those it asks for.
    """

    dataset: str
    model: str
    settings: Mapping[str, Any]
    metric: Metric
    score: float | None
    search: str
    n_settings: int
    n_failed: int = 0
    task_ids: tuple[str, ...] = ()
    final_ids: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Settings with their outcomes on the splits, in order; ``complete`` if they were tried on all of them."""

    settings: Settings
    outcomes: tuple[Outcome, ...]
    complete: bool = True

    @property
    def failed(self) -> bool:
        return any(outcome.failed for outcome in self.outcomes)

    def score(self, metric: Metric) -> float | None:
        """The mean over the splits; None if one failed or is missing, or does not have the metric."""
        scores = [outcome.score("validation", metric) for outcome in self.outcomes]
        known = [score for score in scores if score is not None]
        if not self.complete or not scores or len(known) < len(scores):
            return None
        return round(statistics.fmean(known), _DECIMALS)


@dataclass(frozen=True, kw_only=True)
class Step:
    """Tasks that can be done now, in any order; ``choice`` comes with the final ones."""

    tasks: tuple[Task, ...]
    choice: Choice | None = None
    why_no_choice: str = ""  # comes with no tasks, in place of a choice


Plan = Generator[Step, Outcomes, None]
_Search = Generator[Step, Outcomes, list[Trial]]


def plan(cell: Cell) -> Plan:
    """Yields the steps of a cell one after the other; each is to be answered by the outcomes of its tasks, by id.

    The same outcomes give the same steps, on any machine and after any break. A search in which no settings have
    a score ends the plan with a step that tells why.
    """
    if not cell.method.most_settings(len(cell.space)):
        yield _final_step(cell, cell.space[0], trials=(), score=None)
        return
    trials = yield from (_optuna_search(cell) if cell.method.kind == "optuna" else _listed_search(cell))
    scored = [(score, trial) for trial in trials if (score := trial.score(cell.metric)) is not None]
    if not scored:
        n_failed = sum(trial.failed for trial in trials)
        failed = f" ({n_failed:,} failed)" if n_failed else ""
        why = f"none of {len(trials):,} settings has a score by {cell.metric.replace('_', ' ')}{failed}"
        yield Step(tasks=(), why_no_choice=f"all {n_failed:,} settings failed" if n_failed == len(trials) else why)
        return
    score, best = max(scored, key=lambda each: each[0])  # the first of several
    yield _final_step(cell, best.settings, trials=trials, score=score)


def _final_step(cell: Cell, settings: Settings, *, trials: Sequence[Trial], score: float | None) -> Step:
    tasks = tuple(cell.task(settings, split=TEST, seed=seed) for seed in range(cell.n_seeds))
    choice = Choice(
        dataset=cell.dataset,
        model=cell.model,
        settings=settings,
        metric=cell.metric,
        score=score,
        search=str(cell.method),
        n_settings=len(trials),
        n_failed=sum(trial.failed for trial in trials),
        task_ids=tuple(outcome.task.id for trial in trials for outcome in trial.outcomes),
        final_ids=tuple(task.id for task in tasks),
    )
    return Step(tasks=tasks, choice=choice)


def _listed_search(cell: Cell) -> _Search:
    settings = listed_settings(cell.space, cell.method, purpose=(cell.dataset, cell.model))
    tasks = [tuple(cell.task(each, split=split) for split in cell.splits) for each in settings]
    outcomes = yield Step(tasks=tuple(task for of_settings in tasks for task in of_settings))
    return [
        Trial(settings=each, outcomes=tuple(outcomes[task.id] for task in of_settings))
        for each, of_settings in zip(settings, tasks, strict=True)
    ]


def listed_settings(space: SearchSpace, method: SearchMethod, *, purpose: tuple[str, ...]) -> list[Settings]:
    """The settings that a search by grid or by chance tries, in the order of the grid.

    A larger budget tries all that a smaller one would, so that a search can be extended.
    """
    if method.kind == "grid":
        return list(space)
    order = stream(0, "random search", *purpose).permutation(len(space))
    return [space[number] for number in sorted(order[: method.budget].tolist())]


def _optuna_search(cell: Cell) -> _Search:
    """Asks Optuna's tree-structured Parzen estimator what to try, one task at a time, and tells it what came of it.

    Split after split, settings that do worse than the median of those before are given up. What comes next depends on
    each outcome, so the tasks of other cells keep the workers busy.
    """
    optuna: Any = OPTUNA.imported(what="this search (grid and random:K are others)")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    seed = int(stream(0, "optuna search", cell.dataset, cell.model).integers(_LARGEST_SEED))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an option is experimental is no news for whoever runs a benchmark
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=_STARTUP_TRIALS)
        pruner = optuna.pruners.MedianPruner(n_startup_trials=_TRIALS_BEFORE_PRUNING, n_warmup_steps=0)
        study = optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner)
    n_wanted = cell.method.most_settings(len(cell.space))
    known: dict[int, Trial] = {}  # by their number in the grid, which decides between equal scores
    for _ in range(_ASKS_PER_TRIAL * (cell.method.budget or 0)):
        if len(known) == n_wanted:
            break
        asked = study.ask()
        positions = {name: asked.suggest_int(name, 0, len(values) - 1) for name, values in cell.space.searched.items()}
        number = 0
        for name, values in cell.space.values.items():
            number = number * len(values) + positions.get(name, 0)
        if number not in known:
            known[number] = yield from _tried(asked, cell, cell.space.at(positions))
        trial = known[number]
        score = trial.score(cell.metric)
        if score is not None:
            study.tell(asked, score)
        else:
            states = optuna.trial.TrialState
            study.tell(asked, state=states.FAIL if trial.failed else states.PRUNED)
    return [known[number] for number in sorted(known)]


def _tried(asked: Any, cell: Cell, settings: Settings) -> Generator[Step, Outcomes, Trial]:
    outcomes: list[Outcome] = []
    for number, split in enumerate(cell.splits, start=1):
        task = cell.task(settings, split=split)
        outcomes.append((yield Step(tasks=(task,)))[task.id])
        so_far = Trial(settings=settings, outcomes=tuple(outcomes)).score(cell.metric)
        if so_far is None:
            break
        asked.report(so_far, step=number - 1)
        if number < len(cell.splits) and asked.should_prune():
            break
    return Trial(settings=settings, outcomes=tuple(outcomes), complete=len(outcomes) == len(cell.splits))
