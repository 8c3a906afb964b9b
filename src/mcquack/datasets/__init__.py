"""Where data comes from: datasets by name, generators, and tables and arrays of your own, all as one kind of value.

>>> from mcquack import datasets
>>> X, y = datasets.load("iris3").train
>>> X.shape
(105, 4)
"""

from mcquack.datasets import synthetic
from mcquack.datasets.dataset import Dataset, Part
from mcquack.datasets.exporting import export
from mcquack.datasets.own import ColumnOptions, from_arrays, from_frame, from_parts, load_csv, load_parquet
from mcquack.datasets.registry import Description, Request, describe, descriptions, load, names, register

__all__ = [
    "ColumnOptions",
    "Dataset",
    "Description",
    "Part",
    "Request",
    "describe",
    "descriptions",
    "export",
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
