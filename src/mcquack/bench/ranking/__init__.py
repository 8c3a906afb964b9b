"""From the scores of models on datasets to who is better, how surely, and where.

>>> from mcquack.bench import ranking
>>> cells = ranking.cell_scores(store)  # doctest: +SKIP
>>> cells += ranking.published_scores(data_dir) + ranking.read_published("paper.csv")  # doctest: +SKIP
>>> table = ranking.score_table(cells, part="test", metric="accuracy")  # doctest: +SKIP
>>> lines = ranking.standings(table)  # leaderboard with bootstrap intervals  # doctest: +SKIP
>>> ranking.compare(table), ranking.win_matrix(table)  # Friedman and Nemenyi, pairs  # doctest: +SKIP
"""

from mcquack.bench.ranking.published import QNN_FAMILY, published_scores, published_settings, read_published
from mcquack.bench.ranking.ranks import (
    Comparison,
    Interval,
    Scale,
    SizeCurve,
    Standing,
    WinMatrix,
    average_ranks,
    bootstrap_intervals,
    compare,
    normalised_ranks,
    rank_counts,
    ranks,
    scores_by_size,
    standings,
    win_matrix,
)
from mcquack.bench.ranking.scores import (
    OWN_FAMILY,
    CellScores,
    Contender,
    ScoreTable,
    cell_scores,
    family_and_size,
    model_titles,
    over_draws,
    score_table,
    scores_of,
)

__all__ = [
    "OWN_FAMILY",
    "QNN_FAMILY",
    "CellScores",
    "Comparison",
    "Contender",
    "Interval",
    "Scale",
    "ScoreTable",
    "SizeCurve",
    "Standing",
    "WinMatrix",
    "average_ranks",
    "bootstrap_intervals",
    "cell_scores",
    "compare",
    "family_and_size",
    "model_titles",
    "normalised_ranks",
    "over_draws",
    "published_scores",
    "published_settings",
    "rank_counts",
    "ranks",
    "read_published",
    "score_table",
    "scores_by_size",
    "scores_of",
    "standings",
    "win_matrix",
]
