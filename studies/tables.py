"""What studies share: which rows are there already, and tables in their pages, below the names of their places."""

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path


def finished(rows: Path, keys: Sequence[str]) -> set[tuple[str, ...]]:
    """The values of these columns, as they are written, in a file of rows that may not be there yet."""
    if not rows.exists():
        return set()
    with rows.open(newline="") as stream:
        return {tuple(row[name] for name in keys) for row in csv.DictReader(stream)}


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table as Markdown has it, its first column text and all others numbers."""
    rule = "|---|" + "---:|" * (len(header) - 1)
    return "\n".join(["| " + " | ".join(header) + " |", rule, *("| " + " | ".join(line) + " |" for line in lines)])


def with_tables(text: str, found: Mapping[str, str]) -> str:
    """A page with each of them in the place of the lines below its name, which stands in a comment."""
    for name, lines in found.items():
        place = re.compile(rf"(<!-- {name} -->\n)(?:.+\n)*")
        text = place.sub(lambda match, lines=lines: f"{match[1]}{lines}\n", text)
    return text
