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
    content: Path | bytes, *, text: Collection[str] = (), names: Sequence[str] | None = None, missing: str = ""
) -> pa.Table:
    """The table in a CSV; ``text`` columns are trimmed, all others are numbers, and ``missing`` marks what is absent.

    ``names`` are those of a file without a header.
    """
    source = str(content) if isinstance(content, Path) else "the table"
    try:
        table = pacsv.read_csv(
            source if isinstance(content, Path) else io.BytesIO(content),
            read_options=pacsv.ReadOptions(column_names=names),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(text, pa.string()),
                null_values=["", missing, f" {missing}", "NaN", "nan"],
                strings_can_be_null=True,
            ),
        )
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataFileError(f"{source} cannot be read ({reason}); replace it by a fresh copy.") from error
    lacking = [name for name in text if name not in table.column_names]
    if lacking:
        raise DataFileError(f"{source} has no column {lacking[0]!r}; replace it by the original file.")
    for name in text:
        trimmed = pc.utf8_trim_whitespace(table[name])
        table = table.set_column(table.column_names.index(name), name, trimmed)
    return table


def matrix(table: pa.Table, names: Sequence[str]) -> FloatArray:
    """The columns as numbers, NaN where one is absent; texts become their position among the sorted texts."""
    lacking = [name for name in names if name not in table.column_names]
    if lacking:
        raise DataFileError(f"the table has no column {lacking[0]!r}; replace it by the original file.")
    return np.column_stack([_numbers(table[name]) for name in names])


def texts(table: pa.Table, name: str) -> NDArray[np.str_]:
    """A column of text as an array."""
    return np.asarray(table[name].to_numpy()).astype(np.str_)


def _numbers(column: pa.ChunkedArray) -> FloatArray:
    if pa.types.is_string(column.type):
        sorted_texts = pc.unique(column).drop_null().sort()
        column = pc.index_in(column, value_set=sorted_texts)
    return np.asarray(column.cast(pa.float64()).to_numpy())
