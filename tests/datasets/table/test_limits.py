import gzip
import os
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mcquack import datasets
from mcquack.bench.store import Store
from mcquack.bench.suite import read_suite
from mcquack.datasets.own import table_dataset
from mcquack.datasets.table import read_table
from mcquack.datasets.table.column import column_cells
from mcquack.datasets.table.reading import TableLimits, csv_table
from mcquack.datasets.table.value import unique_names
from mcquack.errors import InvalidInputError, InvalidTableError, StoreError
from mcquack.studies.trainability.design import read_design

# Large files that are small.


def test_a_packed_table_is_not_unpacked_beyond_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,k\n" + b"1,2\n3,4\n" * 250_000))
    taken = []
    whole_read = gzip.GzipFile.read

    def counted_read(stream, size=-1):
        chunk = whole_read(stream, size)
        taken.append(len(chunk))
        return chunk

    monkeypatch.setattr(gzip.GzipFile, "read", counted_read)
    with pytest.raises(InvalidTableError, match=r"t\.csv\.gz .* 100,000 bytes .*unpacked; .*MCQUACK"):
        read_table(path, limits=TableLimits(n_bytes=100_000))
    assert sum(taken) < 1_500_000  # of 2 million
    monkeypatch.setenv("MCQUACK_TABLE_BYTES", "100_000")
    with pytest.raises(InvalidTableError, match="holds more than 100,000 bytes"):
        datasets.load_csv(path, target="k")
    with pytest.raises(InvalidTableError, match="more than 1,000 cells in all"):
        datasets.load_csv(path, target="k", most_bytes=10**8, most_cells=1_000)
    assert len(datasets.load_csv(path, target="k", most_bytes=10**8).train.y) == 500_000


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("one text, repeated", {"a": ["x" * 10_000] * 1_000, "k": [0, 1] * 500}),
        ("one number, repeated", {"a": np.zeros(1_000_000), "k": np.zeros(1_000_000, np.int8)}),
        ("a list, repeated", {"a": [[0] * 10_000] * 100, "k": [0, 1] * 50}),
        ("wide bytes, repeated", {"a": pa.array([b"\0" * 10_000] * 1_000, pa.binary(10_000)), "k": [0, 1] * 500}),
    ],
)
def test_a_parquet_file_is_measured_by_what_becomes_of_it(tmp_path, name, columns):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path)
    assert path.stat().st_size < 100_000, name
    before = pa.total_allocated_bytes()
    with pytest.raises(InvalidTableError, match=r"t\.parquet (holds more than|has .* more than)"):
        read_table(path, limits=TableLimits(n_bytes=1_000_000, n_cells=1_000_000))
    assert pa.total_allocated_bytes() - before < 1_000_000
    assert read_table(path, limits=TableLimits(n_bytes=10**8, n_cells=10**7)).names == ("a", "k")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_dictionary": False},
        {"compression": "zstd", "row_group_size": 7},
        {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}},
        {"data_page_version": "2.0", "data_page_size": 100},
    ],
)
def test_a_parquet_file_is_read_as_it_was_written_however_it_is_packed(tmp_path, options):
    n = np.arange(300)
    texts = [None if i % 11 == 0 else f"text {i % 5}" for i in n]
    whole = pa.table(
        {
            "number": n * 0.5,
            "text": texts,
            "kind": pa.array(texts).dictionary_encode(),
            "flag": n % 2 == 0,
            "day": pa.array(n.astype("datetime64[D]")),
            "large": pa.array(texts, pa.large_string()),
        }
    )
    pq.write_table(whole, tmp_path / "t.parquet", **options)
    found = read_table(tmp_path / "t.parquet")
    assert [str(column.type) for column in found.columns.values()] == [str(field.type) for field in whole.schema]
    assert {name: column.to_pylist() for name, column in found.columns.items()} == whole.to_pydict()


def test_a_header_and_bad_rows_have_limits_too():
    with pytest.raises(InvalidTableError, match="has 301 columns, more than 100"):
        csv_table(b"," * 300 + b"\n", source="t.csv", limits=TableLimits(n_cells=10_000))
    few = TableLimits(n_bad_rows=5)
    with pytest.raises(InvalidTableError, match=r"5 rows .*2 columns"):
        csv_table(b"a,b\n1,2\n" + b"1\n" * 6, source="t.csv", limits=few)
    with pytest.raises(InvalidTableError, match="6 rows"):
        csv_table(b"a,b\n1,2\n" + b",\n" * 6, source="t.csv", limits=few)


