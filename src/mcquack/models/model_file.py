"""The file of a model or checkpoint: one safetensors file whose metadata hold one JSON document, the header.

Reading runs no code and trusts nothing: all that a file claims about itself is checked before memory is taken for it,
and arrays are made of a file only when its checksum is right.
"""

import errno
import hashlib
import io
import json
import math
import os
import reprlib
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray
from safetensors.numpy import save

from mcquack.checks import count_from_environment, how_to_raise, required_count
from mcquack.errors import InvalidInputError, ModelFileError
from mcquack.files import regular_file, replace_file

JSON: TypeAlias = bool | int | float | str | list[Any] | Mapping[str, Any] | None
Tensor: TypeAlias = NDArray[Any]
T = TypeVar("T")

FORMAT = "mcquack-model"
FORMAT_VERSION = 2
LATEST_VERSION = 3  # for models with circuits of any gates, which earlier releases cannot run
BYTES = "MCQUACK_MODEL_BYTES"
DEFAULT_MAX_BYTES = 1 << 30
MAX_HEADER_BYTES = 1 << 24
MAX_VALUES = 1 << 20  # in the header; of those that mcquack has written none has more than one for every 13 bytes
MAX_DEPTH = 32
MAX_RANK = 8
MAX_INTEGER_BITS = 128  # the seeds of numpy are no longer

_DTYPES: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F64": np.dtype("<f8"), "I64": np.dtype("<i8")}
_MOST_ELEMENTS = 1 << 59  # numpy counts no further, even where a length of zero leaves none of them
_CHUNK_BYTES = 1 << 20
_METADATA = "__metadata__"
_METADATA_KEY = "mcquack"
_CHECKSUM = "sha256"
_OURS = "give a file that mcquack has saved."
_DAMAGED = "the file is damaged or was changed by hand: copy it again or save the model again."


class ModelFile(NamedTuple):
    """What a model file holds: a JSON document and arrays by name."""

    header: dict[str, Any]
    tensors: dict[str, Tensor]


def write_model(
    path: str | os.PathLike[str],
    *,
    header: Mapping[str, JSON],
    tensors: Mapping[str, Tensor],
    format_version: int = FORMAT_VERSION,
) -> None:
    """Write strict JSON and finite arrays of float32, float64 or int64, all or nothing.

    A higher ``format_version`` makes earlier releases refuse a file in which there is what they do not know.
    """
    try:
        content = _content(header, tensors, format_version)
    except ModelFileError as error:
        raise InvalidInputError(f"{path} was not written: {error}") from None
    _check_replaceable(Path(path))
    replace_file(Path(path), content)


