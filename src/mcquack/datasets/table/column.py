"""One column of a table: what its cells mean as numbers, and what is learned about it from a training table."""

import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from mcquack.datasets.table.value import PLAIN_NUMBER, Notation, Table, in_rows, listed, matching_options
from mcquack.errors import InvalidInputError, InvalidTableError, NotationWarning, Setting

Kind = Literal["number", "boolean", "date", "category"]
Missing = Literal["error", "mean", "median", "most_frequent", "drop"]

IMPUTING: tuple[Missing, ...] = ("mean", "median", "most_frequent")
MAX_CATEGORIES = 10_000
MAX_ONE_HOT = 1_000  # each is a feature, and the circuit grows with their number
# From this share of numbers on, a column with some other texts is a numeric one with faults rather than categories.
_MOSTLY_NUMBERS = 0.9
_EXPECTED = {"number": "a number", "boolean": "true or false", "date": "a date like 2024-12-31"}


class Cells(NamedTuple):
    """One number per row, NaN where the cell is missing or does not fit the kind of its column."""

    values: NDArray[np.float64]
    unreadable: NDArray[np.bool_]

    @property
    def absent(self) -> NDArray[np.bool_]:
        """Where there is no finite number, although nothing unreadable stands there."""
        return ~np.isfinite(self.values) & ~self.unreadable


@dataclass(frozen=True, kw_only=True)
class Column:
    """How one column becomes numbers.

    ``fill`` stands in for a missing value where the encoder imputes; for categories it is their most frequent one. A
    column of categories is one feature, the position of the category, or with ``one_hot`` one feature of 0 and 1 for
    each category.
    """

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()
    fill: float | None = None
    one_hot: bool = False

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What the features that the column becomes are called."""
        return tuple(f"{self.name}={text}" for text in self.categories) if self.one_hot else (self.name,)

    def features(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The features (N, F) of the column, from its values as ``cells`` gives them; NaN has no category."""
        if not self.one_hot:
            return values[:, None]
        return np.asarray(values[:, None] == np.arange(len(self.categories)), dtype=np.float64)

    def cells(self, table: Table) -> Cells:
        return column_cells(table, self.name, kind=self.kind, categories=self.categories)

    def reasons(self, table: Table, *, cells: Cells, unusable: NDArray[np.bool_]) -> Iterator[tuple[int, str]]:
        """For each unusable cell its position and what is wrong with it."""
        texts = table.column(self.name)
        for position in np.flatnonzero(unusable).tolist():
            if not cells.unreadable[position]:
                what = "missing" if np.isnan(cells.values[position]) else "infinite"
                yield position, f"column {self.name!r} is {what}"
                continue
            wanted = f"is none of the {len(self.categories)} categories seen in training"
            if self.kind != "category":
                wanted = f"is not {_EXPECTED[self.kind]}{_as_which(texts[position].as_py(), self.kind)}"
            yield position, f"column {self.name!r}: {texts[position].as_py()!r} {wanted}"

    def with_categories(self, table: Table, *, training: Table | None = None) -> "Column":
        """The column with its sorted categories, those to train on first: held-out rows change no numbers of others."""
        if self.kind != "category":
            return self
        texts = self._distinct_texts(table)
        if len(texts) > MAX_CATEGORIES:
            raise InvalidTableError(
                f"{table.source}: column {self.name!r} holds {len(texts)} different texts, more than {MAX_CATEGORIES}: "
                "it names rows rather than kinds of them. Ignore this column."
            )
        if self.one_hot and len(texts) > MAX_ONE_HOT:
            raise InvalidTableError(
                f"{table.source}: column {self.name!r} holds {len(texts)} different texts, more than the {MAX_ONE_HOT} "
                "that can each be a feature. Ignore this column, or leave it as one feature, without one_hot."
            )
        trained = texts if training is None else self._distinct_texts(training)
        return replace(self, categories=(*sorted(trained), *sorted(texts - trained)))

    def _distinct_texts(self, table: Table) -> set[str]:
        return set(pc.unique(_as_text(plain_column(table, self.name))).drop_null().to_pylist())

    def with_fill(self, table: Table, *, missing: Missing) -> "Column":
        """The column with what stands in for a missing value, learned from the table."""
        values = self.cells(table).values
        values = values[np.isfinite(values)]
        if not len(values):
            raise InvalidTableError(
                f"{table.source}: column {self.name!r} has no usable value in the rows to train on; ignore this column."
            )
        if self.kind == "category" or missing == "most_frequent" or (self.kind == "boolean" and missing in IMPUTING):
            distinct, counts = np.unique(values, return_counts=True)
            return replace(self, fill=float(distinct[np.argmax(counts)]))  # the smallest of the most frequent
        if missing not in ("mean", "median"):
            return self
        scale = max(1.0, float(np.abs(values).max()) / 1e150)  # a sum of huge values would overflow
        return replace(self, fill=float((np.mean if missing == "mean" else np.median)(values / scale) * scale))


