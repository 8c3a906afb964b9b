"""Where the keys of a TOML file stand, which tomllib does not tell."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

Key = tuple[str, ...]
_QUOTED = re.compile(r"'([^']+)'")


class KeyLines:
    """Line numbers of keys and of table headers, counted from 1."""

    def __init__(self, text: str) -> None:
        self._text = text.splitlines()
        self._lines = dict(_key_lines(self._text))

    def of(self, key: Key) -> int:
        """The line of the key, or of the table that it belongs to; the first where neither is written out."""
        return next((self._lines[key[:end]] for end in range(len(key), 0, -1) if key[:end] in self._lines), 1)

    def told_in(self, message: str) -> int:
        """The line that a message is about: of the key with which it begins, or of the text that it quotes."""
        named = message.partition(" ")[0]
        for key, number in self._lines.items():
            if key[-1] == named:
                return number
        for text in _QUOTED.findall(message):
            for number, line in enumerate(self._text, start=1):
                if text in line:
                    return number
        return 1


def _key_lines(lines: list[str]) -> Iterator[tuple[Key, int]]:
    table: Key = ()
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith("["):
            header = _path(line)
            if header is not None:
                table = header
                yield table, number
        elif "=" in line:
            # The value may go on for lines, but the key does not.
            key = _path(f"{line.partition('=')[0]} = 0")
            if key is not None:
                yield (*table, *key), number


def _path(line: str) -> Key | None:
    """The names in a line that is a header or an entry by itself; None for other lines, as the inner ones of a list."""
    try:
        found: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None
    names: list[str] = []
    while isinstance(found, Mapping) and found:
        name, found = next(iter(found.items()))
        names.append(name)
    return tuple(names) or None
