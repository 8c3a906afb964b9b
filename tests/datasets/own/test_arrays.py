import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from mcquack.datasets.own import from_arrays, from_parts
from mcquack.errors import InvalidInputError

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
    for options in ({}, {"validation": 0.01, "test": 0.01}):
        dataset = from_arrays(X, Y, **options)
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


LABELS = {
    "ints": ([3, -1], (-1, 3)),
    "texts": (["b", "ä"], ("b", "ä")),
    "digits": (["10", "9"], ("10", "9")),
    "bools": ([True, False], (False, True)),
    "whole floats": ([2.0, 1.0], (1.0, 2.0)),
}
NULLABLE = {int: "Int64", str: "string", bool: "boolean", float: "Float64"}
HOLDERS = {
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
    assert dataset.train.X.dtype == dataset.test.X.dtype == np.uint8
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
        (X, Y[:9], {}, "10 samples but y has 9 labels"),
        (X[:, 0], Y, {}, r"shape \(10,\); expected \(samples, features\)"),
        (X.reshape(10, 1, 1, 3), Y, {}, "expected"),
        (np.empty((0, 3)), [], {}, "nothing is in it"),
        (pl.LazyFrame(COLUMNS), Y, {}, "collect"),
        ([[1, 2], [3]], [0, 1], {}, "rows of equal length"),
        (X.astype(str), Y, {}, "X holds text"),
        ([[1, "a"], [2, "b"]], [0, 1], {}, "X holds text"),
        (np.array([[1, "a"]], object), [0], {}, "mixes"),
        (X.astype(complex), Y, {}, "complex"),
        (HOLE, Y, {}, "feature 1 of sample 4 is nan, one of 1 missing"),
        ([[1, None], [2, 3]], [0, 1], {}, "feature 1 of sample 0 is nan"),
        (pd.DataFrame({"a": [1.0, np.inf]}), [0, 1], {}, r"feature 0 \('a'\) of sample 1 is inf"),
        (pl.DataFrame({"a": [1, None]}), [0, 1], {}, r"feature 0 \('a'\) of sample 1 is nan"),
        (pd.DataFrame({"a": ["u", "v"]}), [0, 1], {}, "'a' holds no numbers.*from_frame"),
        (pl.Series([1, 2]), [0, 1], {}, "is no table"),
        (np.ma.masked_invalid(HOLE), Y, {}, "masked"),
        (X, [1] * 10, {}, "all samples have the label 1"),
        (X, np.array(Y)[:, None], {}, r"y has the shape \(10, 1\)"),
        (X, ["a", None] * 5, {}, "label of sample 1 is missing, one of 5"),
        (X, ["a", float("nan")] * 5, {}, "label of sample 1 is missing"),
        (X, [1.0, float("nan")] * 5, {}, "label of sample 1 is missing"),
        (X, pd.array([1, None] * 5, dtype="Int64"), {}, "label of sample 1 is missing"),
        (X, [0.5, 1.5] * 5, {}, "fractions"),
        (X, ["a", 1] * 5, {}, "mixes"),
        (X, [b"a", b"b"] * 5, {}, "give numbers or text"),
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
    assert dataset.train.X.dtype == dataset.test.X.dtype == np.float64


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        ((X, Y), (X[:, :2], Y), "have 2 features where those of the training part have 3"),
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
