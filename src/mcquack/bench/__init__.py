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

from mcquack.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__, __file__)
