"""How large a table may be that is read from a file: a small file can grow to more than a machine holds."""

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self, cast

from mcquack.checks import count_from_environment, how_to_raise, required_count
from mcquack.errors import InvalidTableError
from mcquack.files import regular_file

BYTES, CELLS = "MCQUACK_TABLE_BYTES", "MCQUACK_TABLE_CELLS"

_CHUNK_BYTES = 1 << 20
_CELLS_PER_COLUMN = 100  # what a name costs in the room of cells


@dataclass(frozen=True, kw_only=True)
class TableLimits:
    """The most that is read from one file, by default 512 MiB and 50 million cells.

    Parameters
    ----------
    n_bytes : of the text of a CSV once it is unpacked, or of the values of a Parquet file as numbers and texts.
    n_cells : rows times columns. A hundredth of it is the most columns.

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

    @property
    def n_columns(self) -> int:
        """The most columns; a hundred are never too many."""
        return max(100, self.n_cells // _CELLS_PER_COLUMN)

    def check_cells(self, n_rows: int, n_columns: int, *, source: str) -> None:
        """Refuses tables with too many cells, and headers with too many names, before room is made for them."""
        if n_rows * n_columns > self.n_cells:
            raise InvalidTableError(
                f"{source} has {n_rows:,} rows of {n_columns:,} columns, more than {self.n_cells:,} cells in all; "
                f"{how_to_raise(CELLS, 'most_cells')}"
            )
        if n_columns > self.n_columns:
            raise InvalidTableError(
                f"{source} has {n_columns:,} columns, more than {self.n_columns:,}, a hundredth of the cells that a "
                f"table may have; {how_to_raise(CELLS, 'most_cells')}"
            )

    def check_bytes(self, n_bytes: int, *, source: str) -> None:
        """Refuses more bytes than may be held."""
        if n_bytes > self.n_bytes:
            raise InvalidTableError(
                f"{source} holds more than {self.n_bytes:,} bytes{_if_packed(source)}; "
                f"{how_to_raise(BYTES, 'most_bytes')}"
            )


def file_content(path: Path, *, limits: TableLimits) -> bytes:
    """The bytes of a plain file, unpacked if its name ends in .gz; no more is read than may be held."""
    with regular_file(path, what="a table", error=InvalidTableError) as content:
        if path.suffix.lower() != ".gz":
            return _bounded(content, limits=limits, source=path.name)
        return _unpacked(content, limits=limits, source=path.name)


def _unpacked(packed: IO[bytes], *, limits: TableLimits, source: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=packed) as stream:
            return _bounded(cast("IO[bytes]", stream), limits=limits, source=source)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InvalidTableError(
            f"{source} is not a whole gzip file ({error}); copy it again, or drop .gz if it is plain text."
        ) from error


def _bounded(stream: IO[bytes], *, limits: TableLimits, source: str) -> bytes:
    content = bytearray()
    while chunk := stream.read(_CHUNK_BYTES):
        content += chunk
        limits.check_bytes(len(content), source=source)
    return bytes(content)


def _if_packed(source: str) -> str:
    return " once it is unpacked" if source.lower().endswith(".gz") else ""
