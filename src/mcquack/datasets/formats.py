"""The formats in which others publish datasets: idx, npz, zip, gzip and CSV, and where MNIST and Fashion-MNIST are.

Every reader refuses a file that is broken with a ``DataFileError`` that names it and says what to do.
"""

import gzip
import io
import itertools
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
from mcquack.datasets.files import DataFile, Source
from mcquack.errors import DataFileError

# Arrays in the idx format, in which MNIST and its kin are published.

IDX_NAMES = tuple(f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1"))
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


def idx_images_and_labels(*paths: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """All pictures (N, height, width) and their labels, training files before test files."""
    train_images, train_labels, test_images, test_labels = map(idx_array, paths)
    return np.concatenate([train_images, test_images]), np.concatenate([train_labels, test_labels])


def _idx_sources(
    title: str, *, base_url: str, folder: str, compressed: tuple[str, ...], plain: tuple[str, ...]
) -> tuple[Source, ...]:
    """The four files of a dataset, gzipped to download or unpacked by the user, with their checksums."""
    zipped = tuple(
        DataFile(name=f"{name}.gz", folder=folder, checksum=f"md5:{md5}", url=f"{base_url}/{name}.gz")
        for name, md5 in zip(IDX_NAMES, compressed, strict=True)
    )
    unpacked = tuple(
        DataFile(name=name, folder=folder, checksum=f"sha256:{sha256}")
        for name, sha256 in zip(IDX_NAMES, plain, strict=True)
    )
    return (
        Source(title=title, files=zipped, read=idx_images_and_labels, homepage=base_url),
        Source(title=f"{title}, unpacked", files=unpacked, read=idx_images_and_labels, homepage=base_url),
    )


# The folders are those of torchvision, whose downloads can so be used as they are.
MNIST = _idx_sources(
    "MNIST",
    base_url="https://ossci-datasets.s3.amazonaws.com/mnist",
    folder="MNIST/raw",
    compressed=(
        "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "d53e105ee54ea40749a09fcbcd1e9432",
        "9fb629c4189551a2d022fa330f9573f3",
        "ec29112dd5afa0611ce80d1b7f02629c",
    ),
    plain=(
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
)
FASHION_MNIST = _idx_sources(
    "Fashion-MNIST",
    base_url="http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
    folder="FashionMNIST/raw",
    compressed=(
        "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "25c81989df183df01b3e8a0aad5dffbe",
        "bef4ecab320f06d8554ea6380940ec79",
        "bb300cfdad3c16e7a12a480ee83cd310",
    ),
    plain=(
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    ),
)

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


def zip_member(path: Path, name: str) -> bytes:
    """The content of the member with this file name, in whatever folder of the archive it is."""
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                if member.rpartition("/")[2] == name:
                    return archive.read(member)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:  # the last also where it is encrypted
        raise DataFileError(f"{path} is not a whole, plain zip archive ({error}); download it again.") from error
    raise DataFileError(f"{path} has no file {name!r}; download the original archive.")


def npz_arrays(path: Path, *names: str) -> tuple[NDArray[Any], ...]:
    """Arrays of an npz file by name; nothing in it is executed."""
    try:
        # Opened here, since NumPy would leave a broken archive open.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            return tuple(file[name] for name in names)
    except (KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
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
