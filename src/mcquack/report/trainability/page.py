"""The report of a study as a folder: one page with everything inside, and its tables and figures as files beside it."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from mcquack.bench.store import Store
from mcquack.errors import InvalidInputError
from mcquack.report.pages import PAGE, Folder, encoded, page_text, replace_files
from mcquack.report.trainability.findings import top_findings
from mcquack.report.trainability.sections import all_sections, run_table
from mcquack.report.trainability.study import Landscape, Study, observed_landscapes, read_study


def write_trainability_report(
    store: Store | str | PathLike[str],
    out: str | PathLike[str],
    *,
    landscapes: Sequence[Landscape] = (),
    title: str | None = None,
) -> Path:
    """Write the report of a study into a folder, in place of an earlier one.

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
    replace_files(folder, _files(study, (*observed_landscapes(study.observations), *landscapes)))
    return folder / PAGE


def _files(study: Study, landscapes: Sequence[Landscape]) -> dict[str, bytes]:
    sections, folder = tuple(all_sections(study, landscapes)), Folder()
    findings = top_findings(study, sections)
    for table in (table for section in sections for table in section.tables if table.rows):
        folder.add_table(table)
    if (runs := run_table(study)).rows:
        folder.add_table(runs, latex=False)  # a row for each run: no page of a paper has room
    drawn = [picture for section in sections for picture in section.pictures]
    first = [finding.picture for finding in findings if finding.picture not in drawn]
    for picture in (*first, *drawn):
        folder.add_figure(picture.name, picture.figure, kind=picture.title)
    text = page_text(
        "study.html.j2",
        scripts=("theme", "sections", "study"),
        contents=study,
        sections=sections,
        findings=findings,
        first_pictures={finding.picture.name for finding in findings},
        links=folder.links,
    )
    return {**folder.contents, PAGE: encoded(text)}
