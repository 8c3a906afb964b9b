"""What the same gradients and fidelities mean on a device."""

import statistics
from collections.abc import Iterator, Mapping, Sequence

from mcquack.report.benchmark.tables import Table
from mcquack.report.trainability.kernels import values_by_qubits
from mcquack.report.trainability.lines import lines, paper_slice, slice_text
from mcquack.report.trainability.names import shots_text
from mcquack.report.trainability.sections.section import Picture, Section, columns, file_name
from mcquack.report.trainability.sections.words import capital, series_title, sizes_of, span, within
from mcquack.report.trainability.shots import known_shots, n_endless, plot_shots
from mcquack.report.trainability.study import Study
from mcquack.report.words import counted
from mcquack.studies.trainability.observation import Observation

NOTE = (
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
        lead=tuple(_lead(series)),
        notes=(NOTE,),
        pictures=tuple(_pictures(series)),
        tables=(_table(series),),
    )


def _lead(series: Mapping[str, Sequence[Observation]]) -> Iterator[str]:
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


def _pictures(series: Mapping[str, Sequence[Observation]]) -> Iterator[Picture]:
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


def _table(series: Mapping[str, Sequence[Observation]]) -> Table:
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
