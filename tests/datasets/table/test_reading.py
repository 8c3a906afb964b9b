import csv
import gzip
import io
import signal
from contextlib import suppress

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.datasets.table import TableEncoder, frame_table, read_table
from mcquack.datasets.table.reading import DELIMITERS, TableLimits, csv_table
from mcquack.errors import InvalidInputError, InvalidTableError

BOM = b"\xef\xbb\xbf"


def values(table):
    return {name: column.to_pylist() for name, column in table.columns.items()}


# Controls and surrogates are no text; blanks at the ends are trimmed, and what is empty is missing.
CHARACTERS = st.characters(exclude_categories=("Cc", "Cs")) | st.sampled_from('\n",;|\t ')
CELLS = st.text(CHARACTERS, min_size=1, max_size=8).filter(lambda text: text == text.strip())


@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=8),
    delimiter=st.sampled_from(DELIMITERS),
    line_end=st.sampled_from(["\n", "\r\n"]),
    bom=st.booleans(),
)
def test_what_the_csv_module_writes_is_read_back(rows, delimiter, line_end, bom):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=csv.QUOTE_ALL).writerows(
        [("one", "two", "three"), *rows]
    )
    table = csv_table((BOM if bom else b"") + text.getvalue().encode(), source="t.csv")
    assert list(zip(*values(table).values(), strict=True)) == rows
    assert table.rows.tolist() == list(range(2, len(rows) + 2))
    assert table.bad_rows == ()


@given(content=st.binary(max_size=200))
def test_any_bytes_give_a_table_or_the_one_error(content):
    with suppress(InvalidTableError):
        assert len(csv_table(content, source="t.csv")) > 0


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_the_delimiter_is_found(delimiter):
    content = delimiter.join(["a", "b", "c"]) + "\n" + delimiter.join(["1", '"x,;|\ty"', "3"]) + "\n"
    assert values(csv_table(content.encode(), source="t.csv")) == {"a": ["1"], "b": ["x,;|\ty"], "c": ["3"]}


def test_a_decimal_comma_does_not_pass_for_a_delimiter():
    table = csv_table(b"a;b\n1,5;2,5\n3,5;4\n", source="t.csv")
    assert values(table) == {"a": ["1,5", "3,5"], "b": ["2,5", "4"]}
    assert table.decimal_comma


@pytest.mark.parametrize("block_bytes", [64, 1 << 26])
def test_ragged_rows_are_told_by_number_and_the_others_kept(block_bytes):
    good = b"1,2\n" * 40
    content = b"a,b\n" + good + b"only one\n" + b'"line\nbreak",5\n' + b"\n" + b"1,2,3\n" + good + b",\n7,8"
    table = csv_table(content, source="t.csv", limits=TableLimits(block_bytes=block_bytes))
    assert [str(problem) for problem in table.bad_rows] == [
        "row 42: has 1 cell where the header has 2",
        "row 45: has 3 cells where the header has 2",
        "row 86: every cell is empty",
    ]
    assert table.rows.tolist() == [*range(2, 42), 43, *range(46, 86), 87]
    assert table.column("a").to_pylist()[40] == "line\nbreak"
    assert table.column("b").to_pylist()[-1] == "8"


def test_lines_before_the_header_count_as_rows():
    table = csv_table(BOM + b"\r\n\r\na,b\r\n1,2\r\n3\r\n\r\n", source="t.csv")
    assert table.rows.tolist() == [4]
    assert [problem.row for problem in table.bad_rows] == [5]


def test_old_line_ends_are_read():
    assert values(csv_table(b"a,b\r1,2\r3,4", source="t.csv")) == {"a": ["1", "3"], "b": ["2", "4"]}


def test_missing_is_a_bare_token_and_not_a_quoted_one():
    table = csv_table(b'a,b\nNA, ?\n"NA","?"\n"",x\n nan ,x\n', source="t.csv")
    assert values(table) == {"a": ["NA", None, "nan"], "b": ["?", "x", "x"]}
    assert [problem.row for problem in table.bad_rows] == [2]


def test_the_only_column_may_have_missing_values():
    table = csv_table(b"a\n1\n\nNA\n2\n", source="t.csv")
    assert values(table) == {"a": ["1", None, "2"]}
    assert table.rows.tolist() == [2, 4, 5]


def test_columns_may_have_the_name_of_a_missing_value():
    assert csv_table(b"NA,?\n1,2\n", source="t.csv").names == ("NA", "?")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (BOM + b"\r\n \n", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b", "no rows"),
        (b"a,b,a\n1,2,3\n", "'a' comes more"),
        (b"a, a\n1,2\n", "'a' comes more"),
        (b",a,\n1,2,3\n", "column 1, 3 of 3 has no name"),
        (b"a,b\n1\n1,2,3\n", "not one of 2 rows"),
        (b"a,b\n1,2\n3,\xe4\n", "0xe4 in line 3"),
        (b"a,b\n1,\x00\n", "binary"),
        (b'a,b\n1,2\n3,"4\n5,6\n7,8\n', "quote .*row 3"),
        (b'a\n1\n"2\n3\n', "quote .*row 3"),
        (b'a,"b\n1,2\n', "quotes"),
    ],
)
def test_what_is_no_table_is_refused(content, message):
    with pytest.raises(InvalidTableError, match=message):
        csv_table(content, source="t.csv")


