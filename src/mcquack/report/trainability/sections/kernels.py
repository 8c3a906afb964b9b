"""What the kernel and its states are like before training."""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence

from mcquack.report.benchmark.tables import Table
from mcquack.report.style import counted
from mcquack.report.trainability.figures import Line, lines, paper_slice, shots_text, slice_text
from mcquack.report.trainability.kernels import (
    STATES,
    haar_log10,
    has_kernels,
    has_states,
    known_shots,
    log10_of,
    n_endless,
    plot_concentration,
    plot_shots,
    plot_states,
    values_by_qubits,
)
from mcquack.report.trainability.sections.section import (
    Picture,
    Section,
    capital,
    columns,
    file_name,
    series_title,
    sizes_of,
    span,
    within,
)
from mcquack.report.trainability.study import Study
from mcquack.studies.trainability.analysis import Scaling, scaling, size_means
from mcquack.studies.trainability.analysis.decay import FEWEST_SIZES
from mcquack.studies.trainability.observation import Observation

NOTE = (
    "Fidelities of different samples of the first batch under the initial parameters. A kernel whose variance falls "
    "exponentially needs exponentially many shots to be told from a constant, whatever its loss does: the alignment "
    "divides by the kernel’s norm, and so hides it. Variational classifiers have no kernel; shown are fidelities "
    "behind the circuit of their first class. Entangling power is Meyer and Wallach’s measure of the states of "
    "samples, 0 for products and at most 1. The distance from all states is the divergence (in nats) of the "
    "fidelities of a circuit whose angles are all drawn by chance from those of Haar-random states, 0 where it "
    "reaches all alike: it is one of the circuit alone, and the same for every start."
)


def kernel_section(study: Study) -> Section | None:
    """Concentration of fidelities and entangling power against the number of qubits; None if nobody measured them."""
    series = {name: found for name, found in study.starts.items() if has_kernels(found)}
    if not series:
        return None
    return Section(
        id="kernel",
        title="Kernel and states",
        short="Kernel",
        lead=tuple(_lead(series)),
        notes=(NOTE,),
        pictures=tuple(_pictures(series)),
        tables=(_table(series),),
    )


def variance_scaling(line: Line) -> Scaling | None:
    """How the variance of fidelities falls; None for too few sizes."""
    found = values_by_qubits(line, log10_of("variance"))
    pairs = [(n_qubits, value * math.log(10)) for n_qubits, values in found.items() for value in values]
    if len(found) < FEWEST_SIZES:
        return None
    return scaling(size_means([n for n, _ in pairs], [value for _, value in pairs], logarithmic=True))


def _lead(series: Mapping[str, Sequence[Observation]]) -> Iterator[str]:
    for name, found in series.items():
        for line in lines(paper_slice(found)):
            verdict = variance_scaling(line)
            if verdict is not None:
                where = f"{capital(series_title(name))}, {line.label}"
                yield f"{where}, variance of the kernel’s entries: {within(verdict.sentence)}"


def _pictures(series: Mapping[str, Sequence[Observation]]) -> Iterator[Picture]:
    for index, (name, found) in enumerate(series.items()):
        shown = slice_text(found)
        where, drawn = f" ({shown})" if shown else "", lines(paper_slice(found))
        yield Picture(
            name=file_name("concentration", name),
            title=f"Concentration, {series_title(name)}",
            caption=f"Mean and variance of the fidelities of different samples{where}, {span(sizes_of(found))}: "
            "medians over seeds, shaded from the lowest to the highest; dashed are states by chance.",
            figure=plot_concentration(drawn),
            folded=index > 0,
        )
        if has_states(paper_slice(found)):
            yield Picture(
                name=file_name("states", name),
                title=f"States, {series_title(name)}",
                caption=f"Entangling power of the states of the first batch{where} and, for few qubits, how far the "
                "circuit is from reaching all states; dashed are states by chance.",
                figure=plot_states(drawn),
                folded=index > 0,
            )


