"""Tables from CSV and Parquet files and from DataFrames; what is broken in one row costs no other row."""

import codecs
import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from mcquack.datasets.table.limits import TableLimits, file_content
from mcquack.datasets.table.parquet import parquet_table
from mcquack.datasets.table.value import RowProblem, Table, arrow_table, unique_names
from mcquack.errors import InvalidInputError, InvalidTableError
from mcquack.files import check_regular
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
_BLOCK_BYTES = 1 << 26
_CELLS_AT_ONCE = 1 << 20
_MOST_BAD_ROWS = 1_000_000  # each is told by itself; a table with more has another header than it should have
# A last line of our own: when the parser does not meet it as a row, a quote before it was never closed.
_SENTINEL = "\x1fend of table\x1f"


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
    content = file_content(path, limits=limits)
    if path.suffix.lower() != ".gz" and content.startswith(b"\x1f\x8b"):
        raise InvalidTableError(f"{path.name} is gzipped; rename it to end in {path.suffix}.gz.")
    for magic, what in _FOREIGN_CONTENT.items():
        if content.startswith(magic):
            raise InvalidTableError(f"{path.name} is read as a CSV but is {what}.")
    return csv_table(content, source=path.name, limits=limits)


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
    cells, ragged = _parsed(body, delimiter, n_columns=len(names), source=source)
    columns, rows, problems = _cells(cells, ragged, source=source)
    usable, empty = _usable_and_empty(columns, rows, blank_lines=_blank_lines(body, delimiter), source=source)
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
    # In pieces, since a text of a gigabyte takes four as soon as it holds one character beyond the common ones.
    decoder, end = codecs.getincrementaldecoder("utf-8")(), 0
    try:
        while end < len(content):
            start, end = end, end + _BLOCK_BYTES
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
    body: bytes, delimiter: str, *, n_columns: int, source: str
) -> tuple[pa.Table, dict[int, tuple[int, bool]]]:
    """All cells as text, the header and our last line included, and of rows that do not fit their width, and whether
    they are our last line.
    """
    ragged: dict[int, tuple[int, bool]] = {}

    def collect(row: pacsv.InvalidRow) -> str:
        ragged[row.number] = (row.actual_columns, row.text == _SENTINEL)
        return "error" if len(ragged) > _MOST_BAD_ROWS else "skip"

    interrupts: list[int] = []
    try:
        with interrupts_noted() as interrupts:  # one in the handler of rows would be lost
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
    except (pa.ArrowException, UnicodeDecodeError) as error:
        if interrupts:
            raise KeyboardInterrupt from None
        if len(ragged) > _MOST_BAD_ROWS:
            raise InvalidTableError(
                f"{source}: more than {_MOST_BAD_ROWS:,} rows do not fit the header of {n_columns:,} columns; compare "
                "the header with the rows."
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
    columns: list[pa.Array], rows: NDArray[np.int64], *, blank_lines: NDArray[np.int64], source: str
) -> tuple[NDArray[np.bool_], list[RowProblem]]:
    blank = np.isin(rows, blank_lines)
    if len(columns) == 1:  # a missing value of the only column leaves the same trace as an empty row
        return ~blank, []
    if not all(column.null_count for column in columns):  # then no row is without a value
        return np.ones(len(rows), dtype=bool), []
    valueless = np.logical_and.reduce([column.is_null().to_numpy(zero_copy_only=False) for column in columns])
    empty = rows[valueless & ~blank]
    if len(empty) > _MOST_BAD_ROWS:
        raise InvalidTableError(f"{source}: every cell is empty in {len(empty):,} rows; remove those rows.")
    return ~valueless, [RowProblem(int(row), "every cell is empty") for row in empty]
