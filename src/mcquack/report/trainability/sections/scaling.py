"""Whether gradients vanish as systems grow."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mcquack.report.benchmark.tables import Table
from mcquack.report.trainability.decays import Decay, decays, plot_decays
from mcquack.report.trainability.lines import Line, lines, paper_slice, slice_text
from mcquack.report.trainability.sections.section import Picture, Section, columns, file_name
from mcquack.report.trainability.sections.words import capital, series_title, sizes_of, span, spent, within
from mcquack.report.trainability.study import Study
from mcquack.studies.trainability.analysis.size_means import GradientOf
from mcquack.studies.trainability.observation import Observation
from mcquack.studies.trainability.settings import VARIATIONAL

KINDS: tuple[GradientOf, ...] = ("gradients", "fidelity_gradients")
Decays = Mapping[tuple[str, GradientOf], tuple[Decay, ...]]
"""By series and by what is differentiated."""


NOTE = (
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
        lead=tuple(_lead(study, found)),
        notes=(NOTE,),
        pictures=tuple(_pictures(study, found)),
        tables=(_table(found),),
    )


def _lead(study: Study, found: Decays) -> Iterator[str]:
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


def _pictures(study: Study, found: Decays) -> Iterator[Picture]:
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


def _table(found: Decays) -> Table:
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
