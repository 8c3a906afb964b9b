"""DataFrame to table, whoever's it is."""

import sys
from typing import Any

import pyarrow as pa

from mcquack.datasets.table.arrow import arrow_table
from mcquack.datasets.table.value import Table, unique_names
from mcquack.errors import InvalidInputError, InvalidTableError


def is_frame(value: object) -> bool:
    """Whether it has named columns: a DataFrame of pandas, or what offers itself to Arrow as polars does."""
    return _is_pandas(value) or hasattr(value, "__arrow_c_stream__")


def frame_table(frame: object) -> Table:
    """The table in a DataFrame or an Arrow table, without an index; rows are numbered from 0, as ``iloc`` does."""
    source = type(frame).__name__
    if not is_frame(frame):
        raise InvalidInputError(
            f"expected a DataFrame of pandas or polars, or a table of Arrow, got {source}; collect or convert it, "
            "or use from_arrays."
        )
    try:
        content = _pandas_content(frame, source=source) if _is_pandas(frame) else pa.table(frame)
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise InvalidTableError(
            f"{source} is no table ({' '.join(str(part) for part in error.args)}); give columns that each hold values "
            "of one kind."
        ) from error
    return arrow_table(content, source=source, first_row=0)


def _is_pandas(value: object) -> bool:
    """Whoever has a DataFrame of pandas has imported it."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def _pandas_content(frame: Any, *, source: str) -> pa.Table:
    names = unique_names([str(name) for name in frame.columns], source=source)
    # Through Arrow's own door the index of a filtered frame would come along as one more feature.
    return pa.Table.from_pandas(frame.set_axis(list(names), axis=1), preserve_index=False)
