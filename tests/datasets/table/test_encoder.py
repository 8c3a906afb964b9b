import json
import math
from datetime import date, datetime
from typing import get_args

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.datasets.table import Table, TableEncoder
from mcquack.datasets.table.column import MAX_CATEGORIES, Missing
from mcquack.datasets.table.reading import csv_table
from mcquack.errors import InvalidInputError, InvalidTableError, ModelFileError, Setting


def table_of(text):
    return csv_table(text.encode(), source="t.csv")


def arrow_table(**columns):
    n_rows = len(next(iter(columns.values())))
    return Table(
        source="t.parquet", columns={k: pa.array(v) for k, v in columns.items()}, rows=np.arange(1, n_rows + 1)
    )


MIXED = table_of(
    "number,flag,day,job,label\n"
    "1.5,true,1970-01-02,nurse,a\n"
    "-2e3,False,1970-01-01T12:00:00,baker,b\n"
    "+.5,TRUE,1969-12-31,nurse,a\n"
)


def test_each_kind_of_column_becomes_the_numbers_it_stands_for():
    encoder = TableEncoder.fit(MIXED, target="label")
    assert [column.kind for column in encoder.columns] == ["number", "boolean", "date", "category"]
    data = encoder.labelled(MIXED)
    assert_allclose(data.X, [[1.5, 1, 1, 1], [-2000, 0, 0.5, 0], [0.5, 1, -1, 1]])
    assert data.y.tolist() == ["a", "b", "a"]
    assert data.problems == ()


def test_parquet_and_csv_of_the_same_data_are_the_same_matrix():
    typed = arrow_table(
        number=[1.5, -2000, 0.5],
        flag=[True, False, True],
        day=[datetime(1970, 1, 2), datetime(1970, 1, 1, 12), datetime(1969, 12, 31)],
        job=["nurse", "baker", "nurse"],
        label=["a", "b", "a"],
    )
    for fitted_on in (MIXED, typed):
        encoder = TableEncoder.fit(fitted_on, target="label")
        assert_array_equal(encoder.transform(typed).X, encoder.transform(MIXED).X)


@given(order=st.permutations(MIXED.names), missing=st.sampled_from(get_args(Missing)))
def test_the_header_holds_all_and_the_order_of_columns_is_free(order, missing):
    encoder = TableEncoder.fit(MIXED, target="label", missing=missing)
    again = TableEncoder.from_header(json.loads(json.dumps(encoder.to_header(), allow_nan=False)))
    assert again == encoder
    shuffled = Table(source="s", columns={name: MIXED.column(name) for name in order}, rows=MIXED.rows)
    assert_array_equal(again.transform(shuffled).X, encoder.transform(MIXED).X)


def test_the_target_and_further_columns_are_not_needed_to_predict():
    encoder = TableEncoder.fit(MIXED, target="label", ignore=["flag"])
    assert encoder.feature_names == ("number", "day", "job")
    new = table_of("job,extra,day,number\nbaker,9,1970-01-01,1\n")
    assert encoder.transform(new).X.tolist() == [[1, 0, 0]]
    assert encoder.transform(new).ignored_columns == ("extra",)
    assert encoder.transform(MIXED).ignored_columns == ("flag",)
    with pytest.raises(InvalidTableError, match=r"2 of the 3 .*'day', 'job'"):
        encoder.transform(table_of("number,label\n1,a\n"))


def test_a_bad_row_costs_no_other_row():
    encoder = TableEncoder.fit(MIXED, target="label")
    new = table_of(
        "number,flag,day,job\n"
        "1,true,1970-01-01,baker\n"
        "one,true,1970-01-01,baker\n"
        "1,maybe,soon,nurse\n"
        "1,true,1970-01-01,pilot\n"
        "1,1,1970-01-01\n"
        "inf,0,1970-01-01,nurse\n"
        "1,0,1970-01-01,\n"
        "2,0,1970-01-01,nurse\n"
    )
    encoded = encoder.transform(new)
    assert encoded.rows.tolist() == [2, 9]
    assert encoded.X.tolist() == [[1, 1, 0, 0], [2, 0, 0, 1]]
    assert encoded.incomplete_rows == (7, 8)
    assert [str(problem) for problem in encoded.problems] == [
        "row 3: column 'number': 'one' is not a number",
        "row 4: column 'flag': 'maybe' is not true or false; column 'day': 'soon' is not a date like 2024-12-31",
        "row 5: column 'job': 'pilot' is none of the 2 categories seen in training",
        "row 6: has 3 cells where the header has 4",
        "row 7: column 'number' is infinite",
        "row 8: column 'job' is missing",
    ]


