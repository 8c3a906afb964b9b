"""The defaults are those that the rows of their study favour."""

import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from scipy.stats import wilcoxon

from mcquack import McQuackClassifier
from mcquack.training import TrainingSettings

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
    model = McQuackClassifier(epochs=0).fit([[0.0], [1.0]], [0, 1])
    loss: Any = model.loss_
    resolved = {"loss": loss.name, "steps": model.steps_, "epochs": McQuackClassifier().epochs}
    for name, value in ENTROPY.items():
        if name in TrainingSettings.__dataclass_fields__:
            assert resolved.get(name, getattr(model, name)) == value, name


def test_the_gain_over_the_defaults_before_is_what_the_page_says() -> None:
    from studies.defaults import summary
    from studies.defaults.data import PICTURES
    from studies.defaults.measure import ENTROPY, FORMER

    after, before = (summary.scores()[json.dumps(each, sort_keys=True)] for each in (ENTROPY, FORMER))
    names = [name for name in after if name != PICTURES]
    gains = {
        metric: [mean(row[column] for row in after[name]) - mean(row[column] for row in before[name]) for name in names]
        for column, metric in enumerate(("balanced accuracy", "AUC"))
    }
    p_value = wilcoxon([gain for gain in gains["balanced accuracy"] if round(gain, 9)]).pvalue
    told = " ".join((STUDY / "README.md").read_text(encoding="utf-8").split())
    assert f"is {mean(gains['balanced accuracy']):.3f} in mean balanced accuracy" in told
    assert f"(p = {p_value:.2f}), and {mean(gains['AUC']):.3f} in mean AUC" in told
