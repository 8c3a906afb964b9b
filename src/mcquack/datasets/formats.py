"""The formats in which others publish datasets: idx, npz, zip, gzip and CSV.

Every reader refuses a file that is broken with a ``DataFileError`` that names it and says what to do.
"""

import gzip
import io
import itertools
import lzma
import struct
import zipfile
import zlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.errors import DataFileError

# Arrays in the idx format, in which MNIST and its kin are published.

_UNSIGNED_BYTES = 0x08


def idx_array(path: Path) -> NDArray[np.uint8]:
    """The array in an idx file of bytes, which may be gzipped."""
    content = path.read_bytes()
    return idx_content(unzipped(path) if content.startswith(b"\x1f\x8b") else content, source=str(path))


def idx_content(content: bytes, *, source: str) -> NDArray[np.uint8]:
    """The array in the bytes of an idx file: 0, 0, type, rank, then the shape in big-endian words, then the values."""
    rank = content[3] if len(content) > 3 else 0
    n_header = 4 + 4 * rank
    shape = tuple(np.frombuffer(content[4:n_header], ">u4").tolist()) if len(content) >= n_header else ()
    if content[:3] != bytes([0, 0, _UNSIGNED_BYTES]) or not shape or len(content) != n_header + int(np.prod(shape)):
        raise DataFileError(f"{source} is not a whole idx file of bytes; remove it, so that it is fetched anew.")
    return np.frombuffer(content, np.uint8, offset=n_header).reshape(shape)


# Archives and NumPy's files.


def unzipped(path: Path, *, member: str = "", n_lines: int | None = None) -> bytes:
    """The content of a gzip file, or of one that is a member of a zip archive, or only its first lines."""
    packed = io.BytesIO(zip_member(path, member)) if member else path
    try:
        with gzip.open(packed, "rb") as stream:
            return stream.read() if n_lines is None else b"".join(itertools.islice(stream, n_lines))
    except (OSError, EOFError, zlib.error) as error:
        name = f"{member} in {path}" if member else path
        raise DataFileError(
            f"{name} is not a whole gzip file ({error}); remove it, so that it is fetched anew."
        ) from error


# What Python's readers of archives raise for broken ones; MemoryError where a header claims more than there is.
_ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    LookupError,
    ValueError,
    OverflowError,
    MemoryError,
)


def zip_member(path: Path, name: str) -> bytes:
    """The content of the member with this file name, in whatever folder of the archive it is."""
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                if member.rpartition("/")[2] == name:
                    return archive.read(member)
    except _ARCHIVE_ERRORS as error:  # RuntimeError also where it is encrypted
        raise DataFileError(f"{path} is not a whole, plain zip archive ({error}); download it again.") from error
    raise DataFileError(f"{path} has no file {name!r}; download the original archive.")


def npz_arrays(path: Path, *names: str) -> tuple[NDArray[Any], ...]:
    """Arrays of an npz file by name; nothing in it is executed."""
    try:
        # Opened here, since NumPy would leave a broken archive open.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            return tuple(file[name] for name in names)
    except (*_ARCHIVE_ERRORS, TypeError) as error:
        raise DataFileError(f"{path} cannot be read ({error}); replace it by the original file.") from error


# Tables whose columns are known beforehand, read fast.


def csv_columns(
    content: Path | bytes,
    *,
    numbers: Sequence[str] | None = None,
    text: Collection[str] = (),
    names: Sequence[str] | None = None,
    missing: str = "",
) -> pa.Table:
    """The named columns of a CSV: ``numbers``, where None takes all that are no text, and ``text``, which is trimmed.

    ``names`` are those of a file without a header, and ``missing`` marks what is absent.
    """
    source = str(content) if isinstance(content, Path) else "the table"
    try:
        numbers = [name for name in _header(content) if name not in text] if numbers is None else numbers
        types = {**dict.fromkeys(numbers, pa.float64()), **dict.fromkeys(text, pa.string())}
        table = pacsv.read_csv(
            source if isinstance(content, Path) else io.BytesIO(content),
            read_options=pacsv.ReadOptions(column_names=names),
            convert_options=pacsv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=["", missing, f" {missing}", "NaN", "nan"],
                strings_can_be_null=True,
            ),
        )
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise DataFileError(f"{source} cannot be read ({reason}); replace it by the original file.") from error
    for name in text:
        trimmed = pc.utf8_trim_whitespace(table[name])
        table = table.set_column(table.column_names.index(name), name, trimmed)
    return table


def _header(content: Path | bytes) -> list[str]:
    """The names in the first line, of which none is quoted in the tables that are read here."""
    with pa.input_stream(str(content) if isinstance(content, Path) else io.BytesIO(content)) as stream:
        beginning = bytes(stream.read(1 << 16))
    return beginning.partition(b"\n")[0].decode("utf-8-sig").strip().split(",")


def matrix(table: pa.Table, names: Sequence[str], *, text: Collection[str] = ()) -> FloatArray:
    """The columns as numbers, NaN where one is absent; ``text`` becomes its position among the sorted texts."""
    require_columns(table, names)
    return np.column_stack([_numbers(table[name], name=name, is_text=name in text) for name in names])


def texts(table: pa.Table, name: str) -> NDArray[np.str_]:
    """A column of text as an array, refused if one is missing."""
    require_columns(table, [name])
    if table[name].null_count:
        raise DataFileError(
            f"the column {name!r} is empty in {table[name].null_count:,} rows; replace the table by the original one."
        )
    return np.asarray(table[name].to_numpy()).astype(np.str_)


def require_columns(table: pa.Table, names: Sequence[str]) -> None:
    """Refuses a table that lacks one of the columns."""
    lacking = [name for name in names if name not in table.column_names]
    if lacking:
        raise DataFileError(f"the table has no column {lacking[0]!r}; replace it by the original file.")


def _numbers(column: pa.ChunkedArray, *, name: str, is_text: bool) -> FloatArray:
    if pa.types.is_string(column.type) != is_text:
        raise DataFileError(
            f"the column {name!r} holds {column.type} where {'text was' if is_text else 'numbers were'} expected; "
            "replace the table by the original one."
        )
    if is_text:
        sorted_texts = pc.unique(column).drop_null().sort()
        column = pc.index_in(column, value_set=sorted_texts)
    return np.asarray(column.cast(pa.float64()).to_numpy())
