"""Numbers and dates in other notations are read as asked for, and what looks like one is told."""

import warnings

import numpy as np
import pyarrow as pa
import pytest

from mcquack.datasets import load_csv
from mcquack.datasets.table import Notation, TableEncoder
from mcquack.datasets.table.reading import csv_table
from mcquack.datasets.table.value import matching_options
from mcquack.errors import InvalidInputError, InvalidTableError, ModelFileError, NotationWarning, Setting

AMOUNTS = ("38.249,59", "1.000", "7,5", "€ 12", "-3,25 €")
VALUES = [38249.59, 1000.0, 7.5, 12.0, -3.25]


def table(cells, *, name="x", delimiter="\t"):
    lines = [delimiter.join([name, "label"]), *(delimiter.join([cell, "ab"[i % 2]]) for i, cell in enumerate(cells))]
    return csv_table("\n".join(lines).encode(), source="t.csv")


def test_numbers_are_read_in_their_notation():
    german = Notation(decimal=",", thousands=".")
    assert german.numbers(pa.array(AMOUNTS)).to_pylist() == VALUES
    english = Notation(thousands=",")
    assert english.numbers(pa.array(["$38,249.59", "-$5", "1e3", "1,23", "12,3456"])).to_pylist() == [
        38249.59,
        -5.0,
        1000.0,
        None,
        None,
    ]
    assert Notation(thousands=" ").numbers(pa.array(["38 249", "38\u202f249\u00a0"])).to_pylist()[0] == 38249.0


@pytest.mark.parametrize("value", [1234567.25, 0.5, -12.0, 999.0, -1000.0])
def test_every_notation_reads_what_it_writes(value):
    for decimal, thousands in ((".", ","), (",", "."), (",", " "), (".", "'"), (".", "_")):
        text = f"{value:,}".replace(",", "T").replace(".", "D").replace("T", thousands).replace("D", decimal)
        read = Notation(decimal=decimal, thousands=thousands).numbers(pa.array([text]))
        assert read.to_pylist() == [value], text


@pytest.mark.parametrize(
    "wrong",
    [
        {"decimal": ";"},
        {"thousands": "x"},
        {"decimal": ",", "thousands": ","},
        {"thousands": "."},
        {"date_format": "day"},
        {"date_format": 3},
    ],
)
def test_what_is_no_notation_is_refused(wrong):
    with pytest.raises(InvalidInputError, match="must be"):
        Notation(**wrong)


COMMA, POINTS, COMMAS = Setting("decimal", ","), Setting("thousands", "."), Setting("thousands", ",")
BY_DAY, BY_MONTH = Setting("date_format", "%d/%m/%Y"), Setting("date_format", "%m/%d/%Y")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["38.249,59", "7,5"], ("numbers, with ", COMMA, " and ", POINTS)),
        (["$38,249.59"], ("numbers, with ", COMMAS)),
        (["38,249"], ("numbers, with ", COMMA, " or ", COMMAS)),
        (["31.12.2020", "01.02.2021"], ("dates, with ", Setting("date_format", "%d.%m.%Y"))),
        (["12/31/2020"], ("dates, with ", BY_MONTH)),
        (["01/02/2020"], ("dates, with ", BY_DAY, " or ", BY_MONTH)),
    ],
)
def test_what_looks_like_numbers_or_dates_is_told_with_its_options(texts, expected):
    found = matching_options(texts)
    assert found[: len(expected)] == expected
    with pytest.warns(NotationWarning, match="'x'") as caught:
        TableEncoder.fit(table(texts * 2), target="label")
    warning = caught[0].message
    assert isinstance(warning, NotationWarning)
    named = tuple(part for part in found if isinstance(part, Setting))
    assert warning.settings == (*named, Setting("categorical", ["x"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TableEncoder.fit(table(texts * 2), target="label", categorical=["x"])


@pytest.mark.parametrize("texts", [["red", "7,5"], ["1.2.3"], ["A1", "B2"], ["12:30"], [""], ["31.13.2020"]])
def test_other_texts_are_left_alone(texts):
    assert matching_options(texts) == ()


def test_dates_become_days_by_their_format():
    read = table(["31.12.2020", "01.01.2021", "2021-01-02"])
    encoder = TableEncoder.fit(read, target="label", notation=Notation(date_format="%d.%m.%Y"))
    assert encoder.columns[0].kind == "date"
    assert np.diff(encoder.transform(read).X[:, 0]).tolist() == [1, 1]


def test_a_cell_in_another_notation_is_told_as_that():
    encoder = TableEncoder.fit(table(["1.5", "2"]), target="label")
    (problem,) = encoder.transform(table(["1.5", "38.249,59"])).problems
    assert "'38.249,59' is not a number (with decimal=',' and thousands='.' it would be)" in str(problem)
    with pytest.raises(InvalidTableError, match="numbers, with thousands=','"):
        TableEncoder.fit(table([*map(str, range(30)), "1,000.5"]), target="label")


def test_the_notation_is_stored_with_the_model():
    read = table(AMOUNTS)
    encoder = TableEncoder.fit(read, target="label", notation=Notation(decimal=",", thousands="."))
    again = TableEncoder.from_header(encoder.to_header())
    assert again == encoder
    assert again.transform(read).X[:, 0].tolist() == VALUES
    with pytest.raises(ModelFileError, match="broken"):
        TableEncoder.from_header({**encoder.to_header(), "notation": {"decimal": "x"}})


# One feature for each category.


@pytest.fixture
def colours(tmp_path):
    path = tmp_path / "colours.csv"
    path.write_text("x,colour,label\n1,red,a\n2,blue,b\n3,green,a\n4,red,b\n")
    return path


def test_categories_become_features_of_their_own(colours):
    dataset = load_csv(colours, target="label", one_hot=True)
    assert dataset.feature_names == ("x", "colour=blue", "colour=green", "colour=red")
    assert dataset.train.X.tolist() == [[1, 0, 0, 1], [2, 1, 0, 0], [3, 0, 1, 0], [4, 0, 0, 1]]
    assert load_csv(colours, target="label", one_hot=["colour"]).feature_names == dataset.feature_names
    assert load_csv(colours, target="label").feature_names == ("x", "colour")
    with pytest.raises(InvalidInputError, match=r"'x' .*categories"):
        load_csv(colours, target="label", one_hot=["x"])


def encoder_of(dataset):
    """The encoder of a dataset that was read from a table."""
    assert dataset.table is not None
    return dataset.table.encoder


def test_features_of_categories_are_in_the_header(colours):
    encoder = encoder_of(load_csv(colours, target="label", one_hot=True))
    again = TableEncoder.from_header(encoder.to_header())
    assert again == encoder
    unseen = csv_table(b"colour,x\nblack,1\nblue,2\n", source="new.csv")
    found = again.transform(unseen)
    assert (found.X.tolist(), [problem.row for problem in found.problems]) == ([[2, 1, 0, 0]], [2])
    assert again.transform(unseen, unknown="most_frequent").X.tolist() == [[1, 0, 0, 1], [2, 1, 0, 0]]


def test_what_the_first_version_can_say_is_written_so(colours):
    header = encoder_of(load_csv(colours, target="label")).to_header()
    assert header["version"] == 1
    assert set(header["columns"][0]) == {"name", "kind", "categories", "fill"}
    assert TableEncoder.from_header(header).to_header() == header
