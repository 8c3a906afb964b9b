"""Pictures of a ranking; each function returns a figure, in which whatever is published by others has a dagger."""

from mcquack.report.ranking.bars import plot_ranking
from mcquack.report.ranking.critical_difference import plot_critical_difference
from mcquack.report.ranking.sizes import plot_scores_by_size
from mcquack.report.ranking.wins import plot_wins

__all__ = ["plot_critical_difference", "plot_ranking", "plot_scores_by_size", "plot_wins"]
