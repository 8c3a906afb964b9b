"""The tables of a report as values, and how a table is written as CSV and as LaTeX."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from typing import NamedTuple

from mcquack.bench.outcome import Metric, Part
from mcquack.bench.ranking import Contender, Interval
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
    """A head and what stands below it.

    ``digits`` are those behind the point in print. ``parts`` are the names of the numbers in an entry that has several.
    """

    title: str
    source: str = ""  # of a published model
    digits: int = 3
    parts: tuple[str, ...] = ()


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
        """The name of its files."""
        return file_name(self.kind, self.metric)


def file_name(kind: str, metric: Metric | None) -> str:
    """The name of a file without its ending, as rank_counts_auc."""
    words = kind.lower().replace(",", "").replace(" ", "_")
    return f"{words}_{metric}" if metric else words


# Which tables a report has


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


def _heads(*titles: str) -> tuple[Column, ...]:
    return tuple(Column(title=title) for title in titles)


_MODEL = _heads("model", "source")


def _named(contender: Contender) -> tuple[str, str | None]:
    return contender.title, contender.source or None


def _columns(contenders: Iterable[Contender], *, parts: tuple[str, ...] = ()) -> tuple[Column, ...]:
    return tuple(Column(title=each.title, source=each.source, parts=parts) for each in contenders)


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _leaderboard(view: View) -> Table:
    heads = ("average rank", "low", "high", "mean score", "wins", "datasets", "parameters", "fit seconds")
    return Table(
        kind="Leaderboard",
        metric=view.metric,
        title=f"Average normalised ranks by test {metric_phrase(view.metric)} with 95 % bootstrap intervals",
        columns=_MODEL + _heads(*heads),
        rows=tuple(
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
        ),
    )


def _ranks_by_family(metric: Metric, by_family: Mapping[str, View]) -> Table:
    averages = [{line.contender: line.average_rank for line in view.standings} for view in by_family.values()]
    return Table(
        kind="Ranks by family",
        metric=metric,
        title=f"Average normalised ranks by test {metric_phrase(metric)} in each family of datasets",
        columns=_MODEL + _heads(*(family.replace("_", " ") or "all" for family in by_family)),
        rows=tuple((*_named(each), *(found.get(each) for found in averages)) for each in averages[0]),
    )


def view_tables(view: View) -> Iterator[Table]:
    """The numbers behind the figures of a view: rank counts, Nemenyi's p values if there are any, and wins."""
    metric, by_metric = view.metric, f"by test {metric_phrase(view.metric)}"
    yield Table(
        kind="Rank counts",
        metric=metric,
        title=f"On how many datasets each model has each rank {by_metric}",
        columns=_MODEL + _heads(*(f"rank {place + 1}" for place in range(len(view.standings)))),
        rows=tuple((*_named(line.contender), *line.rank_counts) for line in view.standings),
    )
    if (comparison := view.comparison) is not None:
        lines = zip(comparison.contenders, comparison.average_ranks, comparison.p_values, strict=True)
        yield Table(
            kind="p values",
            metric=metric,
            title=f"Nemenyi's p values for each pair {by_metric}",
            columns=(*_MODEL, Column(title="average rank", digits=2), *_columns(comparison.contenders)),
            rows=tuple(
                (*_named(contender), rank, *(p if column != row else None for column, p in enumerate(p_values)))
                for row, (contender, rank, p_values) in enumerate(lines)
            ),
        )
    contenders = view.wins.contenders
    yield Table(
        kind="Wins",
        metric=metric,
        title=f"Wins, ties and losses of the row against the column {by_metric}",
        columns=_MODEL + _columns(contenders, parts=WinRecord._fields),
        rows=tuple(
            (
                *_named(contender),
                *(None if row == each else WinRecord(*view.wins.record(row, each)) for each in range(len(contenders))),
            )
            for row, contender in enumerate(contenders)
        ),
    )


def _scores(contents: Contents, analysis: Analysis, *, part: Part, metric: Metric) -> Table:
    grid = analysis.grids[part, metric]
    contenders = [line.contender for line in analysis.views[metric][ALL].standings]
    found = {dataset for dataset, _ in grid}
    return Table(
        kind=f"Scores, {part}",
        metric=metric,
        title=f"{METRIC_TITLES[metric]} on the {part} part, mean and standard deviation over the seeds",
        columns=_heads("dataset", "family") + _columns(contenders, parts=SCORE_PARTS),
        rows=tuple(
            (dataset.name, dataset.family, *(grid.get((dataset.name, each)) for each in contenders))
            for dataset in contents.datasets
            if dataset.name in found
        ),
    )


def _scores_by_size(analysis: Analysis, metric: Metric) -> Table:
    return Table(
        kind="Scores by size",
        metric=metric,
        title=f"Mean {metric_phrase(metric)} against size with 95 % intervals over the seeds",
        columns=_heads("family", "model", "source", "part", "size", "mean", "low", "high"),
        rows=tuple(
            (curve.family, *_named(curve.contender), curve.part, point.size, point.mean, *_ends(point.band))
            for part in PARTS
            for curve in analysis.curves[part, metric]
            for point in curve.points
        ),
    )


def _general(contents: Contents) -> Iterator[Table]:
    """What was chosen, what failed and what ran."""
    heads = ("dataset", "model", "search", "settings tried", "settings failed", "metric", "validation score")
    yield Table(
        kind="Settings",
        title="The settings that each search chose",
        columns=_heads(*heads, "settings"),
        rows=tuple(
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
        ),
    )
    yield Table(
        kind="Failures",
        title="Tasks that failed",
        columns=_heads("dataset", "model", "split", "seed", "task", "reason"),
        rows=tuple(
            (each.task.dataset, each.task.model, str(each.task.split), each.task.seed, each.task.id, each.reason)
            for each in contents.failures
        ),
    )
    facts = ("mcquack", "commit")
    yield Table(
        kind="Runs",
        title="The runs that all came from",
        columns=_heads("run", "started", "ended", "how", *facts, "command"),
        rows=tuple(
            (run.number, run.started, run.ended, run.how, *map(run.environment.facts.get, facts), run.command)
            for run in contents.runs
        ),
    )
    yield Table(
        kind="Fingerprints",
        title="Fingerprints of the data that models were trained and scored on",
        columns=_heads("dataset", "fingerprint"),
        rows=tuple((dataset, each) for dataset, prints in contents.prints.items() for each in prints),
    )


# CSV: all digits, so that reading gives the same numbers


def csv_text(table: Table) -> str:
    """A table as CSV with a head of one line; what is not there is empty."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([head for column in table.columns for head in _csv_heads(column)])
    for row in table.rows:
        entries = zip(row, table.columns, strict=True)
        writer.writerow([number for entry, column in entries for number in _numbers(entry, column)])
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

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        '"': r"\textquotedbl{}",
        "†": r"\textdagger{}",
        "±": r"\textpm{}",
        "–": "--",
    }
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
