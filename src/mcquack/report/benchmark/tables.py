"""Which tables a report has."""

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO

from mcquack.bench.outcome import Metric, Part
from mcquack.bench.ranking import Contender
from mcquack.report.benchmark.contents import Contents
from mcquack.report.benchmark.page import data_prints
from mcquack.report.benchmark.summary import PARTS, Summary
from mcquack.report.benchmark.views import ALL, Score, View, family_title
from mcquack.report.ranking import METRIC_TITLES, metric_phrase

# A table with numbers as numbers, whatever form it is written in.


@dataclass(frozen=True, kw_only=True)
class WinRecord:
    """One model against another."""

    wins: int
    ties: int
    losses: int


Entry = str | int | float | Score | WinRecord | None
"""None where there is nothing to tell."""


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
RECORD_PARTS = ("wins", "ties", "losses")


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
        """Of its files."""
        return file_name(self.kind, self.metric)


def file_name(kind: str, metric: Metric | None) -> str:
    """As rank_counts_auc."""
    words = kind.lower().replace(",", "").replace(" ", "_")
    return f"{words}_{metric}" if metric else words


def numbers(entry: Entry, column: Column) -> tuple[str | int | float | None, ...]:
    """The entry in the columns that its head has in a file of numbers."""
    if isinstance(entry, Score):
        return entry.mean, entry.spread
    if isinstance(entry, WinRecord):
        return entry.wins, entry.ties, entry.losses
    return (entry,) * max(1, len(column.parts)) if entry is None else (entry,)


_MODEL = (Column(title="model"), Column(title="source"))


def tables(contents: Contents, summary: Summary) -> tuple[Table, ...]:
    """Those of every metric, then what was chosen, what failed and what ran."""
    by_metric = [table for metric in contents.metrics for table in _of_metric(contents, summary, metric)]
    others = (_settings(contents), _failures(contents), _runs(contents), _fingerprints(contents))
    return tuple(table for table in (*by_metric, *others) if table.rows)


def _of_metric(contents: Contents, summary: Summary, metric: Metric) -> Iterator[Table]:
    by_family = summary.views[metric]
    view = by_family[ALL]
    yield _leaderboard(summary, metric)
    if len(by_family) > 1:
        yield _ranks_by_family(metric, by_family)
    yield _rank_counts(metric, view)
    if view.comparison is not None:
        yield _p_values(metric, view)
    yield _wins(metric, view)
    for part in PARTS:
        yield _scores(contents, summary, part=part, metric=metric)
    yield _scores_by_size(summary, metric)


def _leaderboard(summary: Summary, metric: Metric) -> Table:
    heads = ("average rank", "low", "high", "mean score", "wins", "datasets", "parameters", "fit seconds")
    return Table(
        kind="Leaderboard",
        metric=metric,
        title=f"Average normalised ranks by test {metric_phrase(metric)} with 95 % bootstrap intervals",
        columns=(*_MODEL, *(Column(title=head) for head in heads)),
        rows=tuple(
            (
                *_named(line.contender),
                line.average_rank,
                None if line.interval is None else line.interval.low,
                None if line.interval is None else line.interval.high,
                line.mean_score,
                line.n_first,
                line.n_datasets,
                summary.effort(line.contender).n_parameters,
                summary.effort(line.contender).fit_seconds,
            )
            for line in summary.views[metric][ALL].standings
        ),
    )


def _ranks_by_family(metric: Metric, by_family: Mapping[str, View]) -> Table:
    averages = {
        (line.contender, family): line.average_rank for family, view in by_family.items() for line in view.standings
    }
    return Table(
        kind="Ranks by family",
        metric=metric,
        title=f"Average normalised ranks by test {metric_phrase(metric)} in each family of datasets",
        columns=(*_MODEL, *(Column(title=family_title(family) or "all") for family in by_family)),
        rows=tuple(
            (*_named(line.contender), *(averages.get((line.contender, family)) for family in by_family))
            for line in by_family[ALL].standings
        ),
    )


