"""Docstrings as they are written here, for Sphinx: plain text, in whose lists a colon is followed by a description.

Types come from annotations, so that they are said once. Signs that mean something in reStructuredText, as in |⟨c|x⟩|²
and ``weights_``, are meant as they stand.
"""

import re
from collections.abc import Iterator

from sphinx.application import Sphinx

LISTS = ("Parameters", "Attributes")
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (.+)$")
NAMES = re.compile(r"^\*{0,2}\w+(?:, \*{0,2}\w+)*$")
MARKED = re.compile(r"(``.+?``|:[\w:]+:`[^`]+`|(?<![\w*])\*\w[^*\n]*\*(?![\w*]))", flags=re.DOTALL)
SIGNS = re.compile(r"[*|`]|(?<=\w)_(?!\w)|(?<=tcp):")
EXAMPLE = re.compile(r"^\s*(>>>|\.\.\.)")


def is_underline(line: str) -> bool:
    """Whether a line makes a heading of the line above."""
    return set(line.strip()) == {"-"}


def sections(lines: list[str]) -> list[tuple[str, list[str]]]:
    """The parts of a docstring with their headings; the first has none."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line, below in zip(lines, [*lines[1:], ""][: len(lines)], strict=True):
        if is_underline(below):
            parts.append((line.strip(), []))
        elif not is_underline(line):
            parts[-1][1].append(line)
    return parts


def is_sentence(line: str) -> bool:
    """Whether a line of a list is neither a name nor what belongs to one."""
    return bool(line[:1].strip()) and NAMES.match(line.split(" : ")[0]) is None


def listed(lines: list[str]) -> Iterator[str]:
    """The lines of a list, in which the text behind a name begins a line of its own."""
    for line in lines:
        entry = ENTRY.match(line)
        yield from (line,) if entry is None else (entry[1], f"    {entry[2]}")


def described(lines: list[str]) -> Iterator[str]:
    """The lines of a docstring; sentences that stand alone in a list go before all lists, for a list has names only."""
    (_, text), *parts = sections(lines)
    alone = [line for heading, part in parts if heading in LISTS for line in part if is_sentence(line)]
    yield from (*text, *alone, "")
    for heading, part in parts:
        yield from (heading, "-" * len(heading))
        yield from listed([line for line in part if not is_sentence(line)]) if heading in LISTS else part


def escaped(text: str) -> str:
    """A text in which signs are meant as they stand, except in code, in roles and around emphasised words."""
    parts = MARKED.split(text)
    return "".join(part if place % 2 else SIGNS.sub(r"\\\g<0>", part) for place, part in enumerate(parts))


def blocks(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """The lines in blocks, each with whether it is text; examples and the names of lists are none."""
    block: list[str] = []
    was_text = inside = False
    for line in lines:
        inside = bool(line.strip()) and (inside or EXAMPLE.match(line) is not None)
        is_text = not inside and NAMES.match(line) is None
        if block and is_text != was_text:
            yield was_text, block
            block = []
        was_text = is_text
        block.append(line)
    if block:
        yield was_text, block


def process(_app: Sphinx, what: str, _name: str, found: object, _options: object, lines: list[str]) -> None:
    """Changes the lines of a docstring in place, before Napoleon reads them."""
    if what == "data" and "\n".join(lines).strip() == (type(found).__doc__ or "").strip():
        lines[:] = []  # a constant has none of its own
    changed: list[str] = []
    for is_text, block in blocks(list(described(lines))):
        if not is_text and EXAMPLE.match(block[0]) and changed and changed[-1].strip("- "):
            changed.append("")
        changed += escaped("\n".join(block)).split("\n") if is_text else block
    lines[:] = changed


def skip(_app: Sphinx, _what: str, _name: str, found: object, skipped: bool, _options: object) -> bool | None:
    """Leaves out what others, such as scikit-learn, bring along; they have documentation of their own."""
    found = getattr(found, "fget", None) or getattr(found, "func", None) or found
    home = getattr(found, "__module__", None) or getattr(getattr(found, "__objclass__", None), "__module__", "mcquack")
    return True if not home.startswith("mcquack") and callable(found) else skipped or None


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers with Sphinx."""
    app.connect("autodoc-process-docstring", process, priority=100)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
