"""From a TOML file to a design; whatever is wrong with it is told with its line."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

from mcquack.bench.suites.lines import KeyLines
from mcquack.checks import did_you_mean, is_whole_number
from mcquack.errors import InvalidInputError
from mcquack.studies.trainability.design import Design, Grid

BUILT_IN = ("paper", "wide", "quick")
DEFAULT = ("paper", "wide")
_KEYS: Mapping[str, type] = {"name": str, "title": str, "grids": dict}
_GRID_KEYS: Mapping[str, type] = {"dataset": str, "seeds": int, "new_data": bool, "vary": dict, "settings": dict}
_TITLES = {str: "a text", int: "a whole number", dict: "a table", bool: "true or false"}


def read_design(name_or_path: str | Path) -> Design:
    """A design of mcquack by its name, or one of the user's from a TOML file."""
    if name_or_path in BUILT_IN:
        file = files("mcquack.studies.trainability").joinpath("designs", f"{name_or_path}.toml")
        return design_from_text(file.read_text(encoding="utf-8"), called=str(name_or_path))
    path = Path(name_or_path)
    if path.suffix != ".toml":
        hint = did_you_mean(name_or_path, BUILT_IN, otherwise=f"there are {', '.join(BUILT_IN)}.")
        raise InvalidInputError(f"no design is named {str(name_or_path)!r}; {hint} A design of yours is a .toml file.")
    return design_from_text(path.read_text(encoding="utf-8"), called=str(path))


def design_from_text(text: str, *, called: str) -> Design:
    """The design in TOML."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(f"{called} is no valid TOML: {error}.") from error
    return _Reader(called, KeyLines(text)).design(given)


def design_from_json(given: Mapping[str, Any]) -> Design:
    """The design whose ``to_json`` this is."""
    return _Reader("the stored design", None).design(given)


class _Reader:
    """Checks the values of one file and knows where each stands; what has no text has no lines either."""

    def __init__(self, called: str, lines: KeyLines | None) -> None:
        self.called = called
        self.lines = lines

    def design(self, given: Mapping[str, Any]) -> Design:
        self._check_keys(given, _KEYS, within=(), required=("name", "grids"))
        for name, grid in given["grids"].items():
            if not isinstance(grid, dict):
                self._refuse(("grids", name), f"grids.{name} must be a table, got {grid!r}")
        grids = tuple(self._grid(name, grid) for name, grid in given["grids"].items())
        try:
            return Design(name=given["name"], title=given.get("title", ""), grids=grids)
        except InvalidInputError as error:
            self._refuse(("grids",), str(error), cause=error)

    def _grid(self, name: str, given: Mapping[str, Any]) -> Grid:
        within = ("grids", name)
        self._check_keys(given, _GRID_KEYS, within=within, required=("dataset", "seeds", "vary"))
        for setting, values in given["vary"].items():
            if not isinstance(values, list):
                self._refuse((*within, "vary", setting), f"{setting} must be a list of values, got {values!r}")
        settings = {
            key: tuple(value) if isinstance(value, list) else value for key, value in given.get("settings", {}).items()
        }
        try:
            return Grid(
                name=name,
                dataset=given["dataset"],
                seeds=given["seeds"],
                new_data=given.get("new_data", False),
                vary={setting: tuple(values) for setting, values in given["vary"].items()},
                settings=settings,
            )
        except InvalidInputError as error:
            self._refuse(self._key_in(str(error), within, given), str(error), cause=error)

    def _key_in(self, message: str, within: tuple[str, ...], given: Mapping[str, Any]) -> tuple[str, ...]:
        """The key that a message is about: the first word, or what it quotes."""
        for table in ("vary", "settings"):
            for setting in given.get(table, {}):
                if message.startswith(f"{setting} ") or f"{setting!r}" in message:
                    return (*within, table, setting)
        first = message.partition(" ")[0]
        return (*within, first if first in given else "dataset" if repr(given["dataset"]) in message else "vary")

    def _check_keys(
        self, given: Mapping[str, Any], types: Mapping[str, type], *, within: tuple[str, ...], required: tuple[str, ...]
    ) -> None:
        for name, value in given.items():
            if name not in types:
                hint = did_you_mean(name, types, otherwise=f"there are {', '.join(types)}.")
                self._refuse((*within, name), f"no key is called {'.'.join((*within, name))!r}; {hint}")
            kind = types[name]
            if not (is_whole_number(value) if kind is int else isinstance(value, kind)):
                self._refuse((*within, name), f"{name} must be {_TITLES[kind]}, got {value!r}")
        for name in required:
            if name not in given:
                self._refuse(within, f"the key {'.'.join((*within, name))!r} is missing")

    def _refuse(self, key: tuple[str, ...], message: str, *, cause: Exception | None = None) -> NoReturn:
        end = "" if message.endswith((".", "?")) else "."
        place = self.called if self.lines is None else f"{self.called}:{self.lines.of(key)}"
        raise InvalidInputError(f"{place}: {message}{end}") from cause