def _rank_counts(metric: Metric, view: View) -> Table:
    return Table(
        kind="Rank counts",
        metric=metric,
        title=f"On how many datasets each model has each rank by test {metric_phrase(metric)}",
        columns=(*_MODEL, *(Column(title=f"rank {place + 1}") for place in range(len(view.standings)))),
        rows=tuple((*_named(line.contender), *line.rank_counts) for line in view.standings),
    )


def _p_values(metric: Metric, view: View) -> Table:
    comparison = view.comparison
    assert comparison is not None  # asked by the caller
    return Table(
        kind="p values",
        metric=metric,
        title=f"Nemenyi's p values for each pair by test {metric_phrase(metric)}",
        columns=(*_MODEL, Column(title="average rank", digits=2), *map(_column, comparison.contenders)),
        rows=tuple(
            (*_named(contender), rank, *(p if column != row else None for column, p in enumerate(p_values)))
            for row, (contender, rank, p_values) in enumerate(
                zip(comparison.contenders, comparison.average_ranks, comparison.p_values, strict=True)
            )
        ),
    )


def _wins(metric: Metric, view: View) -> Table:
    matrix = view.wins
    places = range(len(matrix.contenders))
    records = [
        [
            None if row == column else WinRecord(**dict(zip(RECORD_PARTS, matrix.record(row, column), strict=True)))
            for column in places
        ]
        for row in places
    ]
    return Table(
        kind="Wins",
        metric=metric,
        title=f"Wins, ties and losses of the row against the column by test {metric_phrase(metric)}",
        columns=(*_MODEL, *(_column(each, parts=RECORD_PARTS) for each in matrix.contenders)),
        rows=tuple((*_named(contender), *records[row]) for row, contender in enumerate(matrix.contenders)),
    )


def _scores(contents: Contents, summary: Summary, *, part: Part, metric: Metric) -> Table:
    grid = summary.grids[part, metric]
    contenders = [line.contender for line in summary.views[metric][ALL].standings]
    found = {dataset for dataset, _ in grid}
    return Table(
        kind=f"Scores, {part}",
        metric=metric,
        title=f"{METRIC_TITLES[metric]} on the {part} part, mean and standard deviation over the seeds",
        columns=(
            Column(title="dataset"),
            Column(title="family"),
            *(_column(each, parts=SCORE_PARTS) for each in contenders),
        ),
        rows=tuple(
            (dataset.name, dataset.family, *(grid.get((dataset.name, each)) for each in contenders))
            for dataset in contents.datasets
            if dataset.name in found
        ),
    )


def _scores_by_size(summary: Summary, metric: Metric) -> Table:
    curves = [curve for part in PARTS for curve in summary.curves[part, metric]]
    return Table(
        kind="Scores by size",
        metric=metric,
        title=f"Mean {metric_phrase(metric)} against size with 95 % intervals over the seeds",
        columns=(
            Column(title="family"),
            *_MODEL,
            *(Column(title=head) for head in ("part", "size", "mean", "low", "high")),
        ),
        rows=tuple(
            (
                curve.family,
                *_named(curve.contender),
                curve.part,
                point.size,
                point.mean,
                None if point.band is None else point.band.low,
                None if point.band is None else point.band.high,
            )
            for curve in curves
            for point in curve.points
        ),
    )


def _settings(contents: Contents) -> Table:
    heads = (
        "dataset",
        "model",
        "search",
        "settings tried",
        "settings failed",
        "metric",
        "validation score",
        "settings",
    )
    return Table(
        kind="Settings",
        title="The settings that each search chose",
        columns=tuple(Column(title=head) for head in heads),
        rows=tuple(
            (
                cell.dataset,
                cell.contender.title,
                cell.choice.search,
                cell.choice.n_settings,
                cell.choice.n_failed,
                cell.choice.metric,
                cell.choice.score,
                json.dumps(dict(cell.choice.settings), sort_keys=True),
            )
            for cell in contents.cells
            if cell.choice is not None
        ),
    )


