"""The gradients that training starts with."""

from collections.abc import Iterator, Sequence

from mcquack.report.benchmark.tables import Table
from mcquack.report.trainability.gradients import GradientPoint, gradient_points, plot_gradients
from mcquack.report.trainability.lines import lines, paper_slice, slice_text
from mcquack.report.trainability.names import GROUP_WORDS, number_text
from mcquack.report.trainability.sections.section import Picture, Section, columns, file_name
from mcquack.report.trainability.sections.words import capital, listed, series_title, sizes_of, span, spent
from mcquack.report.trainability.study import Study
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