def test_unseen_categories_by_option():
    encoder = TableEncoder.fit(MIXED, target="label", ignore=["number", "flag", "day"])
    new = table_of("job\nbaker\npilot\n")
    assert encoder.transform(new).rows.tolist() == [2]
    filled = encoder.transform(new, unknown="most_frequent")
    assert filled.X.tolist() == [[0], [1]]
    assert filled.n_imputed == 1
    with pytest.raises(InvalidTableError, match=r"'pilot'.*1 row \(3\)"):
        encoder.transform(new, unknown="error")
    with pytest.raises(InvalidInputError, match="unknown must be"):
        encoder.transform(new, unknown="guess")  # type: ignore[arg-type]


HOLES = table_of(
    "x,flag,job,label\n1,true,baker,a\n,true,nurse,b\n3,,nurse,a\n1,false,?,b\ninf,true,nurse,a\n8,true,nurse,\n"
)


def test_missing_values_are_told_by_column_and_row():
    with pytest.raises(InvalidTableError) as caught:
        TableEncoder.fit(HOLES, target="label")
    message = str(caught.value)
    assert "column 'x' is missing in 1 row (3) and infinite in 1 row (6)" in message
    assert "column 'flag' is missing in 1 row (4)" in message
    assert "column 'job' is missing in 1 row (5)" in message
    assert caught.value.settings == (Setting("missing", "mean"), Setting("missing", "drop"))


@pytest.mark.parametrize(("missing", "x"), [("mean", 5 / 3), ("median", 1), ("most_frequent", 1)])
def test_missing_values_are_filled(missing, x):
    encoder = TableEncoder.fit(HOLES, target="label", missing=missing)
    data = encoder.labelled(HOLES)
    assert_allclose(data.X, [[1, 1, 0], [x, 1, 1], [3, 1, 1], [1, 0, 1], [x, 1, 1]])
    assert data.n_imputed == 4
    assert [str(problem) for problem in data.problems] == ["row 7: the target 'label' is missing"]
    # The same values in a table of another time.
    assert_allclose(encoder.transform(table_of("x,flag,job\n-inf,?,?\n,,baker\n")).X, [[x, 1, 1], [x, 1, 0]])


def test_rows_with_missing_values_are_dropped_by_option():
    encoder = TableEncoder.fit(HOLES, target="label", missing="drop")
    data = encoder.labelled(HOLES)
    assert data.rows.tolist() == [2]
    assert [problem.row for problem in data.problems] == [3, 4, 5, 6, 7]
    assert data.incomplete_rows == (3, 4, 5, 6)
    # "nurse" stood in no row that was left, so the model never saw it.
    assert encoder.columns[-1].categories == ("baker",)


def test_held_out_rows_teach_no_values():
    encoder = TableEncoder.fit(
        table_of("x,job,label\n1,u,a\n100,v,b\n100,v,a\n"), target="label", missing="mean", held_out=[3, 4]
    )
    assert encoder.columns[0].fill == 1
    assert encoder.columns[1].fill == 0
    assert encoder.columns[1].categories == ("u", "v")


def test_rows_without_a_label_are_told_or_refused():
    table = table_of("x,label\n1,a\n2,\n3,NA\n4,b\n")
    encoder = TableEncoder.fit(table, target="label")
    data = encoder.labelled(table)
    assert (data.rows.tolist(), data.y.tolist()) == ([2, 5], ["a", "b"])
    assert [problem.row for problem in data.problems] == [3, 4]
    with pytest.raises(InvalidTableError, match=r"missing in 2 rows \(3, 4\)"):
        encoder.labelled(table, missing_target="error")
    with pytest.raises(InvalidTableError, match="no labels"):
        TableEncoder.fit(table_of("x,label\n1,\n"), target="label")


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        (["1", "2", "10"], [1, 2, 10]),
        (["-1", "0", "1"], [-1, 0, 1]),
        (["01", "1", "2"], ["01", "1", "2"]),
        (["1.0", "2.0", "3.0"], ["1.0", "2.0", "3.0"]),
        (["1", "2", "x"], ["1", "2", "x"]),
        (["True", "False", "True"], ["True", "False", "True"]),
        (["9" * 30, "1", "2"], ["9" * 30, "1", "2"]),
        (["Ä", "猫", "a b"], ["Ä", "猫", "a b"]),
        ([True, False, True], [True, False, True]),
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
        ([2**63, 2**64 - 1, 1], [2**63, 2**64 - 1, 1]),
        ([date(2024, 1, 1), date(2024, 1, 2), date(2024, 1, 1)], None),
    ],
)
def test_labels_print_as_they_came(column, labels):
    column = pa.array(column, pa.uint64() if column[0] == 2**63 else None)
    data = TableEncoder.fit(t := arrow_table(x=[1, 2, 3], label=column), target="label").labelled(t)
    if labels is not None:
        assert data.y.tolist() == labels
        assert [type(label) for label in data.y.tolist()] == [type(label) for label in labels]
    shown = [str(value) for value in column.to_pylist()]
    assert all(str(label).startswith(text) for label, text in zip(data.y, shown, strict=True))