def _table(series: Mapping[str, Sequence[Observation]]) -> Table:
    logs = {"log10 mean fidelity": log10_of("mean"), "log10 variance": log10_of("variance")}
    rows = [
        (
            name,
            line.label,
            n_qubits,
            *(_median([measure(each) for each in group]) for measure in (*logs.values(), *STATES.values())),
            haar_log10(n_qubits, moment=1),
            len(group),
        )
        for name, found in series.items()
        for line in lines(found)
        for n_qubits, group in line.by_qubits.items()
    ]
    heads = ("entangling power", "expressibility", "log10 variance of chance", "seeds")
    return Table(
        kind="Kernels",
        title="Fidelities of different samples and their states before training, medians over seeds",
        columns=columns("series", "start", "qubits", *logs, *heads),
        rows=tuple(rows),
    )


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


# What the same gradients and fidelities mean on a device.

SHOTS_NOTE = (
    "Shots for each circuit after which a signal is as large as its standard error; ten times the precision takes a "
    "hundred times as many. A derivative by an angle is half the difference of two fidelities with the angle shifted "
    "by ±π/2; those of the alignment are for a batch of 16 samples, and count its slopes as known. Where the study has "
    "not looked at shifted circuits, those of a kernel entry’s gradient are estimated from its size and the mean "
    "fidelity. No noise but that of shots is counted."
)


def shot_section(study: Study) -> Section | None:
    """Shots against the number of qubits; None if nothing tells them."""
    series = {name: found for name, found in study.starts.items() if known_shots(found)}
    if not series:
        return None
    return Section(
        id="shots",
        title="On a device",
        short="Shots",
        lead=tuple(_shots_lead(series)),
        notes=(SHOTS_NOTE,),
        pictures=tuple(_shots_pictures(series)),
        tables=(_shots_table(series),),
    )


def _shots_lead(series: Mapping[str, Sequence[Observation]]) -> Iterator[str]:
    for name, found in series.items():
        for line in lines(paper_slice(found)):
            parts = []
            for title, measure in known_shots(line.observations).items():
                values = values_by_qubits(line, measure)
                ends = [
                    f"{shots_text(statistics.median(values[n]))} at {span([n])}"
                    for n in dict.fromkeys((min(values), max(values)))
                ]
                parts.append(f"{within(title)} {' and '.join(ends)}")
            if parts:
                yield f"{capital(series_title(name))}, {line.label}: {'; '.join(parts)}."
        for title, count in n_endless(found).items():
            runs = f"{count:,} of {counted(len(found), 'run')}"
            yield f"{capital(series_title(name))}: {within(title)}, no shots are enough in {runs}, which are left out."


def _shots_pictures(series: Mapping[str, Sequence[Observation]]) -> Iterator[Picture]:
    for index, (name, found) in enumerate(series.items()):
        shown = slice_text(found)
        yield Picture(
            name=file_name("shots", name),
            title=f"Shots, {series_title(name)}",
            caption=f"Shots for each circuit after which signal and noise are alike{f' ({shown})' if shown else ''}, "
            f"{span(sizes_of(found))}: medians over seeds, shaded from the lowest to the highest.",
            figure=plot_shots(lines(paper_slice(found))),
            folded=index > 0,
        )


def _shots_table(series: Mapping[str, Sequence[Observation]]) -> Table:
    rows = [
        (name, line.label, title, n_qubits, statistics.median(values), min(values), max(values))
        for name, found in series.items()
        for line in lines(found)
        for title, measure in known_shots(line.observations).items()
        for n_qubits, values in values_by_qubits(line, measure).items()
    ]
    return Table(
        kind="Shots",
        title="Decimal logarithms of the shots for each circuit",
        columns=columns("series", "start", "what for", "qubits", "median", "lowest", "highest"),
        rows=tuple(rows),
    )
