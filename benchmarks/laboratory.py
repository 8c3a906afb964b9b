"""The laboratory: what a task costs beside its fit, what two workers do, and how long a large store takes to read."""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from rich.console import Console

from benchmarks.machine import description
from benchmarks.tables import Table, add_output_arguments, write_results
from mcquack.bench import ranking
from mcquack.bench.executors import LocalExecutor
from mcquack.bench.plan import Cell, Choice
from mcquack.bench.runner import run
from mcquack.bench.store import Store
from mcquack.bench.suite import read_suite
from mcquack.bench.task import METRICS, TEST, Outcome, Task, current_environment
from mcquack.datasets import names
from mcquack.models import catalog
from mcquack.report.benchmark import write_report

SMALL_SETS = ("iris3", "url")
N_ROWS = 10_000
N_SEEDS = 5


@contextmanager
def _temporary_store() -> Iterator[Store]:
    with (
        tempfile.TemporaryDirectory() as folder,
        Store.open(Path(folder, "rows.sqlite"), write=True, create=True) as store,
    ):
        yield store


def run_seconds(cells: Sequence[Cell], executor: LocalExecutor) -> tuple[float, list[Outcome]]:
    """Wall time of all tasks of the cells, into a store of their own, and what came of them."""
    with _temporary_store() as store:
        started = time.perf_counter()
        outcomes = [event.outcome for event in run(cells, store, executor) if event.kind == "finished"]
        seconds = time.perf_counter() - started
    failed = [outcome.reason for outcome in outcomes if outcome is not None and outcome.failed]
    if failed:
        raise SystemExit(f"{len(failed)} tasks failed, the first with {failed[0]}")
    return seconds, [outcome for outcome in outcomes if outcome is not None]


def harness_milliseconds(data_dir: str | None) -> dict[str, float]:
    """Per task, what remains of the wall time when loading, fitting and scoring are taken away; with one worker."""
    suite = read_suite("qml").with_(
        datasets=["two_curves_2"], models=["centroid_kernel", "svc"], search="grid", seeds=100
    )
    with LocalExecutor(jobs=1, data_dir=data_dir) as executor:
        run_seconds(suite.cells()[:1], executor)  # starts and warms the worker
        seconds, outcomes = run_seconds(suite.cells(), executor)
    spent = sum(sum(outcome.seconds.values()) for outcome in outcomes)
    return {
        "n_tasks": len(outcomes),
        "milliseconds_per_task": 1e3 * seconds / len(outcomes),
        "harness_milliseconds_per_task": 1e3 * (seconds - spent) / len(outcomes),
    }


def scaling(jobs: int, data_dir: str | None, *, rounds: int) -> dict[str, float]:
    """How many times as fast several workers do the small sets of the real-world suite; the best of some rounds."""
    suite = read_suite("real-world").with_(datasets=SMALL_SETS)
    warm_up = suite.with_(datasets=["iris3"], seeds=2 * jobs, search="none").cells()
    best = dict.fromkeys((1, jobs), float("inf"))
    with LocalExecutor(jobs=1, data_dir=data_dir) as alone, LocalExecutor(jobs=jobs, data_dir=data_dir) as together:
        executors = {1: alone, jobs: together}
        for executor in executors.values():
            run_seconds(warm_up, executor)
        for _ in range(rounds):
            for count, executor in executors.items():
                best[count] = min(best[count], run_seconds(suite.cells(), executor)[0])
    return {
        "jobs": jobs,
        "n_tasks": sum(cell.most_tasks for cell in suite.cells()),
        "seconds_alone": best[1],
        "seconds_together": best[jobs],
        "ratio": best[1] / best[jobs],
    }


def fill(store: Store) -> None:
    """Rows as a whole benchmark leaves them: every dataset, several models, five seeds, with their pictures."""
    random = np.random.default_rng(0)
    datasets = (*names("qml"), *names("real-world"))
    models = catalog.names()
    n_settings = N_ROWS // (len(datasets) * len(models) * N_SEEDS) + 1
    history = {"epoch": list(range(1, 101)), "loss": random.random(100).round(5).tolist()}
    details = {"class_names": ["a", "b"], "confusion": [[30, 5], [4, 21]], "history": history}
    n_stored = 0
    for dataset in datasets:
        for model in models:
            for setting in range(n_settings):
                tasks = [Task.of(dataset, model, {"x": setting}, split=TEST, seed=seed) for seed in range(N_SEEDS)]
                for task in tasks[: N_ROWS - n_stored]:
                    scores = {
                        part: dict(zip(METRICS, random.random(6).tolist(), strict=True)) for part in ("train", "test")
                    }
                    store.add(
                        Outcome(
                            task=task, environment=current_environment(), scores=scores, details=details, n_parameters=9
                        )
                    )
                    n_stored += 1
            store.choose(
                Choice(
                    dataset=dataset,
                    model=model,
                    settings={"x": 0},
                    metric="accuracy",
                    score=None,
                    search="none",
                    n_settings=0,
                    final_ids=tuple(
                        Task.of(dataset, model, {"x": 0}, split=TEST, seed=seed).id for seed in range(N_SEEDS)
                    ),
                )
            )


def reading_seconds() -> dict[str, float]:
    """To add a row, and to open, rank and report a store of ten thousand."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.sqlite")
        started = time.perf_counter()
        with Store.open(path, write=True, create=True) as store:
            fill(store)
            filled = time.perf_counter()
            n_rows = store.counts().total
        opened = time.perf_counter()
        with Store.open(path) as store:
            table = ranking.score_table(ranking.cell_scores(store))
        ranking.standings(table)
        ranked = time.perf_counter()
        write_report(path, Path(folder, "report"))
        reported = time.perf_counter()
    return {
        "n_rows": n_rows,
        "milliseconds_to_add_a_row": 1e3 * (filled - started) / n_rows,
        "seconds_to_open_and_rank": ranked - opened,
        "seconds_to_report": reported - ranked,
    }


def tables(harness: dict[str, float], scaled: dict[str, float], reading: dict[str, float]) -> list[Table]:
    """One of few lines."""
    lines = [
        ["harness per task, one worker", f"{harness['harness_milliseconds_per_task']:.2f} ms"],
        [f"{scaled['jobs']} workers against one, {scaled['n_tasks']} tasks", f"{scaled['ratio']:.2f}×"],
        ["add a row to a store", f"{reading['milliseconds_to_add_a_row']:.2f} ms"],
        [f"open and rank {reading['n_rows']:,} rows", f"{reading['seconds_to_open_and_rank']:.2f} s"],
        ["report them", f"{reading['seconds_to_report']:.2f} s"],
    ]
    return [Table(title="the laboratory beside the fits", header=["", "measured"], lines=lines)]


def main() -> None:
    arguments = _arguments()
    console = Console()
    console.print(description())
    results = {
        "harness": harness_milliseconds(arguments.data_dir),
        "scaling": scaling(arguments.jobs, arguments.data_dir, rounds=arguments.rounds),
        "reading": reading_seconds(),
    }
    made = tables(results["harness"], results["scaling"], results["reading"])
    for each in made:
        each.print(console)
    write_results(made, results, marker="laboratory", json_file=arguments.json, markdown_file=arguments.markdown)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.laboratory", description=__doc__)
    parser.add_argument(
        "--data-dir", default=os.environ.get("MCQUACK_DATA"), help="the folder with the files of datasets"
    )
    parser.add_argument("--jobs", type=int, default=2, help="workers that share the work (default 2)")
    parser.add_argument("--rounds", type=int, default=2, help="how often all have their turn (default 2)")
    add_output_arguments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
