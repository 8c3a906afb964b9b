"""The gradients that training starts with."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mcquack.report.benchmark.tables import Table
from mcquack.report.trainability.figures import GROUP_WORDS, Line, lines, number_text, paper_slice, slice_text
from mcquack.report.trainability.gradients import (
    Decay,
    GradientPoint,
    Landscape,
    decays,
    gradient_points,
    plot_decays,
    plot_gradients,
    plot_landscape,
)
from mcquack.report.trainability.sections.section import (
    Picture,
    Section,
    capital,
    columns,
    file_name,
    listed,
    series_title,
    sizes_of,
    span,
    spent,
    within,
)
from mcquack.report.trainability.study import Study
from mcquack.studies.trainability.analysis.decay import GradientOf
from mcquack.studies.trainability.design import VARIATIONAL
from mcquack.studies.trainability.observation import GROUPS, Observation

NOTE = (
    "Derivatives of the loss 1 − A (of the cross entropy for variational classifiers), with the regulariser where "
    "there is one, for the first batch of kernel alignment; by the centroids, of the loss of centroid optimisation. "
    "Bars are standard deviations over all parameters of a group and all seeds, not the uncertainty of the mean. "
    "Scales differ between panels."
)


def gradient_section(study: Study) -> Section | None:
    """Mean and standard deviation for every group and start; None if nobody measured them."""
    series = {name: found for name, found in study.starts.items() if any(each.gradients for each in found)}
    if not series:
        return None
    main = next(iter(series.values()))
    return Section(
        id="gradients",
        title="First gradients",
        short="Gradients",
        lead=tuple(_lead(main)),
        notes=(NOTE,),
        pictures=tuple(picture for name, found in series.items() for picture in _pictures(name, found, main)),
        tables=(_table(series),),
    )


def _lead(observations: Sequence[Observation]) -> Iterator[str]:
    shown = slice_text(observations)
    for line in lines(paper_slice(observations)):
        points = gradient_points(line, "weights")
        if points:
            first, last = points[0], points[-1]
            where = f" ({shown})" if shown else ""
            ends = f"{_spread(first)} and {_spread(last)}" if len(points) > 1 else _spread(first)
            yield f"{capital(line.label)}{where}: weight gradients are {ends}."


def _spread(point: GradientPoint) -> str:
    mean, std = (number_text(value, digits=2) for value in (point.mean, point.std))
    return f"{mean} ± {std} at {span([point.n_qubits])}"


def _pictures(name: str, found: Sequence[Observation], main: Sequence[Observation]) -> Iterator[Picture]:
    title, shown = series_title(name), slice_text(found)
    about = f"{span(sizes_of(found))}; {spent(found)}"
    yield Picture(
        name=file_name("gradients", name),
        title=f"Weight gradients, {title}",
        caption=f"Mean and standard deviation of the weight gradients{f' ({shown})' if shown else ''}, {about}.",
        figure=plot_gradients(paper_slice(found)),
        folded=found is not main,
    )
    groups = [group for group in GROUPS if any(group in each.gradients for each in found)]
    yield Picture(
        name=file_name("gradients_all", name),
        title=f"All groups and starts, {title}",
        caption=f"The same for {listed([GROUP_WORDS[group] for group in groups])} gradients and all settings, {about}.",
        figure=plot_gradients(found, groups=groups),
        folded=True,
    )


def _table(series: dict[str, tuple[Observation, ...]]) -> Table:
    rows = [
        (name, line.label, group, point.n_qubits, point.mean, point.std, point.n_seeds)
        for name, found in series.items()
        for line in lines(found)
        for group in GROUPS
        for point in gradient_points(line, group)
    ]
    return Table(
        kind="Gradients",
        title="Mean and standard deviation of the first gradients",
        columns=columns("series", "start", "group", "qubits", "mean", "std", "seeds"),
        rows=tuple(rows),
    )


# Whether gradients vanish as systems grow.

KINDS: tuple[GradientOf, ...] = ("gradients", "fidelity_gradients")
Decays = Mapping[tuple[str, GradientOf], tuple[Decay, ...]]
"""By series and by what is differentiated."""


SCALING_NOTE = (
    "Dots are mean squares of the derivatives over the parameters of a group and over seeds. Each is fitted on the "
    "scale of logarithms by a·exp(−kn), by a·n^(−k) and by a constant; intervals are 95 % by bootstrap, and laws are "
    "compared by Akaike’s criterion for small samples (a difference below 6 decides nothing). A law is a statement "
    "about the sizes that were measured, not about larger ones. Where all parameters start with one, seeds only draw "
    "other samples, and the mean square is that of one point; where there is a regulariser, its derivative is part of "
    "it. With the number of qubits something else changes, too: with each feature encoded once the circuit gets "
    "shallower (deep: from 124 layers on 2 qubits to 14 on 18), with few layers it takes more features, until there "
    "are no more of them (shallow: up to 248). So a verdict is about the family of circuits, not about the number of "
    "qubits alone. Sizes and starts share their seeds, which intervals take as independent."
)


def all_decays(study: Study) -> Decays:
    """Of every series with at least two sizes; fitted once, for text, figures and tables."""
    found = {
        (name, of): decays(lines(observations), of=of)
        for name, observations in study.starts.items()
        if len(sizes_of(observations)) > 1
        for of in KINDS
    }
    return {key: each for key, each in found.items() if each}


def scaling_section(study: Study, found: Decays) -> Section | None:
    """Fits of both laws with their intervals, and which of them the sizes favour; None without gradients."""
    if not found:
        return None
    return Section(
        id="scaling",
        title="Gradients against system size",
        short="Scaling",
        lead=tuple(_scaling_lead(study, found)),
        notes=(SCALING_NOTE,),
        pictures=tuple(_scaling_pictures(study, found)),
        tables=(_scaling_table(found),),
    )


def _scaling_lead(study: Study, found: Decays) -> Iterator[str]:
    for (name, of), each in found.items():
        kept = shown_decays(study.series[name], each)
        for decay in kept:
            if decay.group == "weights" and decay.scaling is not None and of == "gradients":
                where = f"{capital(series_title(name))}, {decay.line.label}"
                yield f"{where}, mean square of the weight gradients: {within(decay.scaling.sentence)}"


def differentiated(of: GradientOf, models: Iterable[str]) -> str:
    """What the derivatives are of: variational classifiers measure no kernel."""
    if of == "gradients":
        return "loss"
    kinds = {"expectation value" if model in VARIATIONAL else "kernel entry" for model in models}
    return f"single {' or '.join(sorted(kinds, reverse=True))}"


def shown_decays(observations: Sequence[Observation], found: Sequence[Decay]) -> tuple[Decay, ...]:
    """Those of the paper's slice, under the shorter names that lines have within it."""
    wanted = {id(each) for each in paper_slice(observations)}
    names: dict[int, Line] = {id(each): line for line in lines(paper_slice(observations)) for each in line.observations}
    return tuple(
        Decay(
            line=names[id(decay.line.observations[0])],
            group=decay.group,
            of=decay.of,
            means=decay.means,
            scaling=decay.scaling,
        )
        for decay in found
        if all(id(each) in wanted for each in decay.line.observations)
    )