def _failures(contents: Contents) -> Table:
    return Table(
        kind="Failures",
        title="Tasks that failed",
        columns=tuple(Column(title=head) for head in ("dataset", "model", "split", "seed", "task", "reason")),
        rows=tuple(
            (each.task.dataset, each.task.model, str(each.task.split), each.task.seed, each.task.id, each.reason)
            for each in contents.failures
        ),
    )


def _runs(contents: Contents) -> Table:
    return Table(
        kind="Runs",
        title="The runs that all came from",
        columns=tuple(
            Column(title=head) for head in ("run", "started", "ended", "how", "mcquack", "commit", "command")
        ),
        rows=tuple(
            (
                run.number,
                run.started,
                run.ended,
                run.how,
                run.environment.facts.get("mcquack"),
                run.environment.facts.get("commit"),
                run.command,
            )
            for run in contents.runs
        ),
    )


def _fingerprints(contents: Contents) -> Table:
    return Table(
        kind="Fingerprints",
        title="Fingerprints of the data that models were trained and scored on",
        columns=(Column(title="dataset"), Column(title="fingerprint")),
        rows=tuple((dataset, each) for dataset, prints in data_prints(contents).items() for each in prints),
    )


def _named(contender: Contender) -> tuple[str, str | None]:
    return contender.title, contender.source or None


def _column(contender: Contender, *, parts: tuple[str, ...] = ()) -> Column:
    return Column(title=contender.title, source=contender.source, parts=parts)


# Tables as CSV: all digits, so that reading gives the same numbers.


def csv_text(table: Table) -> str:
    """With a head of one line; what is not there is empty."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([head for column in table.columns for head in _heads(column)])
    for row in table.rows:
        writer.writerow(
            [value for entry, column in zip(row, table.columns, strict=True) for value in numbers(entry, column)]
        )
    return stream.getvalue()


def _heads(column: Column) -> tuple[str, ...]:
    title = f"{column.title} ({column.source})" if column.source else column.title
    return tuple(f"{title} {part}" for part in column.parts) or (title,)


# Tables as LaTeX, to be included in a table environment.

_ESCAPED = {
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
_ESCAPES = str.maketrans(_ESCAPED)


def latex(table: Table) -> str:
    """A tabular with the rules of booktabs; the best score of a row is bold, the second best underlined."""
    alignments = "".join("l" if _is_text(table, index) else "r" for index in range(len(table.columns)))
    sources = dict.fromkeys(column.source for column in table.columns if column.source)
    lines = [
        f"% {_one_line(table.title)}; needs \\usepackage{{booktabs}}.",
        *(f"% A dagger marks what is published: {_one_line(source)}" for source in sources),
        rf"\begin{{tabular}}{{{alignments}}}",
        r"\toprule",
        _line([_head(column) for column in table.columns]),
        r"\midrule",
        *(_line([_entry(*each) for each in zip(row, table.columns, strict=True)]) for row in table.rows),
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


def _is_text(table: Table, index: int) -> bool:
    return any(isinstance(row[index], str) for row in table.rows)


def _line(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _head(column: Column) -> str:
    return escaped(column.title) + (r"\textsuperscript{\textdagger}" if column.source else "")


def _entry(entry: Entry, column: Column) -> str:
    match entry:
        case None:
            return "--"
        case Score():
            return _score(entry, column.digits)
        case WinRecord():
            return f"{entry.wins}--{entry.ties}--{entry.losses}"
        case float():
            return f"{entry:.{column.digits}f}"
        case str():
            return escaped(entry)
        case _:
            return str(entry)


def _score(score: Score, digits: int) -> str:
    mean = f"{score.mean:.{digits}f}"
    marked = {"best": rf"\textbf{{{mean}}}", "second": rf"\underline{{{mean}}}"}.get(score.mark, mean)
    return marked if score.spread is None else rf"{marked} $\pm$ {score.spread:.{digits}f}"
