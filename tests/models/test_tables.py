"""A model reads tables by the encoder that is saved with it, and no row is lost without a reason."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from mcquack import McQuackClassifier, datasets, load
from mcquack.datasets.table import frame_table
from mcquack.errors import ModelFileError
from mcquack.models.classical import SupportVectorClassifier
from mcquack.models.tables import encoder_of, identifying_columns, labels_csv, numbered, table_extra, usable_rows

FRAME = pd.DataFrame({"x": np.r_[np.arange(6), np.arange(50, 56)], "colour": ["red", "blue"] * 6, "label": [*"ab"] * 6})


@pytest.fixture(scope="module", params=[McQuackClassifier(n_qubits=2, epochs=1), SupportVectorClassifier()])
def model(request, tmp_path_factory):
    """A model of each kind, with and without a circuit, as it comes from a file."""
    dataset = datasets.from_frame(FRAME, target="label")
    path = tmp_path_factory.mktemp("model") / "model.mcq"
    request.param.fit(*dataset.train).save(path, extra=table_extra(dataset))
    return load(path)


def lines(text):
    return list(csv.reader(io.StringIO(text)))


def test_files_frames_and_tables_are_read_alike(model, tmp_path):
    FRAME.to_csv(tmp_path / "new.csv", index=False)
    FRAME.to_parquet(tmp_path / "new.parquet")
    expected = usable_rows(model, FRAME)
    assert not expected.problems
    for data in (frame_table(FRAME), tmp_path / "new.csv", str(tmp_path / "new.parquet")):
        found = usable_rows(model, data)
        np.testing.assert_array_equal(found.X, expected.X)
        assert len(found.rows) == len(FRAME)


def test_every_row_has_a_label_or_a_reason(model):
    new = pd.DataFrame({"x": [1.0, np.nan, 1e300, 2.0], "colour": ["red", "red", "red", "green"]})
    table = usable_rows(model, new)
    header, *rows = lines(labels_csv(table, model.predict(table.X)))
    assert header == ["row", "prediction", "reason"]
    assert [row[0] for row in rows] == ["0", "1", "2", "3"]
    assert all((row[1] == "") == (row[2] != "") for row in rows)
    # Only a circuit cannot tell how far away a value is.
    assert (rows[2][1] == "") == hasattr(model, "feature_map_")
    assert [row[1] for row in rows if row[1]] == model.predict(table.X).tolist()


def test_a_table_without_a_usable_row_has_reasons_only(model):
    rows = lines(labels_csv(usable_rows(model, pd.DataFrame({"x": [1.0], "colour": ["green"]})), []))
    assert [row[1] for row in rows[1:]] == [""]


def test_samples_without_a_table_are_counted_from_one(model):
    X = usable_rows(model, FRAME).X
    assert [row[0] for row in lines(labels_csv(numbered(X[:3]), model.predict(X[:3])))[1:]] == ["1", "2", "3"]


def test_a_model_that_was_saved_without_an_encoder_says_so():
    model = McQuackClassifier(n_qubits=2, epochs=1).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ModelFileError, match=r"^m\.mcq"):
        encoder_of(model, path="m.mcq")


def test_only_text_that_hardly_repeats_names_rows():
    frame = pd.DataFrame({"id": [f"n{i}" for i in range(30)], "size": np.arange(30), "label": [*"ab"] * 15})
    assert [*identifying_columns(datasets.from_frame(frame, target="label"))] == ["id"]
    assert not identifying_columns(datasets.from_frame(FRAME, target="label"))