def read_model(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> ModelFile:
    """Exactly what was written, or a ModelFileError; what the operating system refuses stays an OSError.

    A file of more than ``max_bytes`` is refused, and no other takes more memory than it has bytes, its header aside;
    None is what the variable MCQUACK_MODEL_BYTES says, or else 1 GiB.
    """
    path = Path(path)
    given = count_from_environment(BYTES) if max_bytes is None else required_count("max_bytes", max_bytes)
    most = DEFAULT_MAX_BYTES if given is None else given
    with regular_file(path, what="a model", error=ModelFileError, hint=_OURS) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > most:
            raise ModelFileError(
                f"{path} has {size:,} bytes, and of a model at most {most:,} are read; "
                f"{how_to_raise(BYTES, 'max_bytes')}"
            )
        try:
            return _model(stream, size)
        except ModelFileError as error:
            raise ModelFileError(f"{path} is no usable model file: {error}") from error
        except MemoryError:
            raise ModelFileError(f"{path} does not fit into memory with its {size:,} bytes; {_OURS}") from None


def require_field(fields: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """The value of that name and type; an int may stand for a float, but a bool not for an int."""
    require_that(name in fields, f"the header lacks the field {name!r}; {_DAMAGED}")
    value = fields[name]
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        kinds = f"must be of type {kind.__name__}, got {reprlib.repr(value)}"
        raise ModelFileError(f"the header field {name!r} {kinds}; {_DAMAGED}")
    return value


def require_that(condition: Any, problem: str) -> None:
    """Raises ModelFileError, which tells the problem of the file, unless the condition holds."""
    if not condition:
        raise ModelFileError(problem)


def require_tensor(
    file: ModelFile, name: str, *, shape: Sequence[int | None], dtype: DTypeLike | None = None
) -> Tensor:
    """The array of that name; None in ``shape`` stands for any length, ``dtype=None`` for any type."""
    require_that(name in file.tensors, f"the array {name!r} is missing; {_DAMAGED}")
    tensor = file.tensors[name]
    if len(shape) != tensor.ndim or any(a not in (None, b) for a, b in zip(shape, tensor.shape, strict=True)):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise ModelFileError(f"the shape of {name!r} must be ({wanted}), got {tensor.shape}; {_DAMAGED}")
    if dtype is not None and tensor.dtype != np.dtype(dtype):
        raise ModelFileError(f"the array {name!r} must be of type {np.dtype(dtype)}, got {tensor.dtype}; {_DAMAGED}")
    return tensor


# Writing


def _content(header: Mapping[str, JSON], tensors: Mapping[str, Tensor], format_version: int) -> bytes:
    """The bytes of the file, read back once: what is written can be read."""
    stamp = {"format": FORMAT, "format_version": format_version}
    for name in (*stamp, _CHECKSUM):
        if name in header and (name not in stamp or header[name] != stamp[name]):
            raise ModelFileError(f"the header field {name!r} belongs to the format; choose another name.")
    fields = _plain_object({**header, **stamp}, None, 0)
    for name, tensor in tensors.items():
        _check_writable(name, tensor)
    tensors = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    document = json.dumps({**fields, _CHECKSUM: _digest(fields, tensors)}, allow_nan=False)
    content = save(tensors, metadata={_METADATA_KEY: document})
    _model(io.BytesIO(content), len(content))
    return content


def _check_writable(name: str, tensor: Tensor) -> None:
    _plain_text(name, (None, "name of an array"))
    if name == _METADATA:
        raise ModelFileError(f"the array name {name!r} belongs to the format; choose another name.")
    if not isinstance(tensor, np.ndarray) or tensor.dtype not in _DTYPES.values():
        kind = f"{type(tensor).__name__} of {getattr(tensor, 'dtype', 'objects')}"
        raise ModelFileError(f"{name!r} must be an array of float32, float64 or int64, got {kind}; convert it.")


def _check_replaceable(path: Path) -> None:
    """Refuses everything but an ordinary file, or none yet, in a folder that exists."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        if path.parent.is_dir():
            return
        raise FileNotFoundError(errno.ENOENT, "there is no such folder; make it first", str(path.parent)) from None
    if stat.S_ISLNK(status.st_mode):
        raise InvalidInputError(f"{path} is a symbolic link, which would be lost; give the path it points to.")
    if not stat.S_ISREG(status.st_mode):
        raise InvalidInputError(f"{path} is a folder or a device; give the path of an ordinary file.")


# Reading


class _Entry(NamedTuple):
    """What the table of contents says of an array, and where its bytes are in the file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int


def _model(stream: BinaryIO, size: int) -> ModelFile:
    # Never mapped into memory: a file that is then cut short would kill the process.
    n_table = int.from_bytes(stream.read(8), "little")
    require_that(size >= 8 + n_table, f"it is incomplete or of another kind; {_OURS}")
    limit = f"allowed are {MAX_HEADER_BYTES:,}; keep large values in arrays."
    require_that(n_table <= MAX_HEADER_BYTES, f"its header has {n_table:,} bytes, {limit}")
    table = _parsed_object(stream.read(n_table), "its table of contents")
    header, checksum = _header(table)
    entries = {name: _entry(name, table[name], 8 + n_table) for name in table if name != _METADATA}
    end = 8 + n_table
    for entry in sorted(entries.values(), key=lambda entry: (entry.begin, entry.end)):
        require_that(entry.begin == end, f"its arrays cannot be read (they overlap, or leave gaps); {_DAMAGED}")
        end = entry.end
    require_that(end == size, f"its arrays cannot be read (they do not end where the file does); {_DAMAGED}")
    contents = {name: (entry.dtype, entry.shape) for name, entry in entries.items()}
    chunks = (chunk for name in sorted(entries) for chunk in _chunks(stream, entries[name]))
    require_that(checksum == _digest_of(header, contents, chunks), f"its checksum does not match; {_DAMAGED}")
    return ModelFile(header, {name: _tensor(name, entry, stream) for name, entry in entries.items()})


def _entry(name: str, entry: Any, start: int) -> _Entry:
    """What is said of an array whose bytes are counted from ``start``; what makes no sense is refused."""
    told = f"its arrays cannot be read ({reprlib.repr(name)}"
    known: Mapping[str, Any] = entry if isinstance(entry, dict) else {}
    dtype: Any
    shape: Any
    offsets: Any
    dtype, shape, offsets = (known.get(field) for field in ("dtype", "shape", "data_offsets"))
    right = isinstance(dtype, str) and isinstance(shape, list) and isinstance(offsets, list) and len(offsets) == 2
    counts = [*shape, *offsets] if right else []
    whole = all(type(count) is int and count >= 0 for count in counts)
    if not (right and whole and len(known) == 3 and _is_text(name)):
        raise ModelFileError(f"{told} is not described as arrays are); {_DAMAGED}")
    if dtype not in _DTYPES or len(shape) > MAX_RANK:
        kinds = f"{' or '.join(_DTYPES)} with up to {MAX_RANK} axes, got {dtype[:20]!r} with {len(shape)}"
        raise ModelFileError(f"{told} must be of type {kinds}); {_DAMAGED}")
    possible = math.prod(max(length, 1) for length in shape) < _MOST_ELEMENTS
    fits = offsets[1] - offsets[0] == math.prod(shape) * _DTYPES[dtype].itemsize
    require_that(possible and fits, f"{told} has a shape that does not fit its bytes); {_DAMAGED}")
    return _Entry(_DTYPES[dtype], tuple(shape), start + offsets[0], start + offsets[1])


def _chunks(stream: BinaryIO, entry: _Entry) -> Iterator[bytes]:
    """The bytes of an array, a few at a time."""
    stream.seek(entry.begin)
    for begin in range(entry.begin, entry.end, _CHUNK_BYTES):
        yield stream.read(min(_CHUNK_BYTES, entry.end - begin))


def _tensor(name: str, entry: _Entry, stream: BinaryIO) -> Tensor:
    tensor: Tensor = np.empty(entry.shape, entry.dtype)
    stream.seek(entry.begin)
    n_read = stream.readinto(tensor.reshape(-1).view(np.uint8)) if tensor.size else 0  # type: ignore[attr-defined]
    require_that(n_read == tensor.nbytes, f"it was cut short while it was read; {_DAMAGED}")
    if not np.isfinite(tensor).all():
        raise ModelFileError(f"the array {reprlib.repr(name)} has values that are not finite; train and save it again.")
    return tensor


def _header(table: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    metadata = table.get(_METADATA)
    document = metadata.get(_METADATA_KEY) if isinstance(metadata, dict) else None
    if not isinstance(document, str):
        raise ModelFileError(f"it has no mcquack header; {_OURS}")
    header = _parsed_object(document, "its header")
    _check_version(header)  # first of all, as a later version may differ in everything else
    require_that(metadata == {_METADATA_KEY: document}, f"it has metadata beside the mcquack header; {_DAMAGED}")
    checksum = require_field(header, _CHECKSUM, str)
    del header[_CHECKSUM]
    return _plain_object(header, None, 0), checksum


def _check_version(header: Mapping[str, Any]) -> None:
    if header.get("format") != FORMAT:
        raise ModelFileError(f"its format is not {FORMAT!r} but {reprlib.repr(header.get('format'))}; {_OURS}")
    version = require_field(header, "format_version", int)
    if version > LATEST_VERSION:
        versions = f"version {reprlib.repr(version)}, this one reads up to {LATEST_VERSION}"
        raise ModelFileError(f"it was written by a newer mcquack ({versions}); upgrade mcquack.")
    require_that(version >= 1, f"there is no format version {reprlib.repr(version)}; {_DAMAGED}")


# What writing and reading check alike


def _digest(header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    contents = {name: (tensor.dtype, tensor.shape) for name, tensor in tensors.items()}
    return _digest_of(header, contents, (tensors[name].data for name in sorted(tensors)))


def _digest_of(
    header: Mapping[str, Any],
    contents: Mapping[str, tuple[np.dtype[Any], Sequence[int]]],
    chunks: Iterable[bytes | memoryview],
) -> str:
    """Checksum of the values, in whatever order a file keeps them; ``chunks`` are those of the arrays by name."""
    described = [(name, contents[name][0].name, contents[name][1]) for name in sorted(contents)]
    digest = hashlib.sha256(json.dumps([header, described], sort_keys=True).encode())
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


def _parsed_object(document: bytes | str, what: str) -> dict[str, Any]:
    try:
        text = document if isinstance(document, str) else document.decode()
    except ValueError as error:
        raise ModelFileError(f"{what} is not valid JSON ({error}); {_OURS}") from None
    # Counted before any is made: a short text can be very many empty lists. Marks within strings count as well.
    many = sum(text.count(mark) for mark in "[{,") > MAX_VALUES
    require_that(not many, f"{what} has more than {MAX_VALUES:,} values; keep large values in arrays.")
    try:
        value = json.loads(text, object_pairs_hook=_unrepeated)
    except RecursionError:
        raise ModelFileError(f"{what} is nested too deeply; {_OURS}") from None
    except ValueError as error:
        raise ModelFileError(f"{what} is not valid JSON ({error}); {_OURS}") from None
    if not isinstance(value, dict) or not text.startswith("{"):
        raise ModelFileError(f"{what} is not a JSON object; {_OURS}")
    return value


def _unrepeated(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise ValueError(f"the name {reprlib.repr(name)} occurs twice")
        fields[name] = value
    return fields


_Where: TypeAlias = tuple[Any, str | int] | None  # the place around it, and the name or number in that


def _plain_value(value: Any, where: _Where, depth: int) -> Any:
    """The value in Python's own types, just as JSON gives it back; anything that JSON would change is refused."""
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > MAX_INTEGER_BITS:
            raise _unfit(where, f"is a whole number of more than {MAX_INTEGER_BITS} bits; write it as text.")
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, str):
        return _plain_text(value, where)
    if isinstance(value, Mapping | list) and depth > MAX_DEPTH:
        raise _unfit(where, f"is nested deeper than {MAX_DEPTH} levels; make it flatter.")
    if isinstance(value, Mapping):
        return _plain_object(value, where, depth)
    if isinstance(value, list):
        return [_plain_value(item, (where, position), depth + 1) for position, item in enumerate(value)]
    raise _unfit(where, f"is {reprlib.repr(value)}; use finite numbers, text, true, false, null, lists and objects.")


def _plain_object(fields: Mapping[str, Any], where: _Where, depth: int) -> dict[str, Any]:
    return {_plain_text(name, where): _plain_value(value, (where, name), depth + 1) for name, value in fields.items()}


def _plain_text(text: Any, where: _Where) -> str:
    if not _is_text(text):  # no text, or half of a surrogate pair, which no output can print
        raise _unfit(where, f"has {reprlib.repr(text)} where text is expected; use valid Unicode.")
    return str(text)


def _is_text(text: Any) -> bool:
    try:
        str.encode(text)
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def _unfit(where: _Where, why: str) -> ModelFileError:
    names: list[str] = []
    while where is not None:
        where, name = where
        names.append(str(name))
    return ModelFileError(f"the header field {reprlib.repr('.'.join(reversed(names)))} {why}")
