"""The file of a model or checkpoint: one safetensors file whose metadata hold one JSON document, the header.

Reading runs no code and trusts nothing: all that a file claims about itself is checked before memory is taken for it.
"""

import errno
import hashlib
import json
import math
import os
import reprlib
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

from mcquack.errors import InvalidInputError, ModelFileError
from mcquack.files import replace_file

JSON: TypeAlias = bool | int | float | str | list[Any] | Mapping[str, Any] | None
Tensor: TypeAlias = NDArray[Any]
T = TypeVar("T")

FORMAT = "mcquack-model"
FORMAT_VERSION = 2
LATEST_VERSION = 3  # for models with circuits of any gates, which earlier releases cannot run
DEFAULT_MAX_BYTES = 1 << 30
MAX_HEADER_BYTES = 1 << 24
MAX_DEPTH = 32
MAX_RANK = 8
MAX_INTEGER_BITS = 128  # the seeds of numpy are no longer

_DTYPES: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F64": np.dtype("<f8"), "I64": np.dtype("<i8")}
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
    """Writes strict JSON and finite arrays of float32, float64 or int64 that are C-contiguous, all or nothing.

    A higher ``format_version`` makes earlier releases refuse a file in which there is what they do not know.
    """
    try:
        content = _content(header, tensors, format_version)
    except ModelFileError as error:
        raise InvalidInputError(f"{path} was not written: {error}") from None
    _check_replaceable(Path(path))
    replace_file(Path(path), content)


def read_model(path: str | os.PathLike[str], *, max_bytes: int = DEFAULT_MAX_BYTES) -> ModelFile:
    """Exactly what was written, or a ModelFileError; what the operating system refuses stays an OSError."""
    path = Path(path)
    if not stat.S_ISREG(path.stat().st_mode):  # asked before opening, as a named pipe would wait for its writer
        raise ModelFileError(f"{path} is a folder or a device; {_OURS}")
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > max_bytes:
            raise ModelFileError(f"{path} has {size:,} bytes, max_bytes is {max_bytes:,}; raise it or {_OURS}")
        try:
            return _model(stream.read(size))
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
    fields = _plain_object({**header, **stamp}, ())
    for name, tensor in tensors.items():
        _check_writable(name, tensor)
    document = json.dumps({**fields, _CHECKSUM: _digest(fields, tensors)}, allow_nan=False)
    content = save(dict(tensors), metadata={_METADATA_KEY: document})
    _model(content)
    return content


def _check_writable(name: str, tensor: Tensor) -> None:
    _plain_text(name, ("name of an array",))
    if name == _METADATA:
        raise ModelFileError(f"the array name {name!r} belongs to the format; choose another name.")
    if not isinstance(tensor, np.ndarray) or tensor.dtype not in _DTYPES.values():
        kind = f"{type(tensor).__name__} of {getattr(tensor, 'dtype', 'objects')}"
        raise ModelFileError(f"{name!r} must be an array of float32, float64 or int64, got {kind}; convert it.")
    if not tensor.flags.c_contiguous:
        raise ModelFileError(f"{name!r} must be a C-contiguous array; pass it through numpy.ascontiguousarray.")


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


def _model(content: bytes) -> ModelFile:
    # Out of bytes in memory: safetensors would map the file, and one that is then cut short kills the process.
    n_table = int.from_bytes(content[:8], "little")
    require_that(len(content) >= 8 + n_table, f"it is incomplete or of another kind; {_OURS}")
    limit = f"allowed are {MAX_HEADER_BYTES:,}; keep large values in arrays."
    require_that(n_table <= MAX_HEADER_BYTES, f"its header has {n_table:,} bytes, {limit}")
    header, checksum = _header(_parsed_object(content[8 : 8 + n_table], "its table of contents"))
    try:
        tensors = {name: _tensor(name, entry) for name, entry in deserialize(content)}  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        raise ModelFileError(f"its arrays cannot be read ({ascii(str(error))[:200]}); {_DAMAGED}") from None
    require_that(checksum == _digest(header, tensors), f"its checksum does not match; {_DAMAGED}")
    return ModelFile(header, tensors)


def _tensor(name: str, entry: Mapping[str, Any]) -> Tensor:
    dtype, shape = entry["dtype"], entry["shape"]
    if dtype not in _DTYPES or len(shape) > MAX_RANK:
        kinds = f"{' or '.join(_DTYPES)} with up to {MAX_RANK} axes, got {dtype!r} with {len(shape)}"
        raise ModelFileError(f"its array {reprlib.repr(name)} must be of type {kinds}; {_DAMAGED}")
    try:
        tensor: Tensor = np.ndarray(shape, _DTYPES[dtype], buffer=entry["data"])
    except ValueError as error:  # a length of zero beside one that numpy cannot count
        raise ModelFileError(f"its array {reprlib.repr(name)} cannot be read ({error}); {_DAMAGED}") from None
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
    return _plain_object(header, ()), checksum


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
    """Checksum of the values, in whatever order a file keeps them."""
    contents = [(name, tensors[name].dtype.name, tensors[name].shape) for name in sorted(tensors)]
    digest = hashlib.sha256(json.dumps([header, contents], sort_keys=True).encode())
    for name in sorted(tensors):
        digest.update(tensors[name].data)
    return digest.hexdigest()


def _parsed_object(document: bytes | str, what: str) -> dict[str, Any]:
    try:
        text = document if isinstance(document, str) else document.decode()
        value = json.loads(text, object_pairs_hook=_unrepeated, parse_constant=_refuse_constant)
    except RecursionError:
        raise ModelFileError(f"{what} is nested too deeply; {_OURS}") from None
    except ValueError as error:
        raise ModelFileError(f"{what} is not valid JSON ({error}); {_OURS}") from None
    if not isinstance(value, dict):
        raise ModelFileError(f"{what} is not a JSON object; {_OURS}")
    return value


def _unrepeated(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise ValueError(f"the name {reprlib.repr(name)} occurs twice")
        fields[name] = value
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _plain_value(value: Any, where: tuple[str, ...]) -> Any:
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
    if isinstance(value, Mapping | list) and len(where) > MAX_DEPTH:
        raise _unfit(where, f"is nested deeper than {MAX_DEPTH} levels; make it flatter.")
    if isinstance(value, Mapping):
        return _plain_object(value, where)
    if isinstance(value, list):
        return [_plain_value(item, (*where, str(position))) for position, item in enumerate(value)]
    raise _unfit(where, f"is {reprlib.repr(value)}; use finite numbers, text, true, false, null, lists and objects.")


def _plain_object(fields: Mapping[str, Any], where: tuple[str, ...]) -> dict[str, Any]:
    return {_plain_text(name, where): _plain_value(value, (*where, name)) for name, value in fields.items()}


def _plain_text(text: Any, where: tuple[str, ...]) -> str:
    try:
        str.encode(text)
    except (TypeError, UnicodeEncodeError):  # no text, or half of a surrogate pair, which no output can print
        raise _unfit(where, f"has {reprlib.repr(text)} where text is expected; use valid Unicode.") from None
    return str(text)


def _unfit(where: tuple[str, ...], why: str) -> ModelFileError:
    return ModelFileError(f"the header field {reprlib.repr('.'.join(where))} {why}")
