"""A table with numbers as numbers, whatever form it is written in."""

from dataclasses import dataclass

from mcquack.bench.outcome import Metric
from mcquack.report.benchmark.grid import Score


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
