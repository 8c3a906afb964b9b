"""Where data comes from: datasets by name, generators, and tables and arrays of your own, all as one kind of value."""

from mcquack.datasets import synthetic
from mcquack.datasets.dataset import Dataset, Part
from mcquack.datasets.description import Description
from mcquack.datasets.loading import load
from mcquack.datasets.own import ColumnOptions, from_arrays, from_frame, from_parts, load_csv, load_parquet
from mcquack.datasets.registry import Request, describe, descriptions, names, register

__all__ = [
    "ColumnOptions",
    "Dataset",
    "Description",
    "Part",
    "Request",
    "describe",
    "descriptions",
    "from_arrays",
    "from_frame",
    "from_parts",
    "load",
    "load_csv",
    "load_parquet",
    "names",
    "register",
    "synthetic",
]
