"""A small benchmark, and cells, outcomes and events as such a one has them."""

from dataclasses import dataclass
from typing import Any

from mcquack.bench.plan import Cell, Choice, SearchMethod
from mcquack.bench.runner import Event
from mcquack.bench.task import TEST, VALIDATION, Environment, Outcome
from mcquack.models.catalog import SearchSpace

SMALL = ("real-world", "--datasets", "iris3", "--models", "svc,nystroem_svm", "--search", "random:2", "--seeds", "2")
N_SMALL = 2 * (2 * 5 + 2)  # models, settings on folds, and seeds


def cell(dataset="iris3", model="svc", *, n_settings=2, n_seeds=2):
    """One whose search tries so many settings on a validation part."""
    return Cell(
        dataset=dataset,
        model=model,
        space=SearchSpace.of({"C": list(range(1, n_settings + 1))}),
        method=SearchMethod.parse("grid"),
        splits=(VALIDATION,),
        metric="accuracy",
        n_seeds=n_seeds,
    )


def search_task(of, number=0):
    """The first or another task of the search."""
    return of.task(of.space[number], split=VALIDATION)


def final_task(of, seed=0):
    """The task of a seed."""
    return of.task(of.space[0], split=TEST, seed=seed)


def done(task, *, score=0.5, seconds=1.0):
    """Its outcome, with the same score on all parts."""
    part = "test" if task.phase == "final" else "validation"
    scores: Any = {"train": {"accuracy": score}, part: {"accuracy": score}}
    return Outcome(task=task, environment=Environment({}), scores=scores, seconds={"fit": seconds})


def failed(task, error="Traceback\nRuntimeError: not today"):
    """Its outcome, if that was an error."""
    return Outcome(task=task, environment=Environment({}), error=error)


@dataclass(frozen=True)
class Workers:
    """As much of an executor as a view looks at."""

    n_workers: int = 2


def started(of, task):
    """That it was handed to the workers."""
    return Event(kind="started", cell=of, task=task)


def finished(of, outcome):
    """That it came back."""
    return Event(kind="finished", cell=of, outcome=outcome)


def known(of, outcome):
    """That the store had it."""
    return Event(kind="known", cell=of, outcome=outcome)


def chosen(of, *, score=0.75, final_ids=()):
    """That the search ended."""
    choice = Choice(
        dataset=of.dataset,
        model=of.model,
        settings={},
        metric="accuracy",
        score=score,
        search="grid",
        n_settings=2,
        final_ids=final_ids,
    )
    return Event(kind="chosen", cell=of, choice=choice)


def over(of):
    """That nothing is left to do."""
    return Event(kind="cell_done", cell=of)
