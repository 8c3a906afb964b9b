"""Cells and stores for tests of running."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

from mcquack.bench.plan import Cell
from mcquack.bench.search import SearchMethod
from mcquack.bench.store import Store
from mcquack.bench.task import Split
from mcquack.models.catalog import SearchSpace

N_FOLDS = 2
N_SEEDS = 2


def cell(dataset="a", *, model="svc", values=(1, 2, 3), search="grid"):
    """One whose tasks are two folds for each value, then two seeds."""
    return Cell(
        dataset=dataset,
        model=model,
        space=SearchSpace.of({"C": list(values)}),
        method=SearchMethod.parse(search),
        splits=tuple(Split(kind="fold", fold=fold, n_folds=N_FOLDS) for fold in range(N_FOLDS)),
        metric="accuracy",
        n_seeds=N_SEEDS,
    )


def search_tasks(given):
    """Of a cell with a grid."""
    return [given.task(settings, split=split) for settings in given.space for split in given.splits]


@contextmanager
def new_store():
    """An empty one, gone afterwards."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "rows.sqlite", create=True) as store:
        yield store


def rows(store):
    """All that must not depend on how a run went, by the ids of the tasks."""
    return {
        outcome.task.id: (outcome.task, outcome.scores, outcome.n_parameters, outcome.fingerprint, outcome.error)
        for outcome in store.outcomes()
    }
