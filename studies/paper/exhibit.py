"""What a page shows of one item: comparisons, figures and tables, and where they come from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mcquack.bench.store import RunRecord
from mcquack.report import document
from mcquack.report.document import Column, Picture, Several, Table
from studies.paper.checks import Check, Verdict, signed, verdict_of
from studies.paper.items import Item


@dataclass(frozen=True, kw_only=True)
class Pair(Several):
    """Our number and the paper's in one field of a table; ``holds`` is the verdict of their comparison."""

    ours: float | None
    paper: float | None
    spread: float | None = None
    digits: int = 3
    paper_digits: int = 2
    holds: bool | None = None

    @property
    def numbers(self) -> Sequence[float | None]:
        return self.ours, self.paper

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


def table(
    name: str, title: str, heads: Sequence[str], rows: Iterable[tuple[Any, ...]], *, folded: bool = False
) -> Table:
    """A table, in which a column with pairs is two in its file."""
    kept = tuple(rows)
    paired = [any(isinstance(row[column], Pair) for row in kept) for column in range(len(heads))]
    columns = (
        Column(title=head, parts=("", ", paper") if two else ("",)) for head, two in zip(heads, paired, strict=True)
    )
    return document.table(title, title, columns, kept, name=name, folded=folded)


def check_table(item: Item, checks: Sequence[Check]) -> Table:
    """All comparisons of an item as a table."""
    told = {True: "holds", False: "does not hold", None: "shown only"}
    rows = ((check.what, check.paper, check.ours, told[check.holds]) for check in checks)
    return table(f"{item.id}_comparisons", "Comparisons", ("compared", "paper", "ours", "comparison"), rows)


@dataclass(frozen=True, kw_only=True, eq=False)
class Exhibit:
    """An item of the paper with our side of it.

    Parameters
    ----------
    item : what the paper has.
    checks : our numbers compared with the paper's.
    findings : sentences of what else the numbers say.
    pictures, tables : figures and tables, ours beside the paper's where it has numbers.
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
    tables: tuple[Table, ...] = ()
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
    def all_tables(self) -> tuple[Table, ...]:
        """The tables, with that of the comparisons first unless another has them as its fields."""
        own = (check_table(self.item, self.checks),) if self.checks and self.compared else ()
        return (*own, *self.tables)
