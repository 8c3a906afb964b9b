import gzip
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.datasets.own import from_arrays, from_frame, from_parts, load_csv, load_parquet
from mcquack.datasets.table import frame_table
from mcquack.errors import InvalidInputError, InvalidTableError

X = np.arange(30.0).reshape(10, 3)
Y = [0, 1] * 5
COLUMNS = {"u": X[:, 0], "v": X[:, 1], "w": X[:, 2]}
FRAMES = {
    "pandas": pd.DataFrame(COLUMNS, index=range(7, 17)),
    "polars": pl.DataFrame(COLUMNS),
    "arrow": pa.table(COLUMNS),
}


def test_every_sample_goes_with_its_label_into_one_part():
    dataset = from_arrays(X, Y, validation=0.2, test=0.4)
    assert {name: len(part.y) for name, part in dataset.parts.items()} == {"train": 4, "validation": 2, "test": 4}
    samples = [(tuple(row), label) for part in dataset.parts.values() for row, label in zip(*part, strict=True)]
    assert sorted(samples) == [(tuple(row), label) for row, label in zip(X, Y, strict=True)]
    assert dataset.class_counts("test") == (2, 2)
    assert dataset.fingerprint == from_arrays(X, Y, validation=0.2, test=0.4).fingerprint
    assert dataset.fingerprint != from_arrays(X, Y, validation=0.2, test=0.4, seed=1).fingerprint


def test_without_shares_all_is_for_training_and_shares_too_small_give_no_part():
    for share in (0.0, 0.01):
        dataset = from_arrays(X, Y, validation=share, test=share)
        assert list(dataset.parts) == ["train"]
        assert_array_equal(dataset.train.X, X)


@pytest.mark.parametrize("samples", [X.tolist(), X, X.astype(object), *FRAMES.values()], ids=str)
def test_samples_of_every_kind_are_the_same_numbers(samples):
    dataset = from_arrays(samples, Y)
    assert_array_equal(dataset.train.X, X)
    is_named = not isinstance(samples, np.ndarray | list)
    assert dataset.feature_names == (("u", "v", "w") if is_named else ("x0", "x1", "x2"))


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [("u1", "u1"), ("f4", "f4"), ("f8", "f8"), ("f2", "f8"), ("i4", "f8"), ("u2", "f8"), ("?", "f8")],
)
def test_bytes_and_floats_stay_and_other_numbers_become_floats(dtype, kept):
    assert from_arrays(X.astype(dtype), Y).train.X.dtype == kept


LABELS: dict[str, tuple[list[Any], tuple[Any, ...]]] = {
    "ints": ([3, -1], (-1, 3)),
    "texts": (["b", "ä"], ("b", "ä")),
    "digits": (["10", "9"], ("10", "9")),
    "bools": ([True, False], (False, True)),
    "whole floats": ([2.0, 1.0], (1.0, 2.0)),
}
NULLABLE = {int: "Int64", str: "string", bool: "boolean", float: "Float64"}
HOLDERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "objects": lambda labels: np.array(labels, object),
    "pandas": pd.Series,
    "category": lambda labels: pd.Series(labels, dtype="category"),
    "nullable": lambda labels: pd.Series(labels, dtype=NULLABLE[type(labels[0])]),
    "polars": pl.Series,
    "arrow": pa.array,
}


def encoder_of(dataset):
    """The encoder of a dataset that was read from a table."""
    assert dataset.table is not None
    return dataset.table.encoder


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind_stay_what_they_are(kind, holder):
    given, labels = LABELS[kind]
    dataset = from_arrays(X, HOLDERS[holder](given * 5))
    assert dataset.labels == labels
    assert [type(label) for label in dataset.labels] == [type(label) for label in labels]
    assert dataset.class_names == tuple(map(str, labels))
    assert dataset.train.y.tolist() == given * 5
    assert dataset.train.y.dtype.kind in "biufU"


def test_pictures_become_rows_of_bytes():
    pictures = np.arange(120, dtype=np.uint8).reshape(10, 3, 4)
    dataset = from_arrays(pictures, Y, test=0.2)
    assert dataset.image_shape == (3, 4)
    assert dataset.train.X.dtype == dataset.parts["test"].X.dtype == np.uint8
    assert dataset.feature_names[:5] == ("pixel_0_0", "pixel_0_1", "pixel_0_2", "pixel_0_3", "pixel_1_0")
    assert_array_equal(from_arrays(pictures, Y).train.X[7].reshape(3, 4), pictures[7])
    flat = from_arrays(pictures.reshape(10, 12), Y, test=0.2, image_shape=(3, 4))
    assert (flat.fingerprint, flat.image_shape) == (dataset.fingerprint, (3, 4))


