"""The tables of a report as values, and how a table is written as CSV and as LaTeX."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from typing import Any, NamedTuple

from mcquack.bench.ranking import Contender, Interval
from mcquack.bench.task import Metric, Part
from mcquack.files import inert_cell
from mcquack.report.benchmark.analysis import ALL, PARTS, Analysis, Score, View
from mcquack.report.benchmark.contents import Contents
from mcquack.report.ranking import METRIC_TITLES, metric_phrase


class WinRecord(NamedTuple):
    """How one model fared against another."""

    wins: int
    ties: int
    losses: int


Entry = str | int | float | Score | WinRecord | None  # what stands in a table; None where there is nothing to tell


@dataclass(frozen=True, kw_only=True)
class Column:
    """A head and what stands below it."""

    title: str
    source: str = ""  # of a published model
    digits: int = 3  # behind the point in print
    parts: tuple[str, ...] = ()  # the names of the numbers in an entry that has several


SCORE_PARTS = ("mean", "std")


@dataclass(frozen=True, kw_only=True)
class Table:
    """``kind`` is what it is called in a list of all; with the metric, if it is of one, it tells it from the others."""

    kind: str
    metric: Metric | None = None
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]

    @property
    def name(self) -> str:
        return file_name(self.kind, self.metric)


def file_name(kind: str, metric: Metric | None) -> str:
    """The name of a file without its ending, as rank_counts_auc."""
    words = kind.lower().replace(",", "").replace(" ", "_")
    return f"{words}_{metric}" if metric else words


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


def table(
    kind: str,
    title: str,
    heads: Iterable[str | Column],
    rows: Iterable[tuple[Any, ...]],
    *,
    metric: Metric | None = None,
) -> Table:
    """A table under these heads, of which a text is a plain column."""
    columns = tuple(Column(title=head) if isinstance(head, str) else head for head in heads)
    return Table(kind=kind, metric=metric, title=title, columns=columns, rows=tuple(rows))


_MODEL: tuple[str | Column, ...] = ("model", "source")


def _named(contender: Contender) -> tuple[str, str | None]:
    return contender.title, contender.source or None


def _columns(contenders: Iterable[Contender], *, parts: tuple[str, ...] = ()) -> tuple[Column, ...]:
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
    yield table("Wins", title, (*_MODEL, *_columns(contenders, parts=WinRecord._fields)), records, metric=metric)


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


# CSV: all digits, so that reading gives the same numbers


def csv_text(table: Table) -> str:
    """A table as CSV with a head of one line; what is not there is empty, and no text is taken for a formula."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([inert_cell(head) for column in table.columns for head in _csv_heads(column)])
    for row in table.rows:
        entries = zip(row, table.columns, strict=True)
        writer.writerow([inert_cell(number) for entry, column in entries for number in _numbers(entry, column)])
    return stream.getvalue()


def _csv_heads(column: Column) -> Sequence[str]:
    title = f"{column.title} ({column.source})" if column.source else column.title
    return [f"{title} {part}" for part in column.parts] or [title]


def _numbers(entry: Entry, column: Column) -> Sequence[str | int | float | None]:
    """The numbers of an entry, one for each part of its column."""
    match entry:
        case Score():
            return entry.mean, entry.spread
        case WinRecord():
            return entry
        case None:
            return (None,) * max(1, len(column.parts))
        case _:
            return (entry,)


# LaTeX, to be included in a table environment

_NAMES = {"\\": "backslash", "^": "asciicircum", "~": "asciitilde", "<": "less", ">": "greater"}
_NAMES |= {'"': "quotedbl", "†": "dagger", "±": "pm"}
_ESCAPES = str.maketrans(
    {sign: rf"\text{name}{{}}" for sign, name in _NAMES.items()}
    | {sign: f"\\{sign}" for sign in "{}$&#%_"}
    | {"–": "--"}
)


def latex(table: Table) -> str:
    """A table as a tabular with the rules of booktabs; the best score is bold, the second best underlined."""
    columns = range(len(table.columns))
    alignments = ["l" if any(isinstance(row[column], str) for row in table.rows) else "r" for column in columns]
    sources = dict.fromkeys(column.source for column in table.columns if column.source)
    heads = [escaped(each.title) + (r"\textsuperscript{\textdagger}" if each.source else "") for each in table.columns]
    bodies = [[_latex_entry(*each) for each in zip(row, table.columns, strict=True)] for row in table.rows]
    head, *body = (f"{' & '.join(line)} \\\\" for line in (heads, *bodies))
    lines = [
        f"% {_one_line(table.title)}; needs \\usepackage{{booktabs}}.",
        *(f"% A dagger marks what is published: {_one_line(source)}" for source in sources),
        rf"\begin{{tabular}}{{{''.join(alignments)}}}",
        r"\toprule",
        head,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


@lru_cache(maxsize=4096)  # names stand in many rows
def escaped(text: str) -> str:
    """Text that LaTeX prints as it is, on one line."""
    return _one_line(text).translate(_ESCAPES)


def _one_line(text: str) -> str:
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def _latex_entry(entry: Entry, column: Column) -> str:
    match entry:
        case None:
            return "--"
        case Score():
            mean = f"{entry.mean:.{column.digits}f}"
            marked = {"best": rf"\textbf{{{mean}}}", "second": rf"\underline{{{mean}}}"}.get(entry.mark, mean)
            return marked if entry.spread is None else rf"{marked} $\pm$ {entry.spread:.{column.digits}f}"
        case WinRecord():
            return "--".join(map(str, entry))
        case float():
            return f"{entry:.{column.digits}f}"
        case str():
            return escaped(entry)
        case _:
            return str(entry)
