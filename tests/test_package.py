"""What ``import mcquack`` gives, and what it does not wait for."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import mcquack
from tests.fresh_environments import oldest_dependencies

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SUBPACKAGES = (
    "bench", "circuits", "datasets", "hardware", "kernels", "models", "report", "simulators", "studies", "training",
)  # fmt: skip
SLOW = ("matplotlib", "numba", "numpy", "pyarrow", "qiskit", "sklearn")


def in_a_fresh_process(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_importing_it_waits_for_nothing_slow() -> None:
    code = f"import sys, mcquack; dir(mcquack); print(*(set({SLOW}) & set(sys.modules)))"
    assert in_a_fresh_process(code) == ""


def test_the_classifier_loads_nothing_that_only_others_need() -> None:
    code = "import sys; from mcquack import McQuackClassifier; print(*sys.modules)"
    found = in_a_fresh_process(code).split()
    others = ("datasets", "report", "bench", "cli", "studies", "hardware", "database")
    assert [name for name in found if name.startswith(tuple(f"mcquack.{other}" for other in others))] == []
    # scikit-learn itself imports pandas, and rich, where they are installed.
    assert not {"matplotlib", "typer", "optuna", "qiskit", "jax", "dask", "torch"} & set(found)


def test_every_subpackage_is_there_without_an_import_of_its_own() -> None:
    code = f"import mcquack; print(*(getattr(mcquack, name).__name__ for name in {SUBPACKAGES}))"
    assert in_a_fresh_process(code).split() == [f"mcquack.{name}" for name in SUBPACKAGES]


def test_it_lists_and_has_all_that_it_promises() -> None:
    assert set(dir(mcquack)) == set(mcquack.__all__) > {"FeatureMap", "McQuackClassifier", "load", *SUBPACKAGES}
    for name in mcquack.__all__:
        assert getattr(mcquack, name) is not None


def test_what_it_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'quark'"):
        mcquack.quark  # noqa: B018


def test_every_dependency_has_an_oldest_version_that_fresh_environments_try() -> None:
    oldest = oldest_dependencies(PROJECT)
    assert len(oldest) == len(PROJECT["dependencies"])
    assert "numba==0.61.*" in oldest
