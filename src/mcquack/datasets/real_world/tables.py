"""The real-world tables as pools of samples: the stored samples and the files that the authors publish alike.

Census says who earns more than 50,000 dollars a year, CoverT which trees grow on a patch of forest, DoH whether
encrypted name look-ups hide a tunnel, KDD what attacks a network, and URL whether a web address is harmless.
"""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from mcquack.datasets.formats import csv_columns, matrix, npz_arrays, require_columns, texts, unzipped, zip_member
from mcquack.datasets.real_world.drawing import Pool
from mcquack.errors import DataFileError


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Census.

CENSUS_FEATURES = _words(
    "age workclass fnlwgt education education_num marital_status occupation relationship race sex capital_gain "
    "capital_loss hours_per_week native_country"
)
_CENSUS_TEXT = _words("workclass education marital_status occupation relationship race sex native_country income")
_CENSUS_NUMBERS = tuple(name for name in CENSUS_FEATURES if name not in _CENSUS_TEXT)
_census_columns = partial(csv_columns, numbers=_CENSUS_NUMBERS, text=_CENSUS_TEXT, missing="?")


def census(path: Path) -> Pool:
    """The stored table."""
    return _people(_census_columns(path))


def census_of_uci(train: Path, test: Path) -> Pool:
    """The two files of the repository have no header; the second begins with a comment."""
    contents = train.read_bytes(), test.read_bytes().partition(b"\n")[2]
    return _people(pa.concat_tables([_census_columns(each, names=(*CENSUS_FEATURES, "income")) for each in contents]))


def census_of_openml(path: Path) -> Pool:
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
    return _people(table)


def _people(table: pa.Table) -> Pool:
    require_columns(table, [*CENSUS_FEATURES, "income"])
    table = table.select([*CENSUS_FEATURES, "income"]).drop_null()
    X = matrix(table, CENSUS_FEATURES, text=_CENSUS_TEXT)
    return Pool(X=X, y=texts(table, "income"), feature_names=CENSUS_FEATURES)


# CoverT.

MEASURED = _words(
    "Elevation Aspect Slope Horizontal_Distance_To_Hydrology Vertical_Distance_To_Hydrology "
    "Horizontal_Distance_To_Roadways Hillshade_9am Hillshade_Noon Hillshade_3pm Horizontal_Distance_To_Fire_Points"
)
AREAS = tuple(f"Wilderness_Area{index}" for index in range(1, 5))
SOILS = tuple(f"Soil_Type{index}" for index in range(1, 41))
_COVER_COLUMNS = (*MEASURED, *AREAS, *SOILS, "Cover_Type")
# The rows with which the competition trained; they come first in the whole dataset too, and have 2,160 of each type.
_N_BALANCED = 15_120


def cover(content: Path | bytes, *, names: tuple[str, ...] | None = None) -> Pool:
    """The 40 columns that say yes or no to a type of soil become one with the number of the type."""
    table = csv_columns(content, numbers=_COVER_COLUMNS, names=names)
    soil = matrix(table, SOILS).argmax(axis=1) + 1
    X = np.column_stack([matrix(table, [*MEASURED, *AREAS]), soil])
    y = matrix(table, ["Cover_Type"])[:, 0].astype(np.int64)
    return Pool(X=X, y=y, feature_names=(*MEASURED, *AREAS, "Soil_Type"))


def cover_of_uci(path: Path) -> Pool:
    """The whole dataset has no header and 581,012 rows, of which the first are read."""
    return cover(unzipped(path, n_lines=_N_BALANCED), names=_COVER_COLUMNS)


# DoH.

_STATISTICS = _words("Variance StandardDeviation Mean Median Mode SkewFromMedian SkewFromMode CoefficientofVariation")
DOH_FEATURES = (
    *("Duration", "FlowBytesSent", "FlowSentRate", "FlowBytesReceived", "FlowReceivedRate"),
    *(f"{of}{what}" for of in ("PacketLength", "PacketTime", "ResponseTimeTime") for what in _STATISTICS),
)


def flows(*contents: Path | bytes) -> Pool:
    """The flows whose statistics are all finite."""
    table = pa.concat_tables([csv_columns(each, numbers=DOH_FEATURES, text=["Label"]) for each in contents])
    X = matrix(table, DOH_FEATURES)
    finite = np.isfinite(X).all(axis=1)
    return Pool(X=X[finite], y=texts(table, "Label")[finite], feature_names=DOH_FEATURES)


def flows_in_archive(path: Path) -> Pool:
    """Layer 2 of the archive has one table for each class."""
    return flows(*(zip_member(path, name) for name in ("l2-benign.csv", "l2-malicious.csv")))


# KDD.

DIFFICULTY = "difficulty_level"
TRAFFIC = _words(
    "duration protocol_type service flag src_bytes dst_bytes land wrong_fragment urgent hot num_failed_logins "
    "logged_in num_compromised root_shell su_attempted num_root num_file_creations num_shells num_access_files "
    "num_outbound_cmds is_host_login is_guest_login count srv_count serror_rate srv_serror_rate rerror_rate "
    "srv_rerror_rate same_srv_rate diff_srv_rate srv_diff_host_rate dst_host_count dst_host_srv_count "
    "dst_host_same_srv_rate dst_host_diff_srv_rate dst_host_same_src_port_rate dst_host_srv_diff_host_rate "
    "dst_host_serror_rate dst_host_srv_serror_rate dst_host_rerror_rate dst_host_srv_rerror_rate"
)
_KDD_TEXT = ("protocol_type", "service", "flag", "label")
_KDD_NUMBERS = (*(name for name in TRAFFIC if name not in _KDD_TEXT), DIFFICULTY)


def connections(*paths: Path, n_features: int, has_header: bool) -> Pool:
    """The traffic, with the difficulty level as the last of 42 features; the files of the authors have no header."""
    names = None if has_header else (*TRAFFIC, "label", DIFFICULTY)
    # One kind of attack occurs in the authors' second file only, so both are needed.
    tables = [csv_columns(path, numbers=_KDD_NUMBERS, text=_KDD_TEXT, names=names) for path in paths]
    table = pa.concat_tables(tables)
    features = (*TRAFFIC, DIFFICULTY)[:n_features]
    X = matrix(table, features, text=_KDD_TEXT)
    # Rows of the same traffic are the same sample, however difficult they were found to be.
    return Pool(X=X, y=texts(table, "label"), feature_names=features, n_identifying=len(TRAFFIC))


# URL.


def addresses(path: Path, *, label: str, n_features: int, member: str = "") -> Pool:
    """What is missing counts as 0; rows with an infinite ratio are left out."""
    table = csv_columns(zip_member(path, member) if member else path, text=[label])
    names = tuple(name for name in table.column_names if name != label)
    if len(names) != n_features:
        raise DataFileError(f"the table has {len(names)} features, expected {n_features}; use the original file.")
    X = np.nan_to_num(matrix(table, names), nan=0.0, posinf=np.inf, neginf=-np.inf)
    finite = np.isfinite(X).all(axis=1)
    return Pool(X=X[finite], y=texts(table, label)[finite], feature_names=names)
