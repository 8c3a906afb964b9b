"""Data of your own: arrays, DataFrames and table files become the same ``Dataset`` as what is loaded by name."""

from mcquack.datasets.own.arrays import from_arrays, from_parts
from mcquack.datasets.own.tables import ColumnOptions, from_frame, load_csv, load_parquet

__all__ = ["ColumnOptions", "from_arrays", "from_frame", "from_parts", "load_csv", "load_parquet"]
