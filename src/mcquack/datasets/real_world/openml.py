"""Datasets of openml.org, in the arrays that a download leaves in the cache."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from mcquack.datasets.files import DataFile, Source
from mcquack.datasets.npz import npz_arrays
from mcquack.datasets.real_world.pictures import picture_pool
from mcquack.datasets.real_world.pool import Pool


def openml_file(data_id: int) -> DataFile:
    """A dataset by its number; what it holds is verified by scikit-learn when it is fetched."""
    return DataFile(name=f"openml-{data_id}.npz", folder="openml", url=f"openml:{data_id}")


def openml_pictures(data_id: int, *, title: str) -> Source:
    """Pictures whose labels are digits."""
    return Source(title=title, files=(openml_file(data_id),), read=_pictures)


def _pictures(path: Path) -> Pool:
    data, target = npz_arrays(path, "data", "target")
    return picture_pool(data, target.astype(np.uint8))


def openml_table(path: Path, *, target: str) -> pa.Table:
    """Columns by name, hyphens becoming underscores: numbers, or texts where a feature has categories."""
    data, labels, names, categories = npz_arrays(path, "data", "target", "feature_names", "categories")
    texts = json.loads(str(categories))
    columns = {}
    for name, values in zip(names.tolist(), data.T, strict=True):
        column = pa.array(values, from_pandas=True)  # NaN is absent
        if name in texts:
            column = pa.array(texts[name], pa.string()).take(column.cast(pa.int64()))
        columns[name.replace("-", "_")] = column
    return pa.table({**columns, target: pa.array(labels.tolist(), pa.string())})