def _as_which(text: object, kind: Kind) -> str:
    """In a message: how a text would be a number or a date after all."""
    options = matching_options([text]) if isinstance(text, str) else ()
    noun, _, how = "".join(map(str, options)).partition(", ")
    return f" ({how} it would be)" if noun == f"{kind}s" else ""


def chosen_kind(table: Table, name: str, *, numeric: Collection[str], categorical: Collection[str]) -> Kind:
    """What the caller says the column is, or else what its cells say."""
    if name in numeric and name in categorical:
        raise InvalidInputError(f"column {name!r} is given both as numeric and as categorical; choose one.")
    column = plain_column(table, name)
    if column.null_count == len(table):
        raise InvalidTableError(
            f"{table.source}: column {name!r} is missing in every row that has a label; ignore this column."
        )
    if name in numeric:
        return "number"
    if name in categorical:
        return "category"
    kind = _inferred_kind(table, name)
    if kind != "category":
        return kind
    unreadable = column_cells(table, name, kind="number").unreadable
    if unreadable.sum() <= (1 - _MOSTLY_NUMBERS) * (len(column) - column.null_count):
        texts = sorted(set(column.filter(unreadable).to_pylist()))
        options = matching_options(texts)
        raise InvalidTableError(
            f"{table.source}: column {name!r} holds numbers but also {listed(texts, limit=3)} in "
            f"{in_rows(table.rows[unreadable])}",
            *((", which look like ", *options) if options else ()),
            ". Correct or empty those cells; or make the column numeric, which leaves those rows out, or categorical, "
            "which takes every value as a category.",
        )
    _warn_of_notation(table, name, column)
    return kind


_LOOKED_AT = 1_000


def _warn_of_notation(table: Table, name: str, column: pa.Array) -> None:
    """Tells that what becomes categories looks like numbers or dates in another notation than the table was read by."""
    texts = pc.unique(column).drop_null()[:_LOOKED_AT].to_pylist() if is_text(column) else []
    if options := matching_options(texts):
        warning = NotationWarning(
            f"{table.source}: column {name!r} is taken as categories, but values as {texts[0]!r} look like ",
            *options,
            "; give these options, or ",
            Setting("categorical", [name]),
            " to keep it so.",
        )
        warnings.warn(warning, stacklevel=2)


def _inferred_kind(table: Table, name: str) -> Kind:
    """What the column holds, by its type or, if it is text, by all of its values."""
    column = plain_column(table, name)
    if pa.types.is_boolean(column.type):
        return "boolean"
    if pa.types.is_timestamp(column.type):
        return "date"
    if not is_text(column) or not column_cells(table, name, kind="number").unreadable.any():
        return "number"
    if not column_cells(table, name, kind="boolean").unreadable.any():
        return "boolean"
    if (
        table.notation.date_format is None
        and not pc.all(pc.match_substring_regex(column, r"^\d{4}-\d{2}-\d{2}")).as_py()
    ):
        return "category"  # most texts are, and this is soon known
    looks_dated = all(map(table.notation.looks_like_date, pc.unique(column).drop_null().to_pylist()))
    return "date" if looks_dated else "category"


# The cells of a column as numbers, whatever the column is stored as.


def column_cells(table: Table, name: str, *, kind: Kind, categories: Sequence[str] = ()) -> Cells:
    """The column as numbers: dates as days since 1970 (UTC), false and true as 0 and 1, categories by position."""
    column = plain_column(table, name)
    if kind == "category":
        positions = pc.index_in(_as_text(column), value_set=pa.array(categories, pa.string()))
        return _cells(pc.cast(positions, pa.float64()), column)
    if kind == "date":
        return _dates(column, notation=table.notation)
    numbers = _number_cells(table, name, column)
    if kind == "number":
        return numbers
    values = numbers.values  # another program may have written the same column as 0 and 1
    if is_text(column):
        lowered = pc.utf8_lower(column).to_numpy(zero_copy_only=False)
        values = np.where(lowered == "true", 1.0, np.where(lowered == "false", 0.0, values))
    values = np.where(np.isin(values, (0, 1)), values, np.nan)
    return Cells(values, np.isnan(values) & ~_nulls(column))


