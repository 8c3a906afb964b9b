"""Whatever the documentation names can be imported, and the glossary is in order."""

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
ENTRY = re.compile(r"^- \*\*(.+?)\*\*: (.+?)(?=^- \*\*|\Z)", flags=re.DOTALL | re.MULTILINE)


def named(text: str) -> set[str]:
    """Names such as mcquack.circuits.FeatureMap: in backticks, and in the imports of examples."""
    found = set(re.findall(r"`(mcquack(?:\.\w+)+)(?:\([^`]*\))?`", text))
    for module, names in re.findall(r"^from (mcquack[\w.]*) import ([\w, ]+)$", text, flags=re.MULTILINE):
        found |= {f"{module}.{name.strip()}" for name in names.split(",")}
    return found


def is_there(name: str) -> bool:
    """Whether a dotted name leads from a module to something that it has."""
    parts = name.split(".")
    for n_parts in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:n_parts]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[n_parts:]:
            if not hasattr(found, attribute):
                return not hasattr(found, "__all__") and is_defined_below(found, attribute)
            found = getattr(found, attribute)
        return True
    return False


def is_defined_below(package: ModuleType, name: str) -> bool:
    """Whether a file of a package that does not say what it exports defines the name."""
    definition = re.compile(rf"^(class |def |){name}\b", flags=re.MULTILINE)
    files = (path for folder in getattr(package, "__path__", ()) for path in Path(folder).rglob("*.py"))
    return any(definition.search(path.read_text(encoding="utf-8")) for path in files)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_name_on_a_page_can_be_imported(page: Path) -> None:
    assert [name for name in sorted(named(page.read_text(encoding="utf-8"))) if not is_there(name)] == []


def test_the_glossary_explains_each_word_once_in_two_sentences_and_by_a_name() -> None:
    entries = ENTRY.findall((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    words = [word.lower() for word, _ in entries]
    assert len(words) > 40
    assert words == sorted(set(words))
    for word, meaning in entries:
        *_, name = meaning.split()
        assert named(name), f"{word} ends without a Python name"
        assert len(re.findall(r"\.\s", meaning)) <= 2, f"{word} takes more than two sentences"
