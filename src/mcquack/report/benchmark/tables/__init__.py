"""Every table of a report as a value, and as CSV and LaTeX."""

from mcquack.report.benchmark.tables.catalogue import tables
from mcquack.report.benchmark.tables.csv_text import csv_text
from mcquack.report.benchmark.tables.latex import latex
from mcquack.report.benchmark.tables.table import Column, Table

__all__ = ["Column", "Table", "csv_text", "latex", "tables"]
