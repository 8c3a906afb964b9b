"""What ``import mcquack`` gives, and what it does not wait for."""

import ast
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import mcquack
from tests.fresh_environments import oldest_dependencies

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SUBPACKAGES = (
    "bench", "circuits", "datasets", "hardware", "kernels", "models", "report", "simulators", "studies", "training",
)  # fmt: skip
UNNEEDED = ("dask", "jax", "matplotlib", "optuna", "pandas", "pyarrow", "qiskit", "rich", "torch", "typer")
# scikit-learn itself imports some of them where they are installed; without them it does not.
HIDING = f"""
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {UNNEEDED}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Hidden())
"""
MOST_MODULES = 70  # of ours that the classifier takes
LAZY = tuple(f"mcquack.{name}" for name in SUBPACKAGES if name != "studies")
SLOW = ("matplotlib", "numba", "numpy", "pyarrow", "qiskit", "sklearn")


def in_a_fresh_process(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_importing_it_waits_for_nothing_slow() -> None:
    code = f"import sys, mcquack; dir(mcquack); print(*(set({SLOW}) & set(sys.modules)))"
    assert in_a_fresh_process(code) == ""


def test_the_classifier_loads_nothing_that_only_others_need() -> None:
    code = "import sys; from mcquack import McQuackClassifier; print(*sys.modules)"
    found = in_a_fresh_process(code).split()
    others = ("bench", "cli", "database", "datasets", "hardware", "progress", "report", "studies")
    assert [name for name in found if name.startswith(tuple(f"mcquack.{other}" for other in others))] == []
    assert len([name for name in found if name.partition(".")[0] == "mcquack"]) <= MOST_MODULES
    # With these come most of scikit-learn's models.
    assert not {"sklearn.cluster", "sklearn.gaussian_process", "sklearn.linear_model"} & set(found)


def test_the_classifier_imports_without_what_only_others_need() -> None:
    assert in_a_fresh_process(f"{HIDING}\nfrom mcquack import McQuackClassifier\nprint(McQuackClassifier.__name__)")


def test_a_silent_search_fits_without_what_only_others_need() -> None:
    fit = "McQuackClassifierCV({'n_qubits': 2, 'n_repetitions': 2, 'epochs': 1}).fit([[0.0], [1.0]] * 5, [0, 1] * 5)"
    assert in_a_fresh_process(f"{HIDING}\nfrom mcquack import McQuackClassifierCV\nprint({fit}.n_splits_)") == "1"


@pytest.mark.parametrize("name", ["mcquack", *LAZY, "mcquack.studies.trainability"])
def test_names_are_those_that_type_checkers_see(name: str) -> None:
    package = import_module(name)
    stub = ast.parse(Path(str(package.__file__)).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    homes = {str(alias.asname): str(node.module) for node in imports for alias in node.names}
    assert set(package.__all__) - {"__version__"} == homes.keys()
    assert dir(package) == sorted(package.__all__)
    for exported, home in homes.items():
        assert getattr(package, exported) is getattr(import_module(home), exported)


@pytest.mark.parametrize("name", LAZY)
def test_submodules_are_there_without_an_import_of_their_own(name: str) -> None:
    folder = Path(str(import_module(name).__file__)).parent
    submodules = [path.stem for path in folder.iterdir() if path.suffix == ".py" and path.stem != "__init__"]
    code = f"import mcquack; print(*(hasattr({name}, each) for each in {submodules}))"
    assert set(in_a_fresh_process(code).split()) == {"True"}


def test_every_subpackage_is_there_without_an_import_of_its_own() -> None:
    code = f"import mcquack; print(*(getattr(mcquack, name).__name__ for name in {SUBPACKAGES}))"
    assert in_a_fresh_process(code).split() == [f"mcquack.{name}" for name in SUBPACKAGES]


def test_it_lists_and_has_all_that_it_promises() -> None:
    package: Any = mcquack  # type checkers read its stub, which has no __all__
    assert set(dir(mcquack)) == set(package.__all__) > {"FeatureMap", "McQuackClassifier", "load", *SUBPACKAGES}
    for name in package.__all__:
        assert getattr(mcquack, name) is not None


def test_what_it_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="quark"):
        mcquack.quark  # type: ignore[attr-defined]  # noqa: B018


def test_every_dependency_has_an_oldest_version_that_fresh_environments_try() -> None:
    oldest = oldest_dependencies(PROJECT)
    assert len(oldest) == len(PROJECT["dependencies"])
    assert "numba==0.61.*" in oldest
