"""What a report is made of: tables and pictures, each also a file, and sections of them.

Tables are values; as CSV they have all digits, so that reading gives the same numbers, and as LaTeX those that people
read.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from typing import Any

from matplotlib.figure import Figure

from mcquack.bench.store import RunRecord, Store
from mcquack.bench.task import Metric, Outcome
from mcquack.files import inert_cell


class Several:
    """An entry of a table that has more than one number."""

    @property
    def numbers(self) -> Sequence[float | None]:
        """The numbers, one for each column of a CSV file."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """The entry as a page shows it."""
        raise NotImplementedError

    def latex(self, digits: int) -> str:  # noqa: ARG002  # for those that have numbers to round
        return escaped(self.text)


Entry = str | int | float | Several | None  # None where there is nothing to show


@dataclass(frozen=True, kw_only=True)
class Column:
    """The head of a column; ``parts`` are appended to it, one for each number of entries that have several."""

    title: str
    source: str = ""  # of a published model
    digits: int = 3  # behind the point in print
    parts: tuple[str, ...] = ("",)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table and the name of its file; ``kind`` and ``metric`` are its line and column in a list of all files."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    kind: str = ""
    metric: Metric | None = None
    folded: bool = False  # shown on request

    def is_number(self, column: int) -> bool:
        """Whether a column has no text in it, so that it is set flush right."""
        return not any(isinstance(row[column], str) for row in self.rows)

    @property
    def csv(self) -> str:
        """The table as CSV with a head of one line; what is not there is empty, and no text is taken for a formula."""
        stream = StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        titles = [f"{each.title} ({each.source})" if each.source else each.title for each in self.columns]
        heads = zip(titles, self.columns, strict=True)
        writer.writerow([inert_cell(f"{title}{part}") for title, column in heads for part in column.parts])
        for row in self.rows:
            entries = zip(row, self.columns, strict=True)
            writer.writerow([inert_cell(number) for entry, column in entries for number in _numbers(entry, column)])
        return stream.getvalue()

    @property
    def latex(self) -> str:
        """The table as a tabular with the rules of booktabs, to be included in a table environment."""
        alignments = "".join("r" if self.is_number(column) else "l" for column in range(len(self.columns)))
        sources = dict.fromkeys(column.source for column in self.columns if column.source)
        dagger = r"\textsuperscript{\textdagger}"
        heads = [escaped(each.title) + (dagger if each.source else "") for each in self.columns]
        bodies = [[_latex_entry(*each) for each in zip(row, self.columns, strict=True)] for row in self.rows]
        head, *body = (f"{' & '.join(line)} \\\\" for line in (heads, *bodies))
        lines = [
            f"% {_one_line(self.title)}; needs \\usepackage{{booktabs}}.",
            *(f"% A dagger marks what is published: {_one_line(source)}" for source in sources),
            rf"\begin{{tabular}}{{{alignments}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
        return "\n".join(lines) + "\n"


def table(
    kind: str,
    title: str,
    heads: Iterable[str | Column],
    rows: Iterable[tuple[Any, ...]],
    *,
    metric: Metric | None = None,
    name: str = "",
    folded: bool = False,
) -> Table:
    """A table under these heads, of which a text is a plain column; its file is called by its kind if not by ``name``.

    >>> table("Rank counts", "How often", ("model", "first"), [("svc", 3)], metric="auc").name
    'rank_counts_auc'
    """
    columns = tuple(Column(title=head) if isinstance(head, str) else head for head in heads)
    name = name or file_name(kind.replace(",", ""), metric or "")
    return Table(name=name, title=title, columns=columns, rows=tuple(rows), kind=kind, metric=metric, folded=folded)


def file_name(*parts: str) -> str:
    """The name of a file: letters, digits and underscores alone, for it also begins the ids on the page."""
    joined = "_".join(filter(None, parts)).lower()
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in joined)


def _numbers(entry: Entry, column: Column) -> Sequence[str | int | float | None]:
    if isinstance(entry, Several):
        return entry.numbers
    return (entry, *(None,) * (len(column.parts) - 1))


_NAMES = {"\\": "backslash", "^": "asciicircum", "~": "asciitilde", "<": "less", ">": "greater"}
_NAMES |= {'"': "quotedbl", "†": "dagger", "±": "pm"}
_ESCAPES = str.maketrans(
    {sign: rf"\text{name}{{}}" for sign, name in _NAMES.items()}
    | {sign: f"\\{sign}" for sign in "{}$&#%_"}
    | {"–": "--"}
)


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
        case Several():
            return entry.latex(column.digits)
        case float():
            return f"{entry:.{column.digits}f}"
        case _:
            return escaped(str(entry))


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure with its name, which is that of its file, and what has to be said below it."""

    name: str
    title: str
    caption: str
    figure: Figure
    folded: bool = False  # shown on request


@dataclass(frozen=True, kw_only=True, eq=False)
class Section:
    """A part of a page: ``lead`` is what was found, in sentences; ``faults`` are what could not be found, and why."""

    id: str
    headline: str = ""  # the most important of the lead in a few words
    lead: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Document:
    """What every report of a store has in its head and at its end."""

    title: str
    runs: tuple[RunRecord, ...]
    failures: tuple[Outcome, ...]
    n_done: int
    seconds: float  # of all stages of all tasks


def facts_of(store: Store, outcomes: Sequence[Outcome], *, title: str | None) -> dict[str, Any]:
    """The fields of a document about these outcomes of a store; without a title it has that of the suite."""
    runs = store.runs()
    suite = runs[-1].suite if runs else {}
    return {
        "title": title or suite.get("title") or suite.get("name") or store.path.stem,
        "runs": runs,
        "failures": tuple(sorted((each for each in outcomes if each.failed), key=lambda each: str(each.task))),
        "n_done": sum(not each.failed for each in outcomes),
        "seconds": sum(sum(each.seconds.values()) for each in outcomes),
    }