def test_fractions_are_no_labels():
    with pytest.raises(InvalidTableError, match="fractions"):
        TableEncoder.fit(arrow_table(x=[1, 2], label=[0.5, 1.0]), target="label")


def test_a_number_among_texts_and_a_text_among_numbers():
    codes = table_of("x,label\n" + "".join(f"{text},a\n" for text in ["1", "2", "A", "B"]))
    assert TableEncoder.fit(codes, target="label").columns[0].categories == ("1", "2", "A", "B")
    table = table_of("x,label\n" + "".join(f"{number},a\n" for number in range(20)) + "typo,a\n")
    with pytest.raises(InvalidTableError, match=r"'typo' in 1 row \(22\)"):
        TableEncoder.fit(table, target="label")
    assert TableEncoder.fit(table, target="label", categorical=["x"]).columns[0].categories[-1] == "typo"
    data = TableEncoder.fit(table, target="label", numeric=["x"]).labelled(table)
    assert data.X.ravel().tolist() == list(range(20))
    assert [problem.row for problem in data.problems] == [22]


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ("+1", 1), ("-.5", -0.5), ("1.", 1), ("1E+05", 1e5), ("9" * 30, 1e30), ("1e-400", 0), ("007", 7)],
)
@pytest.mark.parametrize("beside", ["2", "odd"])
def test_numbers_are_read_alike_beside_clean_and_odd_cells(text, value, beside):
    encoder = TableEncoder.fit(table_of("x,label\n1,a\n"), target="label")
    encoded = encoder.transform(table_of(f"x,z\n{text},0\n{beside},0\n"))
    assert encoded.X[0, 0] == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("text", ["1_0", "0x10", "1,5", "1 2", "1e", "--1", "١", "1d5", "e5", "."])
def test_what_only_resembles_a_number_is_none(text):
    encoder = TableEncoder.fit(table_of("x,label\n1,a\n"), target="label")
    assert not len(encoder.transform(table_of(f'x,z\n"{text}",0\n')).X)


def test_numbers_beyond_float_are_infinite():
    encoder = TableEncoder.fit(table_of("x,label\n1,a\n"), target="label")
    encoded = encoder.transform(table_of("x,z\n1e400,0\nodd,0\n-inf,0\n1,0\n"))
    assert [problem.reason for problem in encoded.problems][::2] == ["column 'x' is infinite"] * 2


def test_decimal_commas_are_read_where_the_delimiter_is_a_semicolon():
    table = table_of("x;y;label\n1,5;1;a,b\n-2;,5;c\n")
    data = TableEncoder.fit(table, target="label").labelled(table)
    assert data.X.tolist() == [[1.5, 1], [-2, 0.5]]
    assert data.y.tolist() == ["a,b", "c"]


def test_means_do_not_overflow():
    table = arrow_table(x=[1.7e308, 1.7e308, 1.7e308], label=[1, 2, 3])
    for missing in ("mean", "median"):
        fill = TableEncoder.fit(table, target="label", missing=missing).columns[0].fill
        assert fill == pytest.approx(1.7e308, rel=1e-12)


def test_a_constant_column_is_fine():
    table = table_of("x,job,label\n1,u,a\n1,u,b\n")
    assert TableEncoder.fit(table, target="label").labelled(table).X.tolist() == [[1, 0], [1, 0]]


def test_categories_of_numbers_are_the_same_whether_missing_values_made_them_floats():
    whole = arrow_table(x=[1, 2, 10], label=[1, 2, 3])
    encoder = TableEncoder.fit(whole, target="label", categorical=["x"])
    assert encoder.columns[0].categories == ("1", "10", "2")
    assert encoder.transform(arrow_table(x=[10.0, 2.0, None, 2.5])).X.tolist() == [[1], [2]]
    assert encoder.transform(table_of("x,z\n10,0\n2,0\n")).X.tolist() == [[1], [2]]


