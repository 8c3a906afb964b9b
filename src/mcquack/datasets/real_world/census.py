"""Census: whether a person earns more than 50,000 dollars a year."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from mcquack.datasets.files import DataFile, Source
from mcquack.datasets.real_world.pool import Pool, csv_columns, matrix, require_columns, texts
from mcquack.datasets.real_world.variant import (
    NO_REPEATS,
    Original,
    Variant,
    openml_file,
    openml_table,
    variant_entries,
)
from mcquack.datasets.registry import Entry

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult"
_TEXT = (
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native_country",
    "income",
)
FEATURES = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
)
_NUMBERS = tuple(name for name in FEATURES if name not in _TEXT)


def _stored(path: Path) -> Pool:
    return _pool(csv_columns(path, numbers=_NUMBERS, text=_TEXT, missing="?"))


def _published(train: Path, test: Path) -> Pool:
    """The two files of the repository, which have no header; the second begins with a comment."""
    contents = train.read_bytes(), test.read_bytes().partition(b"\n")[2]
    names = (*FEATURES, "income")
    tables = [csv_columns(each, numbers=_NUMBERS, text=_TEXT, names=names, missing="?") for each in contents]
    return _pool(pa.concat_tables(tables))


def _from_openml(path: Path) -> Pool:
    return _pool(openml_table(path, target="income"))


def _pool(table: pa.Table) -> Pool:
    require_columns(table, [*FEATURES, "income"])
    table = table.select([*FEATURES, "income"]).drop_null()
    return Pool(X=matrix(table, FEATURES, text=_TEXT), y=texts(table, "income"), feature_names=FEATURES)


def census_entries() -> Iterator[Entry]:
    """The one variant of the paper."""
    yield from variant_entries(
        Original(
            family="census",
            task="Income of people in the census of 1994",
            citation="Becker, Kohavi (1996), Adult, UCI Machine Learning Repository, doi:10.24432/C5XW20",
            licence="CC BY 4.0",
            homepage="https://archive.ics.uci.edu/dataset/2/adult",
            n_features=len(FEATURES),
            paper_n_features=14,
            sources=(
                Source(
                    title="Adult, all rows",
                    files=(
                        DataFile(
                            name="census_adult.csv.gz",
                            folder="real_world",
                            checksum="sha256:fbfd5774d1c107366c5fcb3f0317586726c37cc93abf13dff629000f0bc2d666",
                            n_bytes=602_916,
                        ),
                    ),
                    read=_stored,
                ),
                Source(
                    title="Adult, all rows, from UCI",
                    files=(
                        DataFile(
                            name="adult.data",
                            folder="adult",
                            checksum="sha256:5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
                            n_bytes=3_974_305,
                            url=f"{_UCI}/adult.data",
                        ),
                        DataFile(
                            name="adult.test",
                            folder="adult",
                            checksum="sha256:a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
                            n_bytes=2_003_153,
                            url=f"{_UCI}/adult.test",
                        ),
                    ),
                    read=_published,
                    homepage="https://archive.ics.uci.edu/dataset/2/adult",
                ),
                Source(title="Adult, all rows, from OpenML", files=(openml_file(1590),), read=_from_openml),
            ),
            notes=(
                (
                    "Rows with a missing value are left out (45,222 of 48,842 remain), the 8 columns of text are "
                    "coded by whole numbers in alphabetical order."
                ),
                NO_REPEATS,
            ),
        ),
        Variant(
            name="census",
            title="Census",
            class_names=("<=50K", ">50K"),
            groups=(("<=50K", "<=50K."), (">50K", ">50K.")),
        ),
    )
