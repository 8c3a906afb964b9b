"""A table as a plain value."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mcquack.checks import did_you_mean
from mcquack.datasets.table.notation import Notation
from mcquack.errors import InvalidTableError


@dataclass(frozen=True, order=True)
class RowProblem:
    """Why one row cannot be used."""

    row: int
    reason: str

    def __str__(self) -> str:
        return f"row {self.row}: {self.reason}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Named columns of equal length, and the number of each row as its owner sees it.

    A CSV numbers its rows as a spreadsheet does: the header is row 1, the first sample row 2, and a record that spans
    lines is one row. Parquet has no header, so its first row is 1; the first row of a DataFrame is 0, as Python counts.
    All columns of a CSV are text (null where a cell is missing): what a column means is decided by whoever fits an
    encoder, so that one odd cell cannot change it.
    """

    source: str
    columns: Mapping[str, pa.Array]
    rows: NDArray[np.int64]
    bad_rows: tuple[RowProblem, ...] = ()
    decimal_comma: bool = False
    notation: Notation = field(default_factory=Notation)
    # What was made of columns, by whoever made it: their cells never change.
    known: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    def column(self, name: str) -> pa.Array:
        try:
            return self.columns[name]
        except KeyError:
            close = did_you_mean(name, self.names, otherwise="")
            raise InvalidTableError(
                f"{self.source} has no column {name!r}; {f'{close} Its' if close else 'its'} columns are "
                f"{listed(self.names)}.{self._header_hint}"
            ) from None

    def only(self, mask: NDArray[np.bool_]) -> Self:
        """The rows where ``mask`` is true, with their numbers."""
        if mask.all():  # no copy of a large table that is whole
            return self
        columns = {name: column.filter(pa.array(mask)) for name, column in self.columns.items()}
        return replace(self, columns=columns, rows=self.rows[mask])

    @property
    def _header_hint(self) -> str:
        looks_like_data = all(name.lstrip("+-").replace(".", "", 1).isdigit() for name in self.names)
        return " They look like data: is the header missing?" if looks_like_data else ""


def listed(items: Iterable[object], *, limit: int = 10) -> str:
    """The first items as text, and how many more there are."""
    shown: Sequence[object] = list(items)
    text = ", ".join(repr(item) if isinstance(item, str) else str(item) for item in shown[:limit])
    return f"{text} and {len(shown) - limit} more" if len(shown) > limit else text


def in_rows(rows: NDArray[np.int64]) -> str:
    """Row numbers in a message, as in: 3 rows (4, 9, 12)."""
    return f"{len(rows)} {'row' if len(rows) == 1 else 'rows'} ({listed(rows.tolist(), limit=5)})"


def unique_names(names: Sequence[str], *, source: str) -> tuple[str, ...]:
    """The names unchanged, once it is sure that none is empty and none comes twice."""
    empty = [position for position, name in enumerate(names, start=1) if not name]
    if empty:
        raise InvalidTableError(
            f"{source}: column {listed(empty)} of {len(names)} has no name; every column needs one in the first row "
            "(pandas writes its index so: use index=False)."
        )
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise InvalidTableError(f"{source}: column name {listed(twice)} comes more than once; rename all but one.")
    return tuple(names)


def arrow_table(content: pa.Table, *, source: str, first_row: int) -> Table:
    """The columns as they are, the rows numbered from ``first_row`` on."""
    names = unique_names(content.column_names, source=source)
    if not names or not len(content):
        raise InvalidTableError(f"{source} has no {'rows' if names else 'columns'}; give a table with samples.")
    columns = dict(zip(names, (_filterable(column.combine_chunks()) for column in content.columns), strict=True))
    return Table(source=source, columns=columns, rows=np.arange(first_row, first_row + len(content)))


def _filterable(column: pa.Array) -> pa.Array:
    """Arrow cannot take rows out of a column of string views."""
    kind = column.type
    if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
        return pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(pa.string()))
    return column.cast(pa.string()) if pa.types.is_string_view(kind) else column
