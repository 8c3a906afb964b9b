"""What a page shows of one item: comparisons, figures and tables, and where they come from."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path

from mcquack.bench.store import RunRecord
from mcquack.files import inert_cell
from mcquack.report.trainability.sections import Picture
from studies.paper.checks import Check, Verdict, signed, verdict_of
from studies.paper.items import Item


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Our number and the paper's in one field of a table; ``holds`` is the verdict of their comparison."""

    ours: float | None
    paper: float | None
    spread: float | None = None
    digits: int = 3
    paper_digits: int = 2
    holds: bool | None = None

    @property
    def text(self) -> str:
        """As "0.653 ± 0.016"."""
        if self.ours is None:
            return "–"
        told = f"{self.ours:,.{self.digits}f}"
        return signed(told if self.spread is None else f"{told} ± {self.spread:.{self.digits}f}")

    @property
    def paper_text(self) -> str:
        """As "0.54", or empty where the paper has nothing."""
        return "" if self.paper is None else signed(f"{self.paper:,.{self.paper_digits}f}")


Entry = str | int | float | Pair | None


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A table of a page, which also is a file beside it: numbers in full there, rounded on the page."""

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    folded: bool = False  # shown on request

    def is_number(self, column: int) -> bool:
        """Whether a column has no text in it, so that it is set flush right."""
        return not any(isinstance(row[column], str) for row in self.rows)

    @property
    def csv(self) -> str:
        """The table as CSV; a pair is two columns."""
        stream = StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        paired = [any(isinstance(row[column], Pair) for row in self.rows) for column in range(len(self.heads))]
        writer.writerow(
            [
                inert_cell(name)
                for head, two in zip(self.heads, paired, strict=True)
                for name in ((head, f"{head}, paper") if two else (head,))
            ]
        )
        for row in self.rows:
            fields: list[str | int | float | None] = []
            for entry, two in zip(row, paired, strict=True):
                if isinstance(entry, Pair):
                    fields += [entry.ours, entry.paper]
                else:
                    fields += [entry, None] if two else [entry]
            writer.writerow(map(inert_cell, fields))
        return stream.getvalue()


def check_sheet(item: Item, checks: Sequence[Check]) -> Sheet:
    """All comparisons of an item as a table."""
    told = {True: "holds", False: "does not hold", None: "shown only"}
    rows = tuple((check.what, check.paper, check.ours, told[check.holds]) for check in checks)
    return Sheet(
        name=f"{item.id}_comparisons", title="Comparisons", heads=("compared", "paper", "ours", "comparison"), rows=rows
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Exhibit:
    """An item of the paper with our side of it.

    Parameters
    ----------
    item : what the paper has.
    checks : our numbers compared with the paper's.
    findings : sentences of what else the numbers say.
    pictures, sheets : figures and tables, ours beside the paper's where it has numbers.
    notes : what has to be known to read them.
    rows, runs : the store that was read and the runs that made it, if it is of a store.
    commands : what makes the store.
    missing : why there is nothing to show, if there is not.
    conclusion : what the numbers say, where the paper has nothing to compare them with.
    is_quick : whether the rows are those of a quick pass, and no result.
    compared : whether the comparisons are a table of their own, and not fields of another.
    """

    item: Item
    checks: tuple[Check, ...] = ()
    findings: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    notes: tuple[str, ...] = ()
    rows: Path | None = None
    runs: tuple[RunRecord, ...] = ()
    commands: tuple[str, ...] = ()
    missing: str = ""
    conclusion: str = ""
    is_quick: bool = False
    compared: bool = True

    @cached_property
    def verdict(self) -> Verdict:
        return verdict_of(self.checks)

    @property
    def status(self) -> str:
        """The kind of the verdict, "missing" where there are no rows, or "past" for what the paper does not have."""
        return "missing" if self.missing else "past" if self.conclusion else self.verdict.kind

    @property
    def sentence(self) -> str:
        """Whether our side is the paper's, or why that is not known."""
        return self.missing or self.conclusion or self.verdict.sentence

    @cached_property
    def all_sheets(self) -> tuple[Sheet, ...]:
        """The tables, with that of the comparisons first unless another has them as its fields."""
        own = (check_sheet(self.item, self.checks),) if self.checks and self.compared else ()
        return (*own, *self.sheets)
