import json

import numpy as np

from mcquack import load
from tests.cli.tables import two_classes


def test_a_model_of_no_epochs_is_written_scored_and_used(fitted, mcquack, table):
    path, outcome = fitted(two_classes(), "--epochs", 0)
    assert outcome.code == 0
    assert "0 epochs" in outcome.out
    assert "epoch 1" not in outcome.err
    outcome = mcquack("predict", path, table("x,colour\n0.1,red\n5,blue\n"))
    assert [row["prediction"] for row in outcome.rows] == load(path).predict([[0.1, 1.0], [5.0, 0.0]]).tolist()
    told = json.loads(mcquack("info", path, "--json").out)
    assert told["settings"]["epochs"] == 0


def test_it_is_finished_and_cannot_be_resumed(fitted):
    fitted(two_classes(), "--epochs", 0)
    _, outcome = fitted(two_classes(), "--resume")
    assert outcome.code == 1
    assert "was finished" in outcome.err


def test_the_paper_s_model_for_devices(fitted):
    path, outcome = fitted(two_classes(), "--preset", "device", "--epochs", 0)
    assert outcome.code == 0
    model = load(path)
    assert (model.feature_range, model.final_entangler) == ((-1.0, 1.0), False)
    np.testing.assert_array_equal(model.weights_, 1)