def test_names_can_be_given():
    dataset = from_arrays(FRAMES["pandas"], Y, name="mine", feature_names=["a", "b", "c"], class_names=["no", "yes"])
    assert (dataset.name, dataset.feature_names, dataset.class_names) == ("mine", ("a", "b", "c"), ("no", "yes"))


HOLE = X.copy()
HOLE[4, 1] = np.nan


@pytest.mark.parametrize(
    ("samples", "labels", "options", "message"),
    [
        (X, Y[:9], {}, "10 samples .* 9 labels"),
        (X[:, 0], Y, {}, r"shape \(10,\); expected \(samples, features\)"),
        (X.reshape(10, 1, 1, 3), Y, {}, "expected"),
        (np.empty((0, 3)), [], {}, "nothing"),
        (pl.LazyFrame(COLUMNS), Y, {}, "collect"),
        ([[1, 2], [3]], [0, 1], {}, "equal length"),
        (X.astype(str), Y, {}, "X holds text"),
        ([[1, "a"], [2, "b"]], [0, 1], {}, "X holds text"),
        (np.array([[1, "a"]], object), [0], {}, "mixes"),
        (X.astype(complex), Y, {}, "complex"),
        (HOLE, Y, {}, "feature 1 of sample 4 is nan"),
        ([[1, None], [2, 3]], [0, 1], {}, "feature 1 of sample 0 is nan"),
        (pd.DataFrame({"a": [1.0, np.inf]}), [0, 1], {}, r"feature 0 \('a'\) of sample 1 is inf"),
        (pl.DataFrame({"a": [1, None]}), [0, 1], {}, r"feature 0 \('a'\) of sample 1 is nan"),
        (pd.DataFrame({"a": ["u", "v"]}), [0, 1], {}, "'a' .*from_frame"),
        (pl.Series([1, 2]), [0, 1], {}, "is no table"),
        (np.ma.masked_invalid(HOLE), Y, {}, "masked"),
        (X, [1] * 10, {}, "label 1;"),
        (X, np.array(Y)[:, None], {}, r"shape \(10, 1\)"),
        (X, ["a", None] * 5, {}, "sample 1 .*one of 5"),
        (X, ["a", float("nan")] * 5, {}, "label of sample 1 is missing"),
        (X, [1.0, float("nan")] * 5, {}, "label of sample 1 is missing"),
        (X, pd.array([1, None] * 5, dtype="Int64"), {}, "label of sample 1 is missing"),
        (X, [0.5, 1.5] * 5, {}, "fractions"),
        (X, ["a", 1] * 5, {}, "mixes"),
        (X, [b"a", b"b"] * 5, {}, "numbers or text"),
        (X, Y, {"feature_names": ["a", "b"]}, "feature_names must be 3 different"),
        (X, Y, {"feature_names": ["a", "b", "b"]}, "feature_names must be 3 different"),
        (X, Y, {"class_names": ["only"]}, "class_names must be 2 different"),
        (X, Y, {"image_shape": (2, 2)}, "image_shape"),
        (X.reshape(10, 3, 1), Y, {"image_shape": (1, 3)}, "image_shape"),
        (X, Y, {"image_shape": (1, 1, 3)}, "image_shape"),
        (X, Y, {"image_shape": 3}, "image_shape"),
        (X, Y, {"image_shape": (-1, -3)}, "image_shape"),
        (X, Y, {"image_shape": (1.0, 3.0)}, "image_shape"),
        (X, Y, {"validation": 0.6, "test": 0.4}, "below 1"),
    ],
)
def test_what_is_no_dataset_is_refused(samples, labels, options, message):
    with pytest.raises(InvalidInputError, match=message):
        from_arrays(samples, labels, **options)


def test_parts_that_exist_are_kept_and_later_changes_do_not_reach_them():
    train = X.copy()
    dataset = from_parts((train, Y), validation=(X[:2], Y[:2]), test=(X[:1], [1]))
    train[:] = 0
    assert_array_equal(dataset.train.X, X)
    assert {name: part.y.tolist() for name, part in dataset.parts.items()} == {
        "train": Y,
        "validation": [0, 1],
        "test": [1],
    }
    assert not dataset.validation_is_test
    assert from_parts((X, Y), validation=(X[:2], Y[:2]), test=(X[:2], Y[:2])).validation_is_test


