"""Benchmarks of many models on many datasets, which can stop at any moment and go on where they were.

A suite says what is wanted, a run does what the store lacks, and the ranking reads the store:

>>> from mcquack.bench import LocalExecutor, Store, ranking, read_suite, run
>>> suite = read_suite("real-world").with_(datasets=["iris3"], models=["svc", "mcquack"], search="none", seeds=2)
>>> sum(cell.most_tasks for cell in suite.cells())
4
>>> with Store.open("iris.sqlite", create=True) as store, LocalExecutor(jobs=2) as executor:  # doctest: +SKIP
...     for event in run(suite.cells(), store, executor):
...         print(event.kind)
...     scores = ranking.cell_scores(store)
"""

from typing import TYPE_CHECKING

from mcquack.lazy import lazy_exports

if TYPE_CHECKING:
    from mcquack.bench import ranking
    from mcquack.bench.cluster import DaskExecutor
    from mcquack.bench.executors import Executor, LocalExecutor
    from mcquack.bench.outcome import METRICS, Environment, Outcome, current_environment
    from mcquack.bench.plan import Cell, Choice, SearchMethod, Step
    from mcquack.bench.progress import Progress
    from mcquack.bench.runner import Event, run
    from mcquack.bench.store import RunRecord, Store, merge, store_facts, write_csv, write_parquet
    from mcquack.bench.suite import BUILT_IN, Suite, read_suite
    from mcquack.bench.task import TEST, VALIDATION, Split, TableSource, Task

__all__ = [
    "BUILT_IN",
    "METRICS",
    "TEST",
    "VALIDATION",
    "Cell",
    "Choice",
    "DaskExecutor",
    "Environment",
    "Event",
    "Executor",
    "LocalExecutor",
    "Outcome",
    "Progress",
    "RunRecord",
    "SearchMethod",
    "Split",
    "Step",
    "Store",
    "Suite",
    "TableSource",
    "Task",
    "current_environment",
    "merge",
    "ranking",
    "read_suite",
    "run",
    "store_facts",
    "write_csv",
    "write_parquet",
]

# Loaded when first asked for: what runs or ranks takes seconds to import, and `mcquack --help` needs none of it.
__getattr__, __dir__ = lazy_exports(
    __name__,
    __all__,
    {
        "mcquack.bench.cluster": ("DaskExecutor",),
        "mcquack.bench.executors": ("Executor", "LocalExecutor"),
        "mcquack.bench.outcome": ("METRICS", "Environment", "Outcome", "current_environment"),
        "mcquack.bench.plan": ("Cell", "Choice", "SearchMethod", "Step"),
        "mcquack.bench.progress": ("Progress",),
        "mcquack.bench.runner": ("Event", "run"),
        "mcquack.bench.store": ("RunRecord", "Store", "merge", "store_facts", "write_csv", "write_parquet"),
        "mcquack.bench.suite": ("BUILT_IN", "Suite", "read_suite"),
        "mcquack.bench.task": ("TEST", "VALIDATION", "Split", "TableSource", "Task"),
    },
)
