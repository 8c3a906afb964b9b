"""What Arrow holds to table."""

import numpy as np
import pyarrow as pa

from mcquack.datasets.table.value import Table, unique_names
from mcquack.errors import InvalidTableError


def arrow_table(content: pa.Table, *, source: str, first_row: int) -> Table:
    """The columns as they are, the rows numbered from ``first_row`` on."""
    names = unique_names(content.column_names, source=source)
    if not names or not len(content):
        raise InvalidTableError(f"{source} has no {'rows' if names else 'columns'}; give a table with samples.")
    columns = dict(zip(names, (_filterable(column.combine_chunks()) for column in content.columns), strict=True))
    return Table(source=source, columns=columns, rows=np.arange(first_row, first_row + len(content)))


def _filterable(column: pa.Array) -> pa.Array:
    """Arrow cannot take rows out of a column of string views."""
    kind = column.type
    if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
        return pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(pa.string()))
    return column.cast(pa.string()) if pa.types.is_string_view(kind) else column
