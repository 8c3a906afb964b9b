"""From a TOML file to a suite; whatever is wrong with it is told with its line."""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from mcquack.bench.plan import Cell
from mcquack.bench.rows import RunRecord
from mcquack.bench.samples import check_settings, check_target
from mcquack.bench.suites.suite import Cut, Suite
from mcquack.bench.task import TableSource
from mcquack.checks import did_you_mean
from mcquack.datasets import descriptions
from mcquack.errors import InvalidInputError

# Where the keys of a TOML file stand, which tomllib does not tell.

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


T = TypeVar("T")

BUILT_IN = ("real-world", "qml", "hardware-twin")
_TYPES: Mapping[str, type] = {
    "name": str,
    "title": str,
    "datasets": list,
    "models": list,
    "search": str,
    "search_on": str,
    "n_folds": int,
    "choose_by": str,
    "seeds": int,
    "data_seed": int,
    "spaces_like": str,
    "cut": dict,
    "spaces": dict,
    "settings": dict,
    "tables": dict,
}
_TITLES = {str: "a text", list: "a list of texts", int: "a whole number", dict: "a table", float: "a number"}
_REQUIRED = ("name", "datasets", "models")
_TABLE_TYPES: Mapping[str, type] = {"path": str, "target": str, "validation": float, "test": float}


def read_suite(name_or_path: str | Path) -> Suite:
    """A suite of mcquack by its name, or one of the user's from a TOML file."""
    if name_or_path in BUILT_IN:
        file = files("mcquack.bench.suites").joinpath(f"{str(name_or_path).replace('-', '_')}.toml")
        return suite_from_text(file.read_text(encoding="utf-8"), called=str(name_or_path))
    path = Path(name_or_path)
    if path.suffix != ".toml":
        hint = did_you_mean(name_or_path, BUILT_IN, otherwise=f"there are {' and '.join(BUILT_IN)}.")
        raise InvalidInputError(f"no suite is named {str(name_or_path)!r}; {hint} A suite of yours is a .toml file.")
    suite = suite_from_text(path.read_text(encoding="utf-8"), called=str(path), folder=path.parent)
    if suite.name in BUILT_IN:
        raise InvalidInputError(f"{path}: {suite.name!r} is the name of a suite of mcquack; choose another.")
    return suite


