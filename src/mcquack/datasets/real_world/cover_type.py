"""CoverT: which trees grow on a patch of forest."""

import gzip
import itertools
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from mcquack.datasets.files import DataFile, Source
from mcquack.datasets.real_world.pool import Pool, csv_columns, matrix
from mcquack.datasets.real_world.variant import Original, Variant, variant_entries
from mcquack.datasets.registry import Entry
from mcquack.errors import DataFileError

MEASURED = (
    "Elevation",
    "Aspect",
    "Slope",
    "Horizontal_Distance_To_Hydrology",
    "Vertical_Distance_To_Hydrology",
    "Horizontal_Distance_To_Roadways",
    "Hillshade_9am",
    "Hillshade_Noon",
    "Hillshade_3pm",
    "Horizontal_Distance_To_Fire_Points",
)
AREAS = tuple(f"Wilderness_Area{index}" for index in range(1, 5))
SOILS = tuple(f"Soil_Type{index}" for index in range(1, 41))
FEATURES = (*MEASURED, *AREAS, "Soil_Type")
_COLUMNS = (*MEASURED, *AREAS, *SOILS, "Cover_Type")

# The rows with which the competition trained; they come first in the whole dataset too, and have 2,160 of each type.
_N_BALANCED = 15_120


def _stored(path: Path) -> Pool:
    return _pool(csv_columns(path, numbers=_COLUMNS))


def _published(path: Path) -> Pool:
    """The whole dataset has no header and 581,012 rows, of which the first are read."""
    try:
        with gzip.open(path, "rb") as lines:
            content = b"".join(itertools.islice(lines, _N_BALANCED))
    except (OSError, EOFError, zlib.error) as error:
        raise DataFileError(
            f"{path} is not a whole gzip file ({error}); remove it, so that it is fetched anew."
        ) from error
    return _pool(csv_columns(content, numbers=_COLUMNS, names=_COLUMNS))


def _pool(table: pa.Table) -> Pool:
    """The 40 columns that say yes or no to a type of soil become one with the number of the type."""
    soil = matrix(table, SOILS).argmax(axis=1) + 1
    X = np.column_stack([matrix(table, [*MEASURED, *AREAS]), soil])
    return Pool(X=X, y=matrix(table, ["Cover_Type"])[:, 0].astype(np.int64), feature_names=FEATURES)


def cover_type_entries() -> Iterator[Entry]:
    """The one variant of the paper."""
    yield from variant_entries(
        Original(
            family="covert",
            task="Trees on a patch of forest",
            citation="Blackard (1998), Covertype, UCI Machine Learning Repository, doi:10.24432/C50K5N",
            licence="CC BY 4.0",
            homepage="https://archive.ics.uci.edu/dataset/31/covertype",
            n_features=len(FEATURES),
            paper_n_features=15,
            sources=(
                Source(
                    title="Covertype, the 15,120 balanced rows",
                    files=(
                        DataFile(
                            name="covertype_kaggle_train.csv.gz",
                            folder="real_world",
                            checksum="sha256:dbcb946fd8ef6704f81c356f20225d670a305a115610bc4326cd215dcef4f439",
                            n_bytes=323_877,
                        ),
                    ),
                    read=_stored,
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
                    read=_published,
                    homepage="https://archive.ics.uci.edu/dataset/31/covertype",
                ),
            ),
            notes=(
                (
                    "The paper does not name its 15 features; here they are the 10 measurements, the 4 wilderness "
                    "areas and the 40 columns for types of soil folded into one number."
                ),
            ),
        ),
        Variant(name="covert", title="CoverT", class_names=("<=4", ">4"), groups=((1, 2, 3, 4), (5, 6, 7))),
    )
