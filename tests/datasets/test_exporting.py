import json

import numpy as np
import pytest

from mcquack import datasets
from mcquack.errors import InvalidInputError


@pytest.fixture
def lamps():
    return datasets.from_arrays([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["off", "off", "on"], name="lamps")


def test_a_dataset_of_yours_is_written_with_what_is_known_of_it(lamps, tmp_path):
    assert datasets.export(lamps, tmp_path / "new", seed=3) == ("train.csv", "about.json")
    assert (tmp_path / "new" / "train.csv").read_text().splitlines()[:2] == ["x0,x1,label", '0,1,"off"']
    about = json.loads((tmp_path / "new" / "about.json").read_text())
    assert (about["name"], about["title"], about["seed"], about["sizes"]) == ("lamps", "lamps", 3, {"train": 3})
    assert (about["citation"], about["licence"], about["notes"]) == ("", "", [])


def test_what_is_exported_is_replaced_only_on_request(lamps, tmp_path):
    datasets.export(lamps, tmp_path, format="npz")
    with pytest.raises(InvalidInputError, match=r"lamps\.npz exists already; .* overwrite=True"):
        datasets.export(lamps, tmp_path, format="npz")
    assert datasets.export(lamps, tmp_path, format="npz", overwrite=True) == ("lamps.npz", "about.json")
    with np.load(tmp_path / "lamps.npz", allow_pickle=False) as file:
        assert file["y_train"].tolist() == ["off", "off", "on"]


def test_two_exports_do_not_mix(lamps, tmp_path):
    datasets.export(lamps, tmp_path, format="parquet")
    with pytest.raises(InvalidInputError, match=r"holds train\.parquet"):
        datasets.export(lamps, tmp_path, overwrite=True)
