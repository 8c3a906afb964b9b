"""A table as a plain value, and how numbers and dates are written in its text."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from mcquack.checks import did_you_mean, require
from mcquack.errors import InvalidTableError, Setting

DECIMALS = (".", ",")
THOUSANDS = (",", ".", " ", "'", "_")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PLAIN_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity|nan)$"
_DECIMAL_COMMA = r"^([+-]?\d*),(\d+([eE][+-]?\d+)?)$"
_CURRENCY = r"^([+-]?)\s*[$€£¥]?\s*([+-]?)(.*?)\s*[$€£¥]?$"
_SPACES = r"[\x{00a0}\x{2009}\x{202f}]"
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LOOKED_AT = 1_000
_DATE_FORMATS = (
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
)


@dataclass(frozen=True, kw_only=True)
class Notation:
    """How numbers and dates are written where they are text.

    Parameters
    ----------
    decimal : "." or ",", before the fraction of a number. None is a point, or in a CSV with semicolons also a comma.
    thousands : what stands between groups of three digits: one of , . ' _ or a space. None is nothing.
    date_format : as ``datetime.strptime`` takes it, such as "%d.%m.%Y". Dates as 2024-12-31 are always read.

    Where ``decimal`` or ``thousands`` is given, a sign of a currency before or after a number is left out.

    Examples
    --------
    >>> import pyarrow as pa
    >>> Notation(decimal=",", thousands=".").numbers(pa.array(["38.249,59", "€ 7", "1.5"])).to_pylist()
    [38249.59, 7.0, None]
    """

    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None

    def __post_init__(self) -> None:
        for name, known in (("decimal", DECIMALS), ("thousands", THOUSANDS)):
            value = getattr(self, name)
            require(value is None or value in known, name, f"one of {', '.join(map(repr, known))}", value)
        differs = self.thousands != (self.decimal or ".")
        require(differs, "thousands", f"another sign than the decimal {self.decimal or '.'!r}", self.thousands)
        is_format = self.date_format is None or (isinstance(self.date_format, str) and "%" in self.date_format)
        require(is_format, "date_format", "a format such as '%d.%m.%Y'", self.date_format)

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as Python writes them, or with a comma where semicolons part the cells."""
        return self.decimal is None and self.thousands is None

    def numbers(self, column: pa.Array, *, decimal_comma: bool = False) -> pa.Array:
        """The texts as numbers, cell by cell, null where there is none."""
        if self.is_plain:
            text = pc.replace_substring_regex(column, _DECIMAL_COMMA, r"\1.\2") if decimal_comma else column
        else:
            text = self._plain_text(column)
        readable = pc.match_substring_regex(text, PLAIN_NUMBER)
        return pc.if_else(readable, text, pa.scalar(None, pa.string())).cast(pa.float64())

    def _plain_text(self, column: pa.Array) -> pa.Array:
        """Numbers as Python writes them, and null in the place of what is none in this notation."""
        decimal = re.escape(self.decimal or ".")
        whole = r"\d+"
        text = pc.replace_substring_regex(column, _CURRENCY, r"\1\2\3")
        if self.thousands is not None:
            text = pc.replace_substring_regex(text, _SPACES, " ")
            whole = rf"(\d{{1,3}}({re.escape(self.thousands)}\d{{3}})+|\d+)"
        pattern = rf"^[+-]?({whole}({decimal}\d*)?|{decimal}\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity|nan)$"
        text = pc.if_else(pc.match_substring_regex(text, pattern), text, pa.scalar(None, pa.string()))
        if self.thousands is not None:
            text = pc.replace_substring(text, self.thousands, "")
        return pc.replace_substring(text, ",", ".") if self.decimal == "," else text

    def days(self, text: str) -> float | None:
        """A date as days since 1970 (UTC); None if it is none."""
        moment = None if self.date_format is None else _parsed(text, self.date_format)
        if moment is None:
            try:
                moment = datetime.fromisoformat(text)
            except ValueError:
                return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (moment - _EPOCH) / timedelta(days=1)

    def looks_like_date(self, text: str) -> bool:
        """Whether it is written as a date; ``fromisoformat`` also takes 20241231 and 2024-W52, which may be codes."""
        is_iso = _ISO_DATE.match(text) is not None
        is_ours = self.date_format is not None and _parsed(text, self.date_format) is not None
        return (is_iso or is_ours) and self.days(text) is not None


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


# How texts look that are written in another notation than a table is read by.


def _parsed(text: str, date_format: str) -> datetime | None:
    try:
        return datetime.strptime(text, date_format)  # what has no time zone becomes UTC
    except ValueError:
        return None


def matching_options(texts: Iterable[str]) -> tuple[str | Setting, ...]:
    """Return how all of these texts would be numbers or dates, as parts of a message; empty if they would not.

    >>> print(*matching_options(["38.249,59", "7,5"]), sep="")
    numbers, with decimal=',' and thousands='.'
    >>> print(*matching_options(["31.12.2020"]), sep="")
    dates, with date_format='%d.%m.%Y'
    >>> matching_options(["red", "7,5"])
    ()
    """
    seen = list(islice(dict.fromkeys(texts), _LOOKED_AT))
    if not seen or not any(character.isdigit() for character in seen[0]):
        return ()
    column = pa.array(seen, pa.string())
    # From the simplest on: what reads all texts with fewer options is named first.
    tried = [{"decimal": ","}, {"decimal": "."}, *({"thousands": sign} for sign in THOUSANDS if sign != ".")]
    tried += [{"decimal": ",", "thousands": sign} for sign in THOUSANDS if sign != ","]
    ways = [options for options in tried if not Notation(**options).numbers(column).null_count]
    noun = "numbers" if ways else "dates"
    if not ways:
        formats = [each for each in _DATE_FORMATS if all(_parsed(text, each) is not None for text in seen)]
        ways = [{"date_format": each} for each in formats]
    parts: list[str | Setting] = []
    for options in ways[:2]:
        between = " or " if parts else f"{noun}, with "
        for name, value in options.items():
            parts += [between, Setting(name, value)]
            between = " and "
    return tuple(parts)
