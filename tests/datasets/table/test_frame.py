import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mcquack.datasets.table import TableEncoder, frame_table
from mcquack.errors import InvalidInputError, InvalidTableError

COLUMNS = {"n": [1.0, None, 3.0], "s": ["x", None, "y"], "b": [True, False, None]}


def values(table):
    return {name: column.to_pylist() for name, column in table.columns.items()}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).convert_dtypes(),
        pd.DataFrame(COLUMNS, dtype=object, index=["u", "v", "w"]),
        pd.DataFrame(COLUMNS).astype({"s": "category"}),
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS).with_columns(pl.col("s").cast(pl.Categorical)),
        pl.DataFrame(COLUMNS).with_columns(pl.col("s").cast(pl.Enum(["y", "x"]))),
        pl.concat([pl.DataFrame(COLUMNS)[:1], pl.DataFrame(COLUMNS)[1:]], rechunk=False),
        pa.table(COLUMNS),
        pa.record_batch(COLUMNS),
        pa.table({**COLUMNS, "s": pa.array(COLUMNS["s"], pa.string_view())}),
    ],
)
def test_a_frame_of_any_kind_is_the_same_table(frame):
    table = frame_table(frame)
    assert values(table) == COLUMNS
    assert table.rows.tolist() == [0, 1, 2]
    assert values(table.only(np.array([False, False, True]))) == {"n": [3], "s": ["y"], "b": [None]}


def test_categories_of_a_frame_are_texts_like_others():
    plain = pl.DataFrame({"s": ["v", "u", "v"], "label": [0, 1, 0]})
    encoder = TableEncoder.fit(frame_table(plain), target="label")
    assert encoder.columns[0].categories == ("u", "v")
    for kind in (pl.Categorical, pl.Enum(["v", "u"])):
        assert encoder.transform(frame_table(plain.with_columns(pl.col("s").cast(kind)))).X.tolist() == [[1], [0], [1]]


class Odd:
    """Of no kind that a column could hold."""


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ([[1]], "got list"),
        (np.zeros((2, 2)), "use from_arrays"),
        (pl.LazyFrame(COLUMNS), "collect"),
        (pl.Series([1]), "is no table"),
        (pd.DataFrame({"a": [1, "x"]}), "column a"),
        (pd.DataFrame({"a": [Odd()]}), "column a"),
        (pd.DataFrame({"a": [1 + 2j]}), "column a"),
        (pd.DataFrame({"a": pd.arrays.SparseArray([1, 0])}), "column a"),
        (pd.DataFrame({"a": [2**70]}), "of one kind"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a' comes more than once"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "'1' comes more than once"),
        (pd.DataFrame({"": [1]}), "has no name"),
        (pd.DataFrame({"a": []}), "no rows"),
        (pl.DataFrame(), "no columns"),
    ],
)
def test_what_is_no_table_is_refused(frame, message):
    with pytest.raises(InvalidInputError, match=message):
        frame_table(frame)


@pytest.mark.parametrize(
    "column",
    [pd.interval_range(0, 2), pd.period_range("2024", periods=2, freq="D"), pd.to_timedelta([1, 2]), [[1], [2]]],
)
def test_columns_that_no_number_stands_for_are_named(column):
    frame = pd.DataFrame({"a": column, "label": [0, 1]})
    with pytest.raises(InvalidTableError, match="column 'a' is of the type"):
        TableEncoder.fit(frame_table(frame), target="label")
