"""Two tables of the UCI repository: Census, who earns more than 50,000 dollars, and CoverT, which trees grow where."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from mcquack.datasets.files import DataFile, Source
from mcquack.datasets.formats import csv_columns, matrix, npz_arrays, require_columns, texts, unzipped
from mcquack.datasets.real_world.drawing import NO_REPEATS, Pool, drawn_entry, openml_source, stored_source, words
from mcquack.datasets.registry import Entry
from mcquack.errors import DataFileError

_CENSUS_HOME = "https://archive.ics.uci.edu/dataset/2/adult"
_CENSUS_FILES = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult"
CENSUS_FEATURES = words(
    "age workclass fnlwgt education education_num marital_status occupation relationship race sex capital_gain "
    "capital_loss hours_per_week native_country"
)
_CENSUS_TEXT = words("workclass education marital_status occupation relationship race sex native_country income")
_CENSUS_NUMBERS = tuple(name for name in CENSUS_FEATURES if name not in _CENSUS_TEXT)


def census_entry() -> Entry:
    """Census: whether a person earns more than 50,000 dollars a year."""
    return drawn_entry(
        name="census",
        title="Census",
        family="census",
        task="Income of people in the census of 1994",
        citation="Becker, Kohavi (1996), Adult, UCI Machine Learning Repository, doi:10.24432/C5XW20",
        licence="CC BY 4.0",
        homepage=_CENSUS_HOME,
        n_features=len(CENSUS_FEATURES),
        paper_n_features=14,
        sources=(
            stored_source(
                "Adult, all rows",
                "census_adult.csv.gz",
                sha256="fbfd5774d1c107366c5fcb3f0317586726c37cc93abf13dff629000f0bc2d666",
                n_bytes=602_916,
                read=_stored_census,
            ),
            Source(
                title="Adult, all rows, from UCI",
                files=(
                    DataFile(
                        name="adult.data",
                        folder="adult",
                        checksum="sha256:5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
                        n_bytes=3_974_305,
                        url=f"{_CENSUS_FILES}/adult.data",
                    ),
                    DataFile(
                        name="adult.test",
                        folder="adult",
                        checksum="sha256:a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
                        n_bytes=2_003_153,
                        url=f"{_CENSUS_FILES}/adult.test",
                    ),
                ),
                read=_published_census,
                homepage=_CENSUS_HOME,
            ),
            openml_source(1590, title="Adult, all rows, from OpenML", read=_census_from_openml),
        ),
        notes=(
            (
                "Rows with a missing value are left out (45,222 of 48,842 remain), the 8 columns of text are "
                "coded by whole numbers in alphabetical order."
            ),
            NO_REPEATS,
        ),
        class_names=("<=50K", ">50K"),
        groups=(("<=50K", "<=50K."), (">50K", ">50K.")),
    )


def _stored_census(path: Path) -> Pool:
    return _census(_census_columns(path))


def _published_census(train: Path, test: Path) -> Pool:
    """The two files of the repository have no header; the second begins with a comment."""
    contents = train.read_bytes(), test.read_bytes().partition(b"\n")[2]
    return _census(pa.concat_tables([_census_columns(each, names=(*CENSUS_FEATURES, "income")) for each in contents]))


_census_columns = partial(csv_columns, numbers=_CENSUS_NUMBERS, text=_CENSUS_TEXT, missing="?")


def _census_from_openml(path: Path) -> Pool:
    """Names have hyphens for underscores there; a feature with categories holds numbers that stand for texts."""
    data, labels, names, categories = npz_arrays(path, "data", "target", "feature_names", "categories")
    columns = {"income": pa.array(labels.tolist(), pa.string())}
    try:
        texts_of = json.loads(str(categories))
        for name, values in zip(names.tolist(), data.T, strict=True):
            column = pa.array(values, from_pandas=True)  # NaN is absent
            if name in texts_of:
                column = pa.array(texts_of[name], pa.string()).take(column.cast(pa.int64()))
            columns[name.replace("-", "_")] = column
        table = pa.table(columns)
    except (ValueError, TypeError, LookupError, pa.ArrowException) as error:
        raise DataFileError(f"{path} is not what openml.org has under this number ({error}); remove it.") from error
    return _census(table)


def _census(table: pa.Table) -> Pool:
    require_columns(table, [*CENSUS_FEATURES, "income"])
    table = table.select([*CENSUS_FEATURES, "income"]).drop_null()
    X = matrix(table, CENSUS_FEATURES, text=_CENSUS_TEXT)
    return Pool(X=X, y=texts(table, "income"), feature_names=CENSUS_FEATURES)


_COVER_HOME = "https://archive.ics.uci.edu/dataset/31/covertype"
MEASURED = words(
    "Elevation Aspect Slope Horizontal_Distance_To_Hydrology Vertical_Distance_To_Hydrology "
    "Horizontal_Distance_To_Roadways Hillshade_9am Hillshade_Noon Hillshade_3pm Horizontal_Distance_To_Fire_Points"
)
AREAS = tuple(f"Wilderness_Area{index}" for index in range(1, 5))
SOILS = tuple(f"Soil_Type{index}" for index in range(1, 41))
_COVER_COLUMNS = (*MEASURED, *AREAS, *SOILS, "Cover_Type")
_COVER_FEATURES = (*MEASURED, *AREAS, "Soil_Type")

# The rows with which the competition trained; they come first in the whole dataset too, and have 2,160 of each type.
_N_BALANCED = 15_120


def cover_type_entry() -> Entry:
    """CoverT: which trees grow on a patch of forest."""
    return drawn_entry(
        name="covert",
        title="CoverT",
        family="covert",
        task="Trees on a patch of forest",
        citation="Blackard (1998), Covertype, UCI Machine Learning Repository, doi:10.24432/C50K5N",
        licence="CC BY 4.0",
        homepage=_COVER_HOME,
        n_features=len(_COVER_FEATURES),
        paper_n_features=15,
        sources=(
            stored_source(
                "Covertype, the 15,120 balanced rows",
                "covertype_kaggle_train.csv.gz",
                sha256="dbcb946fd8ef6704f81c356f20225d670a305a115610bc4326cd215dcef4f439",
                n_bytes=323_877,
                read=_stored_cover,
            ),
            Source(
                title="Covertype, the first 15,120 rows of all",
                files=(
                    DataFile(
                        name="covtype.data.gz",
                        folder="covertype",
                        checksum="sha256:614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
                        url="https://ndownloader.figshare.com/files/5976039",
                    ),
                ),
                read=_published_cover,
                homepage=_COVER_HOME,
            ),
        ),
        notes=(
            (
                "The paper does not name its 15 features; here they are the 10 measurements, the 4 wilderness "
                "areas and the 40 columns for types of soil folded into one number."
            ),
        ),
        class_names=("<=4", ">4"),
        groups=((1, 2, 3, 4), (5, 6, 7)),
    )


def _stored_cover(path: Path) -> Pool:
    return _cover(csv_columns(path, numbers=_COVER_COLUMNS))


def _published_cover(path: Path) -> Pool:
    """The whole dataset has no header and 581,012 rows, of which the first are read."""
    content = unzipped(path, n_lines=_N_BALANCED)
    return _cover(csv_columns(content, numbers=_COVER_COLUMNS, names=_COVER_COLUMNS))


def _cover(table: pa.Table) -> Pool:
    """The 40 columns that say yes or no to a type of soil become one with the number of the type."""
    soil = matrix(table, SOILS).argmax(axis=1) + 1
    X = np.column_stack([matrix(table, [*MEASURED, *AREAS]), soil])
    return Pool(X=X, y=matrix(table, ["Cover_Type"])[:, 0].astype(np.int64), feature_names=_COVER_FEATURES)
