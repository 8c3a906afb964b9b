"""The report of a study as a folder: one page with everything inside, and its tables and figures as files beside it."""

import re
from collections.abc import Sequence
from functools import cache
from os import PathLike
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from mcquack.bench.store import Store
from mcquack.errors import InvalidInputError
from mcquack.report.benchmark.page import PACKAGE as BENCHMARK
from mcquack.report.benchmark.page import STYLES, environment, joined, rendered
from mcquack.report.benchmark.tables import Table, csv_text, latex
from mcquack.report.style import PAGE, inline_svg, replace_files, svg_bytes
from mcquack.report.trainability.findings import Finding, top_findings
from mcquack.report.trainability.sections import Picture, Section, all_sections, file_name, run_table
from mcquack.report.trainability.study import (
    Landscape,
    Study,
    number_text,
    observed_landscapes,
    plain_number,
    read_study,
)

PACKAGE = "mcquack.report.trainability"
SHARED_SCRIPTS = ("theme", "sections")
MOST_ROWS = 60  # of a table on the page; its file has all

Links = dict[str, tuple[tuple[str, str], ...]]  # forms and paths of the files beside the page, by what they show


def write_trainability_report(
    store: Store | str | PathLike[str],
    out: str | PathLike[str],
    *,
    landscapes: Sequence[Landscape] = (),
    title: str | None = None,
) -> Path:
    """Writes the report of a study into a folder, in place of an earlier one.

    Parameters
    ----------
    store : what ``mcquack trainability run`` has written, or its path.
    out : the folder, which is made if it does not exist.
    landscapes : slices of losses to show besides those that the study has kept.
    title : above the page; None takes that of the design.

    Examples
    --------
    >>> write_trainability_report("trainability.sqlite", "report")  # doctest: +SKIP
    PosixPath('report/index.html')
    """
    if not isinstance(store, Store):
        with Store.open(store) as opened:
            return write_trainability_report(opened, out, landscapes=landscapes, title=title)
    study, folder = read_study(store, title=title), Path(out)
    if not study.observations and not study.failures:
        raise InvalidInputError(
            "the store has no observation of a trainability study; run one with mcquack trainability run, or make the "
            "report of a benchmark with mcquack report."
        )
    sections = tuple(all_sections(study, (*observed_landscapes(study.observations), *landscapes)))
    replace_files(folder, _files(study, sections, findings=top_findings(study, sections)))
    return folder / PAGE


def _files(study: Study, sections: Sequence[Section], *, findings: Sequence[Finding]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    links: Links = {}

    def add(path: str, content: bytes) -> None:
        if path in found:
            raise InvalidInputError(
                f"two parts of the report would be the file {path}: their series have names that differ in nothing but "
                "signs; give the grids of the design names that differ in letters or digits."
            )
        found[path] = content

    runs = run_table(study)
    for table in (*(table for section in sections for table in section.tables), runs):
        if table.rows:
            paths = {"CSV": f"tables/{file_name(table.name)}.csv"}
            add(paths["CSV"], csv_text(table).encode("utf-8", "replace"))
            if table is not runs:  # a row for each run is for programs, and no page of a paper has room for it
                paths["LaTeX"] = f"tables/{file_name(table.name)}.tex"
                add(paths["LaTeX"], latex(table).encode("utf-8", "replace"))
            links[table.kind] = tuple(paths.items())
    drawn = [picture for section in sections for picture in section.pictures]
    first = [finding.picture for finding in findings if finding.picture not in drawn]
    for picture in (*first, *drawn):
        path = f"figures/{picture.name}.svg"
        add(path, svg_bytes(picture.figure))
        links[picture.title] = (("SVG", path),)
    found[PAGE] = page(study, sections, findings=findings, links=links).encode("utf-8", "replace")
    return found


def page(study: Study, sections: Sequence[Section], *, findings: Sequence[Finding] = (), links: Links) -> str:
    """The text of index.html, with styles, scripts and figures inside; the same study gives the same text.

    Findings are told first, each with its figure; all else is folded.
    """
    return rendered(
        _environment().get_template("study.html.j2"),
        study,
        styles=joined(BENCHMARK, "styles", STYLES) + "\n" + joined(PACKAGE, "styles", ("study",)),
        scripts=joined(BENCHMARK, "scripts", SHARED_SCRIPTS) + "\n" + joined(PACKAGE, "scripts", ("study",)),
        sections=sections,
        findings=findings,
        first_pictures={finding.picture.name for finding in findings},
        most_rows=MOST_ROWS,
        links=links,
    )


@cache
def _environment() -> Environment:
    made = environment(PACKAGE, BENCHMARK)
    made.filters |= {"drawn": _drawn, "entry": _entry, "file_name": file_name, "is_number": _is_number}
    made.filters["typeset"] = typeset
    return made


def _drawn(picture: Picture) -> Markup:
    return inline_svg(picture.figure, name=picture.name, label=f"{picture.title}. {picture.caption}")


def _entry(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return number_text(value, digits=3) if isinstance(value, float) else plain_number(str(value))


_EXPONENT = re.compile(r"\^(?:\(([^()<>]*)\)|(-?[0-9.]+))")
_HYPHEN = re.compile(r"(?<![\w.)])-(?=[0-9.])")


def typeset(text: str) -> Markup:
    """A sentence with raised exponents and true minus signs; whatever else is in it stays text.

    >>> typeset("as n^(-2.08) & more")
    Markup('as n<sup>−2.08</sup> &amp; more')
    """
    signed = _HYPHEN.sub("−", str(Markup.escape(text)))
    return Markup(_EXPONENT.sub(lambda found: f"<sup>{found[1] or found[2]}</sup>", signed))


def _is_number(table: Table, column: int) -> bool:
    return not any(isinstance(row[column], str) for row in table.rows)
