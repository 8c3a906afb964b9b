import numpy as np
import pytest

from mcquack.cli import datasets as plot_module
from mcquack.datasets import from_arrays

MAGIC = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml", "PNG": b"\x89PNG"}


@pytest.mark.parametrize("suffix", MAGIC)
def test_the_suffix_is_the_format(datasets, tmp_path, suffix):
    path = tmp_path / f"iris.{suffix}"
    assert datasets("plot", "iris3", "--out", path).code == 0
    assert path.read_bytes().startswith(MAGIC[suffix])


def test_same_seed_same_picture(datasets, tmp_path):
    pictures = []
    for number, seed in enumerate((0, 0, 1)):
        datasets("plot", "iris3", "--out", tmp_path / f"{number}.png", "--seed", seed)
        pictures.append((tmp_path / f"{number}.png").read_bytes())
    assert pictures[0] == pictures[1] != pictures[2]


@pytest.mark.parametrize("name", ["pm4_generated", "manifold_124", "hyperplanes_diff_4", "squares"])
def test_pictures_and_tables_are_drawn(datasets, registered, tmp_path, name):
    registered("squares", dataset=from_arrays(np.zeros((4, 2, 2), np.uint8), ["a", "b"] * 2, image_shape=(2, 2)))
    assert datasets("plot", name, "--out", tmp_path / "p.png").code == 0


@pytest.mark.parametrize(
    ("out", "told"),
    [
        ("p.jpg", "p.jpg must end in .png, .pdf, .svg"),
        ("p", "p must end in"),
        ("there.png", "there.png exists already"),
        ("none/p.png", "the folder none does not exist"),
    ],
)
def test_what_cannot_be_written_is_told_before_anything_is_loaded(datasets, tmp_path, monkeypatch, out, told):
    def unwanted(*_, **__):
        raise AssertionError("loaded in spite of all")

    monkeypatch.setattr(plot_module, "loaded", unwanted)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.png").touch()
    outcome = datasets("plot", "iris3", "--out", out)
    assert outcome.code == 1
    assert told in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["there.png"]


def test_force_replaces(datasets, tmp_path):
    path = tmp_path / "p.png"
    path.touch()
    assert datasets("plot", "iris3", "--out", path, "--force").code == 0
    assert path.stat().st_size


def test_missing_files_and_stand_ins_are_told(datasets, tmp_path):
    missing = datasets("plot", "url", "--out", tmp_path / "p.png")
    assert missing.code == 1
    assert missing.err.startswith("mcquack: url needs files that are not on this machine, one of:\n")
    stand_in = datasets("plot", "pm2", "--out", tmp_path / "p.png")
    assert stand_in.code == 0
    assert stand_in.err.startswith("Note: pm2 is drawn here")
