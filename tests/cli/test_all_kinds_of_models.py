"""Model files of every kind can be told about, and those with a table be applied to tables."""

import json

import pytest
from sklearn.datasets import load_iris

from mcquack.datasets.table import TableEncoder
from mcquack.models import catalog

NAMES = tuple("abcd")
QUICK = {"n_qubits": 2, "n_repetitions": 1, "epochs": 2}


@pytest.fixture(params=catalog.names())
def saved(request, tmp_path):
    """A small model of each kind in a file, with the encoder of a table of numbers."""
    entry = catalog.entry(request.param)
    quick = {name: value for name, value in QUICK.items() if name in entry.defaults()}
    X, y = load_iris(return_X_y=True)
    rows = y < 2
    model = entry.new(**quick, random_state=0).fit(X[rows], y[rows])
    encoder = TableEncoder.of_numbers(NAMES, target="kind")
    model.save(tmp_path / "m.mcq", extra={"table": encoder.to_header()})
    return model, tmp_path / "m.mcq"


def test_info_tells_about_every_kind(mcquack, saved):
    model, path = saved
    told = mcquack("info", path)
    assert told.code == 0
    assert f"{type(model).__name__}" in told.out
    assert f"{model.n_parameters_:,}" in told.out
    facts = json.loads(mcquack("info", path, "--json").out)
    assert facts["n_parameters"] == model.n_parameters_
    assert (facts["circuit"] is not None) == hasattr(model, "feature_map_")


def test_predict_applies_every_kind_to_a_table(mcquack, saved, table):
    model, path = saved
    content = "a,b,c,d\n5.1,3.5,1.4,0.2\n7,3.2,4.7,1.4\n"
    outcome = mcquack("predict", path, table(content))
    assert outcome.code == 0
    expected = model.predict([[5.1, 3.5, 1.4, 0.2], [7, 3.2, 4.7, 1.4]])
    assert [row["prediction"] for row in outcome.rows] == [str(label) for label in expected]
    shares = mcquack("predict", path, table(content), "--proba")
    if hasattr(model, "predict_proba"):
        assert shares.code == 0
    else:
        assert shares.code == 1
        assert "knows no probabilities" in shares.err
