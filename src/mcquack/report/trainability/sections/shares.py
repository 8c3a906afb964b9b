"""How much of what came of training each setting explains."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcquack.errors import InvalidInputError, MissingDependencyError
from mcquack.report.benchmark.tables import Table
from mcquack.report.style import chance, counted
from mcquack.report.trainability.figures import (
    factors,
    number_text,
    setting_text,
    trained_run,
    value_place,
    varied_settings,
)
from mcquack.report.trainability.gradients import plot_importances
from mcquack.report.trainability.sections.section import (
    Picture,
    Section,
    capital,
    columns,
    file_name,
    listed,
    series_title,
)
from mcquack.report.trainability.sections.training import trained_series
from mcquack.report.trainability.study import Study
from mcquack.studies.trainability.analysis import Anova, ForestImportances, exact_anova, forest_importances, means_by
from mcquack.studies.trainability.analysis.importance import are_numbers
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


# Which setting decides how well a model trains.

HEADS = ("setting", "with", "exact share", "without scatter", "low", "high", "F", "p", "fANOVA", "fANOVA normalised")
IMPORTANCE_NOTE = (
    "The grid is complete, so shares of variance are exact: single settings, pairs beyond them, higher orders and the "
    "scatter of seeds sum to 1. Scatter looks like a small effect, too: dark lines are 95 % bootstrap intervals of the "
    "share without what it adds. fANOVA (Optuna) fits a forest to the same runs and knows single settings only; its "
    "usual convention divides them by their sum, which makes each larger."
)


def importance_section(found: Sequence[Importance], faults: Sequence[str]) -> Section | None:
    """Exact shares with pairs beside fANOVA’s; None if no series varies two settings."""
    if not found and not faults:
        return None
    return Section(
        id="importance",
        title="What decides",
        short="Importance",
        lead=tuple(_lead(found)),
        notes=(
            IMPORTANCE_NOTE,
            *dict.fromkeys(each.why_not for each in found if each.why_not),
            *faults,
        ),
        pictures=tuple(_picture(each, folded=index > 0) for index, each in enumerate(found)),
        tables=tuple(_tables(found)),
    )


def _lead(found: Sequence[Importance]) -> Iterator[str]:
    for each in found:
        name, share = each.dominant, each.anova.share(each.dominant)
        pair = max(each.anova.pairs.items(), key=lambda item: item[1], default=None)
        effect = each.anova.effect(name)
        told = f" ({chance(effect.p)})" if effect.p is not None else ""
        forest = (
            ""
            if each.forest is None
            else (
                f"; fANOVA gives it {each.forest.unnormalised.get(name, 0.0):.2f}, "
                f"or {each.forest.normalised.get(name, 0.0):.2f} normalised"
            )
        )
        most = "" if pair is None else (f" The largest pair is {pair[0][0]} with {pair[0][1]}: {pair[1]:.2f}.")
        yield (
            f"{capital(each.target)} ({series_title(each.series)}, {counted(each.n_rows, 'run')}): "
            f"{name} explains {share:.2f} of the variance{told}{forest}; {each.direction(name)}.{most} "
            f"Seeds explain {each.anova.noise:.2f}."
        )


def _picture(each: Importance, *, folded: bool) -> Picture:
    return Picture(
        name=file_name("importance", each.series, each.target),
        title=f"Importance for {each.target}, {series_title(each.series)}",
        caption=f"Shares of the variance of the {each.target} over {counted(each.n_rows, 'run')}: single settings by "
        "three measures, and all pairs.",
        figure=plot_importances(each.anova, each.forest, target=each.target),
        folded=folded,
    )


def _tables(found: Sequence[Importance]) -> Iterator[Table]:
    for each in found:
        forest = each.forest
        yield Table(
            kind=f"Importance, {series_title(each.series)}, {each.target}",
            title=f"Shares of the variance of the {each.target}",
            columns=columns(*HEADS),
            rows=(
                *(
                    (
                        effect.names[0],
                        effect.names[1] if len(effect.names) > 1 else "",
                        effect.share,
                        effect.unbiased,
                        None if effect.interval is None else effect.interval.low,
                        None if effect.interval is None else effect.interval.high,
                        effect.f,
                        effect.p,
                        *(
                            shares.get(effect.names[0]) if len(effect.names) == 1 else None
                            for shares in ((forest.unnormalised, forest.normalised) if forest else ({}, {}))
                        ),
                    )
                    for effect in each.anova.effects
                ),
                ("higher orders", "", each.anova.higher, *(None,) * 7),
                ("seeds", "", each.anova.noise, *(None,) * 7),
            ),
        )
