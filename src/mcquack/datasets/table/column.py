"""What is learned about one column of a training table."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from mcquack.datasets.table.cells import Cells, Kind, as_text, column_cells, inferred_kind, plain_column
from mcquack.datasets.table.value import Table, in_rows, listed
from mcquack.errors import InvalidInputError, InvalidTableError

Missing = Literal["error", "mean", "median", "most_frequent", "drop"]

IMPUTING: tuple[Missing, ...] = ("mean", "median", "most_frequent")
MAX_CATEGORIES = 10_000
# From this share of numbers on, a column with some other texts is a numeric one with faults rather than categories.
_MOSTLY_NUMBERS = 0.9
_EXPECTED = {"number": "a number", "boolean": "true or false", "date": "a date like 2024-12-31"}


@dataclass(frozen=True, kw_only=True)
class Column:
    """How one column becomes numbers.

    ``fill`` stands in for a missing value where the encoder imputes; for categories it is their most frequent one.
    """

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()
    fill: float | None = None

    def cells(self, table: Table) -> Cells:
        """The numbers of this column in a table."""
        return column_cells(table, self.name, kind=self.kind, categories=self.categories)

    def reasons(self, table: Table, *, cells: Cells, unusable: NDArray[np.bool_]) -> Iterator[tuple[int, str]]:
        """For each unusable cell its position and what is wrong with it."""
        texts = table.column(self.name)
        for position in np.flatnonzero(unusable).tolist():
            if cells.unreadable[position]:
                yield position, f"column {self.name!r}: {self._mismatch(texts[position].as_py())}"
            else:
                what = "missing" if np.isnan(cells.values[position]) else "infinite"
                yield position, f"column {self.name!r} is {what}"

    def _mismatch(self, value: object) -> str:
        if self.kind == "category":
            return f"{value!r} is none of the {len(self.categories)} categories seen in training"
        return f"{value!r} is not {_EXPECTED[self.kind]}"


def chosen_kind(table: Table, name: str, *, numeric: Collection[str], categorical: Collection[str]) -> Kind:
    """What the caller says the column is, or else what its cells say."""
    if name in numeric and name in categorical:
        raise InvalidInputError(f"column {name!r} is given both as numeric and as categorical; choose one.")
    if plain_column(table, name).null_count == len(table):
        raise InvalidTableError(
            f"{table.source}: column {name!r} is missing in every row that has a label; ignore this column."
        )
    if name in numeric:
        return "number"
    if name in categorical:
        return "category"
    kind = inferred_kind(table, name)
    if kind == "category":
        _check_not_mostly_numbers(table, name)
    return kind


def _check_not_mostly_numbers(table: Table, name: str) -> None:
    column = plain_column(table, name)
    unreadable = column_cells(table, name, kind="number").unreadable
    if unreadable.sum() > (1 - _MOSTLY_NUMBERS) * (len(column) - column.null_count):
        return
    texts = sorted(set(column.filter(unreadable).to_pylist()))
    raise InvalidTableError(
        f"{table.source}: column {name!r} holds numbers but also {listed(texts, limit=3)} in "
        f"{in_rows(table.rows[unreadable])}. Correct or empty those cells; or make the column numeric, which leaves "
        "those rows out, or categorical, which takes every value as a category."
    )


def with_categories(column: Column, table: Table, *, training: Table | None = None) -> Column:
    """The column with the sorted categories that the table has, if it is one of categories.

    Those of the rows to train on come first: a row that is held out must not change the numbers of the others.
    """
    if column.kind != "category":
        return column
    texts = _distinct_texts(column, table)
    if len(texts) > MAX_CATEGORIES:
        raise InvalidTableError(
            f"{table.source}: column {column.name!r} holds {len(texts)} different texts, more than {MAX_CATEGORIES}: "
            "it names rows rather than kinds of them. Ignore this column."
        )
    trained = texts if training is None else _distinct_texts(column, training)
    return replace(column, categories=(*sorted(trained), *sorted(texts - trained)))


def _distinct_texts(column: Column, table: Table) -> set[str]:
    return set(pc.unique(as_text(plain_column(table, column.name))).drop_null().to_pylist())


def with_fill(column: Column, table: Table, *, missing: Missing) -> Column:
    """The column with what stands in for a missing value, learned from the table."""
    values = column.cells(table).values
    values = values[np.isfinite(values)]
    if not len(values):
        raise InvalidTableError(
            f"{table.source}: column {column.name!r} has no usable value in the rows to train on; ignore this column."
        )
    if column.kind == "category" or (column.kind == "boolean" and missing in IMPUTING) or missing == "most_frequent":
        return replace(column, fill=_most_frequent(values))
    if missing in ("mean", "median"):
        return replace(column, fill=_middle(values, mean=missing == "mean"))
    return column


def _most_frequent(values: NDArray[np.float64]) -> float:
    """The smallest of the most frequent."""
    distinct, counts = np.unique(values, return_counts=True)
    return float(distinct[np.argmax(counts)])


def _middle(values: NDArray[np.float64], *, mean: bool) -> float:
    scale = max(1.0, float(np.abs(values).max()) / 1e150)  # a sum of huge values would overflow
    return float((np.mean if mean else np.median)(values / scale) * scale)
