"""``mcquack datasets list``: what there is."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Annotated, Any, Literal, NamedTuple

import typer
from rich.text import Text

from mcquack.checks import did_you_mean
from mcquack.cli.datasets.facts import brief_facts
from mcquack.cli.datasets.options import DataDir
from mcquack.cli.options import Json
from mcquack.cli.tables import bare_table, plain_console, tab_separated
from mcquack.datasets import Description, descriptions
from mcquack.datasets.dataset import PART_NAMES
from mcquack.datasets.files import places
from mcquack.errors import InvalidInputError

_LARGE_FAMILY = 5  # members that need a line each; more would bury the rest of a list of everything

Facts = dict[str, Any]


class _Line(NamedTuple):
    """One line of the table."""

    name: str
    features: str
    classes: str
    samples: str
    where: str
    task: str


def listing(
    suite: Annotated[
        str | None, typer.Option(help="Only this suite: qml, real-world or extra.", show_default="all")
    ] = None,
    family: Annotated[
        str | None, typer.Option(help="Only this family, such as mnist or two_curves.", show_default="all")
    ] = None,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """List the datasets: name, features, classes, samples in each part, where the files are, and the task.

    On a terminal, a list of everything shows a large family in one line. Elsewhere each dataset is a line of name,
    suite, family, features, classes, train, validation, test, where and task, separated by tabs.

    Examples: mcquack datasets list --suite qml, or mcquack datasets list | cut -f 1
    """
    status = places(data_dir).status
    found = [brief_facts(one, where=status(one.sources)) for one in _chosen(suite, family)]
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    elif sys.stdout.isatty():
        _print_table(found, whole_families=suite is None and family is None)
    else:
        typer.echo(tab_separated(map(_fields, found)))


def _chosen(suite: str | None, family: str | None) -> Sequence[Description]:
    in_suite = descriptions(suite)
    chosen = [description for description in in_suite if family in (None, description.family)]
    if not chosen:
        families = list(dict.fromkeys(description.family for description in in_suite if description.family))
        hint = did_you_mean(family, families, otherwise=f"there are {', '.join(families)}.")
        raise InvalidInputError(f"no family{f' in {suite}' if suite else ''} is named {family!r}; {hint}")
    return chosen


def _fields(facts: Facts) -> Iterator[object]:
    yield from (facts[key] for key in ("name", "suite", "family", "n_features", "n_classes"))
    yield from (facts["sizes"].get(part, 0) for part in PART_NAMES)
    yield from (facts["where"], facts["task"])


def _print_table(found: Sequence[Facts], *, whole_families: bool) -> None:
    table = bare_table()
    for title in _Line._fields:
        # All but the last keep their width on a narrow terminal: half a name is none.
        side: Literal["left", "right"] = "right" if title in ("features", "classes", "samples") else "left"
        table.add_column(title, justify=side, no_wrap=title != "task")
    for suite, in_suite in groupby(found, key=lambda facts: str(facts["suite"])):
        members = list(in_suite)
        table.add_row(Text(f"{suite} ({len(members)})", style="bold"))
        for line in _lines(members, whole_families=whole_families):
            table.add_row(*line[:-1], Text(line.task, no_wrap=True, overflow="ellipsis"))
    table.columns[0].min_width = max(len(str(cell)) for cell in table.columns[0].cells)
    console = plain_console()
    console.print(table)
    shorter = " A name with … is a family: --suite or --family lists its members." if whole_families else ""
    console.print(f"\nSamples: train/validation/test.{shorter} mcquack datasets show NAME tells more.", style="dim")


def _lines(found: Sequence[Facts], *, whole_families: bool) -> Iterator[_Line]:
    for family, in_family in groupby(found, key=lambda facts: str(facts["family"])):
        members = list(in_family)
        if whole_families and family and len(members) > _LARGE_FAMILY:
            yield _line(members)
        else:
            yield from (_line([member]) for member in members)


def _line(members: Sequence[Facts]) -> _Line:
    """One line for datasets that differ in little."""
    names = [str(facts["name"]) for facts in members]
    last = names[-1].removeprefix(f"{members[0]['family']}_")
    return _Line(
        name=names[0] if len(names) == 1 else f"{names[0]}…{last}",
        features=_span(facts["n_features"] for facts in members),
        classes=_span(facts["n_classes"] for facts in members),
        samples="/".join(_span(facts["sizes"].get(part, 0) for facts in members) for part in PART_NAMES),
        where=", ".join(dict.fromkeys(facts["where"] for facts in members)),
        task=_common_words([str(facts["task"]) for facts in members]),
    )


def _span(numbers: Iterable[int]) -> str:
    found = sorted(set(numbers))
    return "…".join("–" if number == 0 else f"{number:,}" for number in dict.fromkeys((found[0], found[-1])))


def _common_words(texts: Sequence[str]) -> str:
    """The first text, with … for the words in which the others differ."""
    columns = zip(*(text.split() for text in texts), strict=False)
    return " ".join(words[0] if len(set(words)) == 1 else "…" for words in columns)
