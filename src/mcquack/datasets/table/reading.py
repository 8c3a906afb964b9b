"""One door for all table files."""

import gzip
import zlib
from pathlib import Path

from mcquack.datasets.table.csv_file import csv_table
from mcquack.datasets.table.parquet_file import parquet_table
from mcquack.datasets.table.value import Table
from mcquack.errors import InvalidTableError

CSV_SUFFIXES = (".csv", ".tsv", ".txt", ".data")
PARQUET_SUFFIXES = (".parquet", ".pq")

# What a file turns out to be, by its first bytes, whatever its name says.
_FOREIGN_CONTENT = {
    b"PAR1": "a Parquet file; rename it to end in .parquet",
    b"PK\x03\x04": "a zip archive or a spreadsheet; save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet; save the sheet as CSV",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}


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
    return csv_table(_csv_bytes(path, zipped=path.suffix.lower() == ".gz"), source=path.name)


def _csv_bytes(path: Path, *, zipped: bool) -> bytes:
    content = path.read_bytes()
    if zipped:
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
    return content
