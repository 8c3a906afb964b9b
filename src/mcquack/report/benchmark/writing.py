"""A report as a folder."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from matplotlib.figure import Figure

from mcquack.bench.outcome import Metric
from mcquack.bench.ranking import CellScores, SizeCurve
from mcquack.bench.store import Store
from mcquack.report.benchmark.contents import Contents, read_contents
from mcquack.report.benchmark.page import Link, Links, page
from mcquack.report.benchmark.summary import Summary, summary
from mcquack.report.benchmark.tables import Table, csv_text, file_name, latex, tables
from mcquack.report.benchmark.views import ALL, View
from mcquack.report.ranking import METRIC_TITLES, plot_critical_difference, plot_ranking, plot_scores_by_size, plot_wins
from mcquack.report.style import PAGE, replace_files, svg_bytes

# The figures of a report as files, for papers and slides.


@dataclass(frozen=True, kw_only=True)
class FigureFile:
    """A figure as SVG."""

    kind: str
    metric: Metric
    content: bytes

    @property
    def name(self) -> str:
        """Of its file."""
        return file_name(self.kind.removesuffix(" figure"), self.metric)


def figures(summary: Summary) -> tuple[FigureFile, ...]:
    """Of the metric that is shown first, and the ranking by AUC, as the paper has it; drawing all would take long."""
    rankings = [metric for metric in summary.views if metric in (summary.metric, "auc")]
    drawn = [("Ranking figure", metric, _ranking(summary.views[metric][ALL], metric)) for metric in rankings]
    if (view := summary.main_view) is not None:
        others = _others(view, METRIC_TITLES[summary.metric], curves=summary.curves["test", summary.metric])
        drawn += [(kind, summary.metric, figure) for kind, figure in others]
    return tuple(FigureFile(kind=kind, metric=metric, content=svg_bytes(figure)) for kind, metric, figure in drawn)


def _ranking(view: View, metric: Metric) -> Figure:
    return plot_ranking(view.standings, title=f"{METRIC_TITLES[metric]}: average normalised rank")


def _others(view: View, title: str, *, curves: Sequence[SizeCurve]) -> Iterator[tuple[str, Figure]]:
    if view.comparison is not None:
        yield "Critical difference figure", plot_critical_difference(view.comparison, title=f"{title}: average rank")
    if len(view.standings) > 1:
        yield "Wins figure", plot_wins(view.wins, title=f"{title}: wins – ties – losses")
    if curves:
        yield "Scores by size figure", plot_scores_by_size(curves)


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
