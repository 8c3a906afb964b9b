"""The reference has all public names, and docstrings come into it as they are meant."""

import inspect
import sys
from importlib import import_module
from pathlib import Path

import pytest

import mcquack
from mcquack.errors import MissingDependencyError

pytest.importorskip("sphinx")
ROOT = Path(__file__).parents[2]
SOURCES = Path(mcquack.__file__).parent


@pytest.fixture
def extension(monkeypatch):
    """A module of docs/_ext by its name."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "_ext")
    yield import_module
    for name in ("docstrings", "reference", "reports"):
        sys.modules.pop(name, None)


def packages():
    """All packages that say what they export."""
    for path in sorted(SOURCES.rglob("__init__.py")):
        name = ".".join(["mcquack", *path.parent.relative_to(SOURCES).parts])
        try:
            package = import_module(name)
        except MissingDependencyError:
            continue
        if hasattr(package, "__all__"):
            yield package


def test_every_public_name_has_a_place_in_the_reference(extension):
    reference = extension("reference")
    missing = [
        f"{package.__name__}.{name}"
        for package in packages()
        for name in reference.exported(package)
        if (inspect.isclass(getattr(package, name)) or inspect.isroutine(getattr(package, name)))
        and reference.origin(package, name) not in reference.homes()
    ]
    assert missing == []


def test_a_name_is_shown_once_and_found_under_all_its_spellings(extension):
    names = extension("reference").public_names()
    spellings = ("McQuackClassifier", "mcquack.McQuackClassifier", "mcquack.models.mcquack.McQuackClassifier")
    assert {names[spelling] for spelling in spellings} == {"mcquack.models.McQuackClassifier"}


def test_the_text_behind_a_parameter_becomes_its_description(extension):
    lines = [
        "A model.",
        "",
        "Parameters",
        "----------",
        "n, m : Two numbers,",
        "    both whole.",
        "All else is as ever.",
    ]
    assert list(extension("docstrings").described(lines)) == [
        *("A model.", "", "All else is as ever.", "", "Parameters", "----------"),
        *("n, m", "    Two numbers,", "    both whole."),
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("|⟨c|x⟩|² of weights_", r"\|⟨c\|x⟩\|² of weights\_"),
        ("``a_ | b`` and :func:`c_`", "``a_ | b`` and :func:`c_`"),
        ("a *word* and 2 * 3", r"a *word* and 2 \* 3"),
        ("ibm_… at tcp://host:1", r"ibm\_… at tcp\://host:1"),
    ],
)
def test_signs_are_meant_as_they_stand(extension, text, shown):
    assert extension("docstrings").escaped(text) == shown
