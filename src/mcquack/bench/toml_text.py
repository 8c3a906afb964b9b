"""TOML that users write: what it says, and in which line; whatever cannot be meant is refused."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from mcquack.errors import InvalidInputError

Key = tuple[str, ...]

_MOST_DOTS = 500  # in a line; Python's reader takes time and memory by the square of the parts of a name
_MOST_DIGITS = 40  # how much of an odd value an error quotes


def toml_fields(text: str, *, called: str) -> dict[str, Any]:
    """What a TOML text says; errors name it as ``called``.

    Whole numbers beyond 64 bits and characters of code 0 are refused, which TOML allows and nothing here can mean.

    >>> toml_fields("seeds = 5", called="mine.toml")
    {'seeds': 5}
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if line.count(".") > _MOST_DOTS:
            raise InvalidInputError(f"{called}:{number}: more than {_MOST_DOTS} dots are in one line; divide it.")
    try:
        given = tomllib.loads(text)
    except RecursionError as error:
        raise InvalidInputError(f"{called} is no valid TOML: lists or tables in it are nested too deep.") from error
    except ValueError as error:  # beside TOMLDecodeError that of numbers with thousands of digits
        raise InvalidInputError(f"{called} is no valid TOML: {error}.") from error
    _check_values(given, called=called)
    return given


def _check_values(given: dict[str, Any], *, called: str) -> None:
    left: list[Any] = [given]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += [*value, *value.values()]
        elif isinstance(value, list):
            left += value
        elif isinstance(value, str) and "\0" in value:
            raise InvalidInputError(f"{called}: {value[:_MOST_DIGITS]!r} holds a character of code 0; leave it out.")
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            size = f"about {'-' if value < 0 else ''}2^{value.bit_length()}"
            raise InvalidInputError(f"{called}: a whole number in it ({size}) does not fit into 64 bits; correct it.")


class KeyLines:
    """Where the keys and table headers of a TOML text stand, in lines counted from 1; tomllib does not tell."""

    def __init__(self, text: str) -> None:
        self._text = text.splitlines()
        self._lines = dict(_key_lines(self._text))

    def of(self, key: Key) -> int:
        """The line of the key, or of the table that it belongs to; the first where neither is written out."""
        return next((self._lines[key[:end]] for end in range(len(key), 0, -1) if key[:end] in self._lines), 1)

    def told_in(self, message: str) -> int:
        """The line that a message is about: of the key with which it begins, or of the text that it quotes."""
        named = message.partition(" ")[0]
        by_name = (number for key, number in self._lines.items() if key[-1] == named)
        quoted = re.findall(r"'([^']+)'", message)
        by_text = (number for text in quoted for number, line in enumerate(self._text, start=1) if text in line)
        return next(by_name, None) or next(by_text, 1)


def _key_lines(lines: list[str]) -> Iterator[tuple[Key, int]]:
    table: Key = ()
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith("["):
            if header := _path(line):
                table = header
                yield table, number
        # The value may go on for lines, but the key does not.
        elif "=" in line and (key := _path(f"{line.partition('=')[0]} = 0")):
            yield (*table, *key), number


def _path(line: str) -> Key:
    """The names in a line that is a header or an entry by itself; none in others, as the inner ones of a list."""
    names: list[str] = []
    with suppress(tomllib.TOMLDecodeError):
        found: Any = tomllib.loads(line)
        while isinstance(found, Mapping) and found:
            name, found = next(iter(found.items()))
            names.append(name)
    return tuple(names)
