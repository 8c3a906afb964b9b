"""A model file gives back exactly what was written, or one typed error; writing is all or nothing."""

import contextlib
import errno
import hashlib
import json
import math
import os
import pickle
import random
import struct
import subprocess
import sys
import threading
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from safetensors.numpy import load as load_bytes
from safetensors.numpy import load_file, save

from mcquack.errors import InvalidInputError, ModelFileError
from mcquack.models import model_file
from mcquack.models.model_file import (
    JSON,
    ModelFile,
    Tensor,
    read_model,
    require_field,
    require_tensor,
    write_model,
)

STAMP = {"format": "mcquack-model", "format_version": 2}
HEADER: dict[str, JSON] = {
    "classes": ["cat", "dög"],
    "settings": {"lr": 0.001, "epochs": 200, "seed": None},
    "scaled": True,
}
TENSORS: dict[str, Tensor] = {
    "bias": np.arange(6, dtype=np.float32).reshape(1, 2, 3),
    "centroids": np.linspace(-1, 1, 8).reshape(2, 4),
    "steps": np.array(7),
}


def contents_of(path: Path) -> ModelFile:
    write_model(path, header=HEADER, tensors=TENSORS)
    return read_model(path)


def same(left: ModelFile, right: ModelFile) -> bool:
    """Equal in every value, type and bit."""
    return json.dumps(left.header, sort_keys=True) == json.dumps(right.header, sort_keys=True) and {
        name: (array.dtype, array.shape, array.tobytes()) for name, array in left.tensors.items()
    } == {name: (array.dtype, array.shape, array.tobytes()) for name, array in right.tensors.items()}


# Round trips

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**128) + 1, 2**128 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)
headers = st.dictionaries(text.filter(lambda name: name not in {*STAMP, "sha256"}), json_values, max_size=5)
arrays = st.sampled_from([np.float32, np.float64, np.int64]).flatmap(
    lambda dtype: hnp.arrays(
        dtype,
        hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
        elements=None if dtype is np.int64 else {"allow_nan": False, "allow_infinity": False},
    )
)
tensor_dicts = st.dictionaries(text.filter(lambda name: name != "__metadata__"), arrays, max_size=4)


@given(header=headers, tensors=tensor_dicts)
def test_what_is_written_is_read(
    header: dict[str, Any], tensors: dict[str, Tensor], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "round_trip.mcq"
    write_model(path, header=header, tensors=tensors)
    model = read_model(path)
    assert same(model, ModelFile({**header, **STAMP}, tensors))
    for array in model.tensors.values():
        assert array.flags.writeable
        assert array.flags.aligned
        assert array.flags.c_contiguous
    write_model(path, header=model.header, tensors=model.tensors)
    assert same(read_model(path), model)


def test_files_are_ordinary_safetensors_and_equal_values_give_equal_bytes(tmp_path: Path) -> None:
    contents_of(tmp_path / "a.mcq")
    write_model(tmp_path / "b.mcq", header=HEADER, tensors=dict(reversed(TENSORS.items())))
    assert (tmp_path / "a.mcq").read_bytes() == (tmp_path / "b.mcq").read_bytes()
    for name, array in load_file(tmp_path / "a.mcq").items():
        assert_array_equal(array, TENSORS[name], strict=True)


def test_numpy_scalars_in_the_header_become_python_values(tmp_path: Path) -> None:
    header: dict[str, Any] = {
        "a": np.float32(0.1),
        "b": np.int64(3),
        "c": np.bool_(True),
        "d": [np.str_("x")],
        "e": np.float64(0.5),
    }
    write_model(tmp_path / "m", header=header, tensors={})
    read = read_model(tmp_path / "m").header
    assert read == {"a": float(np.float32(0.1)), "b": 3, "c": True, "d": ["x"], "e": 0.5} | STAMP


# What cannot be written


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else []


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        np.float32("nan"),
        np.longdouble(1),
        np.datetime64("2020-01-01", "ns"),
        np.timedelta64(1, "ns"),
        1 << 128,
        10**5000,
        (1, 2),
        {1: 2},
        {"a": {"b": {3}}},
        b"bytes",
        1j,
        np.zeros(2),
        "\ud800",
        {"\ud800": 1},
        nested(40),
        object(),
        print,
    ],
    ids=lambda value: type(value).__name__,
)
def test_headers_that_json_would_change_are_refused(value: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="'field"):
        write_model(tmp_path / "m", header={"field": value}, tensors={})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "header", [{"format": "other"}, {"format_version": 1}, {"format_version": 3}, {"sha256": None}]
)
def test_fields_of_the_format_are_reserved(header: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="belongs"):
        write_model(tmp_path / "m", header=header, tensors={})


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (np.zeros(3, np.float16), "int64, .* float16"),
        (np.zeros(3, np.complex128), "complex128"),
        (np.zeros(3, ">f4"), ">f4"),
        (np.array(["a"]), "<U1"),
        (np.array([object()]), "object"),
        ([1.0, 2.0], "list"),
        (np.float64(1), "got float64"),
        (np.array([1.0, np.nan]), "not finite"),
        (np.array([np.inf], np.float32), "not finite"),
        (np.zeros((1,) * 9), "up to 8 axes"),
    ],
)
def test_arrays_that_cannot_be_read_again_are_refused(tensor: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=message):
        write_model(tmp_path / "m", header={}, tensors={"t": tensor})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["__metadata__", "\udc80", 3])
