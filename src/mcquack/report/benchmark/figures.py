"""The figures of a report as files, for papers and slides."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from mcquack.bench.outcome import Metric
from mcquack.bench.ranking import SizeCurve
from mcquack.report.benchmark.summary import Summary
from mcquack.report.benchmark.tables.table import file_name
from mcquack.report.benchmark.views import ALL, View
from mcquack.report.ranking import plot_critical_difference, plot_ranking, plot_scores_by_size, plot_wins
from mcquack.report.ranking.metrics import METRIC_TITLES
from mcquack.report.svg import svg_bytes


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
