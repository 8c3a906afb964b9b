"""The defaults are those that the rows of their study favour."""

import json
from pathlib import Path
from statistics import mean

import pytest

from mcquack import McQuackClassifier

STUDY = Path(__file__).parents[2] / "studies" / "defaults"

pytestmark = pytest.mark.skipif(not STUDY.is_dir(), reason="a source archive has no results")


def test_the_defaults_are_the_best_of_them_on_tables() -> None:
    from studies.defaults import summary
    from studies.defaults.data import PICTURES
    from studies.defaults.measure import ENTROPY

    means = {
        setting: mean(mean(row[0] for row in rows) for dataset, rows in found.items() if dataset != PICTURES)
        for setting, found in summary.scores().items()
        if set(found) != {PICTURES}
    }
    assert max(means, key=means.__getitem__) == json.dumps(ENTROPY, sort_keys=True)
    meant = McQuackClassifier()._settings()
    for name, value in ENTROPY.items():
        if name == "loss":
            assert meant.loss.name == value  # type: ignore[attr-defined]
        elif hasattr(meant, name):
            assert getattr(meant, name) == value, name
