"""The sections of the page as values: what was found in a sentence or two, figures, and tables.

How each was measured never changes, and stands in the template of the page.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from matplotlib.figure import Figure

from mcquack.bench.ranking import Interval
from mcquack.errors import InvalidInputError, MissingDependencyError
from mcquack.report.document import Picture, Section, Table, file_name, table
from mcquack.report.style import capital, counted, listed, number_text, power_of_ten, within
from mcquack.report.trainability import figures
from mcquack.report.trainability.figures import KERNEL, SHOTS
from mcquack.report.trainability.study import (
    Landscape,
    Study,
    curve_oscillation,
    factors,
    lines,
    paper_slice,
    setting_text,
    sizes_of,
    slice_text,
    value_place,
    varied_settings,
)
from mcquack.studies.trainability import Observation
from mcquack.studies.trainability.analysis import exact_anova, forest_importances, means_by
from mcquack.studies.trainability.analysis.decay import GradientOf
from mcquack.studies.trainability.analysis.importance import Anova, GroupMean, normalised
from mcquack.studies.trainability.analysis.states import haar_log_moments
from mcquack.studies.trainability.design import VARIATIONAL
from mcquack.studies.trainability.observation import GROUPS

Series = Mapping[str, Sequence[Observation]]
Row = tuple[Mapping[str, Any], float]

TRAINING: Mapping[str, Callable[[Observation], float | None]] = {
    "rising steps": lambda seen: getattr(curve_oscillation(seen), "rises", None),
    "way uphill": lambda seen: getattr(curve_oscillation(seen), "uphill", None),
    "amplitude": lambda seen: getattr(curve_oscillation(seen), "amplitude", None),
    "final loss": lambda seen: seen.scores.get("final_loss"),
    "training accuracy": lambda seen: seen.scores.get("train_accuracy"),
    "test accuracy": lambda seen: seen.scores.get("test_accuracy"),
}
"""The measures of a training, by name."""


def all_sections(study: Study, landscapes: Sequence[Landscape] = ()) -> Iterator[Section]:
    """Everything that the observations allow to say, in the order of the page; what they do not is left out."""
    starts = study.starts
    with_gradients = {name: seen for name, seen in starts.items() if any(each.gradients for each in seen)}
    if with_gradients:
        yield gradient_section(with_gradients)
    if several := {name: seen for name, seen in with_gradients.items() if len(sizes_of(seen)) > 1}:
        yield scaling_section(several)
    if study.trained:
        yield training_section(study.trained)
    found, faults = importances(study.trained)
    if found or faults:
        yield importance_section(found, faults)
    if series := {name: seen for name, seen in starts.items() if _knows(seen, KERNEL[:2])}:
        yield kernel_section(series)
    if series := {name: seen for name, seen in starts.items() if _knows(seen, SHOTS)}:
        yield shot_section(series)
    if landscapes:
        yield landscape_section(landscapes)


def gradient_section(series: Series) -> Section:
    """Mean and standard deviation of the first gradients for every start."""
    main, lead = next(iter(series.values())), []
    for line in lines(paper_slice(main)):
        points = figures.gradient_points(line, "weights")
        ends = [
            f"{number_text(each.mean, digits=2)} ± {number_text(each.std, digits=2)} at {span([each.n_qubits])}"
            for each in dict.fromkeys((*points[:1], *points[-1:]))
        ]
        if ends:
            lead.append(f"{capital(line.label)}{slice_text(main)}: weight gradients are {' and '.join(ends)}.")
    rows = (
        (name, line.label, group, point.n_qubits, point.mean, point.std, point.n_seeds)
        for name, found in series.items()
        for line in lines(found)
        for group in GROUPS
        for point in figures.gradient_points(line, group)
    )
    heads = ("series", "start", "group", "qubits", "mean", "std", "seeds")
    caption = "Mean and standard deviation of the weight gradients"
    return Section(
        id="gradients",
        lead=tuple(lead),
        pictures=pictures("Gradients", series, figures.plot_gradients, caption),
        tables=(table("Gradients", "Mean and standard deviation of the first gradients", heads, rows),),
    )


GRADIENTS: Mapping[GradientOf, str] = {"gradients": "", "fidelity_gradients": "entry"}
"""What derivatives are of, with what the names of files end in."""


def scaling_section(series: Series) -> Section:
    """Fits of both laws to the gradients of the loss and of single entries, and which of them the sizes favour."""
    lead: list[str] = []
    drawn: list[Picture] = []
    rows: list[tuple[Any, ...]] = []
    main = next(iter(series))
    for (name, found), of in product(series.items(), GRADIENTS):
        every, wanted = figures.decays(lines(found), of=of), {id(seen) for seen in paper_slice(found)}
        shown = [decay for decay in every if id(decay.line.observations[0]) in wanted]
        rows += [(name, _differentiated(of, decay.line.observations), *_verdict(decay)) for decay in every]
        if not shown:
            continue
        what = f"gradients of {'the' if of == 'gradients' else 'a'} {_differentiated(of, found)}"
        for decay in shown:
            if name == main and decay.group == "weights" and decay.scaling is not None:
                where = f"{capital(series_title(name))}, {decay.line.label}"
                lead.append(f"{where}, mean square of the weight {what}: {within(decay.scaling.sentence)}")
        file, title = file_name("scaling", name, GRADIENTS[of]), f"{capital(what)}, {series_title(name)}"
        caption = f"Mean squares of the {what}{slice_text(found)} with both fits; {about(found)}."
        drawn.append(Picture(file, title, caption, figures.plot_decays(shown), folded=name != main))
    heads = ("series", "of", "start", "group", "sizes", "qubits from", "to", "verdict", "best law")
    numbers = ("halvings per qubit", "low", "high", "power", "power low", "power high", "AICc power − exponential")
    title = "Decay of the mean square of first gradients with the number of qubits"
    made = table("Scaling", title, (*heads, *numbers, "misfit factor"), rows)
    return Section(id="scaling", lead=tuple(lead), pictures=tuple(drawn), tables=(made,))


def _differentiated(of: GradientOf, observations: Iterable[Observation]) -> str:
    """What the derivatives are of: variational classifiers measure no kernel."""
    if of == "gradients":
        return "loss"
    kinds = {"expectation value" if each.model in VARIATIONAL else "kernel entry" for each in observations}
    return f"single {' or '.join(sorted(kinds, reverse=True))}"


def _verdict(decay: figures.Decay) -> tuple[Any, ...]:
    law, sizes = decay.scaling, decay.means.sizes
    row: tuple[Any, ...] = (decay.line.label, decay.group, len(sizes), int(sizes[0]), int(sizes[-1]))
    if law is None:
        return *row, "too few sizes", *(None,) * 9
    power, (halvings, ends) = law.fits["power"], law.halvings
    powers = power.rate_interval
    row += (law.kind, law.best, halvings, ends.low, ends.high)
    return *row, power.rate, powers.low, powers.high, law.advantage, law.fits[law.best].misfit


def training_section(series: Series) -> Section:
    """Loss curves, and in tables how much they oscillate and what came of them."""
    main = next(iter(series.values()))
    starts = means(main, ("init_small",), "way uphill") if all("init_small" in each.settings for each in main) else ()
    lead = [
        f"{capital(setting_text('init_small', each.settings['init_small']))}: "
        f"{with_interval(each.mean, each.interval)} of the way of the loss leads uphill, over {counted(each.n, 'run')} "
        f"of {span(sizes_of(main))}."
        for each in starts
    ]
    if n_left_out := sum(curve_oscillation(each) is None for each in main):
        lead.append(f"Left out: {counted(n_left_out, 'run')} with a loss that is no number, or with too few epochs.")
    drawn: tuple[Picture, ...] = ()
    for name, found in series.items():
        stepwise = any(each.step_losses for each in found)
        if stepwise or "lr" not in varied_settings(found):
            when = "Mean loss after each step of the whole sample" if stepwise else "Mean loss after each epoch"
            drawn += pictures("Losses", {name: found}, figures.plot_losses, when)
    tables = tuple(_training_table(name, found) for name, found in series.items())
    return Section(id="training", lead=tuple(lead), pictures=drawn, tables=tables)


def means(found: Sequence[Observation], names: Sequence[str], measure: str) -> tuple[GroupMean, ...]:
    """Means of a measure of training over the runs that share the named settings, ``True`` first."""
    rows = [({**each.settings, "model": each.model}, TRAINING[measure](each)) for each in found]
    return tuple(sorted(means_by(rows, names), key=lambda group: [*map(value_place, group.settings.values())]))


def _training_table(name: str, found: Sequence[Observation]) -> Table:
    names = ("model", *(name for name in factors(found) if all(name in each.settings for each in found)))
    groups: dict[tuple[str, ...], dict[str, GroupMean]] = {}
    for measure in TRAINING:
        for each in means(found, names, measure):
            groups.setdefault(tuple(map(str, each.settings.values())), {})[measure] = each
    rows = []
    for key, known in groups.items():
        values = (known[measure].mean if measure in known else None for measure in TRAINING)
        rows.append((*key, *values, max(each.n for each in known.values())))
    title = f"Means over sizes and seeds by {listed(names)}"
    return table(f"Training, {series_title(name)}", title, (*names, *TRAINING, "runs"), rows)


@dataclass(frozen=True, kw_only=True)
class Importance:
    """What decides one target in one series; ``forest`` is None where Optuna is not installed."""

    series: str
    target: str
    anova: Anova
    forest: Mapping[str, float] | None
    rows: tuple[Row, ...]

    @property
    def leading(self) -> str:
        """The setting that explains most."""
        return max(self.anova.main, key=self.anova.share)

    def levels(self, name: str) -> str:
        """Means for the levels of a setting: a share of variance does not tell which one is better."""
        found = {each.settings[name]: each.mean for each in means_by(self.rows, (name,))}
        told = [f"{found[level]:.2f} for {setting_text(name, level)}" for level in sorted(found, key=value_place)]
        return f"mean {listed(told if len(told) < 4 else [told[0], told[-1]])}"


def importances(series: Series) -> tuple[tuple[Importance, ...], tuple[str, ...]]:
    """For accuracy and loss in every series that varies two settings or more; and why some could not be decomposed."""
    found, faults = [], []
    for (name, observations), target in product(series.items(), ("test accuracy", "final loss")):
        several = ["model"] if len({each.model for each in observations}) > 1 else []
        sizes = ["n_qubits"] if len(sizes_of(observations)) > 1 else []
        names = [*several, *factors(observations), *sizes]
        given = [({**each.settings, "model": each.model}, TRAINING[target](each)) for each in observations]
        rows, left_out = complete_rows([(settings, x) for settings, x in given if x is not None], names)
        if len(names) < 2 or not (rows or left_out):
            continue
        where = f"{capital(series_title(name))}, {target}"
        if left_out:
            told = listed([f"{n_qubits:,}" for n_qubits in left_out])
            faults.append(f"{where}: without the sizes {told}, where runs are missing, for a complete grid.")
        forest = None
        try:
            anova = exact_anova(rows, names=names)
            forest = forest_importances(rows, names=anova.names)
        except InvalidInputError as error:
            faults.append(f"{where}: {error}")
            continue
        except MissingDependencyError as error:
            faults.append(str(error))
        found.append(Importance(series=name, target=target, anova=anova, forest=forest, rows=tuple(rows)))
    return tuple(found), tuple(dict.fromkeys(faults))


def complete_rows(rows: Sequence[Row], names: Sequence[str]) -> tuple[list[Row], list[int]]:
    """The rows of all sizes that have every combination of the other settings, and the sizes that lack one."""
    if "n_qubits" not in names:
        return list(rows), []
    cells: dict[int, set[tuple[Any, ...]]] = {}
    for settings, _ in rows:
        key = tuple(settings[name] for name in names if name != "n_qubits")
        cells.setdefault(settings["n_qubits"], set()).add(key)
    wanted = set().union(*cells.values())
    left_out = sorted(n_qubits for n_qubits, found in cells.items() if found != wanted)
    return [row for row in rows if row[0]["n_qubits"] not in left_out], left_out


def importance_section(found: Sequence[Importance], faults: Sequence[str]) -> Section:
    """Exact shares beside fANOVA’s."""
    lead: list[str] = []
    drawn: list[Picture] = []
    for each in found:
        if each.series == found[0].series:
            name = each.leading
            forest = f" (fANOVA, normalised: {normalised(each.forest)[name]:.2f})" if each.forest is not None else ""
            lead.append(
                f"{capital(each.target)}, {series_title(each.series)}: {name} explains {each.anova.share(name):.2f} of "
                f"the variance{forest}, seeds {each.anova.noise:.2f}; {each.levels(name)}."
            )
        title = f"Importance for {each.target}, {series_title(each.series)}"
        caption = f"Shares of the variance of the {each.target} over {counted(len(each.rows), 'run')}."
        figure = figures.plot_importances(each.anova, each.forest, target=each.target)
        drawn.append(Picture(file_name("importance", each.series, each.target), title, caption, figure, bool(drawn)))
    headline = ""
    if found:
        first, name = found[0], found[0].leading
        share = f"{first.anova.share(name):.2f} of the variance of the {first.target}"
        headline = f"{name} explains {share}, {first.levels(name)}."
    return Section(
        id="importance",
        headline=headline,
        lead=tuple(lead),
        pictures=tuple(drawn),
        tables=tuple(map(_importance_table, found)),
        faults=tuple(faults),
    )


def _importance_table(each: Importance) -> Table:
    rows: list[tuple[Any, ...]] = []
    for effect in each.anova.effects:
        first, second = (*effect.names, "")[:2]
        ends = (None, None) if effect.interval is None else (effect.interval.low, effect.interval.high)
        forest: tuple[float | None, float | None] = (None, None)
        if each.forest is not None and not second:
            forest = (each.forest.get(first), normalised(each.forest).get(first))
        rows.append((first, second, effect.share, effect.unbiased, *ends, effect.p, *forest))
    rows += [("higher orders", "", each.anova.higher, *(None,) * 6), ("seeds", "", each.anova.noise, *(None,) * 6)]
    heads = ("setting", "with", "exact share", "without scatter", "low", "high", "p", "fANOVA", "fANOVA normalised")
    kind = f"Importance, {series_title(each.series)}, {each.target}"
    return table(kind, f"Shares of the variance of the {each.target}", heads, rows)


def kernel_section(series: Series) -> Section:
    """Concentration of fidelities, entangling power and expressibility before training."""
    rows = []
    for name, line in ((name, line) for name, found in series.items() for line in lines(found)):
        by_measure = [figures.measured(line, measure) for measure in KERNEL]
        for n, group in line.by_qubits.items():
            medians = (statistics.median(values[n]) if n in values else None for values in by_measure)
            rows.append((name, line.label, n, *medians, haar_log_moments(n)[1] / math.log(10), len(group)))
    heads = ("series", "start", "qubits", "log10 mean fidelity", "log10 variance", "entangling power", "expressibility")
    title = "Fidelities of different samples and their states before training, medians over seeds"
    caption = "Fidelities of different samples and, for few qubits, their states"
    return Section(
        id="kernel",
        lead=tuple(_ends(series, KERNEL[:2], lambda log: number_text(10**log, digits=2))),
        pictures=pictures("Kernel", series, lambda kept: figures.plot_measures(lines(kept), KERNEL), caption),
        tables=(table("Kernels", title, (*heads, "log10 variance of chance", "seeds"), rows),),
    )


def shot_section(series: Series) -> Section:
    """Shots that a device would need against the number of qubits."""
    rows = (
        (name, line.label, measure.title, n, statistics.median(x), min(x), max(x), len(x))
        for name, found in series.items()
        for line in lines(found)
        for measure in SHOTS
        for n, x in figures.measured(line, measure).items()
    )
    heads = ("series", "start", "what for", "qubits", "median", "lowest", "highest", "runs")
    caption = "Shots for each circuit after which signal and noise are alike"
    return Section(
        id="shots",
        lead=tuple(_ends(series, SHOTS, shots_text)),
        pictures=pictures("Shots", series, lambda kept: figures.plot_measures(lines(kept), SHOTS), caption),
        tables=(table("Shots", "Decimal logarithms of the shots for each circuit", heads, rows),),
    )


def _ends(series: Series, measures: Sequence[figures.Measure], as_text: Callable[[float], str]) -> Iterator[str]:
    name, main = next(iter(series.items()))
    for line in lines(paper_slice(main)):
        parts = []
        for measure in measures:
            if values := figures.measured(line, measure):
                sizes = dict.fromkeys((min(values), max(values)))
                numbers = [f"{as_text(statistics.median(values[n]))} at {span([n])}" for n in sizes]
                parts.append(f"{within(measure.title)} {' and '.join(numbers)}")
        if parts:
            yield f"{capital(series_title(name))}, {line.label}: {'; '.join(parts)}."


def _knows(observations: Iterable[Observation], measures: Sequence[figures.Measure]) -> bool:
    return any(measure.of(each) is not None for each in observations for measure in measures)


def shots_text(log10_shots: float) -> str:
    """A number of shots by its decimal logarithm."""
    if log10_shots < 6:
        return counted(max(round(10**log10_shots), 1), "shot")
    return f"about {power_of_ten(round(log10_shots))} shots"


def landscape_section(found: Sequence[Landscape]) -> Section:
    """Slices of the loss around trained parameters, of which the first two are shown without asking."""
    drawn = []
    for index, each in enumerate(found):
        first, second, lowest = each.losses.minimum
        at = f"({number_text(first, digits=2)}, {number_text(second, digits=2)})"
        title, name = capital(each.title), file_name("landscape", str(index + 1))
        caption = (
            f"{title}: the loss is {number_text(each.losses.centre)} in the centre, at least {number_text(lowest)} at "
            f"{at} and at most {number_text(float(each.losses.losses.max()))} on the plane."
        )
        drawn.append(Picture(name, title, caption, figures.plot_landscape(each), folded=index > 1))
    return Section(id="landscape", pictures=tuple(drawn))


def run_table(study: Study) -> Table:
    """Every run of the study in one row, for a spreadsheet or another program."""
    first = ("series", "n_qubits", "n_layers", "init_small", "init_strategy", "regularised")
    known = {name for each in study.observations for name in each.settings}
    settings = [*(name for name in first if name in known), *sorted(known - set(first))]
    kernel = sorted({name for each in study.observations for name in each.kernel})
    scores = sorted({name for each in study.observations for name in each.scores})
    rows = []
    for each in study.observations:
        row: list[Any] = [each.model, each.seed]
        for value in (each.settings.get(name) for name in settings):
            plain = value is None or (isinstance(value, int | float) and not isinstance(value, bool))
            row.append(value if plain else str(value))
        for kind, group in product((each.gradients, each.fidelity_gradients), GROUPS):
            seen = kind.get(group)
            row += (None, None, None) if seen is None else (seen.mean, seen.std, seen.mean_square**0.5)
        row += [*map(each.kernel.get, kernel), *map(each.scores.get, scores)]
        rows.append((*row, TRAINING["way uphill"](each), TRAINING["amplitude"](each)))
    gradients = [" ".join(parts) for parts in product(("loss", "entry"), GROUPS, ("mean", "std", "rms"))]
    heads = ("model", "seed", *settings, *gradients, *kernel, *scores, "uphill", "amplitude")
    return table("Observations", "Every run: settings, first gradients, states and scores", heads, rows)


def pictures(
    title: str, series: Series, draw: Callable[[Sequence[Observation]], Figure], caption: str
) -> tuple[Picture, ...]:
    """What the paper would show of each series; all but the first are seen on request."""
    drawn: list[Picture] = []
    for name, found in series.items():
        told = f"{caption}{slice_text(found)}; {about(found)}."
        figure, where = draw(paper_slice(found)), series_title(name)
        drawn.append(Picture(file_name(title, name), f"{title}, {where}", told, figure, folded=bool(drawn)))
    return tuple(drawn)


def with_interval(value: float, interval: Interval | None) -> str:
    """A share and, if it is known, where it lies; Student's interval knows no bounds, but a share has one."""
    told = number_text(value, digits=2)
    if interval is None:
        return told
    ends = (number_text(end, digits=2) for end in (max(interval.low, 0.0), interval.high))
    return f"{told} ({100 * interval.level:g} % interval {' to '.join(ends)})"


def span(numbers: Iterable[int], noun: str = "qubit") -> str:
    """Numbers of something as "2 to 13 qubits"."""
    known = sorted(set(numbers))
    return counted(known[0], noun) if len(known) == 1 else f"{known[0]:,} to {known[-1]:,} {noun}s"


def series_title(name: str) -> str:
    """A series as it stands in titles; a store may have one without a name."""
    return f"grid {name.replace('_', ' ')}" if name else "study"


def about(observations: Sequence[Observation]) -> str:
    """Sizes, depths and batches of a series, as far as they are known."""
    parts = [span(sizes_of(observations))]
    for name, noun in (("n_layers", "layer"), ("batch_size", "sample")):
        if known := {int(each.settings[name]) for each in observations if each.settings.get(name)}:
            parts.append(span(known, noun) + (" in the first batch" if name == "batch_size" else ""))
    return ", ".join(parts)
