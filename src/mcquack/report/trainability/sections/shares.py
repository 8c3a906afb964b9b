"""How much of what came of training each setting explains."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcquack.errors import InvalidInputError, MissingDependencyError
from mcquack.report.trainability.lines import factors, value_place, varied_settings
from mcquack.report.trainability.names import number_text, setting_text
from mcquack.report.trainability.oscillations import trained_run
from mcquack.report.trainability.sections.training import trained_series
from mcquack.report.trainability.sections.words import capital, listed, series_title
from mcquack.report.trainability.study import Study
from mcquack.studies.trainability.analysis import Anova, ForestImportances, exact_anova, forest_importances, means_by
from mcquack.studies.trainability.analysis.complete_grid import are_numbers
from mcquack.studies.trainability.observation import Observation

Row = tuple[Mapping[str, Any], float]

ACCURACY, LOSS = "test accuracy", "final loss"
MEMORISED = 0.1
"""Test accuracy that is lost, while that on the training samples is none the lower, from which it is called so."""

MOST_LEVELS = 3
"""Of a setting whose means are all told."""


@dataclass(frozen=True, kw_only=True)
class Importance:
    """For one target in one series; ``why_not`` tells what the exact decomposition or the forest lacks.

    ``rows`` are the settings and results that it is of, ``trained`` those with the accuracies on the training samples.
    """

    series: str
    target: str
    anova: Anova
    forest: ForestImportances | None
    rows: tuple[Row, ...]
    trained: tuple[Row, ...] = ()
    why_not: str = ""

    @property
    def n_rows(self) -> int:
        """How many runs there are."""
        return len(self.rows)

    @property
    def dominant(self) -> str:
        """The setting that explains most by itself."""
        return max(self.anova.main.items(), key=lambda item: item[1])[0]

    def _told(self, value: float) -> str:
        return f"{value:.2f}" if self.target == ACCURACY else number_text(value, digits=2)

    def direction(self, name: str) -> str:
        """What the levels of a setting come to, in words: a share of variance does not tell which one is better."""
        means = _level_means(self.rows, name)
        shown = _ends(means)
        told = listed([f"{self._told(means[level])} for {setting_text(name, level)}" for level in shown])
        if self.target == LOSS and len(shown) > 1:
            lowest = min(means, key=lambda level: means[level])
            return f"mean {told}, so that the lowest training loss is that of {setting_text(name, lowest)}"
        trained = _level_means(self.trained, name) if self.target == ACCURACY else {}
        if not trained.keys() >= set(shown) or len(shown) < 2:
            return f"mean {told}"
        beside = listed([f"{trained[level]:.2f}" for level in shown])
        worst, best = (choice(shown, key=lambda level: means[level]) for choice in (min, max))
        memorises = trained[worst] >= trained[best] and means[best] - means[worst] >= MEMORISED
        why = f": with {setting_text(name, worst)} the model memorises" if memorises else ""
        return f"mean {told}, where training accuracy is {beside}{why}"


def _level_means(rows: Sequence[Row], name: str) -> dict[Any, float]:
    """By the value of a setting, in the order of legends."""
    found = {each.settings[name]: each.mean for each in means_by(rows, (name,))}
    return {level: found[level] for level in sorted(found, key=value_place)}


def _ends(levels: Iterable[Any]) -> list[Any]:
    """All, or of many numbers the smallest and the largest."""
    known = list(levels)
    return [known[0], known[-1]] if len(known) > MOST_LEVELS and are_numbers(known) else known


def _amplitude(observation: Observation) -> float | None:
    run = trained_run(observation)
    return None if run is None else run.oscillation.amplitude


TARGETS: Mapping[str, Callable[[Observation], float | None]] = {
    ACCURACY: lambda each: each.scores.get("test_accuracy"),
    LOSS: lambda each: each.scores.get("final_loss"),
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
                Importance(
                    series=name,
                    target=target,
                    anova=anova,
                    forest=forest,
                    rows=tuple(rows),
                    trained=tuple(_rows(observations, lambda each: each.scores.get("train_accuracy"))),
                    why_not=why_not,
                )
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
