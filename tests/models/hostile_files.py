"""Model files as an attacker would write them, out of whole ones: broken bytes, lying tables, and right checksums."""

import io
import json
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcquack.models import model_file
from mcquack.models.model_file import ModelFile

# Values for any field: wrong types, numbers that no type holds, names of types that hold objects, and paths.
JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 3, 7, 2**31, 2**63, 2**64, 2**100, 10**400, 0.5, -0.0, 1e308, -1e308, 5e-324),
    *(float("nan"), float("inf"), float("-inf"), "", "x", "NaN", "float64", "<i8", "O", "U9999999", "|S9", "M8[ns]"),
    *("../../etc/passwd", "__import__('os').abort()", "cos\nsystem\n(S'false'\ntR.", "\x00", "ü\u202e", "\ud800"),
    *([], {}, [0], [[1, 2]], ["a", "b", "c"], {"a": 1}, {"name": "shots"}, [{"loss": 1.0}], [None] * 300, "9" * 5000),
)
DTYPES = ("F32", "F64", "I64", "F16", "BF16", "BOOL", "U8", "O", "object", "|O8", "", None, 7, "F8_E4M3")
LENGTHS: tuple[Any, ...] = (0, 1, -1, 2, 3, 2**31, 2**32 + 1, 2**62, 2**63, 2**64, 2**70, 0.5, "3", None, [], True)
NAMES = ("", "weights", "__metadata__", "__class__", "state.", "x" * 100_000, "\x00", "../weights", "ü", "0")


@dataclass(frozen=True)
class Parts:
    """A file taken apart: the header, the table of arrays, and their bytes."""

    header: dict[str, Any]
    table: dict[str, Any]
    data: bytes

    @classmethod
    def of(cls, content: bytes) -> "Parts":
        end = 8 + int.from_bytes(content[:8], "little")
        table = json.loads(content[8:end])
        header = json.loads(table.pop("__metadata__")["mcquack"])
        return cls(header, table, content[end:])

    def file(self, document: str | None = None, *, table: str | None = None) -> bytes:
        """The bytes of a file with this header and table, or with a header or table that is given as text."""
        document = json.dumps(self.header) if document is None else document
        if table is None:
            table = json.dumps({"__metadata__": {"mcquack": document}, **self.table})
        encoded = table.encode("utf-8", "surrogatepass")
        return struct.pack("<Q", len(encoded)) + encoded + self.data


def signed(header: dict[str, Any], tensors: dict[str, np.ndarray]) -> bytes:
    """A file whose checksum is right, whatever it holds; the arrays stand in it in the order of their names."""
    known = {dtype: name for name, dtype in model_file._DTYPES.items()}
    table, data = {}, b""
    for name in sorted(tensors):
        begin, data = len(data), data + tensors[name].tobytes()
        kind = known.get(tensors[name].dtype, "O")
        table[name] = {"dtype": kind, "shape": list(tensors[name].shape), "data_offsets": [begin, len(data)]}
    fields = {name: value for name, value in header.items() if name != "sha256"}
    try:
        checksum = model_file._digest(fields, tensors)
    except (TypeError, ValueError):  # numbers of too many digits for text, or arrays that have no bytes
        checksum = "0" * 64
    return Parts({**fields, "sha256": checksum}, table, data).file()


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) within a JSON value."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    return [(value, key) for key, _ in items] + [place for _, inner in items for place in places(inner)]


# Ways to change a file; each is given the bytes of a whole one and a generator of ``random``.


def flipped(content, chance):
    changed = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 8, 64])):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def cut(content, chance):
    return content[: chance.randrange(len(content))]


def spliced(content, chance):
    a, b, c = sorted(chance.randrange(len(content)) for _ in range(3))
    return chance.choice(
        [content[:a] + content[b:], content[:b] + content[a:], content[:a] + content[b:c] + content[a:b]]
    )


def other_length(content, chance):
    """The length of the table is the first thing a reader believes."""
    right = int.from_bytes(content[:8], "little")
    lengths = (0, 1, right - 1, right + 1, len(content), len(content) - 8, 2**31, 2**63, 2**64 - 1, right << 8)
    return struct.pack("<Q", chance.choice(lengths)) + content[8:]


