"""Tables from Parquet files, which tell their size first; what they tell is not relied on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mcquack.datasets.table.limits import TableLimits
from mcquack.datasets.table.value import Table, arrow_table, unique_names
from mcquack.errors import InvalidInputError, InvalidTableError
from mcquack.files import regular_file

_CELLS_AT_ONCE, _BYTES_AT_ONCE, _FEW_ROWS = 1 << 20, 1 << 26, 128


def parquet_table(path: Path, *, limits: TableLimits | None = None) -> Table:
    """The table in a Parquet file; rows are numbered from 1."""
    limits = limits or TableLimits.of()
    with regular_file(path, what="a table", error=InvalidTableError):
        pass  # whether it may be read is told by the system, and by Arrow what is wrong with its content
    with _readable(path.name):
        with pq.ParquetFile(path) as file:
            schema, leaves = file.schema_arrow, _leaves(file.metadata)
            unique_names(schema.names, source=path.name)
            n_rows_at_once = _batch_rows(file, leaves, limits=limits, source=path.name)
        batches, n_rows, n_bytes = [], 0, 0
        # As dictionaries, texts take the room that they have in the file, however often each is repeated.
        with pq.ParquetFile(path, read_dictionary=_repeating(schema, leaves)) as file:
            for batch in file.iter_batches(batch_size=n_rows_at_once, use_threads=False):
                n_rows, n_bytes = n_rows + len(batch), n_bytes + sum(map(_plain_bytes, batch.columns))
                limits.check_cells(n_rows, len(schema), source=path.name)
                limits.check_bytes(n_bytes, source=path.name)
                batches.append(pa.RecordBatch.from_arrays([*map(_decoded, batch.columns, schema)], schema=schema))
        content = pa.Table.from_batches(batches, schema=schema)
        content.validate(full=True)
        return arrow_table(content, source=path.name, first_row=1)


def _leaves(told: pq.FileMetaData) -> list[pq.ColumnChunkMetaData]:
    """What the file tells of the values of each column, group of rows by group of rows."""
    groups = [told.row_group(number) for number in range(told.num_row_groups)]
    return [group.column(number) for group in groups for number in range(told.num_columns)]


def _repeating(schema: pa.Schema, leaves: list[pq.ColumnChunkMetaData]) -> list[str]:
    """The columns of text that are dictionaries in the file, and that Arrow can leave so."""
    texts = {field.name for field in schema if _is_binary(field.type)}
    repeated = {leaf.path_in_schema for leaf in leaves if any("DICTIONARY" in kind for kind in leaf.encodings)}
    others = {leaf.path_in_schema for leaf in leaves if any("DELTA" in kind for kind in leaf.encodings)}
    return sorted((texts & repeated) - others)


def _batch_rows(file: pq.ParquetFile, leaves: list[pq.ColumnChunkMetaData], *, limits: TableLimits, source: str) -> int:
    """How many rows are read at a time, once it is sure that the whole, as the file tells of it, may be held."""
    n_rows, schema = file.metadata.num_rows, file.schema_arrow
    n_values = max((leaf.num_values for leaf in leaves), default=0)  # in lists there are more than rows
    limits.check_cells(max(n_rows, n_values), len(schema), source=source)
    limits.check_bytes(sum(leaf.total_uncompressed_size for leaf in leaves), source=source)
    width = sum(field.type.byte_width for field in schema if pa.types.is_fixed_size_binary(field.type))
    limits.check_bytes(n_rows * width, source=source)
    # Where a text only tells by what it differs from the one before, few bytes may become many long texts.
    has_differences = any("DELTA_BYTE_ARRAY" in leaf.encodings for leaf in leaves)
    n_most = _FEW_ROWS if has_differences else _CELLS_AT_ONCE // max(1, len(schema))
    return max(1, min(n_most, int(_BYTES_AT_ONCE // max(1, width))))


@contextmanager
def _readable(source: str) -> Iterator[None]:
    """Turns what Arrow says of broken content into an error that names the file; it has many ways to say so."""
    try:
        yield
    except InvalidInputError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError, OverflowError, MemoryError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidTableError(f"{source} is not a readable Parquet file ({reason}); write it again.") from error


def _is_binary(kind: pa.DataType) -> bool:
    types = pa.types
    kinds = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(is_kind(kind) for is_kind in kinds)


def _decoded(column: pa.Array, field: pa.Field) -> pa.Array:
    """The column in the type that the file names."""
    return column if column.type == field.type else column.dictionary_decode().cast(field.type)


def _plain_bytes(column: pa.Array) -> int:
    """How many bytes a column takes once each of its texts stands by itself."""
    if not pa.types.is_dictionary(column.type) or not _is_binary(column.dictionary.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).cast(pa.int64())
    return int(pc.sum(lengths.take(column.indices)).as_py() or 0) + 4 * len(column)
