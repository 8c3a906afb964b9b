"""The examples in docstrings show what really happens, warn of nothing and leave nothing behind."""

import doctest
import io
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import mcquack
from mcquack.errors import MissingDependencyError

SOURCES = Path(mcquack.__file__).parent
STUDIES = Path(__file__).parents[1] / "studies"  # of which a source archive has none
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def dotted(path: Path) -> str:
    """The name under which a source file is imported."""
    folder = STUDIES if path.is_relative_to(STUDIES) else SOURCES
    return ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")


# Files are read, not imported, to find them: collecting the tests stays quick.
MODULES = sorted(
    dotted(path)
    for folder in (SOURCES, STUDIES)
    for path in folder.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


def imported(name: str) -> ModuleType:
    """The module; the test is skipped if that takes an extra which is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith(("mcquack", "studies")):
            raise
        pytest.skip(f"{name} takes {error.name}, which is not installed")
    except MissingDependencyError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module_are_true(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    told = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    examples = [test for test in doctest.DocTestFinder().find(imported(name), name) if test.examples]
    assert examples, f"{name} has examples that doctest does not find: give them to a function, class or module."
    for test in examples:
        runner.run(test, out=told.write)
    assert not runner.failures, told.getvalue()
    assert not list(Path.cwd().iterdir()), f"the examples of {name} leave files behind."