@pytest.mark.parametrize("said", ["many", "-1", "0", "1e9", "9" * 400])
def test_a_limit_that_is_no_number_is_refused(monkeypatch, said):
    monkeypatch.setenv("MCQUACK_TABLE_CELLS", said)
    with pytest.raises(InvalidInputError, match=r"MCQUACK_TABLE_CELLS .*at least 1"):
        TableLimits.of()


# What is no file.


@pytest.fixture(params=["folder", "pipe", "device"])
def odd(request, tmp_path):
    """A path with any suffix, at which something else than a plain file is."""

    def make(suffix):
        path = tmp_path / f"odd{suffix}"
        if request.param == "folder":
            path.mkdir()
        elif request.param == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero")
        return path

    return make


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="devices are files only on Unix")
def test_folders_pipes_and_devices_are_refused_and_never_waited_for(odd):
    for suffix in (".csv", ".csv.gz", ".parquet", ""):
        with pytest.raises(InvalidTableError, match=r"(folder|pipe|device), .* a table"):
            read_table(odd(suffix))
    path = odd(".toml")
    for read in (read_suite, read_design):
        with pytest.raises(InvalidInputError, match=r"(folder|pipe|device), .*TOML"):
            read(path)
    for options in ({}, {"write": True}, {"create": True}):
        with pytest.raises(StoreError, match=r"(folder|pipe|device), .* a store"):
            Store.open(path, **options)


# Broken content, named.


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1", b"PAR1\x15\x04\x00\x00\x10\x00\x00\x00PAR1"]
)
def test_a_broken_parquet_file_is_named(tmp_path, content):
    path = tmp_path / "t.parquet"
    path.write_bytes(content)
    with pytest.raises(InvalidTableError, match=r"t\.parquet .*Parquet file \(.+\)"):
        read_table(path)


def test_a_file_that_is_not_there_is_told_by_the_system(tmp_path):
    for suffix in (".csv", ".csv.gz", ".parquet"):
        with pytest.raises(FileNotFoundError, match=re.escape(f"missing{suffix}")):
            read_table(tmp_path / f"missing{suffix}")


def test_numbers_of_hundreds_of_digits_are_infinite_and_refused():
    table = csv_table(f"a,k\n{'9' * 400},x\n1,y\n".encode(), source="t.csv")
    with pytest.raises(InvalidTableError, match="'a' is infinite"):
        table_dataset(table, target="k")


# Growth, counted in calls: their number says what time depends on, on any machine.


def calls_to_encode(n_columns, cell="{}"):
    names = [f"c{number}" for number in range(n_columns)]
    rows = [
        ",".join([*(cell.format((number * row) % 7) for number in range(n_columns)), str(row % 2)]) for row in range(6)
    ]
    content = "\n".join([",".join([*names, "k"]), *rows]).encode()
    n_calls = 0

    def count(frame, event, argument):
        nonlocal n_calls
        n_calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        table_dataset(csv_table(content, source="t.csv"), target="k")
    finally:
        sys.setprofile(None)
    return n_calls


@pytest.mark.parametrize("cell", ["{}", "kind {}"])
def test_encoding_takes_as_many_calls_for_each_column_however_many_there_are(cell):
    calls_to_encode(10, cell)  # what is imported first is not counted
    small, large = calls_to_encode(100, cell), calls_to_encode(800, cell)
    assert large < 8.5 * small


class Counted(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    n_compared = 0

    def __eq__(self, other):
        Counted.n_compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_names_that_come_twice_are_found_without_comparing_all_with_all():
    names = [Counted(f"c{number % 1_000}") for number in range(2_000)]
    Counted.n_compared = 0
    with pytest.raises(InvalidTableError, match="more than once"):
        unique_names(names, source="t.csv")
    assert Counted.n_compared < 10 * len(names)


def test_many_columns_of_few_rows_are_read_as_each_by_itself_is():
    cells = ["1", "-2.5e3", "+.5", "", "NA", "red", "true", "2024-01-02", "9" * 400, "nan", "inf", " 7 ", "1,5"]
    rows = np.random.default_rng(3).choice(cells, (31, 41))
    rows[:, 40], rows[30, :40] = "x", "3"

    def table(rows):
        header = ";".join(f"c{number}" for number in range(rows.shape[1]))
        return csv_table("\n".join([header, *map(";".join, rows)]).encode(), source="t.csv")

    together, alone = table(rows), table(np.tile(rows, (40, 1)))  # more rows are read column by column
    for number, name in enumerate(together.names):
        (by_itself, _) = table(rows[:, [number, 40]]).columns.values()
        assert together.column(name).to_pylist() == by_itself.to_pylist()
        found, expected = (column_cells(each, name, kind="number") for each in (together, alone))
        np.testing.assert_array_equal(found.values, expected.values[:31])
        np.testing.assert_array_equal(found.unreadable, expected.unreadable[:31])
