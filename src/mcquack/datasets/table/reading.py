"""Tables from CSV and Parquet files and from DataFrames; what is broken in one row costs no other row."""

import codecs
import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from mcquack.checks import count_from_environment, how_to_raise, required_count
from mcquack.datasets.table.value import RowProblem, Table, arrow_table, unique_names
from mcquack.errors import InvalidInputError, InvalidTableError
from mcquack.files import check_regular, regular_file
from mcquack.interrupts import interrupts_noted

CSV_SUFFIXES = (".csv", ".tsv", ".txt", ".data")
PARQUET_SUFFIXES = (".parquet", ".pq")
DELIMITERS = (",", ";", "\t", "|")

# Unquoted only: "NA" in quotes is a text like any other, which is how R writes Namibia.
MISSING_TOKENS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "-nan", "NULL", "null", "<NA>", "?")

# What a file turns out to be, by its first bytes, whatever its name says.
_FOREIGN_CONTENT = {
    b"PAR1": "a Parquet file; rename it to end in .parquet",
    b"PK\x03\x04": "a zip archive or a spreadsheet; save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet; save the sheet as CSV",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}
_SNIFFED_BYTES = 1 << 16
_CHUNK_BYTES = 1 << 20
_CELLS_AT_ONCE, _BYTES_AT_ONCE, _FEW_ROWS = 1 << 20, 1 << 26, 128
_CELLS_PER_COLUMN = 100  # what a name costs in the room of cells
BYTES, CELLS = "MCQUACK_TABLE_BYTES", "MCQUACK_TABLE_CELLS"
# A last line of our own: when the parser does not meet it as a row, a quote before it was never closed.
_SENTINEL = "\x1fend of table\x1f"


