"""Tables as CSV: all digits, so that reading gives the same numbers."""

import csv
from io import StringIO

from mcquack.report.benchmark.tables.table import Column, Table, numbers


def csv_text(table: Table) -> str:
    """With a head of one line; what is not there is empty."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([head for column in table.columns for head in _heads(column)])
    for row in table.rows:
        writer.writerow(
            [value for entry, column in zip(row, table.columns, strict=True) for value in numbers(entry, column)]
        )
    return stream.getvalue()


def _heads(column: Column) -> tuple[str, ...]:
    title = f"{column.title} ({column.source})" if column.source else column.title
    return tuple(f"{title} {part}" for part in column.parts) or (title,)
