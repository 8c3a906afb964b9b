"""The tables of a benchmark's report."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass

from mcquack.bench.ranking import Contender, Interval
from mcquack.bench.task import Metric, Part
from mcquack.report.benchmark.analysis import ALL, PARTS, SCORE_PARTS, Analysis, View
from mcquack.report.benchmark.contents import Contents
from mcquack.report.document import Column, Several, Table, table
from mcquack.report.ranking import METRIC_TITLES, metric_phrase


@dataclass(frozen=True)
class WinRecord(Several):
    """On how many datasets one model is better than another, as good, and worse."""

    wins: int
    ties: int
    losses: int

    @property
    def numbers(self) -> Sequence[float]:
        return astuple(self)

    @property
    def text(self) -> str:
        return "–".join(map(str, self.numbers))


_WIN_PARTS = (" wins", " ties", " losses")


def tables(contents: Contents, analysis: Analysis) -> tuple[Table, ...]:
    """The tables of every metric, then what was chosen, what failed and what ran; empty ones are left out."""
    by_metric = [table for metric in contents.metrics for table in _of_metric(contents, analysis, metric)]
    return tuple(table for table in (*by_metric, *_general(contents)) if table.rows)


def _of_metric(contents: Contents, analysis: Analysis, metric: Metric) -> Iterator[Table]:
    by_family = analysis.views[metric]
    yield _leaderboard(by_family[ALL])
    if len(by_family) > 1:
        yield _ranks_by_family(metric, by_family)
    yield from view_tables(by_family[ALL])
    for part in PARTS:
        yield _scores(contents, analysis, part=part, metric=metric)
    yield _scores_by_size(analysis, metric)


_MODEL: tuple[str | Column, ...] = ("model", "source")


def _named(contender: Contender) -> tuple[str, str | None]:
    return contender.title, contender.source or None


def _columns(contenders: Iterable[Contender], *, parts: tuple[str, ...] = ("",)) -> tuple[Column, ...]:
    return tuple(Column(title=each.title, source=each.source, parts=parts) for each in contenders)


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _leaderboard(view: View) -> Table:
    heads = ("average rank", "low", "high", "mean score", "wins", "datasets", "parameters", "fit seconds")
    by_metric = f"by test {metric_phrase(view.metric)}"
    title = f"Average normalised ranks, {view.rank_formula}, {by_metric} with 95 % bootstrap intervals"
    rows = (
        (
            *_named(line.contender),
            line.average_rank,
            *_ends(line.interval),
            line.mean_score,
            line.n_first,
            line.n_datasets,
            view.n_parameters.get(line.contender),
            view.fit_seconds.get(line.contender),
        )
        for line in view.standings
    )
    return table("Leaderboard", title, _MODEL + heads, rows, metric=view.metric)


def _ranks_by_family(metric: Metric, by_family: Mapping[str, View]) -> Table:
    averages = [{line.contender: line.average_rank for line in view.standings} for view in by_family.values()]
    formula = next(iter(by_family.values())).rank_formula
    title = f"Average normalised ranks, {formula}, by test {metric_phrase(metric)} in each family of datasets"
    heads = (*_MODEL, *(family.replace("_", " ") or "all" for family in by_family))
    rows = ((*_named(each), *(found.get(each) for found in averages)) for each in averages[0])
    return table("Ranks by family", title, heads, rows, metric=metric)


def view_tables(view: View) -> Iterator[Table]:
    """The numbers behind the figures of a view: rank counts, Nemenyi's p values if there are any, and wins."""
    metric, by_metric = view.metric, f"by test {metric_phrase(view.metric)}"
    heads = (*_MODEL, *(f"rank {place + 1}" for place in range(len(view.standings))))
    counts = ((*_named(line.contender), *line.rank_counts) for line in view.standings)
    title = f"On how many datasets each model has each rank {by_metric}"
    yield table("Rank counts", title, heads, counts, metric=metric)
    if (comparison := view.comparison) is not None:
        lines = zip(comparison.contenders, comparison.average_ranks, comparison.p_values, strict=True)
        rows = (
            (*_named(contender), rank, *(p if column != row else None for column, p in enumerate(p_values)))
            for row, (contender, rank, p_values) in enumerate(lines)
        )
        columns = (*_MODEL, Column(title="average rank", digits=2), *_columns(comparison.contenders))
        yield table("p values", f"Nemenyi's p values for each pair {by_metric}", columns, rows, metric=metric)
    contenders = view.wins.contenders
    records = (
        (
            *_named(contender),
            *(None if row == each else WinRecord(*view.wins.record(row, each)) for each in range(len(contenders))),
        )
        for row, contender in enumerate(contenders)
    )
    title = f"Wins, ties and losses of the row against the column {by_metric}"
    yield table("Wins", title, (*_MODEL, *_columns(contenders, parts=_WIN_PARTS)), records, metric=metric)


def _scores(contents: Contents, analysis: Analysis, *, part: Part, metric: Metric) -> Table:
    grid = analysis.grids[part, metric]
    contenders = [line.contender for line in analysis.views[metric][ALL].standings]
    found = {dataset for dataset, _ in grid}
    rows = (
        (dataset.name, dataset.family, *(grid.get((dataset.name, each)) for each in contenders))
        for dataset in contents.datasets
        if dataset.name in found
    )
    title = f"{METRIC_TITLES[metric]} on the {part} part, mean and standard deviation over the seeds"
    heads: tuple[str | Column, ...] = ("dataset", "family", *_columns(contenders, parts=SCORE_PARTS))
    return table(f"Scores, {part}", title, heads, rows, metric=metric)


def _scores_by_size(analysis: Analysis, metric: Metric) -> Table:
    rows = (
        (curve.family, *_named(curve.contender), curve.part, point.size, point.mean, *_ends(point.band))
        for part in PARTS
        for curve in analysis.curves[part, metric]
        for point in curve.points
    )
    title = f"Mean {metric_phrase(metric)} against size with 95 % intervals over the seeds"
    heads = ("family", *_MODEL, "part", "size", "mean", "low", "high")
    return table("Scores by size", title, heads, rows, metric=metric)


def _general(contents: Contents) -> Iterator[Table]:
    chosen = (
        (
            cell.dataset,
            cell.contender.title,
            choice.search,
            choice.n_settings,
            choice.n_failed,
            choice.metric,
            choice.score,
            json.dumps(dict(choice.settings), sort_keys=True),
        )
        for cell in contents.cells
        if (choice := cell.choice) is not None
    )
    heads = ("dataset", "model", "search", "settings tried", "settings failed", "metric", "validation score")
    yield table("Settings", "The settings that each search chose", (*heads, "settings"), chosen)
    failed = (
        (each.task.dataset, each.task.model, str(each.task.split), each.task.seed, each.task.id, each.reason)
        for each in contents.failures
    )
    yield table("Failures", "Tasks that failed", ("dataset", "model", "split", "seed", "task", "reason"), failed)
    facts = ("mcquack", "commit")
    runs = (
        (run.number, run.started, run.ended, run.how, *map(run.environment.facts.get, facts), run.command)
        for run in contents.runs
    )
    yield table("Runs", "The runs that all came from", ("run", "started", "ended", "how", *facts, "command"), runs)
    prints = ((dataset, each) for dataset, found in contents.prints.items() for each in found)
    title = "Fingerprints of the data that models were trained and scored on"
    yield table("Fingerprints", title, ("dataset", "fingerprint"), prints)