@dataclass(frozen=True, kw_only=True)
class TableLimits:
    """The most that is read from one file, by default 512 MiB and 50 million cells.

    Parameters
    ----------
    n_bytes : of the text of a CSV once it is unpacked, or of the values of a Parquet file as numbers and texts.
    n_cells : rows times columns. A hundredth of it is the most columns.
    n_bad_rows : rows of a CSV that cannot be used, each of which is named; with more the header must be wrong.
    block_bytes : how much of a CSV is parsed at a time.

    Examples
    --------
    >>> TableLimits(n_cells=100).check_cells(20, 4, source="small.csv")
    >>> TableLimits(n_cells=100).check_cells(20, 6, source="large.csv")
    Traceback (most recent call last):
        ...
    mcquack.errors.InvalidTableError: large.csv has 20 rows of 6 columns, more than 100 cells in all; ...
    """

    n_bytes: int = 1 << 29
    n_cells: int = 50_000_000  # a table of so many took 3 GB when it was read and encoded
    n_bad_rows: int = 1_000_000
    block_bytes: int = _BYTES_AT_ONCE

    def __post_init__(self) -> None:
        required_count("n_bytes", self.n_bytes)
        required_count("n_cells", self.n_cells)

    @classmethod
    def of(cls, *, most_bytes: int | None = None, most_cells: int | None = None) -> Self:
        """What the arguments say, or else the variables MCQUACK_TABLE_BYTES and MCQUACK_TABLE_CELLS, or the default."""
        given = {
            "n_bytes": most_bytes or count_from_environment(BYTES),
            "n_cells": most_cells or count_from_environment(CELLS),
        }
        return cls(**{name: value for name, value in given.items() if value is not None})

    def check_cells(self, n_rows: int, n_columns: int, *, source: str) -> None:
        """Refuses tables with too many cells, and headers with too many names, before room is made for them."""
        problem, most_columns = "", max(100, self.n_cells // _CELLS_PER_COLUMN)  # a hundred are never too many
        if n_rows * n_columns > self.n_cells:
            problem = f"{n_rows:,} rows of {n_columns:,} columns, more than {self.n_cells:,} cells in all"
        elif n_columns > most_columns:
            problem = f"{n_columns:,} columns, more than {most_columns:,}, a hundredth of the cells that it may have"
        if problem:
            raise InvalidTableError(f"{source} has {problem}; {how_to_raise(CELLS, 'most_cells')}")

    def check_bytes(self, n_bytes: int, *, source: str) -> None:
        """Refuses more bytes than may be held."""
        if n_bytes > self.n_bytes:
            packed = " once it is unpacked" if source.lower().endswith(".gz") else ""
            raise InvalidTableError(
                f"{source} holds more than {self.n_bytes:,} bytes{packed}; {how_to_raise(BYTES, 'most_bytes')}"
            )


def read_table(path: str | Path, *, limits: TableLimits | None = None) -> Table:
    """The table in a CSV (also gzipped) or Parquet file, chosen by the suffix, and no larger than ``limits`` say."""
    path = Path(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    zipped = suffixes[-1:] == [".gz"]
    kind = (suffixes[:-1] if zipped else suffixes)[-1:]
    if kind and kind[0] in CSV_SUFFIXES:
        return read_csv(path, limits=limits)
    if kind and kind[0] in PARQUET_SUFFIXES and not zipped:
        return parquet_table(path, limits=limits)
    if path.exists():
        check_regular(path, what="a table", error=InvalidTableError)
    raise InvalidTableError(
        f"{path.name}: expected a CSV ({', '.join(CSV_SUFFIXES)}, each also with .gz) or a Parquet file "
        f"({', '.join(PARQUET_SUFFIXES)}); rename or convert it."
    )


def read_csv(path: str | Path, *, limits: TableLimits | None = None) -> Table:
    """The table in a CSV, whatever it is called; gzipped if the name ends in .gz."""
    path, limits = Path(path), limits or TableLimits.of()
    content = _content(path, limits)
    if path.suffix.lower() != ".gz" and content.startswith(b"\x1f\x8b"):
        raise InvalidTableError(f"{path.name} is gzipped; rename it to end in {path.suffix}.gz.")
    for magic, what in _FOREIGN_CONTENT.items():
        if content.startswith(magic):
            raise InvalidTableError(f"{path.name} is read as a CSV but is {what}.")
    return csv_table(content, source=path.name, limits=limits)


def _content(path: Path, limits: TableLimits) -> bytes:
    """The bytes of a plain file, unpacked if its name ends in .gz; no more is read than may be held."""
    content = bytearray()
    try:
        with regular_file(path, what="a table", error=InvalidTableError) as stored:
            stream: Any = gzip.GzipFile(fileobj=stored) if path.suffix.lower() == ".gz" else stored
            while chunk := stream.read(_CHUNK_BYTES):
                content += chunk
                limits.check_bytes(len(content), source=path.name)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InvalidTableError(
            f"{path.name} is not a whole gzip file ({error}); copy it again, or drop .gz if it is plain text."
        ) from error
    return bytes(content)


# DataFrames, whoever's they are.


def is_frame(value: object) -> bool:
    """Whether it has named columns: a DataFrame of pandas, or what offers itself to Arrow as polars does."""
    return _is_pandas(value) or hasattr(value, "__arrow_c_stream__")


def frame_table(frame: object) -> Table:
    """The table in a DataFrame or an Arrow table, without an index; rows are numbered from 0, as ``iloc`` does."""
    source = type(frame).__name__
    if not is_frame(frame):
        raise InvalidInputError(
            f"expected a DataFrame of pandas or polars, or a table of Arrow, got {source}; collect or convert it, "
            "or use from_arrays."
        )
    try:
        content = _pandas_content(frame, source=source) if _is_pandas(frame) else pa.table(frame)
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise InvalidTableError(
            f"{source} is no table ({' '.join(str(part) for part in error.args)}); give columns that each hold values "
            "of one kind."
        ) from error
    return arrow_table(content, source=source, first_row=0)


def _is_pandas(value: object) -> bool:
    """Whoever has a DataFrame of pandas has imported it."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def _pandas_content(frame: Any, *, source: str) -> pa.Table:
    names = unique_names([str(name) for name in frame.columns], source=source)
    # Through Arrow's own door the index of a filtered frame would come along as one more feature.
    return pa.Table.from_pandas(frame.set_axis(list(names), axis=1), preserve_index=False)


# CSV text.


def csv_table(content: bytes, *, source: str, limits: TableLimits | None = None) -> Table:
    """The table in the bytes of a CSV; ragged rows are collected, blank lines are not rows."""
    limits = limits or TableLimits.of()
    text = content.removeprefix(codecs.BOM_UTF8)
    body = text.strip(b"\r\n")
    if not body.strip():
        raise InvalidTableError(f"{source} is empty; expected a header of column names, then one row per sample.")
    _check_is_text(text, source=source)
    delimiter = _sniffed_delimiter(body)
    # Before anything is made of them: more cells than delimiters and line breaks allow there cannot be.
    first_line = body[: min((end for end in (body.find(b"\n"), body.find(b"\r")) if end >= 0), default=len(body))]
    limits.check_cells(1, first_line.count(delimiter.encode()) + 1, source=source)
    try:
        header = [name.strip() for name in next(_records(body, delimiter))]
    except csv.Error as error:
        raise InvalidTableError(f"{source}: the header cannot be read ({error}); check its quotes.") from error
    names = unique_names(header, source=source)
    limits.check_cells(max(body.count(b"\n"), body.count(b"\r")) + 1, len(names), source=source)
    cells, ragged = _parsed(body, delimiter, n_columns=len(names), limits=limits, source=source)
    columns, rows, problems = _cells(cells, ragged, source=source)
    usable, empty = _usable_and_empty(columns, rows, blank_lines=_blank_lines(body, delimiter))
    if len(empty) > limits.n_bad_rows:
        raise InvalidTableError(f"{source}: every cell is empty in {len(empty):,} rows; remove those rows.")
    problems += [RowProblem(row, "every cell is empty") for row in empty.tolist()]
    # Line breaks before the header are no rows of the parser, but rows of the file.
    offset = len(text[: text.find(body)].splitlines())
    table = Table(
        source=source,
        columns=dict(zip(names, columns, strict=True)),
        rows=rows + offset,
        bad_rows=tuple(sorted(RowProblem(bad.row + offset, bad.reason) for bad in problems)),
        decimal_comma=delimiter == ";",
    ).only(usable)
    if not len(table) and not table.bad_rows:
        raise InvalidTableError(f"{source} has a header but no rows below it; add one row per sample.")
    if not len(table):
        raise InvalidTableError(
            f"{source}: not one of {len(table.bad_rows)} rows can be used with the header of {len(names)} columns; "
            f"{table.bad_rows[0]}. Compare the header with the rows."
        )
    return table


def _check_is_text(content: bytes, *, source: str) -> None:
    if (zero := content.find(b"\x00")) >= 0:
        line = content.count(b"\n", 0, zero) + 1
        raise InvalidTableError(f"{source} holds binary data (a zero byte in line {line}); expected a CSV in UTF-8.")
    # In pieces, since a text of a gigabyte takes four as soon as it holds one character beyond the common ones.
    decoder, end = codecs.getincrementaldecoder("utf-8")(), 0
    try:
        while end < len(content):
            start, end = end, end + _BYTES_AT_ONCE
            decoder.decode(content[start:end], final=end >= len(content))
    except UnicodeDecodeError as error:
        place = min(end, len(content)) - len(error.object) + error.start
        line = content.count(b"\n", 0, place) + 1
        raise InvalidTableError(
            f"{source} is not UTF-8 (byte {content[place]:#04x} in line {line}); save it again with the encoding UTF-8."
        ) from error


def _records(body: bytes, delimiter: str) -> Iterator[list[str]]:
    # A piece of a table may end within a character.
    lines = io.TextIOWrapper(io.BytesIO(body), encoding="utf-8", errors="replace", newline="")
    return csv.reader(lines, delimiter=delimiter)


def _sniffed_delimiter(body: bytes) -> str:
    """The delimiter that gives the first rows most often as many cells as the header, then the most cells."""
    # A cut would end within a record or a character, which says nothing: keep whole lines.
    head = body if len(body) <= _SNIFFED_BYTES else body[:_SNIFFED_BYTES].rpartition(b"\n")[0] or body[:_SNIFFED_BYTES]

    def fit(delimiter: str) -> tuple[float, int]:
        try:
            widths = [len(record) for record in _records(head, delimiter) if record] or [1]
        except csv.Error:
            return 0.0, 0
        return (widths.count(widths[0]) / len(widths), widths[0]) if widths[0] > 1 else (0.0, 1)

    return max(DELIMITERS, key=fit)


def _parsed(
    body: bytes, delimiter: str, *, n_columns: int, limits: TableLimits, source: str
) -> tuple[pa.Table, dict[int, tuple[int, bool]]]:
    """All cells as text, the header and our last line included, and of rows that do not fit their width, and whether
    they are our last line.
    """
    ragged: dict[int, tuple[int, bool]] = {}

    def collect(row: pacsv.InvalidRow) -> str:
        ragged[row.number] = (row.actual_columns, row.text == _SENTINEL)
        return "error" if len(ragged) > limits.n_bad_rows else "skip"

    interrupts: list[int] = []
    try:
        with interrupts_noted() as interrupts:  # one in the handler of rows would be lost
            content = pacsv.read_csv(
                io.BytesIO(body + b"\n" + _SENTINEL.encode() + b"\n"),
                read_options=pacsv.ReadOptions(
                    use_threads=False,  # with threads a ragged row would have no number
                    autogenerate_column_names=True,
                    block_size=min(len(body) + 64, limits.block_bytes),
                ),
                parse_options=pacsv.ParseOptions(
                    delimiter=delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=False,  # they count, or the numbers below them would be wrong
                    invalid_row_handler=collect,
                ),
                convert_options=pacsv.ConvertOptions(
                    column_types={f"f{index}": pa.string() for index in range(n_columns)},
                    null_values=[lead + token for token in MISSING_TOKENS for lead in ("", " ")],  # also after "a, b"
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
    except (pa.ArrowException, UnicodeDecodeError) as error:
        if interrupts:
            raise KeyboardInterrupt from None
        if len(ragged) > limits.n_bad_rows:
            raise InvalidTableError(
                f"{source}: more than {limits.n_bad_rows:,} rows do not fit the header of {n_columns:,} columns; "
                "compare the header with the rows."
            ) from error
        reason = str(error).splitlines()[0]
        raise InvalidTableError(f"{source} cannot be read as CSV ({reason}); check its quotes and rows.") from error
    if interrupts:
        raise KeyboardInterrupt
    if content.num_columns != n_columns:
        raise InvalidTableError(f"{source}: the quotes in the header are out of place; close or double them.")
    return content, ragged


def _cells(
    content: pa.Table, ragged: dict[int, tuple[int, bool]], *, source: str
) -> tuple[list[pa.Array], NDArray[np.int64], list[RowProblem]]:
    """The columns below the header, the number of each row, and the rows that do not fit the header."""
    rows = np.delete(np.arange(1, content.num_rows + len(ragged) + 1), np.array([*ragged], dtype=np.int64) - 1)
    last = max([*ragged, int(rows[-1])])
    n_own = 0
    if content.num_columns == 1 and content[0][-1].as_py() == _SENTINEL:
        n_own = 1
    elif last not in ragged or not ragged.pop(last)[1]:
        raise InvalidTableError(f"{source}: a quote opened in row {last} is never closed; close or double it.")
    body = content.slice(1, content.num_rows - 1 - n_own)
    problems = [
        RowProblem(row, f"has {n} {'cell' if n == 1 else 'cells'} where the header has {content.num_columns}")
        for row, (n, _) in ragged.items()
    ]
    return list(_trimmed(body)), rows[1 : len(body) + 1], problems


def _trimmed(body: pa.Table) -> Iterator[pa.Array]:
    """The columns without spaces around cells, null where nothing is left; many small ones at a time."""
    n_rows, n_together = len(body), max(1, _CELLS_AT_ONCE // max(1, len(body)))
    columns = [column.combine_chunks() for column in body.columns]
    for first in range(0, len(columns), n_together):
        together = columns[first : first + n_together]
        text = pc.utf8_trim_whitespace(pa.concat_arrays(together) if len(together) > 1 else together[0])
        text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
        yield from (text.slice(number * n_rows, n_rows) for number in range(len(together)))


def _blank_lines(body: bytes, delimiter: str) -> NDArray[np.int64]:
    """Which rows are nothing but a line break; looked for only where two line breaks meet."""
    if not any(pair in body for pair in (b"\n\n", b"\r\r", b"\n\r")):
        return np.empty(0, dtype=np.int64)
    try:
        return np.array([row for row, record in enumerate(_records(body, delimiter), start=1) if not record], np.int64)
    except csv.Error:  # a cell beyond the limit of the csv module: then a blank line is told as an empty row
        return np.empty(0, dtype=np.int64)


def _usable_and_empty(
    columns: list[pa.Array], rows: NDArray[np.int64], *, blank_lines: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Where there is a row with a value, and the numbers of rows of which every cell is empty."""
    blank = np.isin(rows, blank_lines)
    if len(columns) == 1:  # a missing value of the only column leaves the same trace as an empty row
        return ~blank, rows[:0]
    if not all(column.null_count for column in columns):  # then no row is without a value
        return np.ones(len(rows), dtype=bool), rows[:0]
    valueless = np.logical_and.reduce([column.is_null().to_numpy(zero_copy_only=False) for column in columns])
    return ~valueless, rows[valueless & ~blank]


# Parquet files tell their size first; what they tell is not relied on.


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
