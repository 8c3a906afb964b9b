"""From the scores of models on datasets to who is better, how surely, and where.

cells = (*cell_scores(store), *published_scores(data_dir), *read_published("paper.csv"))
table = score_table(cells, part="test", metric="accuracy")      # datasets × contenders
standings(table), standings_by_family(table)                    # leaderboards with bootstrap intervals
compare(table), win_matrix(table), scores_by_size(cells)        # Friedman and Nemenyi, pairs, curves
"""

from mcquack.bench.ranking.friedman import Comparison, FriedmanTest, compare
from mcquack.bench.ranking.published import QNN_FAMILY, published_scores, read_published
from mcquack.bench.ranking.ranks import (
    Interval,
    Scale,
    SizeCurve,
    SizePoint,
    Standing,
    Ties,
    WinMatrix,
    average_ranks,
    bootstrap_intervals,
    normalised_ranks,
    rank_counts,
    ranks,
    scores_by_size,
    standings,
    standings_by_family,
    win_matrix,
)
from mcquack.bench.ranking.scores import (
    OWN_FAMILY,
    CellScores,
    Contender,
    FinalOutcomes,
    Key,
    ScoreTable,
    cell_scores,
    family_and_size,
    model_titles,
    score_table,
)

__all__ = [
    "OWN_FAMILY",
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
    "family_and_size",
    "model_titles",
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
