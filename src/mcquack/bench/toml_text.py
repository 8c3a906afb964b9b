"""TOML that users write: what it says, and in which line; whatever cannot be meant is refused."""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import GenericAlias, UnionType
from typing import Any, NoReturn, get_args, get_origin

from mcquack.checks import did_you_mean, is_number, is_whole_number
from mcquack.errors import InvalidInputError
from mcquack.files import plain_text

Key = tuple[str, ...]
Kind = type | GenericAlias | UnionType
"""What a value is: a type, a list of a type, or one of several."""

_TITLES: Mapping[Kind, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list of values",
    list[str]: "a list of texts",
    bool | list[str]: "true, false or a list of texts",
}
_MOST_DOTS = 500  # in a line; Python's reader takes time and memory by the square of the parts of a name
_MOST_DIGITS = 40  # how much of an odd value an error quotes


def user_text(path: Path, *, what: str, known: Collection[str]) -> str:
    """The text of a TOML file; a path of any other kind was meant to be one of the ``known`` names."""
    if path.suffix != ".toml":
        hint = did_you_mean(path, known, otherwise=f"there are {', '.join(known)}.")
        raise InvalidInputError(f"no {what} is named {str(path)!r}; {hint} A {what} of yours is a .toml file.")
    return plain_text(path, what=f"a {what} in TOML")


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


class FieldsReader:
    """Checks the fields of a text, and names the lines of those that it refuses.

    Parameters
    ----------
    called : what errors call the text.
    text : the TOML that the fields are from; None where they come from elsewhere, and have no lines.
    """

    def __init__(self, called: str, text: str | None) -> None:
        self._called = called
        self._text = [] if text is None else text.splitlines()
        self._lines = None if text is None else dict(_key_lines(self._text))

    def refuse(self, key: Key, message: str) -> NoReturn:
        """Raise InvalidInputError with the line of the key, or else of the table that it belongs to."""
        self._refuse(self._line_of(key), message)

    def refuse_named(self, error: InvalidInputError, *, within: Key = ()) -> NoReturn:
        """Raise the error with the line in a table of the setting that it names, or else of the text that it quotes."""
        message, first = str(error), self._line_of(within)
        keys = (self._lines or {}).items()
        by_name = (line for key, line in keys if key[: len(within)] == within and key[-1] == error.setting)
        quoted = re.findall(r"'([^']+)'", message)
        rest = list(enumerate(self._text, start=1))[first - 1 :]
        by_text = (number for text in quoted for number, line in rest if text in line)
        self._refuse(next(by_name, None) or next(by_text, first), message)

    @contextmanager
    def placed(self, key: Key) -> Iterator[None]:
        """Adds the line of the key to what is refused inside of the ``with`` block."""
        try:
            yield
        except InvalidInputError as error:
            self.refuse(key, str(error))

    def check(
        self, given: Mapping[str, Any], kinds: Mapping[str, Kind], *, within: Key = (), required: Key = ()
    ) -> None:
        """Refuses keys without a kind, values of another kind than that of their key, and a missing required key."""
        for name, value in given.items():
            key = (*within, name)
            if name not in kinds:
                hint = did_you_mean(name, kinds, otherwise=f"there are {', '.join(kinds)}.")
                self.refuse(key, f"no key is called {'.'.join(key)!r}; {hint}")
            if not _is_of(value, kinds[name]):
                self.refuse(key, f"{'.'.join(key)} must be {_TITLES[kinds[name]]}, got {value!r}")
        for name in required:
            if name not in given:
                self.refuse(within, f"the key {'.'.join((*within, name))!r} is missing")

    def _line_of(self, key: Key) -> int:
        lines = self._lines or {}
        return next((lines[key[:end]] for end in range(len(key), 0, -1) if key[:end] in lines), 1)

    def _refuse(self, line: int, message: str) -> NoReturn:
        place = self._called if self._lines is None else f"{self._called}:{line}"
        raise InvalidInputError(f"{place}: {message}{'' if message.endswith(('.', '?')) else '.'}")


def _is_of(value: Any, kind: Kind) -> bool:
    if isinstance(kind, UnionType):
        return any(_is_of(value, each) for each in get_args(kind))
    if get_origin(kind) is list:
        return isinstance(value, list) and all(_is_of(each, get_args(kind)[0]) for each in value)
    if kind in (int, float):  # True is a number for Python
        return is_whole_number(value) if kind is int else is_number(value)
    return isinstance(value, kind)  # type: ignore[arg-type]  # a type, after all others


def _key_lines(lines: list[str]) -> Iterator[tuple[Key, int]]:
    """Where keys and table headers stand, in lines counted from 1, which tomllib does not say."""
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
