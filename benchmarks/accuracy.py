"""Accuracy: states, kernel and gradients of the float32 engine beside those of the float64 engine, for the same inputs.

Rows of other numerics versions that the JSON file holds are kept, and shown beside those of this one.
"""

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from benchmarks import ours
from benchmarks.problem import StepInputs, StepProblem
from benchmarks.race import introduced_console, problem_of
from benchmarks.step import LARGE_SIZES, SIZES
from benchmarks.tables import Table, add_output_arguments, write_results
from mcquack.numerics import NUMERICS
from mcquack.randomness import stream
from mcquack.simulators.statevector import StatevectorEngine

Angles = Literal["usual", "near π", "large"]
Errors = dict[str, float]
Array = NDArray[np.generic]


@dataclass(frozen=True, kw_only=True)
class AngleProblem(StepProblem):
    """A step with angles as the estimator draws them, all within a hundredth of π, or of hundreds of turns."""

    angles: Angles = "usual"

    def inputs(self) -> StepInputs:
        usual = super().inputs()
        if self.angles == "usual":
            return usual
        rng = stream(0, "benchmarks", "accuracy", repr(self))
        center, spread = (math.pi, 0.01) if self.angles == "near π" else (0.0, 1000.0)
        weights, bias = (rng.normal(0, spread, usual.weights.shape).astype(np.float32) for _ in range(2))
        return usual._replace(weights=weights, bias=bias + np.float32(center))


def quantities(problem: StepProblem, dtype: str) -> dict[str, Array]:
    """What a step computes, by name."""
    engine = StatevectorEngine(problem.feature_map, dtype=dtype)
    inputs = problem.inputs()
    samples, centroids = (engine.encode(X, inputs.weights, inputs.bias) for X in (inputs.samples, inputs.centroids))
    states = np.concatenate([engine.statevectors(encoded) for encoded in (samples, centroids)])
    kernel = engine.fidelities(samples, centroids)
    gradients = ours.alignment_step(problem, engine)().gradients()
    return {"states": states, "kernel": kernel, "gradient": np.concatenate([slope.ravel() for slope in gradients])}


def errors(problem: StepProblem) -> dict[str, Errors]:
    """The largest and the root mean square error of each quantity, relative to its root mean square."""
    single, double = (quantities(problem, dtype) for dtype in ("float32", "float64"))
    # The engine keeps no common phase of a state.
    overlaps = np.einsum("sd,sd->s", single["states"].conj(), double["states"])
    single["states"] = single["states"] * (overlaps / np.abs(overlaps))[:, None]
    return {name: _relative(single[name], double[name]) for name in double}


def _relative(found: Array, exact: Array) -> Errors:
    apart, size = np.abs(found - exact), _root_mean_square(exact)
    return {"rms": _root_mean_square(apart) / size, "max": float(apart.max()) / size}


def _root_mean_square(values: Array) -> float:
    return float(np.sqrt(np.mean(np.abs(values) ** 2)))


Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""By numerics version: a row for each size and kind of angles, in the same order."""


def accuracy_table(rows: Rows) -> Table:
    """A line for each size and kind of angles; a cell holds both errors."""
    columns = [(name, version) for name in ("states", "kernel", "gradient") for version in rows]
    lines: dict[tuple[str, str], dict[tuple[str, str], str]] = {}
    for version, measured in rows.items():
        for row in measured:
            cells = lines.setdefault((row["problem"], row["angles"]), {})
            for name, found in row["errors"].items():
                cells[name, version] = f"{found['rms']:.1e}, {found['max']:.1e}"
    return Table(
        title="error of float32 relative to the root mean square of the quantity: root mean square, largest",
        header=["n, L, B, M", "angles", *(f"{name}, numerics {version}" for name, version in columns)],
        lines=[[*key, *(cells.get(column, "") for column in columns)] for key, cells in lines.items()],
    )


def main() -> None:
    arguments = _arguments()
    console = introduced_console()
    measured = []
    for size in (*SIZES, *LARGE_SIZES):
        for angles in get_args(Angles):
            problem = replace(problem_of(size, AngleProblem), angles=angles)
            with console.status(f"comparing {problem}, {angles} angles"):
                measured.append({"problem": str(problem), "angles": angles, "errors": errors(problem)})
    rows = {**_others(arguments.json), str(NUMERICS): measured}
    table = accuracy_table(rows)
    table.print(console)
    results = {"by_numerics": rows}
    write_results([table], results, marker="accuracy", json_file=arguments.json, markdown_file=arguments.markdown)


def _others(file: Path | None) -> dict[str, list[dict[str, Any]]]:
    return json.loads(file.read_text())["by_numerics"] if file and file.exists() else {}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    add_output_arguments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
