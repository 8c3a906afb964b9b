"""What the documentation shows of the datasets runs as it stands there."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mcquack
from mcquack.datasets import load, registry

ROOT = Path(__file__).parents[2]


def snippets(file):
    """Return the Python code of a page, one snippet after the other."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


@pytest.fixture
def names(data_dir, tmp_path, monkeypatch):
    """What the snippets take for granted, in a folder with the files that they read; models are trained in no time."""
    monkeypatch.setenv("MCQUACK_DATA", str(data_dir))
    monkeypatch.setattr(registry, "registered", {})
    quick = partial(mcquack.McQuackClassifier, epochs=1, n_qubits=2)
    monkeypatch.setattr(mcquack, "McQuackClassifier", quick, raising=False)
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"width": np.arange(60.0), "species": ["rose", "iris", "aster"] * 20})
    frame.to_csv("flowers.csv", index=False)
    frame.to_parquet("flowers.parquet")
    X, y = frame[["width"]].to_numpy(), frame.species.to_numpy()
    parts = {"X_train": X[::2], "y_train": y[::2], "X_test": X[1::2], "y_test": y[1::2]}
    return {"model": quick(), "frame": frame, "X": X, "y": y, **parts}


def test_every_snippet_runs(names):
    found = snippets("docs/datasets.md")
    assert len(found) == 5
    for code in found:
        exec(compile(code, "docs/datasets.md", "exec"), names)


def test_the_dataset_shown_first_is_as_shown(data_dir):
    assert f"digits  # {load('mnist10', data_dir=data_dir)}\n" in snippets("docs/datasets.md")[0]


def test_every_dataset_is_in_the_tables_of_the_documentation(monkeypatch):
    monkeypatch.setattr(registry, "registered", {})  # other tests may have imported a study with datasets of its own
    text = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
    for description in mcquack.datasets.descriptions():
        assert f"`{description.family if description.suite == 'qml' else description.name}`" in text
