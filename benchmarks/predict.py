"""Predictions of a fitted model, of one row and of many, beside a support vector machine in a pipeline."""

import argparse
from collections.abc import Callable
from time import perf_counter
from typing import Any

from rich.console import Console
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from benchmarks.machine import description
from benchmarks.tables import Table, add_output_arguments, write_results
from mcquack import McQuackClassifier

SIZES = (1, 10, 100, 1000)
SECONDS_OF_A_TURN = 0.1


def fitted() -> dict[str, Any]:
    """The models, fitted on digits; how well they predict does not matter here."""
    X, y = load_digits(return_X_y=True)
    return {
        "McQuack": McQuackClassifier(epochs=2, random_state=0).fit(X, y),
        "McQuack, 16 components": McQuackClassifier(epochs=2, n_components=16, random_state=0).fit(X, y),
        "scaled SVC": make_pipeline(MinMaxScaler(), SVC()).fit(X, y),
    }


def seconds_of(call: Callable[[], Any]) -> float:
    """Mean seconds of a call, over a turn."""
    start, n_calls = perf_counter(), 0
    while perf_counter() - start < SECONDS_OF_A_TURN:
        call()
        n_calls += 1
    return (perf_counter() - start) / n_calls


def measured(rounds: int) -> dict[str, dict[int, float]]:
    """The best turn of each model and size; all take turns in each round, and the first round only warms up."""
    X, _ = load_digits(return_X_y=True)
    models = fitted()
    turns: dict[tuple[str, int], list[float]] = {(name, size): [] for name in models for size in SIZES}
    for _ in range(rounds + 1):
        for name, size in turns:
            rows = X[:size]
            turns[name, size].append(seconds_of(lambda model=models[name], rows=rows: model.predict(rows)))
    return {name: {size: min(turns[name, size][1:]) for size in SIZES} for name in models}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.predict", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="how often all have their turn (default 7)")
    add_output_arguments(parser)
    arguments = parser.parse_args()
    console = Console()
    console.print(description())
    found = measured(arguments.rounds)
    unit = found["scaled SVC"]
    lines = [
        [name, *(f"{1e6 * each[size]:,.0f} ({each[size] / unit[size]:.2f})" for size in SIZES)]
        for name, each in found.items()
    ]
    header = ["", *(f"{size:,} row{'s' if size > 1 else ''}" for size in SIZES)]
    made = Table(title="microseconds of a prediction, and in brackets how many of the SVC", header=header, lines=lines)
    made.print(console)
    results = {"seconds": found, "rounds": arguments.rounds}
    write_results([made], results, marker="predict", json_file=arguments.json, markdown_file=arguments.markdown)


if __name__ == "__main__":
    main()
