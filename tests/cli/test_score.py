"""``mcquack score`` tells how often a model is right, on tables and on datasets by name."""

import json

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, recall_score

from mcquack.cli.predict import Scores
from tests.cli.tables import two_classes


@pytest.fixture
def model(fitted):
    return fitted(two_classes())[0]


def test_scores_are_those_of_scikit_learn():
    generator = np.random.default_rng(0)
    true, said = generator.integers(0, 4, (2, 200))
    scores = Scores.of(true, said, classes=np.arange(4))
    assert scores.accuracy == pytest.approx(accuracy_score(true, said))
    assert scores.balanced_accuracy == pytest.approx(balanced_accuracy_score(true, said))
    assert list(scores.recalls) == ["0", "1", "2", "3"]
    assert list(scores.recalls.values()) == pytest.approx(recall_score(true, said, average=None))


def test_classes_that_the_model_lacks_count_as_wrong_and_those_without_rows_not_at_all():
    scores = Scores.of(["a", "a", "z"], ["a", "b", "a"], classes=["a", "b"])
    assert scores.unknown == ("z",)
    assert scores.recalls == {"a": 0.5, "z": 0.0}
    assert scores.balanced_accuracy == 0.25


def test_a_table_is_scored(mcquack, model, table):
    labelled = table("x,colour,label\n0,red,low\n0,red,low\n5,blue,low\n5,blue,high\n")
    outcome = mcquack("score", model, labelled)
    assert outcome.code == 0
    assert outcome.out.splitlines() == [
        "accuracy\t0.750\t4",
        "balanced accuracy\t0.833\t4",
        "recall of high\t1.000\t1",
        "recall of low\t0.667\t3",
    ]
    facts = json.loads(mcquack("score", model, labelled, "--json").out)
    assert (facts["accuracy"], facts["n_rows"], facts["n_left_out"]) == (0.75, 4, 0)
    assert facts["classes"][0] == {"class": "high", "recall": 1.0, "n_rows": 1}


def test_what_cannot_be_scored_is_told(mcquack, model, table):
    outcome = mcquack("score", model, table("x,colour,label\n0,red,low\nodd,red,low\n5,blue,\n5,blue,new\n"))
    assert outcome.code == 3
    assert "accuracy\t0.500\t2" in outcome.out
    assert "'new'" in outcome.err
    assert "1 row without a label" in outcome.err
    assert "'odd' is not a number" in outcome.err
    unlabelled = mcquack("score", model, table("x,colour\n0,red\n"))
    assert unlabelled.code == 1
    assert "'label'" in unlabelled.err
    assert "mcquack predict" in unlabelled.err


def test_a_dataset_by_name_is_scored_as_fit_does(mcquack, tmp_path):
    model = tmp_path / "iris.mcq"
    fitted = mcquack("fit", "iris3", "--out", model, "--model", "svc")
    facts = json.loads(mcquack("score", model, "iris3", "--json").out)
    told = next(line for line in fitted.out.splitlines() if "balanced accuracy" in line)
    assert f"{facts['balanced_accuracy']:.3f}" in told
