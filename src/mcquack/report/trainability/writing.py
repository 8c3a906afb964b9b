"""The report of a study as a folder."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from mcquack.bench.store import Store
from mcquack.errors import InvalidInputError
from mcquack.report.benchmark.tables import csv_text, latex
from mcquack.report.folder import PAGE, replace_files
from mcquack.report.svg import svg_bytes
from mcquack.report.trainability.landscape import Landscape
from mcquack.report.trainability.page import Links, page
from mcquack.report.trainability.report import Report, study_report
from mcquack.report.trainability.sections.section import file_name
from mcquack.report.trainability.study import Study, read_study


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
