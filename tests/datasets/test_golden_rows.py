"""The first samples of every dataset: what is drawn or generated from a seed must stay what it was."""

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack import datasets
from mcquack.datasets import registry

GOLDEN = Path(__file__).parents[1] / "golden" / "datasets.csv"
N_VALUES, N_LABELS = 4, 12
OURS = [known for known in datasets.descriptions() if known.suite != "own"]  # a study may have been imported before


def first_samples(name, **places):
    """The first values and labels of each part, and a sum over all values that would notice if two were exchanged."""
    loaded = datasets.load(name, **places)
    row = {"name": name}
    for part, (X, y) in loaded.parts.items():
        waves = np.cos(np.arange(X.size)).reshape(X.shape)
        numbers = [*X[0, np.linspace(0, X.shape[1] - 1, N_VALUES, dtype=int)], np.sum(waves * X) / np.linalg.norm(X)]
        row[part] = " ".join(f"{number:.9g}" for number in numbers)
        row[f"{part} labels"] = " ".join(map(str, y[:N_LABELS]))
    return row


def golden_rows():
    with GOLDEN.open(newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def write_golden(data_dir):
    """To be called by hand when a dataset was added."""
    with GOLDEN.open("w", newline="") as file:
        columns = [f"{part}{what}" for part in ("train", "validation", "test") for what in ("", " labels")]
        writer = csv.DictWriter(file, ["name", *columns], lineterminator="\n")
        writer.writeheader()
        writer.writerows(first_samples(name, data_dir=data_dir) for name in datasets.names())


def check(name, **places):
    golden = golden_rows()[name]
    for column, text in first_samples(name, **places).items():
        if column in ("train", "validation", "test"):
            found, expected = ([float(value) for value in row.split()] for row in (text, golden[column]))
            assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
        else:
            assert text == golden[column]


def test_every_dataset_has_a_golden_row(monkeypatch):
    monkeypatch.setattr(registry, "registered", {})  # other tests may have imported a study with datasets of its own
    assert [*golden_rows()] == [*datasets.names()]


@pytest.mark.parametrize("name", [known.name for known in OURS if known.is_built_in])
def test_what_needs_no_file_begins_as_ever(name):
    check(name)


@pytest.mark.parametrize("name", [known.name for known in datasets.descriptions() if not known.is_built_in])
def test_what_is_drawn_from_files_begins_as_ever(name, data_dir):
    check(name, data_dir=data_dir)
