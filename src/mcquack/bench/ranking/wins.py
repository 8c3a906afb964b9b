"""Each model against each other: on how many datasets it is better, equal and worse."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcquack.bench.ranking.ranks import rounded_means
from mcquack.bench.ranking.score_table import Contender, ScoreTable
from mcquack.errors import InvalidInputError

Counts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class WinMatrix:
    """``wins[i][j]`` counts the datasets on which i has a better score than j, ``ties`` those of equal scores.

    Datasets count where both have a score, so the losses of i are the wins of j. The diagonals are 0.
    """

    contenders: tuple[Contender, ...]
    wins: Counts
    ties: Counts

    def record(self, row: int, column: int) -> tuple[int, int, int]:
        """Wins, ties and losses of the contender in this row against that in this column."""
        return self.wins[row][column], self.ties[row][column], self.wins[column][row]

    def totals(self, row: int) -> tuple[int, int, int]:
        """Wins, ties and losses against all others together."""
        return sum(self.wins[row]), sum(self.ties[row]), sum(wins[row] for wins in self.wins)


def win_matrix(table: ScoreTable, *, order: Sequence[Contender] | None = None) -> WinMatrix:
    """All pairs, in the order of the table or in one of your own, as that of the standings."""
    contenders = table.contenders if order is None else tuple(order)
    for contender in contenders:
        if contender not in table.contenders:
            raise InvalidInputError(f"{contender.label} has no score in the table; leave it out of the order.")
    columns = [table.contenders.index(contender) for contender in contenders]
    scores = rounded_means(table)[:, columns]
    # Comparisons with NaN are false, so datasets that one of the two lacks count for neither.
    wins = (scores[:, :, None] > scores[:, None, :]).sum(axis=0)
    ties = (scores[:, :, None] == scores[:, None, :]).sum(axis=0)
    np.fill_diagonal(ties, 0)
    return WinMatrix(
        contenders=contenders, wins=tuple(map(tuple, wins.tolist())), ties=tuple(map(tuple, ties.tolist()))
    )