def _scaling_pictures(study: Study, found: Decays) -> Iterator[Picture]:
    for (name, of), each in found.items():
        observations = study.series[name]
        kept, shown = shown_decays(observations, each), slice_text(observations)
        if kept:
            what = differentiated(of, (seen.model for seen in observations))
            yield Picture(
                name=file_name("scaling", name, "" if of == "gradients" else "entry"),
                title=f"Gradients of the {what}, {series_title(name)}",
                caption=f"Mean squares of the gradients of the {what}{f' ({shown})' if shown else ''} with both fits, "
                f"{span(sizes_of(observations))}; {spent(observations)}.",
                figure=plot_decays(kept),
                folded=of != "gradients",
            )


def _scaling_table(found: Decays) -> Table:
    heads = ("series", "of", "start", "group", "sizes", "qubits from", "to", "verdict", "best law")
    numbers = ("halvings per qubit", "low", "high", "power", "power low", "power high", "AICc power − exponential")
    return Table(
        kind="Scaling",
        title="Decay of the mean square of first gradients with the number of qubits",
        columns=columns(*heads, *numbers, "weight exponential", "weight power", "weight constant", "misfit factor"),
        rows=tuple(
            (
                name,
                differentiated(of, [decay.line.model]),
                decay.line.label,
                decay.group,
                len(decay.means),
                int(decay.means.sizes[0]),
                int(decay.means.sizes[-1]),
                *_verdict(decay),
            )
            for (name, of), each in found.items()
            for decay in each
        ),
    )


def _verdict(decay: Decay) -> tuple[str | float | None, ...]:
    scaling = decay.scaling
    if scaling is None:
        return "too few sizes", *(None,) * 12
    exponential, power = scaling.fits["exponential"], scaling.fits["power"]
    return (
        scaling.kind,
        scaling.best,
        exponential.halvings_per_qubit,
        exponential.halvings_interval.low,
        exponential.halvings_interval.high,
        power.rate,
        power.rate_interval.low,
        power.rate_interval.high,
        scaling.advantage,
        *(scaling.weights[law] for law in ("exponential", "power", "constant")),
        scaling.fits[scaling.best].misfit,
    )


# The loss around what training found.

N_SHOWN = 2
"""Without asking."""

LANDSCAPE_NOTE = (
    "Losses of the first batch, with the regulariser, on a plane through the parameters, in units of the two "
    "directions; a plane shows two of many dimensions, and a minimum on it need not be one of the whole."
)


def landscape_section(found: Sequence[Landscape]) -> Section | None:
    """A slice through each; None without any."""
    if not found:
        return None
    return Section(
        id="landscape",
        title="Landscape",
        short="Landscape",
        lead=tuple(_reading(each) for each in found[:N_SHOWN]),
        notes=(LANDSCAPE_NOTE,),
        pictures=tuple(
            Picture(
                name=file_name("landscape", str(index + 1)),
                title=capital(each.title),
                caption="The same losses as a surface and as contours."
                + (f" {_reading(each)}" if index >= N_SHOWN else ""),
                figure=plot_landscape(each.losses, path=each.path, title=capital(each.title)),
                folded=index >= N_SHOWN,
            )
            for index, each in enumerate(found)
        ),
    )


def _reading(each: Landscape) -> str:
    first, second, lowest = each.losses.minimum
    centre, highest = each.losses.centre, float(each.losses.losses.max())
    at = "there" if first == second == 0 else f"at ({number_text(first, digits=2)}, {number_text(second, digits=2)})"
    return (
        f"{capital(each.title)}: the loss is {number_text(centre)} in the centre, at least {number_text(lowest)} "
        f"({at}) and at most {number_text(highest)} on the plane."
    )
