"""Tables whose columns are known beforehand, read fast."""

import io
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from mcquack.errors import DataFileError

FloatArray = NDArray[np.float64]


def csv_columns(
    content: Path | bytes,
    *,
    numbers: Sequence[str] | None = None,
    text: Collection[str] = (),
    names: Sequence[str] | None = None,
    missing: str = "",
) -> pa.Table:
    """The named columns of a CSV: ``numbers``, where None takes all that are no text, and ``text``, which is trimmed.

    ``names`` are those of a file without a header, and ``missing`` marks what is absent.
    """
    source = str(content) if isinstance(content, Path) else "the table"
    try:
        numbers = [name for name in _header(content) if name not in text] if numbers is None else numbers
        types = {**dict.fromkeys(numbers, pa.float64()), **dict.fromkeys(text, pa.string())}
        table = pacsv.read_csv(
            source if isinstance(content, Path) else io.BytesIO(content),
            read_options=pacsv.ReadOptions(column_names=names),
            convert_options=pacsv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=["", missing, f" {missing}", "NaN", "nan"],
                strings_can_be_null=True,
            ),
        )
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise DataFileError(f"{source} cannot be read ({reason}); replace it by the original file.") from error
    for name in text:
        trimmed = pc.utf8_trim_whitespace(table[name])
        table = table.set_column(table.column_names.index(name), name, trimmed)
    return table


def _header(content: Path | bytes) -> list[str]:
    """The names in the first line, of which none is quoted in the tables that are read here."""
    with pa.input_stream(str(content) if isinstance(content, Path) else io.BytesIO(content)) as stream:
        beginning = bytes(stream.read(1 << 16))
    return beginning.partition(b"\n")[0].decode("utf-8-sig").strip().split(",")


def matrix(table: pa.Table, names: Sequence[str], *, text: Collection[str] = ()) -> FloatArray:
    """The columns as numbers, NaN where one is absent; ``text`` becomes its position among the sorted texts."""
    require_columns(table, names)
    return np.column_stack([_numbers(table[name], name=name, is_text=name in text) for name in names])


def texts(table: pa.Table, name: str) -> NDArray[np.str_]:
    """A column of text as an array, refused if one is missing."""
    require_columns(table, [name])
    if table[name].null_count:
        raise DataFileError(
            f"the column {name!r} is empty in {table[name].null_count:,} rows; replace the table by the original one."
        )
    return np.asarray(table[name].to_numpy()).astype(np.str_)


def require_columns(table: pa.Table, names: Sequence[str]) -> None:
    """Refuses a table that lacks one of the columns."""
    lacking = [name for name in names if name not in table.column_names]
    if lacking:
        raise DataFileError(f"the table has no column {lacking[0]!r}; replace it by the original file.")


def _numbers(column: pa.ChunkedArray, *, name: str, is_text: bool) -> FloatArray:
    if pa.types.is_string(column.type) != is_text:
        raise DataFileError(
            f"the column {name!r} holds {column.type} where {'text was' if is_text else 'numbers were'} expected; "
            "replace the table by the original one."
        )
    if is_text:
        sorted_texts = pc.unique(column).drop_null().sort()
        column = pc.index_in(column, value_set=sorted_texts)
    return np.asarray(column.cast(pa.float64()).to_numpy())
