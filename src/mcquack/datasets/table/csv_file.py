"""CSV text to table: what is broken in it is told by row, and costs no other row."""

import codecs
import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from mcquack.datasets.table.value import RowProblem, Table, unique_names
from mcquack.errors import InvalidTableError

DELIMITERS = (",", ";", "\t", "|")

# Unquoted only: "NA" in quotes is a text like any other, which is how R writes Namibia.
MISSING_TOKENS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "-nan", "NULL", "null", "<NA>", "?")

_SNIFFED_BYTES = 1 << 16
_BLOCK_BYTES = 1 << 26
# A last line of our own: when the parser does not meet it as a row, a quote before it was never closed.
_SENTINEL = "\x1fend of table\x1f"


class _Cells(NamedTuple):
    """All cells below the header as text, the number of each row, and the rows that do not fit the header."""

    columns: list[pa.Array]
    rows: NDArray[np.int64]
    ragged: list[RowProblem]


def csv_table(content: bytes, *, source: str) -> Table:
    """The table in the bytes of a CSV; ragged rows are collected, blank lines are not rows."""
    text = content.removeprefix(codecs.BOM_UTF8)
    body = text.strip(b"\r\n")
    if not body.strip():
        raise InvalidTableError(f"{source} is empty; expected a header of column names, then one row per sample.")
    _check_is_text(text, source=source)
    delimiter = _sniffed_delimiter(body)
    names = unique_names(_header(body, delimiter, source=source), source=source)
    cells = _parsed(body, delimiter, n_columns=len(names), source=source)
    usable, empty = _usable_and_empty(cells, blank_lines=_blank_lines(body, delimiter))
    # Line breaks before the header are no rows of the parser, but rows of the file.
    offset = len(text[: text.find(body)].splitlines())
    table = Table(
        source=source,
        columns=dict(zip(names, cells.columns, strict=True)),
        rows=cells.rows + offset,
        bad_rows=tuple(sorted(RowProblem(bad.row + offset, bad.reason) for bad in cells.ragged + empty)),
        decimal_comma=delimiter == ";",
    ).only(usable)
    _check_has_rows(table)
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


def _check_has_rows(table: Table) -> None:
    if len(table):
        return
    if not table.bad_rows:
        raise InvalidTableError(f"{table.source} has a header but no rows below it; add one row per sample.")
    raise InvalidTableError(
        f"{table.source}: not one of {len(table.bad_rows)} rows can be used with the header of {len(table.names)} "
        f"columns; {table.bad_rows[0]}. Compare the header with the rows."
    )


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


def _header(body: bytes, delimiter: str, *, source: str) -> list[str]:
    try:
        return [name.strip() for name in next(_records(body, delimiter))]
    except csv.Error as error:
        raise InvalidTableError(f"{source}: the header cannot be read ({error}); check its quotes.") from error


def _blank_lines(body: bytes, delimiter: str) -> NDArray[np.int64]:
    """Which rows are nothing but a line break; looked for only where two line breaks meet."""
    if not any(pair in body for pair in (b"\n\n", b"\r\r", b"\n\r")):
        return np.empty(0, dtype=np.int64)
    try:
        return np.array([row for row, record in enumerate(_records(body, delimiter), start=1) if not record], np.int64)
    except csv.Error:  # a cell beyond the limit of the csv module: then a blank line is told as an empty row
        return np.empty(0, dtype=np.int64)


def _usable_and_empty(cells: _Cells, *, blank_lines: NDArray[np.int64]) -> tuple[NDArray[np.bool_], list[RowProblem]]:
    blank = np.isin(cells.rows, blank_lines)
    if len(cells.columns) == 1:  # a missing value of the only column leaves the same trace as an empty row
        return ~blank, []
    valueless = np.logical_and.reduce([column.is_null().to_numpy(zero_copy_only=False) for column in cells.columns])
    return ~valueless, [RowProblem(int(row), "every cell is empty") for row in cells.rows[valueless & ~blank]]


def _parsed(body: bytes, delimiter: str, *, n_columns: int, source: str) -> _Cells:
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
    return _cells(content, ragged, source=source)


def _cells(content: pa.Table, ragged: dict[int, tuple[int, str]], *, source: str) -> _Cells:
    rows = np.delete(np.arange(1, content.num_rows + len(ragged) + 1), np.array([*ragged], dtype=np.int64) - 1)
    last = max([*ragged, int(rows[-1])])
    n_own = 0
    if content.num_columns == 1 and content[0][-1].as_py() == _SENTINEL:
        n_own = 1
    elif last not in ragged or ragged.pop(last)[1] != _SENTINEL:
        raise InvalidTableError(f"{source}: a quote opened in row {last} is never closed; close or double it.")
    body = content.slice(1, content.num_rows - 1 - n_own)
    problems = [RowProblem(row, _width_mismatch(n_cells, content.num_columns)) for row, (n_cells, _) in ragged.items()]
    return _Cells([_trimmed(column.combine_chunks()) for column in body.columns], rows[1 : len(body) + 1], problems)


def _width_mismatch(n_cells: int, n_columns: int) -> str:
    return f"has {n_cells} {'cell' if n_cells == 1 else 'cells'} where the header has {n_columns}"


def _trimmed(column: pa.Array) -> pa.Array:
    text = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
