"""Tables from files: read, checked row by row, and turned into the numbers a classifier takes."""

from mcquack.datasets.table.encoder import EncodedTable, LabelledTable, TableEncoder
from mcquack.datasets.table.reading import read_table
from mcquack.datasets.table.value import RowProblem, Table

__all__ = ["EncodedTable", "LabelledTable", "RowProblem", "Table", "TableEncoder", "read_table"]
