"""Parquet to table."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from mcquack.datasets.table.arrow import arrow_table
from mcquack.datasets.table.value import Table
from mcquack.errors import InvalidTableError


def parquet_table(path: Path) -> Table:
    """The table in a Parquet file; rows are numbered from 1."""
    try:
        with pq.ParquetFile(path) as file:
            content = file.read()
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise InvalidTableError(f"{path.name} is not a readable Parquet file ({reason}); write it again.") from error
    return arrow_table(content, source=path.name, first_row=1)
