"""From the scores of models on datasets to who is better, how surely, and where.

cells = (*cell_scores(store), *published_scores(data_dir), *read_published("paper.csv"))
table = score_table(cells, part="test", metric="accuracy")      # datasets × contenders
standings(table), standings_by_family(table)                    # leaderboards with bootstrap intervals
compare(table), win_matrix(table), scores_by_size(cells)        # Friedman and Nemenyi, pairs, curves
"""

from mcquack.bench.ranking.cell_scores import CellScores, Key
from mcquack.bench.ranking.dimension import SizeCurve, SizePoint, scores_by_size
from mcquack.bench.ranking.friedman import Comparison, FriedmanTest, compare
from mcquack.bench.ranking.intervals import Interval, bootstrap_intervals
from mcquack.bench.ranking.own import FinalOutcomes, cell_scores
from mcquack.bench.ranking.published import QNN_FAMILY, published_scores
from mcquack.bench.ranking.published_table import read_published
from mcquack.bench.ranking.ranks import Scale, Ties, average_ranks, normalised_ranks, rank_counts, ranks
from mcquack.bench.ranking.score_table import Contender, ScoreTable, score_table
from mcquack.bench.ranking.standings import Standing, standings, standings_by_family
from mcquack.bench.ranking.wins import WinMatrix, win_matrix

__all__ = [
    "QNN_FAMILY",
    "CellScores",
    "Comparison",
    "Contender",
    "FinalOutcomes",
    "FriedmanTest",
    "Interval",
    "Key",
    "Scale",
    "ScoreTable",
    "SizeCurve",
    "SizePoint",
    "Standing",
    "Ties",
    "WinMatrix",
    "average_ranks",
    "bootstrap_intervals",
    "cell_scores",
    "compare",
    "normalised_ranks",
    "published_scores",
    "rank_counts",
    "ranks",
    "read_published",
    "score_table",
    "scores_by_size",
    "standings",
    "standings_by_family",
    "win_matrix",
]