# With many columns of few rows, a call for each of them takes longer than its cells do: they are read together, once.
_FEW_ROWS = 1_000
_CELLS_AT_ONCE = 1 << 20


def _number_cells(table: Table, name: str, column: pa.Array) -> Cells:
    if "number cells" not in table.known:
        table.known["number cells"] = dict(_wide_cells(table)) if len(table) <= _FEW_ROWS else {}
    found: Cells | None = table.known["number cells"].get(name)
    return found or _cells(_numbers(column, table=table), column)


def _wide_cells(table: Table) -> Iterator[tuple[str, Cells]]:
    """All columns of text as numbers, many at a time."""
    names = [name for name, column in table.columns.items() if is_text(column)]
    n_rows, n_together = len(table), max(1, _CELLS_AT_ONCE // max(1, len(table)))
    for first in range(0, len(names) if n_rows else 0, n_together):
        together = names[first : first + n_together]
        column = pa.concat_arrays([table.columns[name] for name in together])
        values, unreadable = _cells(table.notation.numbers(column, decimal_comma=table.decimal_comma), column)
        for number, name in enumerate(together):
            rows = slice(number * n_rows, (number + 1) * n_rows)
            yield name, Cells(values[rows], unreadable[rows])


def plain_column(table: Table, name: str) -> pa.Array:
    """The column as one of the types that the rest of this file knows: text, boolean, number or time stamp."""
    column = table.column(name)
    if is_text(column):
        return column
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if pa.types.is_null(kind) or pa.types.is_large_string(kind):
        return column.cast(pa.string())
    if pa.types.is_decimal(kind) or pa.types.is_float16(kind):
        return column.cast(pa.float64())
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("us", tz=getattr(kind, "tz", None)), safe=False)
    if is_text(column) or pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column
    raise InvalidTableError(
        f"{table.source}: column {name!r} is of the type {kind}; expected numbers, text, booleans or dates. "
        "Convert it, or leave the column out."
    )


def is_text(column: pa.Array) -> bool:
    """Whether the column is text, as every column of a CSV is."""
    return bool(pa.types.is_string(column.type))


def _as_text(column: pa.Array) -> pa.Array:
    """Every value as the text that a CSV would show."""
    if not pa.types.is_floating(column.type):
        return column.cast(pa.string())
    # Whole numbers become floats where another row is missing; the category is the same.
    fits = pc.and_(pc.equal(column, pc.trunc(column)), pc.less(pc.abs(column), 1e15))
    as_integers = pc.if_else(fits, column, 0.0).cast(pa.int64(), safe=False).cast(pa.string())
    return pc.if_else(fits, as_integers, column.cast(pa.string()))


def _nulls(column: pa.Array) -> NDArray[np.bool_]:
    nulls: NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False)
    return nulls


def _cells(numbers: pa.Array, column: pa.Array) -> Cells:
    """Unreadable is what has a value in the column and none among the numbers."""
    values = numbers.to_numpy(zero_copy_only=False).astype(np.float64)
    return Cells(values, _nulls(numbers) & ~_nulls(column))


def _numbers(column: pa.Array, *, table: Table) -> pa.Array:
    if pa.types.is_timestamp(column.type):
        return pa.nulls(len(column), pa.float64())
    if not is_text(column):
        return column.cast(pa.float64(), safe=False)
    # A clean column is cast at once; a cast that fails is slow, so look at the first cells before trying.
    if table.notation.is_plain and pc.all(pc.match_substring_regex(column[:100], PLAIN_NUMBER)).as_py() is not False:
        with suppress(pa.ArrowInvalid):
            return column.cast(pa.float64())
    return table.notation.numbers(column, decimal_comma=table.decimal_comma)


def _dates(column: pa.Array, *, notation: Notation) -> Cells:
    if pa.types.is_timestamp(column.type):
        microseconds = column.cast(pa.int64()).cast(pa.float64(), safe=False)
        return _cells(pc.divide(microseconds, timedelta(days=1) / timedelta(microseconds=1)), column)
    if not is_text(column):
        return _cells(pa.nulls(len(column), pa.float64()), column)
    encoded = column.dictionary_encode()
    days = pa.array([notation.days(text) for text in encoded.dictionary.to_pylist()], pa.float64())
    return _cells(days.take(encoded.indices), column)
