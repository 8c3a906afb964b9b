"""Where data comes from: tables and arrays of your own, as one kind of value."""

from mcquack.datasets.dataset import Dataset, Part
from mcquack.datasets.own import ColumnOptions, from_arrays, from_frame, from_parts, load_csv, load_parquet

__all__ = [
    "ColumnOptions",
    "Dataset",
    "Part",
    "from_arrays",
    "from_frame",
    "from_parts",
    "load_csv",
    "load_parquet",
]
