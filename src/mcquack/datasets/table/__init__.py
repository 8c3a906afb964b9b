"""Tables from files and DataFrames: read, checked row by row, and turned into the numbers a classifier takes."""

from mcquack.datasets.table.encoder import EncodedTable, LabelledTable, TableEncoder, TableReading
from mcquack.datasets.table.reading import frame_table, read_csv, read_table
from mcquack.datasets.table.value import Notation, RowProblem, Table

__all__ = [
    "EncodedTable",
    "LabelledTable",
    "Notation",
    "RowProblem",
    "Table",
    "TableEncoder",
    "TableReading",
    "frame_table",
    "read_csv",
    "read_table",
]
