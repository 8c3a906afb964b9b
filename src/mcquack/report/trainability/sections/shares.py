"""How much of what came of training each setting explains."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcquack.errors import InvalidInputError, MissingDependencyError
from mcquack.report.trainability.lines import factors, varied_settings
from mcquack.report.trainability.oscillations import trained_run
from mcquack.report.trainability.sections.training import trained_series
from mcquack.report.trainability.sections.words import capital, listed, series_title
from mcquack.report.trainability.study import Study
from mcquack.studies.trainability.analysis import Anova, ForestImportances, exact_anova, forest_importances
from mcquack.studies.trainability.observation import Observation

Row = tuple[Mapping[str, Any], float]


@dataclass(frozen=True, kw_only=True)
class Importance:
    """For one target in one series; ``why_not`` tells what the exact decomposition or the forest lacks."""

    series: str
    target: str
    anova: Anova
    forest: ForestImportances | None
    n_rows: int
    why_not: str = ""


def _amplitude(observation: Observation) -> float | None:
    run = trained_run(observation)
    return None if run is None else run.oscillation.amplitude


TARGETS: Mapping[str, Callable[[Observation], float | None]] = {
    "test accuracy": lambda each: each.scores.get("test_accuracy"),
    "final loss": lambda each: each.scores.get("final_loss"),
    "oscillation": _amplitude,
}


def importances(study: Study) -> tuple[tuple[Importance, ...], tuple[str, ...]]:
    """For every target in every series that varies at least two settings; and why some could not be decomposed."""
    found, faults = [], []
    for name, observations in trained_series(study).items():
        names = importance_names(observations)
        for target, measure in TARGETS.items():
            rows, left_out = complete_rows(_rows(observations, measure), names)
            if len(names) < 2 or not (rows or left_out):
                continue
            where = f"{capital(series_title(name))}, {target}"
            if left_out:
                sizes = listed([f"{n_qubits:,}" for n_qubits in left_out])
                faults.append(f"{where}: without the sizes {sizes}, where runs are missing, for a complete grid.")
            try:
                anova = exact_anova(rows, names=importance_names_of(rows, names))
            except InvalidInputError as error:
                faults.append(f"{where}: {error}")
                continue
            forest, why_not = _forest(rows, anova.names)
            found.append(
                Importance(series=name, target=target, anova=anova, forest=forest, n_rows=len(rows), why_not=why_not)
            )
    return tuple(found), tuple(faults)


def importance_names(observations: Sequence[Observation]) -> tuple[str, ...]:
    """The settings whose importance is asked for: all that were varied, and the number of qubits."""
    several_models = len({each.model for each in observations}) > 1
    varied = varied_settings(observations)
    return (
        *(("model",) if several_models else ()),
        *factors(observations),
        *(("n_qubits",) if "n_qubits" in varied else ()),
    )


def complete_rows(rows: Sequence[Row], names: Sequence[str]) -> tuple[list[Row], list[int]]:
    """The rows of all sizes that have every combination of the other settings, and the sizes that lack one."""
    others = [name for name in names if name != "n_qubits"]
    if "n_qubits" not in names:
        return list(rows), []
    cells: dict[int, set[tuple[Any, ...]]] = {}
    for settings, _ in rows:
        cells.setdefault(settings["n_qubits"], set()).add(tuple(settings[name] for name in others))
    wanted = set().union(*cells.values())
    left_out = sorted(n_qubits for n_qubits, found in cells.items() if found != wanted)
    return [row for row in rows if row[0]["n_qubits"] not in left_out], left_out


def importance_names_of(rows: Sequence[Row], names: Sequence[str]) -> tuple[str, ...]:
    """Those that still take several values."""
    return tuple(name for name in names if len({repr(settings[name]) for settings, _ in rows}) > 1)


def _rows(observations: Sequence[Observation], measure: Callable[[Observation], float | None]) -> list[Row]:
    values = [({**each.settings, "model": each.model}, measure(each)) for each in observations]
    return [(settings, value) for settings, value in values if value is not None]


def _forest(rows: Sequence[Row], names: Sequence[str]) -> tuple[ForestImportances | None, str]:
    try:
        return forest_importances(rows, names=names), ""
    except MissingDependencyError as error:
        return None, str(error)