def test_parts_share_one_type_of_number():
    dataset = from_parts((X.astype(np.uint8), Y), test=(X / 2, Y))
    assert dataset.train.X.dtype == dataset.parts["test"].X.dtype == np.float64


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        ((X, Y), (X[:, :2], Y), "2 features .* 3;"),
        ((X.reshape(10, 3, 1), Y), (X.reshape(10, 1, 3), Y), r"\(1, 3\) features where"),
        ((FRAMES["polars"], Y), (FRAMES["polars"].select("v", "u", "w"), Y), "another order"),
        ((X, Y), (X[:2], [0, 2]), "as 2"),
        ((X.reshape(30, 1), [*range(15)] * 2), (X[:2, :1], ["0", "1"]), "as '0'"),
        ((X, Y), (HOLE, Y), "test part: feature 1 of sample 4"),
        ((X, Y), X, "expected a pair"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(train, test, message):
    with pytest.raises(InvalidInputError, match=message):
        from_parts(train, test=test)


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
    options: dict[str, Any] = {"target": "label", "validation": 0.2, "test": 0.3, "seed": 1}
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
    assert_array_equal(encoder_of(dataset).transform(frame_table(CONTENT)).X, dataset.train.X)
    assert_allclose(dataset.train.X[1], [0.125, 0, 2])


@pytest.mark.parametrize(("missing", "fill"), [("mean", "mean"), ("median", "median"), ("most_frequent", "min")])
def test_what_fills_a_gap_is_learned_from_the_training_part_only(missing, fill):
    frame = pd.DataFrame({"x": [np.nan, *np.arange(1.0, 30), *[np.nan] * 10], "label": [0, 1] * 20})
    shares: dict[str, Any] = {"validation": 0.3, "test": 0.3, "seed": 1}
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
    x, job = encoder_of(dataset).columns
    assert x.fill == pytest.approx(dataset.train.X[:, 0].mean())
    assert x.fill != pytest.approx(frame.x.mean())
    assert job.fill == np.bincount(dataset.train.X[:, 1].astype(int)).argmax()


def test_rows_that_were_not_used_are_told():
    frame = CONTENT.assign(x=CONTENT.x.where(CONTENT.index != 3), label=CONTENT.label.where(CONTENT.index != 0))
    reading = from_frame(frame, target="label", missing="drop").table
    assert reading is not None
    assert [str(problem) for problem in reading.left_out] == ["row 0: the target 'label' is missing"]
    assert reading.n_dropped == 1
    with pytest.raises(InvalidTableError, match=r"missing in 1 row \(0\)"):
        from_frame(frame, target="label", missing="drop", missing_target="error")


def test_columns_are_taken_as_asked():
    dataset = from_frame(CONTENT, target="label", ignore=["day"], categorical=["x"])
    assert [(column.name, column.kind) for column in encoder_of(dataset).columns] == [
        ("x", "category"),
        ("job", "category"),
    ]


def test_columns_without_names_have_numbers():
    frame = pd.DataFrame([[0.5, 1, 7, 7], [1.5, 0, 8, 7]])
    dataset = from_frame(frame, target=1, ignore=[3], categorical=[2], numeric=[0])
    assert dataset.feature_names == ("0", "2")
    assert [column.kind for column in encoder_of(dataset).columns] == ["number", "category"]
    assert dataset.labels == (0, 1)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [1, 2], "label": ["a", "a"]}, "2 usable rows .*'a' in 'label'"),
        ({"x": range(30), "label": range(30)}, "measures rows"),
        ({"x": [1e308, -1e308], "label": ["a", "b"]}, "'x' lie too"),
        ({"x": [1, None], "label": ["a", "b"]}, r"'x' .*1 row \(1\)"),
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
        from_frame(CONTENT, target="label", mising="drop")  # type: ignore[call-arg]


def test_a_file_of_another_kind_is_refused(csv, tmp_path):
    pq.write_table(pa.Table.from_pandas(CONTENT, preserve_index=False), tmp_path / "t.parquet")
    with pytest.raises(InvalidTableError, match="Parquet file"):
        load_csv(tmp_path / "t.parquet", target="label")
    with pytest.raises(InvalidTableError, match="readable Parquet"):
        load_parquet(csv(CONTENT), target="label")
