"""From the scores of models on datasets to who is better, how surely, and where.

>>> from mcquack.bench import ranking
>>> cells = ranking.cell_scores(store)  # doctest: +SKIP
>>> cells += ranking.published_scores(data_dir) + ranking.read_published("paper.csv")  # doctest: +SKIP
>>> table = ranking.score_table(cells, part="test", metric="accuracy")  # doctest: +SKIP
>>> lines = ranking.standings(table)  # leaderboard with bootstrap intervals  # doctest: +SKIP
>>> ranking.compare(table), ranking.win_matrix(table)  # Friedman and Nemenyi, pairs  # doctest: +SKIP
"""

from mcquack.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__, __file__)
