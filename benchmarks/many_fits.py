"""Many small fits: how many per second one process does, and how many several do."""

import argparse
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass

from joblib import Parallel, delayed, parallel_config
from rich.console import Console
from sklearn.base import ClassifierMixin
from threadpoolctl import threadpool_limits

from benchmarks.race import introduced_console
from benchmarks.small_fits import EPOCHS, Data, fit, models, warmed_up
from benchmarks.tables import Table, add_output_arguments, write_results
from mcquack import datasets

DATASET = "hidden_manifold_10"
MOST_FITS = 2000
WARM_UPS = 100


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Fits per second of one model, alone and with several processes."""

    model: str
    n_fits: int
    alone: float
    together: float

    @property
    def scaling(self) -> float:
        """How many times as many several processes do."""
        return self.together / self.alone

    def record(self) -> dict[str, object]:
        """The rates as JSON."""
        return {**asdict(self), "scaling": self.scaling}


def warm_up(parallel: Parallel, data: Data) -> None:
    """Goes on until every process has had its turn."""
    warm: set[int] = set()
    for _ in range(WARM_UPS):
        warm.update(parallel(delayed(warmed_up)(data) for _ in range(parallel.n_jobs)))
        if len(warm) == parallel.n_jobs:
            return
    raise SystemExit(f"of {parallel.n_jobs} processes only {len(warm)} work; is the machine busy?")


def fits_per_second(parallel: Parallel, model: ClassifierMixin, data: Data, *, n_fits: int) -> float:
    """Fits with different seeds, from the first sent to the last received."""
    started = time.perf_counter()
    parallel(delayed(fit)(model, data, seed=seed) for seed in range(n_fits))
    return n_fits / (time.perf_counter() - started)


def rates(workers: Sequence[Parallel], data: Data, *, rounds: int, budget: float) -> list[Rates]:
    """The best round of each; one process and several take turns, so that a busy spell of the machine hits both."""
    found = []
    for name, model in models().items():
        speed = fits_per_second(workers[0], model, data, n_fits=4)
        n_fits = min(MOST_FITS, max(4, round(budget * speed)) * workers[1].n_jobs)
        best = [0.0, 0.0]
        for _ in range(rounds):
            for index, parallel in enumerate(workers):
                best[index] = max(best[index], fits_per_second(parallel, model, data, n_fits=n_fits))
        found.append(Rates(model=name, n_fits=n_fits, alone=best[0], together=best[1]))
    return found


def measured_rates(n_jobs: int, data: Data, *, rounds: int, budget: float) -> list[Rates]:
    """Starts the processes, each on one thread, warms them up, and measures."""
    with ExitStack() as stack:
        stack.enter_context(threadpool_limits(limits=1))
        stack.enter_context(parallel_config("loky", inner_max_num_threads=1))
        workers = [stack.enter_context(Parallel(n_jobs=count)) for count in (1, n_jobs)]
        for parallel in workers:
            warm_up(parallel, data)
        return rates(workers, data, rounds=rounds, budget=budget)


def table(found: Sequence[Rates], *, n_jobs: int) -> Table:
    """A line for each model."""
    lines = [
        [row.model, f"{row.alone:,.1f}", f"{row.together:,.1f}", f"{row.scaling:.2f}", f"{1e3 / row.alone:,.1f}"]
        for row in found
    ]
    return Table(
        title=f"fits per second of {DATASET} (240 samples, 10 features; {EPOCHS} epochs where there are any)",
        header=["model", "n_jobs = 1", f"n_jobs = {n_jobs}", "ratio", "ms per fit"],
        lines=lines,
    )


def main() -> None:
    arguments = _arguments()
    console: Console = introduced_console()
    data = datasets.load(DATASET).train
    found = measured_rates(arguments.jobs, (data.X, data.y), rounds=arguments.rounds, budget=arguments.budget)
    made = table(found, n_jobs=arguments.jobs)
    made.print(console)
    results = {
        "n_jobs": arguments.jobs,
        "rounds": arguments.rounds,
        "dataset": DATASET,
        "epochs": EPOCHS,
        "fits": [row.record() for row in found],
    }
    write_results([made], results, marker="many-fits", json_file=arguments.json, markdown_file=arguments.markdown)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_fits", description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="processes that share the work (default 2)")
    parser.add_argument("--rounds", type=int, default=5, help="how often all have their turn (default 5)")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds of a turn, about (default 1)")
    add_output_arguments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
