"""What studies write into their pages: tables, and whatever else follows from rows, below the names of their places."""

import re
from collections.abc import Mapping, Sequence


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
