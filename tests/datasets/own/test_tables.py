import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.datasets.own import from_arrays, from_frame, load_csv, load_parquet
from mcquack.datasets.table import frame_table
from mcquack.errors import InvalidInputError, InvalidTableError

N_ROWS = 40
CONTENT = pd.DataFrame(
    {
        "x": [index / 8 for index in range(N_ROWS)],
        "job": ["nurse", "baker"] * (N_ROWS // 2),
        "day": pd.to_datetime(["1970-01-02", "1970-01-03"] * (N_ROWS // 2)),
        "label": ["a", "b", "b", "a"] * (N_ROWS // 4),
    }
)


@pytest.fixture
def csv(tmp_path):
    """Writes a frame, or a text, as CSV."""

    def write(content, name="t.csv"):
        text = content if isinstance(content, str) else content.to_csv(index=False)
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode(), mtime=0) if name.endswith(".gz") else text.encode())
        return path

    return write


def test_a_table_is_the_same_dataset_from_every_source(csv, tmp_path):
    pq.write_table(pa.Table.from_pandas(CONTENT, preserve_index=False), tmp_path / "t.parquet")
    options = {"target": "label", "validation": 0.2, "test": 0.3, "seed": 1}
    datasets = [
        load_csv(csv(CONTENT), **options),
        load_csv(str(csv(CONTENT, "no-suffix")), **options),
        load_csv(csv(CONTENT, "t.csv.gz"), **options),
        load_parquet(str(tmp_path / "t.parquet"), **options),
        from_frame(CONTENT.set_index(CONTENT.x.to_numpy()), **options),
        from_frame(pl.from_pandas(CONTENT), **options),
        from_frame(pa.Table.from_pandas(CONTENT, preserve_index=False), **options),
    ]
    assert {dataset.fingerprint for dataset in datasets} == {datasets[0].fingerprint}
    assert {dataset.feature_names for dataset in datasets} == {("x", "job", "day")}
    assert [len(part.y) for part in datasets[0].parts.values()] == [20, 8, 12]
    assert datasets[0].class_counts("test") == (6, 6)
    assert datasets[0].labels == datasets[0].class_names == ("a", "b")


def test_a_dataset_has_the_name_of_its_file_or_the_given_one(csv):
    assert load_csv(csv(CONTENT), target="label").name == "t.csv"
    assert load_csv(csv(CONTENT), target="label", name="mine").name == "mine"


def test_the_encoder_makes_the_same_numbers_of_the_table_again():
    dataset = from_frame(CONTENT, target="label")
    assert_array_equal(dataset.table.encoder.transform(frame_table(CONTENT)).X, dataset.train.X)
    assert_allclose(dataset.train.X[1], [0.125, 0, 2])


@pytest.mark.parametrize(("missing", "fill"), [("mean", "mean"), ("median", "median"), ("most_frequent", "min")])
def test_what_fills_a_gap_is_learned_from_the_training_part_only(missing, fill):
    frame = pd.DataFrame({"x": [np.nan, *np.arange(1.0, 30), *[np.nan] * 10], "label": [0, 1] * 20})
    shares = {"validation": 0.3, "test": 0.3, "seed": 1}
    dataset = from_frame(frame, target="label", missing=missing, **shares)
    # The draw looks at labels alone, so numbered rows tell who is where.
    numbered = from_arrays(np.arange(40)[:, None], frame.label, **shares)
    expected = frame.x[numbered.train.X[:, 0]].agg(fill)
    assert frame.x.agg(fill) != pytest.approx(expected)
    for name, part in dataset.parts.items():
        rows = numbered.parts[name].X[:, 0]
        assert_allclose(part.X[:, 0], frame.x[rows].fillna(expected))


def test_what_will_fill_gaps_in_later_tables_is_learned_from_the_training_part_as_well():
    jobs = ["nurse"] * 11 + ["baker"] * 29
    frame = pd.DataFrame({"x": np.arange(40.0), "job": jobs, "label": [0, 1] * 20})
    dataset = from_frame(frame, target="label", missing="mean", test=0.5, seed=1)
    x, job = dataset.table.encoder.columns
    assert x.fill == pytest.approx(dataset.train.X[:, 0].mean())
    assert x.fill != pytest.approx(frame.x.mean())
    assert job.fill == np.bincount(dataset.train.X[:, 1].astype(int)).argmax()


def test_rows_that_were_not_used_are_told():
    frame = CONTENT.assign(x=CONTENT.x.where(CONTENT.index != 3), label=CONTENT.label.where(CONTENT.index != 0))
    reading = from_frame(frame, target="label", missing="drop").table
    assert [str(problem) for problem in reading.left_out] == ["row 0: the target 'label' is missing"]
    assert reading.n_dropped == 1
    with pytest.raises(InvalidTableError, match=r"missing in 1 row \(0\)"):
        from_frame(frame, target="label", missing="drop", missing_target="error")


def test_columns_are_taken_as_asked():
    dataset = from_frame(CONTENT, target="label", ignore=["day"], categorical=["x"])
    assert [(column.name, column.kind) for column in dataset.table.encoder.columns] == [
        ("x", "category"),
        ("job", "category"),
    ]


def test_columns_without_names_have_numbers():
    frame = pd.DataFrame([[0.5, 1, 7, 7], [1.5, 0, 8, 7]])
    dataset = from_frame(frame, target=1, ignore=[3], categorical=[2], numeric=[0])
    assert dataset.feature_names == ("0", "2")
    assert [column.kind for column in dataset.table.encoder.columns] == ["number", "category"]
    assert dataset.labels == (0, 1)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [1, 2], "label": ["a", "a"]}, "all 2 usable rows have the label 'a' in 'label'"),
        ({"x": range(30), "label": range(30)}, "names or measures rows"),
        ({"x": [1e308, -1e308], "label": ["a", "b"]}, "'x' lie too far apart"),
        ({"x": [1, None], "label": ["a", "b"]}, r"'x' is missing in 1 row \(1\)"),
        ({"x": [1, 2], "y": ["a", "b"]}, "no column 'label'"),
    ],
)
def test_tables_that_teach_nothing_are_refused(columns, message):
    with pytest.raises(InvalidTableError, match=message):
        from_frame(pl.DataFrame(columns), target="label")


def test_options_that_make_no_sense_are_refused():
    with pytest.raises(InvalidInputError, match="validation"):
        from_frame(CONTENT, target="label", validation=2)
    with pytest.raises(TypeError, match="mising"):
        from_frame(CONTENT, target="label", mising="drop")


def test_a_file_of_another_kind_is_refused(csv, tmp_path):
    pq.write_table(pa.Table.from_pandas(CONTENT, preserve_index=False), tmp_path / "t.parquet")
    with pytest.raises(InvalidTableError, match="is a Parquet file"):
        load_csv(tmp_path / "t.parquet", target="label")
    with pytest.raises(InvalidTableError, match="not a readable Parquet"):
        load_parquet(csv(CONTENT), target="label")
