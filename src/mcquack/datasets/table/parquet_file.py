"""Parquet to table."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mcquack.datasets.table.value import Table, unique_names
from mcquack.errors import InvalidTableError


def parquet_table(path: Path) -> Table:
    """The table in a Parquet file; rows are numbered from 1."""
    try:
        with pq.ParquetFile(path) as file:
            content = file.read()
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise InvalidTableError(f"{path.name} is not a readable Parquet file ({reason}); write it again.") from error
    names = unique_names(content.column_names, source=path.name)
    if not names or not len(content):
        raise InvalidTableError(f"{path.name} has no {'rows' if names else 'columns'}; give a table with samples.")
    columns = dict(zip(names, (_filterable(column.combine_chunks()) for column in content.columns), strict=True))
    return Table(source=path.name, columns=columns, rows=np.arange(1, len(content) + 1))


def _filterable(column: pa.Array) -> pa.Array:
    """Arrow cannot take rows out of a column of string views."""
    return column.cast(pa.string()) if pa.types.is_string_view(column.type) else column
