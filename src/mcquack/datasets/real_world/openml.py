"""Datasets of openml.org, in the arrays that a download leaves in the cache."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mcquack.datasets.files import DataFile, Source
from mcquack.datasets.npz import npz_arrays
from mcquack.datasets.real_world.pictures import picture_pool
from mcquack.datasets.real_world.pool import Pool
from mcquack.errors import DataFileError


def openml_file(data_id: int) -> DataFile:
    """A dataset by its number; what it holds is verified by scikit-learn when it is fetched."""
    return DataFile(name=f"openml-{data_id}.npz", folder="openml", url=f"openml:{data_id}")


def openml_pictures(data_id: int, *, title: str) -> Source:
    """Pictures whose labels are digits."""
    return Source(title=title, files=(openml_file(data_id),), read=_pictures)


def _pictures(path: Path) -> Pool:
    data, target = npz_arrays(path, "data", "target")
    try:
        labels = target.astype(np.uint8)
    except (ValueError, TypeError) as error:
        raise _refusal(path, error) from error
    return picture_pool(data, labels)


def openml_table(path: Path, *, target: str) -> pa.Table:
    """Columns by name, hyphens becoming underscores: numbers, or texts where a feature has categories."""
    data, labels, names, categories = npz_arrays(path, "data", "target", "feature_names", "categories")
    try:
        columns = dict(_columns(data, names.tolist(), texts=json.loads(str(categories))))
        return pa.table({**columns, target: pa.array(labels.tolist(), pa.string())})
    except (ValueError, TypeError, LookupError, pa.ArrowException) as error:
        raise _refusal(path, error) from error


def _columns(data: NDArray[Any], names: list[str], *, texts: dict[str, list[str]]) -> Iterator[tuple[str, pa.Array]]:
    for name, values in zip(names, data.T, strict=True):
        column = pa.array(values, from_pandas=True)  # NaN is absent
        if name in texts:
            column = pa.array(texts[name], pa.string()).take(column.cast(pa.int64()))
        yield name.replace("-", "_"), column


def _refusal(path: Path, error: Exception) -> DataFileError:
    return DataFileError(f"{path} is not what openml.org has under this number ({error}); remove it.")
