"""What is to be done for one model on one dataset: first the search, then the final scores with what it chose."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcquack.bench.outcome import Metric, Outcome
from mcquack.bench.search import SearchMethod, Settings, Trial, best_trial, listed_settings, optuna_trials
from mcquack.bench.task import TEST, Split, TableSource, Task
from mcquack.models.catalog import SearchSpace

# Which settings a search settled on, for one model on one dataset.


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


Outcomes = Mapping[str, Outcome]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One model on one dataset, with all that decides what is tried and how often it is scored.

    ``splits`` are those of the search; what it finds is then scored on the test part with each seed below ``n_seeds``.
    """

    dataset: str
    model: str
    data_seed: int = 0
    table: TableSource | None = None
    space: SearchSpace
    method: SearchMethod
    splits: tuple[Split, ...]
    metric: Metric
    n_seeds: int

    def task(self, settings: Mapping[str, Any], *, split: Split, seed: int = 0) -> Task:
        """One of its tasks."""
        return Task.of(
            self.dataset, self.model, settings, data_seed=self.data_seed, table=self.table, split=split, seed=seed
        )

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
class Step:
    """Tasks that can be done now, in any order; ``choice`` comes with the final ones.

    ``why_no_choice`` comes with no tasks, in place of a choice.
    """

    tasks: tuple[Task, ...]
    choice: Choice | None = None
    why_no_choice: str = ""


Plan = Generator[Step, Outcomes, None]


def most_tasks(cell: Cell) -> int:
    """How many tasks a cell can have, before any is done."""
    return cell.method.most_settings(len(cell.space)) * len(cell.splits) + cell.n_seeds


def plan(cell: Cell) -> Plan:
    """Yields the steps of a cell one after the other; each is to be answered by the outcomes of its tasks, by id.

    The same outcomes give the same steps, on any machine and after any break. A search in which no settings have
    a score ends the plan with a step that tells why.
    """
    if not cell.method.most_settings(len(cell.space)):
        settings = cell.space[0]
        yield _final_step(cell, settings, trials=(), score=None)
        return
    trials = yield from (_optuna_search(cell) if cell.method.kind == "optuna" else _listed_search(cell))
    best = best_trial(trials, cell.metric)
    if best is None:
        yield Step(tasks=(), why_no_choice=_why_no_choice(trials, cell.metric))
    else:
        yield _final_step(cell, best.settings, trials=trials, score=best.score(cell.metric))


def _listed_search(cell: Cell) -> Generator[Step, Outcomes, list[Trial]]:
    settings = listed_settings(cell.space, cell.method, purpose=(cell.dataset, cell.model))
    tasks = [tuple(cell.task(each, split=split) for split in cell.splits) for each in settings]
    outcomes = yield Step(tasks=tuple(task for of_settings in tasks for task in of_settings))
    return [
        Trial(settings=each, outcomes=tuple(outcomes[task.id] for task in of_settings))
        for each, of_settings in zip(settings, tasks, strict=True)
    ]


def _optuna_search(cell: Cell) -> Generator[Step, Outcomes, list[Trial]]:
    """One task at a time: what comes next depends on it. Other cells keep the workers busy."""
    questions = optuna_trials(
        cell.space,
        budget=cell.method.budget or 0,
        n_splits=len(cell.splits),
        metric=cell.metric,
        purpose=(cell.dataset, cell.model),
    )
    try:
        settings, split = next(questions)
        while True:
            task = cell.task(settings, split=cell.splits[split])
            outcomes = yield Step(tasks=(task,))
            settings, split = questions.send(outcomes[task.id])
    except StopIteration as end:
        trials: list[Trial] = end.value
        return trials


def _why_no_choice(trials: Sequence[Trial], metric: Metric) -> str:
    n_failed = sum(trial.failed for trial in trials)
    if n_failed == len(trials):
        return f"all {n_failed:,} settings failed"
    failed = f" ({n_failed:,} failed)" if n_failed else ""
    return f"none of {len(trials):,} settings has a score by {metric.replace('_', ' ')}{failed}"


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
