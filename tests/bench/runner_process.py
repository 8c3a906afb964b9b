"""A run in a process of its own, for tests that kill or interrupt it: python -m tests.bench.runner_process …"""

import sys
from contextlib import closing
from functools import partial
from pathlib import Path

from mcquack.bench.cluster import DaskExecutor
from mcquack.bench.executors import LocalExecutor
from mcquack.bench.runner import run
from mcquack.bench.store import Store
from tests.bench.doubles import cell, logged
from tests.known import known

CELLS = (
    cell("a", values=range(150)),
    cell("b", values=range(150)),
    cell("b", model="mlp", values=range(150), search="random:120"),
    *(cell(f"c{number}", values=range(20)) for number in range(20)),
)
OPTUNA_CELLS = tuple(cell(f"o{number}", values=range(20), search="optuna:9") for number in range(4))
FEW_CELLS = (cell("a", values=range(10)), cell("b"))
REAL_CELLS = (cell("iris3", values=(0.1, 1.0, 10.0, 100.0)), cell("iris3", model="nystroem_svm", search="none"))


KINDS = {"many": CELLS, "few": FEW_CELLS, "optuna": OPTUNA_CELLS, "real": REAL_CELLS}


def work(folder, *, on="processes", data_dir=None, kind="many"):
    """Writes the ids of tasks into a file as soon as they are acknowledged; with ``data_dir`` it fits real models."""
    evaluate = logged if data_dir is None else None
    executor_of = LocalExecutor if on == "processes" else partial(DaskExecutor, "local")
    with (
        Store.open(folder / "rows.sqlite", create=True) as store,
        executor_of(jobs=2, evaluate=evaluate, data_dir=data_dir) as executor,
        (folder / "acknowledged.txt").open("a", buffering=1) as acknowledged,
        closing(run(KINDS[kind if data_dir is None else "real"], store, executor)) as events,
    ):
        for event in events:
            if event.kind == "finished":
                acknowledged.write(f"{known(event.outcome).task.id}\n")
            elif event.kind in ("started", "stopping"):
                acknowledged.write(f"{event.kind}\n")


if __name__ == "__main__":
    try:
        work(Path(sys.argv[1]), on=sys.argv[2])
    except KeyboardInterrupt:
        sys.exit(130)
