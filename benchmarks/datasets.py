"""Datasets: seconds to generate the suite, and to load each real-world set beside a bare read of its file."""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console

from benchmarks.machine import description
from benchmarks.tables import Table, add_output_arguments, write_results
from mcquack import datasets
from mcquack.datasets import qml_suite as families

ROUNDS = 5


def best_seconds(work: Callable[[], object]) -> float:
    """The fastest of a few calls, after one that warms up."""
    work()
    found = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        found.append(time.perf_counter() - started)
    return min(found)


def suite_seconds() -> float:
    """All generated datasets of the suite, none of them remembered from before."""
    names = [name for name in datasets.names("qml") if datasets.describe(name).is_built_in]

    def generate() -> None:
        families.generated.cache_clear()
        for name in names:
            datasets.load(name)

    return best_seconds(generate)


def bare_read(path: Path) -> object:
    """What anyone would do first: pandas for tables, NumPy for arrays."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    return pd.read_csv(path)


def rows(data_dir: Path) -> list[dict[str, object]]:
    """Seconds to load each dataset, and to read its file alone."""
    found: list[dict[str, object]] = []
    for known in datasets.descriptions("real-world"):
        row: dict[str, object] = {
            "dataset": known.name,
            "seconds": best_seconds(lambda known=known: datasets.load(known.name, data_dir=data_dir)),
        }
        if known.sources:
            file = known.sources[0].files[0]
            path = data_dir / file.folder / file.name
            row |= {"file": file.name, "bare_seconds": best_seconds(lambda path=path: bare_read(path))}
        found.append(row)
    return found


def table(measured: list[dict[str, object]], *, suite: float) -> Table:
    """A line for each dataset."""
    lines = [["114 generated sets of the QML suite", f"{suite:.2f}", "", ""]]
    for row in measured:
        bare = row.get("bare_seconds")
        ratio = ["", ""] if bare is None else [f"{bare:.3f}", f"{float(row['seconds']) / float(bare):.1f}"]
        lines.append([str(row["dataset"]), f"{row['seconds']:.3f}", *ratio])
    return Table(
        title="seconds to load a dataset (verified, encoded, drawn), and to read its file with pandas or NumPy",
        header=["dataset", "load", "bare read", "ratio"],
        lines=lines,
    )


def main() -> None:
    arguments = _arguments()
    console = Console()
    console.print(description())
    suite = suite_seconds()
    measured = rows(arguments.data_dir)
    made = table(measured, suite=suite)
    made.print(console)
    results = {"suite_seconds": suite, "datasets": measured}
    write_results([made], results, marker="datasets", json_file=arguments.json, markdown_file=arguments.markdown)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.datasets", description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder with the files of the datasets")
    add_output_arguments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