def suite_from_text(text: str, *, called: str, folder: Path = Path()) -> Suite:
    """The suite in TOML; paths of tables are relative to ``folder``."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInputError(f"{called} is no valid TOML: {error}.") from error
    reader = _Reader(text, called=called, folder=folder)
    suite = reader.suite(given)
    reader.check_names(suite)
    return suite


def suite_from_json(given: Mapping[str, Any]) -> Suite:
    """The suite whose ``to_json`` this is."""
    return _Reader(None, called="the stored suite", folder=Path()).suite(given)


class _Reader:
    """Checks the values of one file and knows where each stands; what has no text has no lines either."""

    def __init__(self, text: str | None, *, called: str, folder: Path) -> None:
        self.lines = None if text is None else KeyLines(text)
        self.called = called
        self.folder = folder

    def suite(self, given: Mapping[str, Any]) -> Suite:
        self._check_keys(given, _TYPES, required=_REQUIRED)
        plain: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in given.items()
            if _TYPES[name] is not dict
        }
        nested = {name: self._tables_of(name, given) for name in ("cut", "spaces", "settings", "tables")}
        try:
            return Suite(
                **plain,
                cut={family: self._cut(family, sizes) for family, sizes in nested["cut"].items()},
                spaces=nested["spaces"],
                settings=nested["settings"],
                tables={name: self._table(name, table) for name, table in nested["tables"].items()},
            )
        except InvalidInputError as error:
            if str(error).startswith(f"{self.called}:"):
                raise
            raise InvalidInputError(f"{self._place_of(str(error))}: {error}") from error

    def check_names(self, suite: Suite) -> None:
        """Refuses what would silently be of no use: a misspelt model, setting, family or column."""
        for key in ("spaces", "settings"):
            for model, values in getattr(suite, key).items():
                if model not in suite.models:
                    hint = did_you_mean(model, suite.models, otherwise=f"there are {', '.join(suite.models)}.")
                    self._refuse((key, model), f"{model!r} is none of the models; {hint}")
                self._placed((key, model), partial(check_settings, model, values))
        families = {known.family for known in descriptions()}
        for family in suite.cut:
            if family not in families:
                hint = did_you_mean(family, families, otherwise="mcquack datasets list shows them by family.")
                self._refuse(("cut", family), f"no family of datasets is called {family!r}; {hint}")
        for name, table in suite.tables.items():
            self._placed(("tables", name), partial(check_target, table))

    def _placed(self, key: tuple[str, ...], work: Callable[[], T]) -> T:
        """What the work gives; if it is refused, with the line of the key."""
        try:
            return work()
        except InvalidInputError as error:
            self._refuse(key, str(error))

    def _tables_of(self, name: str, given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        tables: dict[str, dict[str, Any]] = given.get(name, {})
        for key, table in tables.items():
            if not isinstance(table, dict):
                self._refuse((name, key), f"{name}.{key} must be a table, got {table!r}")
        return tables

    def _cut(self, family: str, sizes: Mapping[str, Any]) -> Cut:
        types = {field.name: int for field in fields(Cut)}
        self._check_keys(sizes, types, within=("cut", family), required=tuple(types))
        return Cut(**sizes)

    def _table(self, name: str, table: Mapping[str, Any]) -> TableSource:
        within = ("tables", name)
        self._check_keys(table, _TABLE_TYPES, within=within, required=("path", "target"))
        path = (self.folder / table["path"]).resolve()
        if not path.is_file():
            self._refuse((*within, "path"), f"there is no file {path}")
        options = {key: value for key, value in table.items() if key != "path"}
        return self._placed(within, partial(TableSource.of, path, **options))

    def _check_keys(
        self,
        given: Mapping[str, Any],
        types: Mapping[str, type],
        *,
        within: tuple[str, ...] = (),
        required: tuple[str, ...] = (),
    ) -> None:
        for name, value in given.items():
            if name not in types:
                hint = did_you_mean(name, types, otherwise=f"there are {', '.join(types)}.")
                self._refuse((*within, name), f"no key is called {'.'.join((*within, name))!r}; {hint}")
            if not _is_of(value, types[name]):
                self._refuse((*within, name), f"{name} must be {_TITLES[types[name]]}, got {value!r}")
        for name in required:
            if name not in given:
                self._refuse(within, f"the key {'.'.join((*within, name))!r} is missing")

    def _refuse(self, key: tuple[str, ...], message: str) -> NoReturn:
        end = "" if message.endswith((".", "?")) else "."
        place = self.called if self.lines is None else f"{self.called}:{self.lines.of(key)}"
        raise InvalidInputError(f"{place}: {message}{end}")

    def _place_of(self, message: str) -> str:
        """Where the value stands that a message of the suite itself is about: at the key or the text that it names."""
        return self.called if self.lines is None else f"{self.called}:{self.lines.told_in(message)}"


def _is_of(value: Any, kind: type) -> bool:
    if kind is list:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


# From the runs that a store remembers back to what they asked for.

Pair = tuple[str, str]  # dataset and model


def recorded_cells(runs: Sequence[RunRecord], wanted: Collection[Pair]) -> dict[Pair, Cell]:
    """The wanted cells that any run asked for, each as the last run that did so asked for it.

    Nothing else of the runs is looked at: tables that are not wanted may be gone.
    """
    cells: dict[Pair, Cell] = {}
    for run in reversed(runs):
        pairs = product(run.suite.get("datasets", ()), run.suite.get("models", ()))
        asked = [pair for pair in pairs if pair in wanted and pair not in cells]
        if asked:
            suite = suite_from_json(_part(run.suite, asked))
            cells |= {(dataset, model): suite.cell(dataset, model) for dataset, model in asked}
    return cells


def _part(suite: Mapping[str, Any], pairs: Iterable[Pair]) -> dict[str, Any]:
    datasets, models = (dict.fromkeys(names) for names in zip(*pairs, strict=True))
    tables = {name: table for name, table in suite.get("tables", {}).items() if name in datasets}
    return {**suite, "datasets": list(datasets), "models": list(models), "tables": tables}
