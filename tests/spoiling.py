"""Damage to files and texts for tests of readers: what a reader does not refuse in a typed way, it must read."""

import sys
from typing import Any

# What has broken readers: depth, length, digits, characters that are none, and text that only looks like a value.
PIECES = (
    "[" * 5_000,
    '{"a":' * 3_000,
    "9" * 400,
    "1e999999",
    "-" + "9" * 5_000,
    "NaN",
    "Infinity",
    "null",
    "true",
    "{}",
    "[]",
    '"',
    "\x00",
    "\\u0000",
    "\\ud800",
    "\u202e",
    "\ufeff",
    "\n\n",
    "=",
    "a" * 10_000,
)


def tell(text: str) -> None:
    """Prints how much was tried and what came of it, which ``pytest -s`` shows."""
    sys.stdout.write(f"{text}\n")


def spoilt(value: Any, draws: Any) -> Any:
    """The value with one damage that the generator ``draws`` chooses; text may become bytes, and bytes text."""
    if isinstance(value, str):
        text = value
        for _ in range(draws.choice((1, 1, 1, 2, 5))):
            text = _spoilt_text(text, draws)
        return text.encode("utf-8", "surrogatepass") if draws.random() < 0.05 else text
    if isinstance(value, bytes):
        return spoilt_bytes(value, draws)
    return draws.choice(("text", 10**18, -1, 0.5, b"\x00", None))


def _spoilt_text(text: str, draws: Any) -> str:
    start = draws.randrange(len(text) + 1)
    end = min(len(text), start + draws.choice((0, 0, 1, 1, 3, 10, len(text))))
    kind = draws.randrange(5)
    if kind == 0:
        return text[:start] + draws.choice(PIECES) + text[end:]
    if kind == 1:
        return text[:start] + text[end:]
    if kind == 2:
        return text[:end] + text[start:]
    if kind == 3:
        return (
            text[:start] + chr(draws.choice((0, 9, 10, 13, 34, 39, 44, 45, 46, 48, 61, 91, 93, 123, 125))) + text[end:]
        )
    return text[:start] + text[start:end][::-1] + text[end:]


def spoilt_bytes(content: bytes, draws: Any) -> bytes:
    """The bytes with some of them changed, cut out, repeated, or with others put in."""
    found = bytearray(content)
    for _ in range(draws.choice((1, 1, 2, 8))):
        start = draws.randrange(len(found) + 1)
        end = min(len(found), start + draws.choice((1, 1, 2, 4, 16, 200)))
        kind = draws.randrange(5)
        if kind == 0 and end > start:
            found[draws.randrange(start, end)] ^= 1 << draws.randrange(8)
        elif kind == 1:
            del found[start:end]
        elif kind == 2:
            found[start:start] = found[start:end]
        elif kind == 3:
            found[start:end] = draws.randbytes(end - start)
        else:
            found[start:start] = draws.choice(PIECES).encode("utf-8", "surrogatepass")[: draws.choice((4, 400, 20_000))]
    return bytes(found[: draws.randrange(len(found) + 1)] if draws.random() < 0.05 else found)