def other_table(content, chance):
    """Types of objects, shapes without end or below zero, and parts that overlap, swap or lie outside of the file."""
    parts = Parts.of(content)
    if not parts.table:
        return cut(content, chance)
    name = chance.choice(sorted(parts.table))
    entry = parts.table[name]
    match chance.randrange(7):
        case 0:
            entry["dtype"] = chance.choice(DTYPES)
        case 1:
            entry["shape"] = [chance.choice(LENGTHS) for _ in range(chance.choice([0, 1, 2, 3, 9, 64]))]
        case 2:
            entry["shape"] = chance.choice([[-n for n in entry["shape"]], [2**32, 2**32], [0, 2**63], None, "3", {}])
        case 3:
            entry["data_offsets"] = [chance.choice((*LENGTHS, *entry["data_offsets"])) for _ in range(2)]
        case 4:
            other = parts.table[chance.choice(sorted(parts.table))]
            entry["data_offsets"], other["data_offsets"] = other["data_offsets"], entry["data_offsets"]
        case 5:
            parts.table[chance.choice(NAMES)] = parts.table.pop(name)
        case _:
            entry[chance.choice(["dtype", "shape", "data_offsets", "more"])] = chance.choice(JUNK)
    return parts.file()


def raw_json(content, chance):
    """Text that Python's own reader would take: names twice, NaN, numbers without end, and brackets without bottom."""
    parts = Parts.of(content)
    depth = chance.choice([33, 100, 1_000, 50_000])
    inside = {
        "twice": '"kind":"McQuackClassifier"',
        "nan": '"extra":NaN',
        "infinite": '"extra":1e999',
        "long": '"extra":' + "7" * chance.choice([50, 4_000, 50_000]),
        "deep": '"extra":' + "[" * depth + "]" * depth,
        "open": '"extra":' + '{"":' * depth,
        "name": f'"{"n" * 100_000}":0',
        "surrogate": r'"extra":{"\ud800":"\udfff"}',
        "control": '"extra":"\n\t\x01"',
    }[chance.choice(["twice", "nan", "infinite", "long", "deep", "open", "name", "surrogate", "control"])]
    document = json.dumps(parts.header)[:-1] + "," + inside + "}"
    if chance.random() < 0.7:
        return parts.file(document)
    return parts.file(
        table=json.dumps({"__metadata__": {"mcquack": json.dumps(parts.header)}, **parts.table})[:-1] + f",{inside}}}"
    )


def other_header(content, chance):
    """One to three values of the header changed or gone, and the checksum right."""
    header, tensors = _contents(content)
    for _ in range(chance.choice([1, 1, 2, 3])):
        holder, key = chance.choice(places(header))
        if chance.random() < 0.15:
            del holder[key]
        elif chance.random() < 0.1 and isinstance(holder, dict):
            holder[chance.choice(NAMES)] = holder.pop(key)
        else:
            holder[key] = json.loads(json.dumps(chance.choice(JUNK)))  # a copy: the next change may be inside of it
        if not places(header):
            break
    return signed(header, tensors)


def other_arrays(content, chance):
    """One array with other values, of another type or shape, under another name or gone, and the checksum right."""
    header, tensors = _contents(content)
    if not tensors:
        return other_header(content, chance)
    name = chance.choice(sorted(tensors))
    array = tensors[name]
    match chance.randrange(7):
        case 0:
            values = (np.nan, np.inf, 1e308, -1e308, -1, 0, 5e-324, 2**53)
            with np.errstate(all="ignore"):
                tensors[name] = np.full(array.shape, chance.choice(values)).astype(array.dtype, casting="unsafe")
        case 1:
            dtypes = ("<f4", "<f8", "<i8", "<f2", "|b1", "|u1", "<c16", "O")
            with np.errstate(all="ignore"):
                tensors[name] = array.astype(chance.choice(dtypes))
        case 2:
            tensors[name] = np.ascontiguousarray(array.T)
        case 3:
            tensors[name] = np.zeros(chance.choice([(), (0,), (0, 2**40), (1,) * 9, (1,) * 33][:4]), array.dtype)
        case 4:
            tensors[name] = array.reshape(-1)[: chance.randrange(array.size + 1)]
        case 5:
            tensors[chance.choice(NAMES)] = tensors.pop(name)
        case _:
            del tensors[name]
    return signed(header, tensors)


def _contents(content: bytes) -> ModelFile:
    model = model_file._model(io.BytesIO(content), len(content))
    return ModelFile(model.header, dict(model.tensors))


CHANGES = (flipped, cut, spliced, other_length, other_table, raw_json, other_header, other_header, other_arrays)


def hostile_file(content: bytes, chance: Any) -> bytes:
    """The file with one of these changes, or now and then two."""
    changed = chance.choice(CHANGES)(content, chance)
    return chance.choice((flipped, cut))(changed, chance) if changed and chance.random() < 0.05 else changed