def test_arrow_types_of_every_width():
    arrays = {
        "int8": pa.array([1, 2], pa.int8()),
        "uint64": pa.array([1, 2**64 - 1], pa.uint64()),
        "half": pa.array(np.array([1, 2], np.float16)),
        "decimal": pa.array([1, 2], pa.decimal128(5, 2)),
        "nanoseconds": pa.array([0, 86_400_000_000_001], pa.timestamp("ns", tz="Europe/Berlin")),
        "days": pa.array([1, 2], pa.date32()),
        "large": pa.array(["u", "v"], pa.large_string()),
        "dictionary": pa.array(["v", "u"]).dictionary_encode(),
    }
    table = Table(source="t.parquet", columns={**arrays, "label": pa.array([0, 1])}, rows=np.array([1, 2]))
    X = TableEncoder.fit(table, target="label").transform(table).X
    assert X.tolist() == [[1, 1, 1, 1, 0, 1, 0, 1], [2, 2.0**64, 2, 2, 1, 2, 1, 0]]


def test_a_column_of_another_type_than_in_training_costs_its_rows_only():
    encoder = TableEncoder.fit(arrow_table(x=[1.0, 2.0], label=[1, 2]), target="label")
    encoded = encoder.transform(arrow_table(x=[datetime(2024, 1, 1)]))
    assert "is not a number" in encoded.problems[0].reason
    dated = TableEncoder.fit(arrow_table(x=[datetime(2024, 1, 1)], label=[1]), target="label")
    assert "is not a date" in dated.transform(arrow_table(x=[1.5])).problems[0].reason


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ("x,label\n1,a\n", {"target": "y"}, "no column 'y'"),
        ("label\na\n", {"target": "label"}, "no column to"),
        ("x,label\n1,a\n", {"target": "label", "ignore": ["x"]}, "no column to"),
        ("x,label\n1,a\n", {"target": "label", "ignore": ["z"]}, "no column 'z'"),
        ("x,z,label\n,1,a\n,2,b\n", {"target": "label", "missing": "mean"}, "'x' is missing"),
        ("x,z,label\ninf,1,a\n,2,b\n", {"target": "label", "missing": "mean"}, "'x' has no"),
        ("x,z,label\n1,,a\n,2,b\n", {"target": "label", "missing": "drop"}, "none is left"),
    ],
)
def test_tables_that_cannot_be_learned_from_are_refused(table, options, message):
    with pytest.raises(InvalidTableError, match=message):
        TableEncoder.fit(table_of(table), **options)


@pytest.mark.parametrize(
    "options",
    [
        {"missing": "guess"},
        {"ignore": ["label"]},
        {"categorical": ["label"]},
        {"categorical": ["x"], "numeric": ["x"]},
    ],
)
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(InvalidInputError):
        TableEncoder.fit(table_of("x,label\n1,a\n"), target="label", **options)


def test_nested_columns_and_endless_categories_are_refused():
    with pytest.raises(InvalidTableError, match="type list"):
        TableEncoder.fit(arrow_table(x=[[1], [2]], label=[1, 2]), target="label")
    names = [f"n{i}" for i in range(MAX_CATEGORIES + 1)]
    with pytest.raises(InvalidTableError, match="Ignore this column"):
        TableEncoder.fit(arrow_table(x=names, label=[0] * len(names)), target="label")
    with pytest.raises(InvalidTableError, match="ignore the longest"):
        TableEncoder.fit(arrow_table(x=["u" * 600_000, "v" * 600_000], label=[0, 1]), target="label")


HEADER = TableEncoder.fit(MIXED, target="label", missing="mean").to_header()


def _mutations():
    """One change each, everywhere in the header."""
    odd: list[object] = [
        None,
        True,
        -1,
        1.5,
        math.nan,
        math.inf,
        10**400,
        "",
        "x",
        [],
        {},
        [[]],
        ["b", "a"],
        ["a", "a"],
        [1],
    ]
    for key in HEADER:
        yield {name: value for name, value in HEADER.items() if name != key}
        for value in odd:
            yield {**HEADER, key: value}
    yield {**HEADER, "more": 1}
    yield {**HEADER, "target": "number"}
    yield {**HEADER, "missing": "error"}
    yield {**HEADER, "columns": HEADER["columns"] * 2}
    for index, column in enumerate(HEADER["columns"]):
        for key in column:
            for value in odd:
                columns = [dict(entry) for entry in HEADER["columns"]]
                columns[index][key] = value
                yield {**HEADER, "columns": columns}
    yield from odd


def test_a_broken_header_gives_the_one_error_or_a_sound_encoder():
    n_refused = 0
    for header in _mutations():
        try:
            encoder = TableEncoder.from_header(header)
        except ModelFileError:
            n_refused += 1
        else:  # another name or fill value is as good as the first
            assert TableEncoder.from_header(encoder.to_header()) == encoder
            assert np.isfinite(
                encoder.transform(arrow_table(**{name: [None] for name in encoder.feature_names})).X
            ).all()
    assert n_refused > 200
