"""The start: what an import takes beyond scikit-learn's own, and how long the first fit compiles."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping

from rich.console import Console

from benchmarks.machine import description
from benchmarks.tables import Table, add_output_arguments, write_results

PROBE = """
import json, time
def clocks():
    return time.perf_counter(), time.process_time()
before = clocks()
{work}
print(json.dumps([after - start for after, start in zip(clocks(), before)]))
"""
IMPORTS = {
    "scikit-learn's LogisticRegression": "from sklearn.linear_model import LogisticRegression",
    "McQuackClassifier": "from mcquack import McQuackClassifier",
}
FIT = """
from mcquack import McQuackClassifier
from sklearn.datasets import load_digits
X, y = load_digits(return_X_y=True)
before = clocks()
McQuackClassifier(epochs=1, random_state=0).fit(X, y)
"""

Clocks = tuple[float, float]  # seconds of wall and of CPU


def clocked(work: str, *, cache: str | None = None) -> Clocks:
    """How long this takes in a process of its own; compiled code is kept in ``cache``, or where it always is."""
    environment = {**os.environ, **({"NUMBA_CACHE_DIR": cache} if cache else {})}
    command = [sys.executable, "-c", PROBE.format(work=work)]
    wall, cpu = json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    return wall, cpu


def import_seconds(rounds: int) -> dict[str, Clocks]:
    """The best of some rounds, in which all take turns; the first warms the files and does not count."""
    found: dict[str, list[Clocks]] = {name: [] for name in IMPORTS}
    for _ in range(rounds + 1):
        for name, work in IMPORTS.items():
            found[name].append(clocked(work))
    return {name: min(clocks[1:]) for name, clocks in found.items()}


def fit_seconds(rounds: int) -> dict[str, Clocks]:
    """An epoch on the digits, without any code kept from before and then with it."""
    found: dict[str, list[Clocks]] = {"first fit, which compiles": [], "first fit, code kept": []}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            for name in found:
                found[name].append(clocked(FIT, cache=cache))
    return {name: min(clocks) for name, clocks in found.items()}


def tables(imports: Mapping[str, Clocks], fits: Mapping[str, Clocks]) -> list[Table]:
    """Seconds, and how many imports of scikit-learn they are."""
    unit, ours = (imports[name] for name in IMPORTS)
    rows = {
        **{f"import {name}": clocks for name, clocks in imports.items()},
        "beyond scikit-learn's": tuple(own - of_unit for own, of_unit in zip(ours, unit, strict=True)),
        **fits,
    }
    lines = [[name, f"{wall:.2f}", f"{cpu:.2f}", f"{wall / unit[0]:.2f}"] for name, (wall, cpu) in rows.items()]
    header = ["", "seconds", "of CPU", "imports of scikit-learn"]
    return [Table(title="the start of a process, warm", header=header, lines=lines)]


def main() -> None:
    arguments = _arguments()
    console = Console()
    console.print(description())
    imports, fits = import_seconds(arguments.rounds), fit_seconds(arguments.compiles)
    made = tables(imports, fits)
    for each in made:
        each.print(console)
    results = {"imports": imports, "fits": fits, "rounds": arguments.rounds, "compiles": arguments.compiles}
    write_results(made, results, marker="start", json_file=arguments.json, markdown_file=arguments.markdown)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often all imports have their turn (default 5)")
    parser.add_argument("--compiles", type=int, default=2, help="how often everything is compiled (default 2)")
    add_output_arguments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
