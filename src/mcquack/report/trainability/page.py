"""From a report to its page: one HTML file with styles, scripts and figures inside, in the look of a benchmark's."""

from functools import cache

from jinja2 import Environment
from markupsafe import Markup

from mcquack.report.assets import enclosed, environment, joined, source_hash
from mcquack.report.benchmark.failures import MOST_FAILURES, failure_groups
from mcquack.report.benchmark.page import PACKAGE as BENCHMARK
from mcquack.report.benchmark.tables import Table
from mcquack.report.svg import inline_svg
from mcquack.report.trainability.names import number_text
from mcquack.report.trainability.report import Report
from mcquack.report.trainability.sections.section import Picture, file_name

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
