"""What was made of a table."""

from dataclasses import dataclass

from mcquack.datasets.table.encoder import TableEncoder
from mcquack.datasets.table.value import RowProblem


@dataclass(frozen=True, kw_only=True, eq=False)
class TableReading:
    """The encoder for more tables of this kind, and the rows that could not be used.

    ``left_out`` is without the ``n_dropped`` rows that were meant to be dropped because a value is missing.
    """

    encoder: TableEncoder
    left_out: tuple[RowProblem, ...] = ()
    n_dropped: int = 0
