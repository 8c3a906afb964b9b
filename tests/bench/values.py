"""Outcomes and choices to put into stores, and what Hypothesis makes of them."""

import sqlite3
from itertools import count
from pathlib import Path

from hypothesis import strategies as st

from mcquack.bench.plan import Choice
from mcquack.bench.store import Store
from mcquack.bench.task import METRICS, TEST, VALIDATION, Environment, Outcome, Split, TableSource, Task

ENVIRONMENT = Environment({"mcquack": "0.1.0", "python": "3.11.7"})
TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: no'


def done(seed=0, *, dataset="iris3", model="svc", **fields):
    """An outcome with a score that tells its seed."""
    task = Task.of(dataset, model, {"C": 1.0, "widths": (3, 2)}, seed=seed, split=fields.pop("split", TEST))
    scores = {"train": {"accuracy": 1.0}, task.split.kind if task.split == TEST else "validation": {"auc": seed / 1e6}}
    return Outcome(
        **{
            "task": task,
            "environment": ENVIRONMENT,
            "scores": scores,
            "seconds": {"load": 0.25, "fit": 1.5, "score": 0.125},
            "n_parameters": 12,
            "fingerprint": "sha256:abc",
            "details": {"history": {"loss": [0.5, 0.25]}, "class_names": ["a", "ü"]},
            "finished_at": "2026-01-02T03:04:05+00:00",
            **fields,
        }
    )


def failed(seed=0, *, error=TRACEBACK, **fields):
    """The same task without a score."""
    return done(seed, **{"scores": {}, "details": {}, "n_parameters": None, "error": error, **fields})


def choice(*seeds, dataset="iris3", model="svc", **fields):
    """A choice that asks for final tasks of these seeds."""
    final_ids = tuple(done(seed, dataset=dataset, model=model).task.id for seed in seeds)
    defaults = {"settings": {"C": 1.0, "widths": (3, 2)}, "metric": "auc", "score": 0.75, "search": "random:30"}
    return Choice(
        dataset=dataset,
        model=model,
        final_ids=final_ids,
        **{**defaults, "n_settings": 30, "task_ids": ("a",), **fields},
    )


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(max_size=20)  # without lone surrogates, which are no text
SETTINGS = st.dictionaries(
    TEXTS,
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | NUMBERS | TEXTS | st.tuples(NUMBERS, TEXTS),
    max_size=4,
)
SPLITS = st.sampled_from(
    [TEST, VALIDATION, Split(kind="fold", fold=1, n_folds=5), Split(kind="fold", fold=0, n_folds=2, n_train=50)]
)
TABLES = st.none() | st.just(TableSource(path=Path("folder") / "ä b.csv", digest="0" * 64, target="species"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)
ENVIRONMENTS = st.dictionaries(TEXTS, TEXTS, max_size=3).map(Environment)


def scores_of(parts):
    """Scores by part and metric, some left out."""
    metrics = st.dictionaries(st.sampled_from(METRICS), NUMBERS)
    return st.dictionaries(st.sampled_from(parts), metrics)


@st.composite
def outcomes(draw):
    """Any outcome that a task can have."""
    task = Task.of(
        draw(TEXTS),
        draw(TEXTS),
        draw(SETTINGS),
        split=draw(SPLITS),
        table=draw(TABLES),
        seed=draw(st.integers(0, 2**32)),
        data_seed=draw(st.integers(0, 9)),
    )
    error = draw(st.none() | TEXTS | st.just(TRACEBACK * 5_000))
    parts = ("train", "validation") if task.phase == "search" else ("train", "test")
    return Outcome(
        task=task,
        environment=draw(ENVIRONMENTS),
        scores={} if error is not None else draw(scores_of(parts)),
        seconds=draw(st.dictionaries(st.sampled_from(["load", "fit", "score"]), NUMBERS)),
        n_parameters=draw(st.none() | st.integers(0, 10**12)),
        fingerprint=draw(TEXTS),
        details=draw(st.dictionaries(TEXTS, JSON, max_size=3)),
        error=error,
        finished_at=draw(TEXTS),
    )


# Processes of their own that write stores, to be killed without warning.


def add_without_end(path, pipe, first):
    """Adds tasks of seeds from ``first`` and tells of each, opening the store anew after every third."""
    pipe.send("ready")
    seeds = count(first)
    while True:
        with Store.open(path, create=True) as store:
            for _ in range(3):
                seed = next(seeds)
                store.add(done(seed))
                pipe.send(seed)


def change_half(path, pipe):
    """Leaves a transaction of the kind that needs a rollback, a part of it already in the file."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA cache_size = 1")  # so that pages are written before the transaction ends
    connection.execute("BEGIN")
    connection.execute("UPDATE outcomes SET fingerprint = hex(randomblob(2000))")
    pipe.send("half done")
    pipe.recv()