def test_array_names_are_text_and_not_the_formats_own(name: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="name"):
        write_model(tmp_path / "m", header={}, tensors={name: np.zeros(1)})


def test_a_header_too_large_to_read_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="large values"):
        write_model(tmp_path / "m", header={"text": "x" * model_file.MAX_HEADER_BYTES}, tensors={})


# Damaged files


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m"
    contents_of(path)
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(ModelFileError):
            read_model(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(ModelFileError, match="cannot be read"):
        read_model(path)


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m"
    contents_of(path)
    content = path.read_bytes()
    others = (0, 255, ord("0"), ord('"'))
    for position, old in enumerate(content):
        for new in {old ^ 1, old ^ 128, others[position % 4]} - {old}:
            path.write_bytes(content[:position] + bytes([new]) + content[position + 1 :])
            with pytest.raises(ModelFileError):
                read_model(path)


@given(data=st.binary(max_size=300), is_prefixed=st.booleans())
def test_random_bytes_are_refused(data: bytes, is_prefixed: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "random.mcq"
    path.write_bytes(struct.pack("<Q", len(data)) + data if is_prefixed else data)
    with pytest.raises(ModelFileError):
        read_model(path)


def test_random_splices_of_a_real_file_are_refused_or_harmless(tmp_path: Path) -> None:
    path = tmp_path / "m"
    written = contents_of(path)
    content = path.read_bytes()
    generator = random.Random(0)
    for _ in range(500):
        a, b, c = (generator.randrange(len(content)) for _ in range(3))
        path.write_bytes(content[:a] + content[min(b, c) : max(b, c)] + content[a:])
        with contextlib.suppress(ModelFileError):
            assert same(read_model(path), written)


class Anything(str):
    """Equal to all that it is compared with."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, _: object) -> bool:
        return True


@pytest.fixture
def any_checksum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every checksum is right."""

    class Digest:
        def __init__(self, _: bytes) -> None: ...

        def update(self, _: bytes) -> None: ...

        def hexdigest(self) -> str:
            return Anything("0")

    monkeypatch.setattr(hashlib, "sha256", Digest)


def changed_table(content: bytes, generator: random.Random) -> bytes:
    """The file with a value somewhere in its table of contents replaced, removed or doubled."""
    n_table = int.from_bytes(content[:8], "little")
    table = json.loads(content[8 : 8 + n_table])
    places: list[tuple[Any, Any]] = []
    waiting: list[Any] = [table]
    while waiting:
        value = waiting.pop()
        keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        places += [(value, key) for key in keys]
        waiting += [value[key] for key in keys]
    around, key = generator.choice(places)
    odd: tuple[Any, ...] = (
        *(0, 1, -1, 4, 8, 1 << 31, 1 << 63, 1 << 64, 0.5, 1e999, None, True, "", "F32", "F64", "I64", [], [0], {}),
        "\ud800",
    )
    way = generator.randrange(4)
    if way == 0:
        del around[key]
    elif way == 1 and isinstance(around, dict):
        around[f"{key}x"] = around[key]
    elif way == 2 and isinstance(around[key], int):
        around[key] += generator.choice((-8, -4, -1, 1, 4, 8))
    else:
        around[key] = generator.choice(odd)
    written = json.dumps(table).encode()
    return struct.pack("<Q", len(written)) + written + content[8 + n_table :]


def check_changed_tables(folder: Path, n_files: int) -> int:
    """How many of so many files with changed tables are read; each of them as safetensors itself reads it."""
    path, n_read, generator = folder / "m", 0, random.Random(0)
    contents_of(path)
    content = path.read_bytes()
    for _ in range(n_files):
        changed = content
        for _ in range(generator.randrange(1, 4)):
            changed = changed_table(changed, generator)
        path.write_bytes(changed)
        try:
            found = read_model(path)
        except ModelFileError:
            continue
        n_read += 1
        expected = load_bytes(changed)
        assert found.tensors.keys() == expected.keys()
        for name, tensor in found.tensors.items():
            assert_array_equal(tensor, expected[name], strict=True)
    return n_read


@pytest.mark.usefixtures("any_checksum")
def test_what_safetensors_would_refuse_is_refused_whatever_the_checksum(tmp_path: Path) -> None:
    assert 0 < check_changed_tables(tmp_path, 500) < 250


@pytest.mark.campaign
@pytest.mark.usefixtures("any_checksum")
def test_of_thousands_of_changed_files_none_raises_another_error(tmp_path: Path) -> None:
    assert 0 < check_changed_tables(tmp_path, 50_000) < 25_000


# Hostile files

EMPTY_DIGEST = model_file._digest(STAMP, {})


def forged(
    entries: str | Mapping[str, Any] = "", data: bytes = b"", *, header: str | None = None, metadata: str | None = None
) -> bytes:
    """A file with a table of contents as given, and otherwise right."""
    if header is None:
        header = json.dumps({**STAMP, "sha256": EMPTY_DIGEST})
    if metadata is None:
        metadata = json.dumps({"mcquack": header})
    if not isinstance(entries, str):
        entries = ",".join(f"{json.dumps(name)}:{json.dumps(entry)}" for name, entry in entries.items())
    table = ('{"__metadata__":' + metadata + ("," + entries if entries else "") + "}").encode()
    return struct.pack("<Q", len(table)) + table + data


def entry(shape: Any, begin: Any, end: Any, dtype: Any = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def with_header(text: str) -> bytes:
    return forged(header='{"format":"mcquack-model","format_version":1,' + text + "}")


def pickled() -> bytes:
    return pickle.dumps({"weights": list(range(100))})


def zipped(folder: Path) -> bytes:
    with zipfile.ZipFile(folder / "z", "w") as archive:
        archive.writestr("model.json", "{}" * 100)
    return (folder / "z").read_bytes()


def nan_file() -> bytes:
    tensors = {"t": np.array([1, np.nan], np.float32)}
    header = json.dumps({**STAMP, "sha256": model_file._digest(STAMP, tensors)})
    return forged({"t": entry([2], 0, 8)}, tensors["t"].tobytes(), header=header)


HOSTILE: dict[str, tuple[bytes | Callable[[Path], bytes], str]] = {
    "empty": (b"", "another kind"),
    "seven bytes": (b"1234567", "another kind"),
    "zero header": (bytes(8), "not valid JSON"),
    "zeros": (bytes(1000), "not valid JSON"),
    "header of 2**63 bytes": (struct.pack("<Q", 1 << 63) + b"{}", "another kind"),
    "header of 2**64-1 bytes": (b"\xff" * 8 + b"{}", "another kind"),
    "100 MB claimed": (struct.pack("<Q", 100_000_000) + b"{" * 1000, "another kind"),
    "header beyond the cap": (lambda _: struct.pack("<Q", 17 << 20) + bytes(17 << 20), "allowed are 16,777,216"),
    "pickle": (lambda _: pickled(), "another kind"),
    "zip": (zipped, "another kind"),
    "text": (b"label,x,y\n1,2,3\n" * 9, "another kind"),
    "not UTF-8": (struct.pack("<Q", 4) + b'{"\xff"', "not valid JSON"),
    "byte order mark": (struct.pack("<Q", 5) + b"\xef\xbb\xbf{}", "not valid JSON"),
    "a JSON list": (struct.pack("<Q", 2) + b"[]", "a JSON object"),
    "a JSON number": (struct.pack("<Q", 3) + b"1e9", "a JSON object"),
    "no metadata": (struct.pack("<Q", 2) + b"{}", "no mcquack header"),
    "metadata null": (forged(metadata="null"), "no mcquack header"),
    "metadata of another program": (forged(metadata='{"format":"pt"}'), "no mcquack header"),
    "header no text": (forged(metadata='{"mcquack":{}}'), "no mcquack header"),
    "plain safetensors": (save({"t": np.zeros(3)}), "no mcquack header"),
    "further metadata": (
        forged(metadata=json.dumps({"mcquack": json.dumps({**STAMP, "sha256": EMPTY_DIGEST}), "more": ""})),
        "metadata beside",
    ),
    "deep table": (forged('"t":' + "[" * 100_000 + "]" * 100_000), "nested too deeply"),
    "deep open table": (struct.pack("<Q", 1 << 20) + b"[" * (1 << 20), "nested too deeply"),
    "deep objects": (struct.pack("<Q", 5 << 18) + b'{"":[' * (1 << 18), "nested too deeply"),
    "very many lists": (lambda _: with_header('"a":[' + "[]," * (5 << 20) + "0]"), "more than 1,048,576 values"),
    "very many numbers": (lambda _: with_header('"a":[' + "0," * (6 << 20) + "0]"), "more than 1,048,576 values"),
    "very many arrays": (lambda _: forged('"":0,' * (1 << 21) + '"":0'), "more than 1,048,576 values"),
    "white space before the table": (struct.pack("<Q", 3) + b" {}", "a JSON object"),
    "deep header": (with_header('"a":' + "[" * 100_000 + "]" * 100_000), "nested too deeply"),
    "rather deep header": (with_header('"sha256":"","a":' + "[" * 40 + "]" * 40), "nested deeper than 32"),
    "repeated array": (
        forged('"t":{"dtype":"F32","shape":[],"data_offsets":[0,4]},' * 2 + '"u":1', bytes(4)),
        "occurs twice",
    ),
    "repeated metadata": (forged('"__metadata__":{}'), "occurs twice"),
    "repeated key in an entry": (forged('"t":{"dtype":"F32","dtype":"F32"}'), "occurs twice"),
    "repeated field": (with_header('"a":1,"a":1'), "occurs twice"),
    "repeated nested field": (with_header('"a":{"b":1,"b":2}'), "occurs twice"),
    "header not JSON": (forged(header="{"), "not valid JSON"),
    "header a list": (forged(header="[]"), "a JSON object"),
    "NaN field": (with_header('"sha256":"","a":NaN'), "finite numbers"),
    "infinite field": (with_header('"sha256":"","a":-Infinity'), "finite numbers"),
    "overflowing field": (with_header('"sha256":"","a":1e999'), "finite numbers"),
    "endless integer": (with_header('"sha256":"","a":' + "9" * 100_000), "not valid JSON"),
    "long integer": (with_header('"sha256":"","a":' + "9" * 4000), "more than 128 bits"),
    "half a surrogate pair": (with_header(r'"sha256":"","a":"\ud800"'), "valid Unicode"),
    "half a surrogate pair as a name": (with_header(r'"sha256":"","\udfff":1'), "valid Unicode"),
    "other format": (forged(header='{"format":"other","format_version":1}'), "'mcquack-model'"),
    "no format": (forged(header="{}"), "its format"),
    "format a list": (forged(header='{"format":[]}'), "its format"),
    "newer version": (forged(header='{"format":"mcquack-model","format_version":4}'), "upgrade mcquack"),
    "newer version with new arrays": (
        forged({"t": entry([1], 0, 1, "F8")}, b"1", header='{"format":"mcquack-model","format_version":7}'),
        "upgrade mcquack",
    ),
    "version zero": (forged(header='{"format":"mcquack-model","format_version":0}'), "version 0"),
    "negative version": (forged(header='{"format":"mcquack-model","format_version":-1}'), "version -1"),
    "version true": (forged(header='{"format":"mcquack-model","format_version":true}'), "type int"),
    "version 1.0": (forged(header='{"format":"mcquack-model","format_version":1.0}'), "type int"),
    "no version": (forged(header='{"format":"mcquack-model"}'), "'format_version'"),
    "no checksum": (with_header('"a":1'), "'sha256'"),
    "checksum a number": (with_header('"sha256":1'), "type str"),
    "wrong checksum": (with_header('"sha256":"0"'), "checksum"),
    "unknown dtype": (forged({"t": entry([1], 0, 2, "BF16")}, bytes(2)), "got 'BF16'"),
    "dtype a list": (forged({"t": entry([1], 0, 4, ["F32"])}, bytes(4)), "cannot be read"),
    "dtype null": (forged({"t": entry([1], 0, 4, None)}, bytes(4)), "cannot be read"),
    "dtype object": (forged({"t": entry([1], 0, 8, "O")}, bytes(8)), "cannot be read"),
    "entry a number": (forged({"t": 3}), "cannot be read"),
    "entry incomplete": (forged({"t": {"dtype": "F32", "shape": []}}), "cannot be read"),
    "entry with more": (forged({"t": {**entry([], 0, 4), "code": "x"}}, bytes(4)), "cannot be read"),
    "half a surrogate pair as an array": (forged({"\ud800": entry([], 0, 4)}, bytes(4)), "cannot be read"),
    "shape null": (forged({"t": entry(None, 0, 4)}, bytes(4)), "cannot be read"),
    "shape a number": (forged({"t": entry(1, 0, 4)}, bytes(4)), "cannot be read"),
    "shape of text": (forged({"t": entry(["1"], 0, 4)}, bytes(4)), "cannot be read"),
    "shape of fractions": (forged({"t": entry([1.0], 0, 4)}, bytes(4)), "cannot be read"),
    "shape of truth": (forged({"t": entry([True], 0, 4)}, bytes(4)), "cannot be read"),
    "negative shape": (forged({"t": entry([-1], 0, 4)}, bytes(4)), "cannot be read"),
    "two negative lengths": (forged({"t": entry([-1, -1], 0, 4)}, bytes(4)), "cannot be read"),
    "huge shape": (forged({"t": entry([1 << 62], 0, 4)}, bytes(4)), "cannot be read"),
    "huger shape": (forged({"t": entry([1 << 64], 0, 4)}, bytes(4)), "cannot be read"),
    "shape that overflows to its size": (forged({"t": entry([1 << 62, 4], 0, 0)}), "cannot be read"),
    "huge empty shape": (forged({"t": entry([1 << 62, 1 << 62, 0], 0, 0)}), "cannot be read"),
    "rank 100": (forged({"t": entry([1] * 100, 0, 4)}, bytes(4)), "up to 8 axes"),
    "shape larger than its bytes": (forged({"t": entry([2], 0, 4)}, bytes(4)), "cannot be read"),
    "shape smaller than its bytes": (forged({"t": entry([1], 0, 8)}, bytes(8)), "cannot be read"),
    "offsets reversed": (forged({"t": entry([1], 4, 0)}, bytes(4)), "cannot be read"),
    "offsets negative": (forged({"t": entry([1], -4, 0)}, bytes(4)), "cannot be read"),
    "one offset": (forged({"t": {**entry([1], 0, 4), "data_offsets": [0]}}, bytes(4)), "cannot be read"),
    "three offsets": (
        forged({"t": {**entry([1], 0, 4), "data_offsets": [0, 4, 4]}}, bytes(4)),
        "cannot be read",
    ),
    "overlap": (forged({"a": entry([2], 0, 8), "b": entry([2], 4, 12)}, bytes(12)), "cannot be read"),
    "twice the same bytes": (forged({"a": entry([1], 0, 4), "b": entry([1], 0, 4)}, bytes(4)), "cannot be read"),
    "hole": (forged({"a": entry([1], 0, 4), "b": entry([1], 8, 12)}, bytes(12)), "cannot be read"),
    "hole at the start": (forged({"a": entry([1], 4, 8)}, bytes(8)), "cannot be read"),
    "beyond the end": (forged({"a": entry([2], 0, 8)}, bytes(4)), "cannot be read"),
    "far beyond the end": (forged({"a": entry([1 << 40], 0, 1 << 42)}, bytes(4)), "cannot be read"),
    "data of no array": (forged(data=bytes(4)), "cannot be read"),
    "NaN in an array": (lambda _: nan_file(), "not finite"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_files_raise_one_error_that_says_what_to_do(kind: str, tmp_path: Path) -> None:
    content, message = HOSTILE[kind]
    path = tmp_path / "model.mcq"
    path.write_bytes(content(tmp_path) if callable(content) else content)
    with pytest.raises(ModelFileError, match=message) as caught:
        read_model(path)
    assert type(caught.value) is ModelFileError
    assert str(caught.value).startswith(f"{path} is no usable model file: ")
    assert len(str(caught.value)) < 500
    assert str(caught.value).isprintable()


def test_a_forged_file_without_a_fault_is_read(tmp_path: Path) -> None:
    """So each hostile file above is refused for its own fault alone."""
    path = tmp_path / "m"
    path.write_bytes(forged())
    assert read_model(path) == (STAMP, {})


def test_misaligned_arrays_are_read_into_aligned_ones(tmp_path: Path) -> None:
    tensors = {"a": np.ones(1, np.float32), "b": np.full(2, 0.1)}
    header = json.dumps({**STAMP, "sha256": model_file._digest(STAMP, tensors)})
    path = tmp_path / "m"
    entries = {"b": entry([2], 4, 20, "F64"), "a": entry([1], 0, 4)}
    path.write_bytes(forged(entries, b"".join(array.tobytes() for array in tensors.values()), header=header))
    read = read_model(path).tensors
    assert_array_equal(read["b"], tensors["b"], strict=True)
    assert read["b"].flags.aligned


def test_claims_cost_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "m"
    claims = [
        HOSTILE[kind][0] for kind in ("header of 2**63 bytes", "100 MB claimed", "huge shape", "far beyond the end")
    ]
    tracemalloc.start()
    try:
        for content in claims:
            assert isinstance(content, bytes)
            path.write_bytes(content)
            with pytest.raises(ModelFileError):
                read_model(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


def test_sparse_giants_are_refused_by_their_size(tmp_path: Path) -> None:
    path = tmp_path / "m"
    contents_of(path)
    os.truncate(path, 2 << 30)
    with pytest.raises(ModelFileError, match=r"2,147,483,648 .* 1,073,741,824"):
        read_model(path)


def peak_of_refusing(path: Path) -> int:
    """How many bytes are taken at most before a ModelFileError."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            read_model(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_values_are_counted_before_they_are_made(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_bytes(with_header('"a":[' + "[]," * (5 << 20) + "0]"))
    assert peak_of_refusing(path) < 5 * path.stat().st_size  # its text in a few forms, and no lists


def test_arrays_are_made_only_of_a_file_whose_checksum_is_right(tmp_path: Path) -> None:
    path, n_bytes = tmp_path / "m", 256 << 20
    path.write_bytes(forged({"t": entry([n_bytes // 4], 0, n_bytes)}))
    os.truncate(path, path.stat().st_size + n_bytes)
    assert peak_of_refusing(path) < 8 << 20
    os.truncate(path, n_bytes)  # and then the table of contents does not fit the file
    assert peak_of_refusing(path) < 1 << 20


def test_reading_takes_hardly_more_memory_than_the_arrays(tmp_path: Path) -> None:
    path, n_bytes = tmp_path / "m", 16 << 20
    write_model(path, header=HEADER, tensors={"t": np.ones(n_bytes // 8)})
    tracemalloc.start()
    try:
        assert read_model(path).tensors["t"].sum() == n_bytes // 8
        assert tracemalloc.get_traced_memory()[1] < 1.5 * n_bytes
    finally:
        tracemalloc.stop()


def test_a_file_that_is_cut_short_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m"
    write_model(path, header=HEADER, tensors={"t": np.ones(100_000)})
    sha256 = hashlib.sha256

    class ThenCut:
        def __init__(self, data: bytes) -> None:
            self.inner = sha256(data)
            self.update = self.inner.update

        def hexdigest(self) -> str:
            os.truncate(path, 10_000)
            return self.inner.hexdigest()

    monkeypatch.setattr(hashlib, "sha256", ThenCut)
    with pytest.raises(ModelFileError, match="cut short"):
        read_model(path)


def test_the_size_limit_is_the_callers(tmp_path: Path) -> None:
    path = tmp_path / "m"
    contents_of(path)
    size = path.stat().st_size
    assert read_model(path, max_bytes=size).header == {**HEADER, **STAMP}
    with pytest.raises(ModelFileError, match=r"MCQUACK_MODEL_BYTES .*max_bytes"):
        read_model(path, max_bytes=size - 1)
    with pytest.raises(InvalidInputError, match=r"max_bytes .* 0"):
        read_model(path, max_bytes=0)


def test_the_size_limit_is_else_that_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m"
    contents_of(path)
    size = path.stat().st_size
    monkeypatch.setenv("MCQUACK_MODEL_BYTES", str(size))
    read_model(path)
    monkeypatch.setenv("MCQUACK_MODEL_BYTES", str(size - 1))
    with pytest.raises(ModelFileError, match=f"{size:,} .* {size - 1:,}"):
        read_model(path)
    read_model(path, max_bytes=size)
    for wrong in ("much", "-1", "0", "1e9", "9" * 20):
        monkeypatch.setenv("MCQUACK_MODEL_BYTES", wrong)
        with pytest.raises(InvalidInputError, match="MCQUACK_MODEL_BYTES"):
            read_model(path)
    monkeypatch.setenv("MCQUACK_MODEL_BYTES", " ")
    read_model(path)


def test_memory_that_runs_out_is_the_same_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents_of(tmp_path / "m")

    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(np, "empty", exhausted)
    with pytest.raises(ModelFileError, match="memory"):
        read_model(tmp_path / "m")


def test_folders_and_pipes_are_no_model_files(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="folder"):
        read_model(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ModelFileError, match=r"pipe|device"):
            read_model(place)


def test_refusals_of_the_operating_system_stay_its_own(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_model(tmp_path / "missing")
    contents_of(tmp_path / "m")
    with pytest.raises(NotADirectoryError):
        read_model(tmp_path / "m" / "below")


def test_reading_follows_links(tmp_path: Path) -> None:
    model = contents_of(tmp_path / "m")
    (tmp_path / "link").symlink_to("m")
    assert same(read_model(tmp_path / "link"), model)
    assert same(read_model(str(tmp_path / "link")), model)


# All or nothing


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "no space"), KeyboardInterrupt(), MemoryError()])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    step: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m"
    old = contents_of(path)

    def failing(*_: object) -> None:
        raise error

    monkeypatch.setattr(os, step, failing)
    with pytest.raises(type(error)):
        write_model(path, header={}, tensors={})
    assert same(read_model(path), old)
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "m"
    old = contents_of(path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_model(path, header={}, tensors={"t": np.zeros(1_000_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert same(read_model(path), old)
    assert list(tmp_path.iterdir()) == [path]


def test_a_process_that_dies_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m"
    old = contents_of(path)
    program = """
import os, sys
from mcquack.models.model_file import write_model
os.fsync = lambda _: os._exit(3)
write_model(sys.argv[1], header={}, tensors={})
"""
    assert subprocess.run([sys.executable, "-c", program, path], check=False).returncode == 3
    assert same(read_model(path), old)
    leftovers = set(tmp_path.iterdir()) - {path}  # nobody is left to remove it, but it cannot be taken for a model
    assert [(file.name[0], file.suffix) for file in leftovers] == [(".", ".tmp")]


def test_no_reader_ever_sees_part_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "m"
    versions = [{"t": np.full(20_000, value, dtype=np.int64)} for value in range(4)]
    write_model(path, header={"version": 0}, tensors=versions[0])
    is_over = threading.Event()
    seen: list[bool] = []

    def read_on() -> None:
        while not is_over.is_set():
            model = read_model(path)
            seen.append(bool((model.tensors["t"] == model.header["version"]).all()))

    def write_on(version: int) -> None:
        for _ in range(20):
            write_model(path, header={"version": version}, tensors=versions[version])

    reader = threading.Thread(target=read_on)
    writers = [threading.Thread(target=write_on, args=(version,)) for version in range(4)]
    reader.start()
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    is_over.set()
    reader.join()
    assert seen
    assert all(seen)
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def umask() -> Iterator[None]:
    old = os.umask(0o027)
    yield
    os.umask(old)


@pytest.mark.usefixtures("umask")
def test_permissions_are_those_of_an_ordinary_file(tmp_path: Path) -> None:
    path = tmp_path / "m"
    contents_of(path)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o600)
    contents_of(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_only_ordinary_files_are_replaced(tmp_path: Path) -> None:
    model = contents_of(tmp_path / "m")
    (tmp_path / "link").symlink_to("m")
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, message in [
        ("link", "link"),
        ("dangling", "link"),
        ("pipe", "device"),
        ("folder", "folder"),
        (".", "folder"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            contents_of(tmp_path / name)
    assert same(read_model(tmp_path / "m"), model)
    assert len(list(tmp_path.iterdir())) == 5


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no such folder; make it first: .*/missing'"):
        contents_of(tmp_path / "missing" / "m")
    contents_of(tmp_path / "file")
    with pytest.raises(NotADirectoryError):
        contents_of(tmp_path / "file" / "m")


def test_long_names_and_relative_paths_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("m", "x" * 255, "name with spaces and ü"):
        assert same(contents_of(Path(name)), ModelFile({**HEADER, **STAMP}, TENSORS))


# What a loader asks


def test_required_fields_have_their_type() -> None:
    fields = {"n": 3, "x": 0.5, "flag": True, "name": "a", "list": [1]}
    assert require_field(fields, "n", int) == 3
    assert require_field(fields, "list", list) == [1]
    as_float = require_field(fields, "n", float)
    assert (as_float, type(as_float)) == (3.0, float)
    with pytest.raises(ModelFileError, match="'m'"):
        require_field(fields, "m", int)
    for name, kind in [("flag", int), ("flag", float), ("x", int), ("n", bool), ("name", list), ("list", dict)]:
        with pytest.raises(ModelFileError, match=f"'{name}' .* {kind.__name__}"):
            require_field(fields, name, kind)


def test_required_arrays_have_their_shape_and_type() -> None:
    file = ModelFile({}, TENSORS)
    assert require_tensor(file, "bias", shape=(1, 2, 3), dtype=np.float32) is TENSORS["bias"]
    assert require_tensor(file, "bias", shape=(None, 2, None)) is TENSORS["bias"]
    assert require_tensor(file, "steps", shape=()) is TENSORS["steps"]
    with pytest.raises(ModelFileError, match="'weights' is missing"):
        require_tensor(file, "weights", shape=())
    for shape in [(1, 2), (1, 2, 3, 1), (1, 2, 4), (None, 3, None)]:
        with pytest.raises(ModelFileError, match=r"'bias' .*\(1, 2, 3\)"):
            require_tensor(file, "bias", shape=shape)
    with pytest.raises(ModelFileError, match=r"'bias' .* float64, got float32"):
        require_tensor(file, "bias", shape=(1, 2, 3), dtype=np.float64)
