"""A report as a folder: its page, and beside it all tables as CSV and LaTeX and the main figures as SVG."""

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import get_args

from matplotlib.figure import Figure

from mcquack.bench.ranking import CellScores, Scale
from mcquack.bench.store import Store
from mcquack.bench.task import Metric
from mcquack.checks import require
from mcquack.report.benchmark.analysis import ALL, Analysis, View, analyse
from mcquack.report.benchmark.contents import Contents, read_contents
from mcquack.report.benchmark.page import Link, page
from mcquack.report.benchmark.tables import csv_text, file_name, latex, tables
from mcquack.report.ranking import plot_critical_difference, plot_ranking, plot_scores_by_size, plot_wins
from mcquack.report.style import PAGE, replace_files, svg_bytes


def write_report(
    store: Store | str | PathLike[str],
    out: str | PathLike[str],
    *,
    published: Sequence[CellScores] = (),
    title: str | None = None,
    rank_scale: Scale = "share",
) -> Path:
    """Write the report of a benchmark into a folder, in place of an earlier one.

    Parameters
    ----------
    store : the results, as ``mcquack bench run`` leaves them: an open store, or the path of its file.
    out : the folder; it is made if it does not exist. Files that are not of an earlier report are left alone.
    published : scores of others, which are ranked beside those of the store on the datasets that the store has, and
        marked.
    title : what stands above the page; by default the title of the suite.
    rank_scale : average ranks are means of rank / models ("share", as in the QML benchmark suite) or of
        (rank - 1) / (models - 1) ("unit", as in the paper: 0 for a model that is always first, 1 for one that is last).

    Returns
    -------
    The page, ``index.html`` in the folder. It needs no other file and no internet.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Store.open(Path(folder, "results.sqlite"), create=True) as store:
    ...     write_report(store, Path(folder, "report"), title="Nothing yet").name
    'index.html'
    """
    require(rank_scale in get_args(Scale), "rank_scale", "share or unit", rank_scale)
    if isinstance(store, Store):
        contents = read_contents(store, published=published, title=title)
    else:
        with Store.open(store) as opened:
            contents = read_contents(opened, published=published, title=title)
    replace_files(Path(out), _files(contents, rank_scale=rank_scale))
    return Path(out, PAGE)


def _files(contents: Contents, *, rank_scale: Scale) -> dict[str, bytes]:
    analysis = analyse(contents, rank_scale=rank_scale)
    found: dict[str, bytes] = {}
    links: dict[str, dict[Metric | None, list[Link]]] = {}

    def add(path: str, content: bytes, *, kind: str, metric: Metric | None, title: str, form: str) -> None:
        found[path] = content
        links.setdefault(kind, {}).setdefault(metric, []).append((title, form, path))

    for table in tables(contents, analysis):
        for form, ending, text in (("CSV", "csv", csv_text(table)), ("LaTeX", "tex", latex(table))):
            path = f"tables/{table.name}.{ending}"
            add(path, _bytes(text), kind=table.kind, metric=table.metric, title=table.title, form=form)
    for kind, metric, figure in _figures(analysis):
        path = f"figures/{file_name(kind.removesuffix(' figure'), metric)}.svg"
        add(path, svg_bytes(figure), kind=kind, metric=metric, title=kind, form="SVG")
    found[PAGE] = _bytes(page(contents, analysis, links=links))
    return found


def _figures(analysis: Analysis) -> Iterator[tuple[str, Metric, Figure]]:
    if (view := analysis.main) is None:
        return
    yield "Ranking figure", view.metric, _ranking_figure(view)
    if view.comparison is not None:
        figure = plot_critical_difference(view.comparison, title=f"{view.title}: average rank")
        yield "Critical difference figure", view.metric, figure
    if len(view.standings) > 1:
        yield "Wins figure", view.metric, plot_wins(view.wins, title=f"{view.title}: wins – ties – losses")
    if view.metric != "auc" and "auc" in analysis.views:
        yield "Ranking figure", "auc", _ranking_figure(analysis.views["auc"][ALL])
    if curves := analysis.curves["test", view.metric]:
        yield "Scores by size figure", view.metric, plot_scores_by_size(curves)


def _ranking_figure(view: View) -> Figure:
    return plot_ranking(view.standings, title=f"{view.title}: average normalised rank")


def _bytes(text: str) -> bytes:
    # A name may hold half of a surrogate pair, which no file can.
    return text.encode("utf-8", "replace")
