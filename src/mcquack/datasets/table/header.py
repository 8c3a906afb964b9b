"""The columns of an encoder as JSON, and back without trusting it."""

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any, get_args

from mcquack.datasets.table.cells import KINDS, Kind
from mcquack.datasets.table.column import IMPUTING, MAX_CATEGORIES, Column, Missing
from mcquack.datasets.table.value import listed
from mcquack.errors import ModelFileError

VERSION = 1


def columns_to_header(columns: Sequence[Column], *, target: str, missing: Missing) -> dict[str, Any]:
    """Nothing but texts, numbers, lists and dictionaries."""
    entries = [
        {"name": column.name, "kind": column.kind, "categories": list(column.categories), "fill": column.fill}
        for column in columns
    ]
    return {"version": VERSION, "target": target, "missing": missing, "columns": entries}


def columns_from_header(header: object) -> tuple[tuple[Column, ...], str, Missing]:
    """The columns, target and missing option that ``columns_to_header`` was given; anything odd is refused."""
    fields = _fields(header, names=("version", "target", "missing", "columns"))
    if fields["version"] is True or fields["version"] != VERSION:
        raise ModelFileError(
            f"the table in the model file has version {fields['version']!r}, but this mcquack reads version {VERSION}; "
            "use the mcquack that wrote it."
        )
    target, missing, entries = fields["target"], fields["missing"], fields["columns"]
    _check(_is_name(target), "its target is no name")
    _check(isinstance(missing, str) and missing in get_args(Missing), "its option for missing values is unknown")
    _check(isinstance(entries, list) and len(entries) > 0, "it has no list of columns")
    columns = tuple(_column(entry, missing=missing) for entry in entries)
    _check(len({target, *(column.name for column in columns)}) == len(columns) + 1, "a column comes twice")
    return columns, target, missing


def _column(entry: object, *, missing: Missing) -> Column:
    fields = _fields(entry, names=("name", "kind", "categories", "fill"))
    name, kind, categories, fill = fields["name"], fields["kind"], fields["categories"], fields["fill"]
    _check(_is_name(name), "a column has no name")
    _check(isinstance(kind, str) and kind in KINDS, f"column {name!r} is of no known kind")
    _check(_are_categories(categories, kind=kind), f"the categories of column {name!r} are not different texts")
    needs_fill = kind == "category" or missing in IMPUTING
    is_sound = _is_fill(fill, kind=kind, n_categories=len(categories)) if needs_fill else fill is None
    _check(is_sound, f"the value for what is missing in column {name!r} cannot be one")
    return Column(name=name, kind=kind, categories=tuple(categories), fill=float(fill) if needs_fill else None)


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ModelFileError(f"the table in the model file is broken: {otherwise}; fit and save the model again.")


def _fields(entry: object, *, names: Collection[str]) -> Mapping[str, Any]:
    if isinstance(entry, dict) and set(entry) == set(names):
        return entry
    raise ModelFileError(
        f"the table in the model file is broken: expected the fields {listed(names)}; fit and save the model again."
    )


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _are_categories(value: object, *, kind: Kind) -> bool:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        return False
    return len(set(value)) == len(value) <= MAX_CATEGORIES and (len(value) > 0) == (kind == "category")


def _is_fill(value: object, *, kind: Kind, n_categories: int) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        return False
    if kind == "boolean":
        return value in (0, 1)
    return kind != "category" or (value == int(value) and 0 <= value < n_categories)