def test_gzipped_csv(tmp_path):
    path = tmp_path / "T.CSV.GZ"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n", mtime=0))
    assert values(read_table(path)) == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.xlsx", b"", "expected a CSV"),
        ("noname", b"a,b\n1,2\n", "expected a CSV"),
        ("t.gz", gzip.compress(b"a\n1\n", mtime=0), "expected a CSV"),
        ("t.csv", b"PAR1....", "end in .parquet"),
        ("t.csv", b"PK\x03\x04...", "sheet as CSV"),
        ("t.csv", "a,b\n1,2\n".encode("utf-16"), "UTF-16"),
        ("t.csv", gzip.compress(b"a\n1\n", mtime=0), r"end in .csv.gz"),
        ("t.csv.gz", b"a,b\n1,2\n", "whole gzip"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "whole gzip"),
        ("t.parquet", b"a,b\n1,2\n", "readable Parquet"),
        ("t.parquet", b"", "readable Parquet"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidTableError, match=message):
        read_table(path)


def test_a_file_that_is_not_there_is_an_os_error(tmp_path):
    for name in ("t.csv", "t.parquet"):
        with pytest.raises(FileNotFoundError):
            read_table(tmp_path / name)


def test_parquet_keeps_its_types_and_counts_from_one(tmp_path):
    columns = {"n": [1, None], "s": ["x", "y"], "v": pa.array(["x", "y"], pa.string_view())}
    pq.write_table(pa.table({**columns, "d": pa.array(["u", "u"]).dictionary_encode()}), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert values(table) == {"n": [1, None], "s": ["x", "y"], "v": ["x", "y"], "d": ["u", "u"]}
    assert values(table.only(np.array([False, True]))) == {"n": [None], "s": ["y"], "v": ["y"], "d": ["u"]}
    assert table.rows.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (pa.table({"a": pa.array([], pa.int64())}), "no rows"),
        (pa.table({}), "no columns"),
        (pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), "more than once"),
    ],
)
def test_parquet_without_samples_or_with_double_names_is_refused(tmp_path, content, message):
    pq.write_table(content, tmp_path / "t.parquet")
    with pytest.raises(InvalidTableError, match=message):
        read_table(tmp_path / "t.parquet")


def test_an_unknown_column_is_told_with_the_known_ones():
    with pytest.raises(InvalidTableError, match=r"'b'; .*'a'\.$"):
        csv_table(b"a\n1\n", source="t.csv").column("b")
    with pytest.raises(InvalidTableError, match="header missing"):
        csv_table(b"5.1,3.5\n4.9,3.0\n", source="t.csv").column("b")


def test_a_table_does_not_change():
    table = csv_table(b"a\n1\n2\n", source="t.csv")
    with pytest.raises(TypeError):
        table.columns["a"] = None  # type: ignore[index]
    assert values(table.only(np.array([False, True]))) == {"a": ["2"]}
    assert len(table) == 2


COLUMNS = {"n": [1.0, None, 3.0], "s": ["x", None, "y"], "b": [True, False, None]}


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
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a' comes more"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "'1' comes more"),
        (pd.DataFrame({"": [1]}), "has no name"),
        (pd.DataFrame({"a": []}), "no rows"),
        (pl.DataFrame(), "no columns"),
    ],
)
def test_what_is_no_frame_is_refused(frame, message):
    with pytest.raises(InvalidInputError, match=message):
        frame_table(frame)


@pytest.mark.parametrize(
    "column",
    [pd.interval_range(0, 2), pd.period_range("2024", periods=2, freq="D"), pd.to_timedelta([1, 2]), [[1], [2]]],
)
def test_columns_that_no_number_stands_for_are_named(column):
    frame = pd.DataFrame({"a": column, "label": [0, 1]})
    with pytest.raises(InvalidTableError, match="'a' is of"):
        TableEncoder.fit(frame_table(frame), target="label")


@pytest.mark.parametrize("is_swallowed", [True, False])
def test_ctrl_c_while_rows_are_read_is_neither_lost_nor_a_fault_of_the_table(tmp_path, monkeypatch, is_swallowed):
    """Arrow swallows what its handler of rows raises, and then refuses our last line."""
    path, read = tmp_path / "table.csv", pacsv.read_csv
    path.write_text("a,b\n1,2\n")

    def interrupted(*arguments, **options):
        signal.raise_signal(signal.SIGINT)
        if is_swallowed:
            raise pa.ArrowInvalid("CSV parse error: Row #4: Expected 2 columns, got 1")
        return read(*arguments, **options)

    monkeypatch.setattr(pacsv, "read_csv", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read_table(path)
    monkeypatch.undo()
    assert len(read_table(path)) == 1
