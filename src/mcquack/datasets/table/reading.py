"""Tables from CSV and Parquet files and from DataFrames; what is broken in one row costs no other row."""

import codecs
import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from mcquack.datasets.table.value import RowProblem, Table, unique_names
from mcquack.errors import InvalidInputError, InvalidTableError

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
_BLOCK_BYTES = 1 << 26
# A last line of our own: when the parser does not meet it as a row, a quote before it was never closed.
_SENTINEL = "\x1fend of table\x1f"


def read_table(path: str | Path) -> Table:
    """The table in a CSV (also gzipped) or Parquet file, chosen by the suffix."""
    path = Path(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    zipped = suffixes[-1:] == [".gz"]
    kind = (suffixes[:-1] if zipped else suffixes)[-1:]
    if kind and kind[0] in CSV_SUFFIXES:
        return read_csv(path)
    if kind and kind[0] in PARQUET_SUFFIXES and not zipped:
        return parquet_table(path)
    raise InvalidTableError(
        f"{path.name}: expected a CSV ({', '.join(CSV_SUFFIXES)}, each also with .gz) or a Parquet file "
        f"({', '.join(PARQUET_SUFFIXES)}); rename or convert it."
    )


def read_csv(path: str | Path) -> Table:
    """The table in a CSV, whatever it is called; gzipped if the name ends in .gz."""
    path = Path(path)
    content = path.read_bytes()
    if path.suffix.lower() == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidTableError(
                f"{path.name} is not a whole gzip file ({error}); copy it again, or drop .gz if it is plain text."
            ) from error
    elif content.startswith(b"\x1f\x8b"):
        raise InvalidTableError(f"{path.name} is gzipped; rename it to end in {path.suffix}.gz.")
    for magic, what in _FOREIGN_CONTENT.items():
        if content.startswith(magic):
            raise InvalidTableError(f"{path.name} is read as a CSV but is {what}.")
    return csv_table(content, source=path.name)


def parquet_table(path: Path) -> Table:
    """The table in a Parquet file; rows are numbered from 1."""
    try:
        with pq.ParquetFile(path) as file:
            content = file.read()
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise InvalidTableError(f"{path.name} is not a readable Parquet file ({reason}); write it again.") from error
    return _arrow_table(content, source=path.name, first_row=1)


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
    return _arrow_table(content, source=source, first_row=0)


def _is_pandas(value: object) -> bool:
    """Whoever has a DataFrame of pandas has imported it."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def _pandas_content(frame: Any, *, source: str) -> pa.Table:
    names = unique_names([str(name) for name in frame.columns], source=source)
    # Through Arrow's own door the index of a filtered frame would come along as one more feature.
    return pa.Table.from_pandas(frame.set_axis(list(names), axis=1), preserve_index=False)


def _arrow_table(content: pa.Table, *, source: str, first_row: int) -> Table:
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


# CSV text.


def csv_table(content: bytes, *, source: str) -> Table:
    """The table in the bytes of a CSV; ragged rows are collected, blank lines are not rows."""
    text = content.removeprefix(codecs.BOM_UTF8)
    body = text.strip(b"\r\n")
    if not body.strip():
        raise InvalidTableError(f"{source} is empty; expected a header of column names, then one row per sample.")
    _check_is_text(text, source=source)
    delimiter = _sniffed_delimiter(body)
    try:
        header = [name.strip() for name in next(_records(body, delimiter))]
    except csv.Error as error:
        raise InvalidTableError(f"{source}: the header cannot be read ({error}); check its quotes.") from error
    names = unique_names(header, source=source)
    cells, ragged = _parsed(body, delimiter, n_columns=len(names), source=source)
    columns, rows, problems = _cells(cells, ragged, source=source)
    usable, empty = _usable_and_empty(columns, rows, blank_lines=_blank_lines(body, delimiter))
    # Line breaks before the header are no rows of the parser, but rows of the file.
    offset = len(text[: text.find(body)].splitlines())
    table = Table(
        source=source,
        columns=dict(zip(names, columns, strict=True)),
        rows=rows + offset,
        bad_rows=tuple(sorted(RowProblem(bad.row + offset, bad.reason) for bad in problems + empty)),
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
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidTableError(
            f"{source} is not UTF-8 (byte {content[error.start]:#04x} in line {line}); "
            "save it again with the encoding UTF-8."
        ) from error


def _records(body: bytes, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.TextIOWrapper(io.BytesIO(body), encoding="utf-8", newline=""), delimiter=delimiter)


def _sniffed_delimiter(body: bytes) -> str:
    """The delimiter that gives the first rows most often as many cells as the header, then the most cells."""
    # A cut would end within a record or a character, which says nothing: keep whole lines.
    head = body if len(body) <= _SNIFFED_BYTES else body[:_SNIFFED_BYTES].rpartition(b"\n")[0]

    def fit(delimiter: str) -> tuple[float, int]:
        try:
            widths = [len(record) for record in _records(head, delimiter) if record] or [1]
        except csv.Error:
            return 0.0, 0
        return (widths.count(widths[0]) / len(widths), widths[0]) if widths[0] > 1 else (0.0, 1)

    return max(DELIMITERS, key=fit)


def _parsed(body: bytes, delimiter: str, *, n_columns: int, source: str) -> tuple[pa.Table, dict[int, tuple[int, str]]]:
    """All cells as text, the header and our last line included, and the width and text of the rows that do not fit."""
    ragged: dict[int, tuple[int, str]] = {}

    def collect(row: pacsv.InvalidRow) -> str:
        ragged[row.number] = (row.actual_columns, row.text)
        return "skip"

    try:
        content = pacsv.read_csv(
            io.BytesIO(body + b"\n" + _SENTINEL.encode() + b"\n"),
            read_options=pacsv.ReadOptions(
                use_threads=False,  # with threads a ragged row would have no number
                autogenerate_column_names=True,
                block_size=min(len(body) + 64, _BLOCK_BYTES),
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
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise InvalidTableError(f"{source} cannot be read as CSV ({reason}); check its quotes and rows.") from error
    if content.num_columns != n_columns:
        raise InvalidTableError(f"{source}: the quotes in the header are out of place; close or double them.")
    return content, ragged


def _cells(
    content: pa.Table, ragged: dict[int, tuple[int, str]], *, source: str
) -> tuple[list[pa.Array], NDArray[np.int64], list[RowProblem]]:
    """The columns below the header, the number of each row, and the rows that do not fit the header."""
    rows = np.delete(np.arange(1, content.num_rows + len(ragged) + 1), np.array([*ragged], dtype=np.int64) - 1)
    last = max([*ragged, int(rows[-1])])
    n_own = 0
    if content.num_columns == 1 and content[0][-1].as_py() == _SENTINEL:
        n_own = 1
    elif last not in ragged or ragged.pop(last)[1] != _SENTINEL:
        raise InvalidTableError(f"{source}: a quote opened in row {last} is never closed; close or double it.")
    body = content.slice(1, content.num_rows - 1 - n_own)
    problems = [
        RowProblem(row, f"has {n} {'cell' if n == 1 else 'cells'} where the header has {content.num_columns}")
        for row, (n, _) in ragged.items()
    ]
    return [_trimmed(column.combine_chunks()) for column in body.columns], rows[1 : len(body) + 1], problems


def _trimmed(column: pa.Array) -> pa.Array:
    text = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


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
) -> tuple[NDArray[np.bool_], list[RowProblem]]:
    blank = np.isin(rows, blank_lines)
    if len(columns) == 1:  # a missing value of the only column leaves the same trace as an empty row
        return ~blank, []
    valueless = np.logical_and.reduce([column.is_null().to_numpy(zero_copy_only=False) for column in columns])
    return ~valueless, [RowProblem(int(row), "every cell is empty") for row in rows[valueless & ~blank]]
