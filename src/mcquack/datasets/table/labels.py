"""The target column as class labels."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from mcquack.datasets.table.cells import is_text, plain_column
from mcquack.datasets.table.value import Table
from mcquack.errors import InvalidTableError

# "007" or "1.0" would come back as another text, so such labels stay text.
_CANONICAL_INTEGER = r"^(0|-?[1-9]\d*)$"


def target_labels(table: Table, target: str) -> tuple[NDArray[np.generic], NDArray[np.bool_]]:
    """The label of every row, printed by ``str`` just as the table shows it, and where it is missing."""
    column = plain_column(table, target)
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.string())
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        _check_whole(column, table=table, target=target)
    missing: NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False)
    if missing.all():
        raise InvalidTableError(f"{table.source}: the target {target!r} has no labels; fill it or name another.")
    encoded = _integers_if_same(column).dictionary_encode()
    classes = encoded.dictionary.to_numpy(zero_copy_only=False)
    if is_text(encoded.dictionary):
        classes = classes.astype(np.str_)
    labels: NDArray[np.generic] = classes[encoded.indices.fill_null(0).to_numpy()]
    return labels, missing


def _check_whole(column: pa.Array, *, table: Table, target: str) -> None:
    if not pc.all(pc.equal(column, pc.trunc(column))).as_py() or pc.any(pc.is_inf(column)).as_py():
        raise InvalidTableError(
            f"{table.source}: the target {target!r} holds fractions or infinities, which are no classes; "
            "store the labels as whole numbers or text."
        )


def _integers_if_same(column: pa.Array) -> pa.Array:
    if not is_text(column) or not pc.all(pc.match_substring_regex(column, _CANONICAL_INTEGER)).as_py():
        return column
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:  # beyond 64 bits
        return column
