"""Fits and predictions that people wait for, on all cores and on one, and fits of several Python threads at once."""

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sklearn.datasets import make_blobs

from benchmarks.fit import Data, best_seconds
from benchmarks.machine import n_cores
from benchmarks.race import introduced_console
from benchmarks.tables import Table, add_output_arguments, write_results
from mcquack import McQuackClassifier, datasets
from mcquack.errors import MissingDataError
from mcquack.simulators import StatevectorEngine

THREADS = (1, 2, 4)
FITS_AT_ONCE = 8
"""A multiple of all numbers of threads, so that no thread waits for others at the end."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is timed: a name, the unit of its number, and what runs on so many threads; rates have an amount."""

    name: str
    unit: str
    run: Callable[[int], object]
    amount: float | None = None

    def number(self, seconds: float) -> float:
        """Seconds, milliseconds, or amount per second."""
        if self.amount is not None:
            return self.amount / seconds
        return 1e3 * seconds if self.unit == "ms" else seconds


def model(*, epochs: int, n_threads: int) -> McQuackClassifier:
    """The default circuit, trained in the paper's way, and to the end of its epochs."""
    return McQuackClassifier(
        epochs=epochs,
        patience=None,
        loss="alignment",
        steps="alternating",
        random_state=0,
        engine=StatevectorEngine(n_threads=n_threads),
    )


def mnist10(data_dir: Path | None) -> tuple[str, Data]:
    """1,000 pictures of ten digits, or random data of the same shape where the files are not at hand; and which."""
    try:
        train = datasets.load("mnist10", data_dir=data_dir).train
        return "MNIST10", (train.X.astype(float), train.y)
    except MissingDataError:
        return "random in place of MNIST10", synthetic(1_000, 784, n_classes=10)


def synthetic(n_samples: int, n_features: int, *, n_classes: int = 2) -> Data:
    """A Gaussian cloud for each class."""
    X, y = make_blobs(n_samples, n_features=n_features, centers=n_classes, random_state=0)
    return X, y


def works(data_dir: Path | None) -> list[Work]:
    """All that is timed on all cores and on one, with code compiled and models fitted."""
    name, digits = mnist10(data_dir)
    many, few = synthetic(100_000, 20), synthetic(240, 10)
    fitted = {threads: model(epochs=1, n_threads=threads).fit(*many) for threads in {1, n_cores()}}
    return [
        _fit(f"fit of {name}, 1,000 × 784, 200 epochs", digits, epochs=200),
        _fit("fit of 100,000 × 20, 5 epochs", many, epochs=5),
        _fit("fit of 240 × 10, 20 epochs", few, epochs=20, unit="ms"),
        Work(
            name="prediction of 100,000 × 20, 20 layers",
            unit="rows/s",
            run=lambda threads: fitted[threads].predict(many[0]),
            amount=len(many[0]),
        ),
    ]


def _fit(name: str, data: Data, *, epochs: int, unit: str = "s") -> Work:
    for threads in {1, n_cores()}:  # loads compiled code, which is not part of a fit
        model(epochs=1, n_threads=threads).fit(*data)
    return Work(name=name, unit=unit, run=lambda threads: model(epochs=epochs, n_threads=threads).fit(*data))


def measured(works: Sequence[Work], *, rounds: int) -> list[dict[str, object]]:
    """The best number of each, on all cores and on one."""
    rows: list[dict[str, object]] = []
    for work in works:
        every, one = best_seconds([lambda: work.run(n_cores()), lambda: work.run(1)], rounds=rounds)  # noqa: B023
        numbers = {"all_cores": work.number(every), "one_core": work.number(one)}
        rows.append({"work": work.name, "unit": work.unit, **numbers})
    return rows


def fits_of_threads(*, rounds: int) -> dict[int, float]:
    """Small fits per second, all threads of Python together; each fit as it comes, on as many cores as it likes."""
    data = synthetic(240, 10)

    def fit(seed: int) -> None:
        McQuackClassifier(epochs=20, patience=None, loss="alignment", steps="alternating", random_state=seed).fit(*data)

    def fits(threads: int) -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fit, range(FITS_AT_ONCE)))

    fit(0)
    seconds = best_seconds([lambda threads=threads: fits(threads) for threads in THREADS], rounds=rounds)
    return {threads: FITS_AT_ONCE / best for threads, best in zip(THREADS, seconds, strict=True)}


def work_table(rows: Sequence[dict[str, object]]) -> Table:
    """A line for each work."""
    return Table(
        title="default models, no early stop",
        header=["work", "unit", "all cores", "one core"],
        lines=[
            [str(row["work"]), str(row["unit"]), *(_three_digits(row[key]) for key in ("all_cores", "one_core"))]
            for row in rows
        ],
    )


def thread_table(rates: dict[int, float]) -> Table:
    """A column for each number of threads."""
    return Table(
        title="fits per second of 240 × 10, 20 epochs, by Python threads that fit at once",
        header=["threads", *map(str, rates)],
        lines=[["fits per second", *(f"{rate:,.1f}" for rate in rates.values())]],
    )


def _three_digits(number: object) -> str:
    return f"{number:,.0f}" if float(str(number)) >= 100 else f"{number:.3g}"


def main() -> None:
    arguments = _arguments()
    console = introduced_console()
    rows = measured(works(arguments.data_dir), rounds=arguments.rounds)
    rates = fits_of_threads(rounds=arguments.rounds)
    tables = [work_table(rows), thread_table(rates)]
    for table in tables:
        table.print(console)
    results = {"rounds": arguments.rounds, "works": rows, "fits_per_second_by_threads": rates}
    write_results(tables, results, marker="whole-fits", json_file=arguments.json, markdown_file=arguments.markdown)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.whole_fits", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=3, help="how often each has its turn (default 3); the best counts"
    )
    parser.add_argument("--data-dir", type=Path, help="folder with the files of datasets (default: MCQUACK_DATA)")
    add_output_arguments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
