"""The report of a study as a folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from os import PathLike
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from mcquack.bench.store import Store
from mcquack.errors import InvalidInputError
from mcquack.report.benchmark.page import MOST_FAILURES, enclosed, environment, failure_groups, joined, source_hash
from mcquack.report.benchmark.page import PACKAGE as BENCHMARK
from mcquack.report.benchmark.tables import Table, csv_text, latex
from mcquack.report.style import PAGE, inline_svg, replace_files, svg_bytes
from mcquack.report.trainability.figures import number_text
from mcquack.report.trainability.gradients import Landscape, observed_landscapes
from mcquack.report.trainability.sections.gradients import (
    all_decays,
    gradient_section,
    landscape_section,
    scaling_section,
)
from mcquack.report.trainability.sections.kernels import kernel_section, shot_section
from mcquack.report.trainability.sections.paper import paper_section
from mcquack.report.trainability.sections.section import Picture, Section, file_name
from mcquack.report.trainability.sections.shares import importance_section, importances
from mcquack.report.trainability.sections.training import run_tables, training_section
from mcquack.report.trainability.study import Study, read_study

# The whole report of a study as values: its sections in the order of the page.


@dataclass(frozen=True, kw_only=True, eq=False)
class Report:
    """``appendix`` are tables that stand in files alone."""

    study: Study
    sections: tuple[Section, ...]
    appendix: tuple[Table, ...]

    @cached_property
    def pictures(self) -> tuple[Picture, ...]:
        """Of all sections."""
        return tuple(picture for section in self.sections for picture in section.pictures)

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """Of all sections and of the appendix; empty ones are left out."""
        own = (table for section in self.sections for table in section.tables)
        return tuple(table for table in (*own, *self.appendix) if table.rows)


def study_report(study: Study, *, landscapes: Sequence[Landscape] = ()) -> Report:
    """Everything that the observations allow to say; what they do not is left out."""
    decays = all_decays(study)
    found, faults = importances(study)
    sections = (
        paper_section(study, decays, found),
        gradient_section(study),
        scaling_section(study, decays),
        training_section(study),
        importance_section(found, faults),
        kernel_section(study),
        shot_section(study),
        landscape_section((*observed_landscapes(study.observations), *landscapes)),
    )
    return Report(
        study=study,
        sections=tuple(section for section in sections if section is not None),
        appendix=run_tables(study),
    )


# From a report to its page: one HTML file with styles, scripts and figures inside, in the look of a benchmark's.

PACKAGE = "mcquack.report.trainability"
STYLES = ("tokens", "base", "layout", "tables", "charts", "task", "print")
SHARED_SCRIPTS = ("theme", "sections")
MOST_ROWS = 60
"""Of a table on the page; its file has all."""

Links = dict[str, tuple[tuple[str, str], ...]]
"""Forms and paths of the files beside the page, by what they show."""


def page(report: Report, *, links: Links) -> str:
    """The text of index.html; the same report gives the same text."""
    script = enclosed(joined(BENCHMARK, "scripts", SHARED_SCRIPTS) + "\n" + joined(PACKAGE, "scripts", ("study",)))
    return (
        _environment()
        .get_template("study.html.j2")
        .render(
            contents=report.study,
            sections=report.sections,
            environments=report.study.environments,
            prints=report.study.prints,
            failures=failure_groups(report.study.failures),
            most_failures=MOST_FAILURES,
            most_rows=MOST_ROWS,
            links=links,
            style=Markup(joined(BENCHMARK, "styles", STYLES) + "\n" + joined(PACKAGE, "styles", ("study",))),
            script=Markup(script),
            script_hash=source_hash(script),
        )
    )


@cache
def _environment() -> Environment:
    made = environment(PACKAGE, BENCHMARK)
    made.filters |= {"drawn": _drawn, "entry": _entry, "file_name": file_name, "is_number": _is_number}
    return made


def _drawn(picture: Picture) -> Markup:
    return inline_svg(picture.figure, name=picture.name, label=f"{picture.title}. {picture.caption}")


def _entry(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return number_text(value, digits=3) if isinstance(value, float) else str(value)


def _is_number(table: Table, column: int) -> bool:
    """Whether a column is set at the right: all that is there are numbers."""
    return not any(isinstance(row[column], str) for row in table.rows)


def write_trainability_report(
    store: Store | str | PathLike[str],
    out: str | PathLike[str],
    *,
    landscapes: Sequence[Landscape] = (),
    title: str | None = None,
) -> Path:
    """Writes the report of a study into the folder ``out``, in place of an earlier one, and returns its page."""
    folder = Path(out)
    study = _study(store, title)
    if not study.observations and not study.failures:
        raise InvalidInputError(
            "the store has no observation of a trainability study; run one with mcquack trainability run, or make the "
            "report of a benchmark with mcquack report."
        )
    replace_files(folder, _files(study_report(study, landscapes=landscapes)))
    return folder / PAGE


def _study(store: Store | str | PathLike[str], title: str | None) -> Study:
    if isinstance(store, Store):
        return read_study(store, title=title)
    with Store.open(store) as opened:
        return read_study(opened, title=title)


def _files(report: Report) -> dict[str, bytes]:
    """All files by their path in the folder; the page comes last, as it refers to the others."""
    found: dict[str, bytes] = {}
    links: Links = {}
    for table in report.tables:
        name = file_name(table.name)
        paths = {"CSV": f"tables/{name}.csv"}
        _add(found, paths["CSV"], csv_text(table).encode("utf-8", "replace"))
        if table not in report.appendix:  # a row for each run is for programs, and no page of a paper has room for it
            paths["LaTeX"] = f"tables/{name}.tex"
            _add(found, paths["LaTeX"], latex(table).encode("utf-8", "replace"))
        links[table.kind] = tuple(paths.items())
    for picture in report.pictures:
        path = f"figures/{picture.name}.svg"
        _add(found, path, svg_bytes(picture.figure))
        links[picture.title] = (("SVG", path),)
    found[PAGE] = page(report, links=links).encode("utf-8", "replace")
    return found


def _add(found: dict[str, bytes], path: str, content: bytes) -> None:
    if path in found:
        raise InvalidInputError(
            f"two parts of the report would be the file {path}: their series have names that differ in nothing but "
            "signs; give the grids of the design names that differ in letters or digits."
        )
    found[path] = content
