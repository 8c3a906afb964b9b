"""A report as a folder."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from mcquack.bench.outcome import Metric
from mcquack.bench.ranking import CellScores
from mcquack.bench.store import Store
from mcquack.report.benchmark.contents import Contents, read_contents
from mcquack.report.benchmark.figures import FigureFile, figures
from mcquack.report.benchmark.page import Link, Links, page
from mcquack.report.benchmark.summary import summary
from mcquack.report.benchmark.tables import Table, csv_text, latex, tables
from mcquack.report.folder import PAGE, replace_files


def write_report(
    store: Store | str | PathLike[str],
    out: str | PathLike[str],
    *,
    published: Sequence[CellScores] = (),
    title: str | None = None,
) -> Path:
    """Writes the report of a store into the folder ``out``, in place of an earlier one, and returns its page.

    Published scores are ranked beside those of the store on the datasets that the store has.
    """
    folder = Path(out)
    if isinstance(store, Store):
        contents = read_contents(store, published=published, title=title)
    else:
        with Store.open(store) as opened:
            contents = read_contents(opened, published=published, title=title)
    replace_files(folder, _files(contents))
    return folder / PAGE


def _files(contents: Contents) -> dict[str, bytes]:
    """All files by their path in the folder; the page comes last, as it refers to the others."""
    statistics = summary(contents)
    made, drawn = tables(contents, statistics), figures(statistics)
    found: dict[str, bytes] = {}
    for table in made:
        paths = _paths(table)
        found[paths["CSV"]], found[paths["LaTeX"]] = _bytes(csv_text(table)), _bytes(latex(table))
    for figure in drawn:
        found[f"figures/{figure.name}.svg"] = figure.content
    found[PAGE] = _bytes(page(contents, statistics, links=_links(made, drawn)))
    return found


def _links(made: Sequence[Table], drawn: Sequence[FigureFile]) -> Links:
    found: dict[str, dict[Metric | None, list[Link]]] = {}
    for table in made:
        links = [Link(title=table.title, form=form, path=path) for form, path in _paths(table).items()]
        found.setdefault(table.kind, {})[table.metric] = links
    for figure in drawn:
        link = Link(title=figure.kind, form="SVG", path=f"figures/{figure.name}.svg")
        found.setdefault(figure.kind, {})[figure.metric] = [link]
    return found


def _paths(table: Table) -> dict[str, str]:
    return {"CSV": f"tables/{table.name}.csv", "LaTeX": f"tables/{table.name}.tex"}


def _bytes(text: str) -> bytes:
    # A name may hold half of a surrogate pair, which no file can.
    return text.encode("utf-8", "replace")
