"""Scores by construction, for all that ranks them."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import ArrayLike, NDArray

from mcquack.bench.ranking import CellScores, ScoreTable, score_table


def cell(dataset: str, model: str, *scores: float, part="test", metric="accuracy", **fields: Any) -> CellScores:
    """One value for each seed."""
    given = {"family": "family", "title": model.upper(), "values": {(part, metric): scores}}
    return CellScores(dataset=dataset, model=model, **{**given, **fields})


def cells_of(means: ArrayLike, **fields: Any) -> list[CellScores]:
    """Datasets d0, d1, … in the rows, models a, b, … in the columns; NaN is no score."""
    scores = np.asarray(means, dtype=float)
    return [
        cell(f"d{row}", chr(ord("a") + column), float(scores[row, column]), **fields)
        for row, column in np.argwhere(~np.isnan(scores)).tolist()
    ]


def table_of(means: ArrayLike, **fields: Any) -> ScoreTable:
    """The table of ``cells_of``, with the models in the order of the alphabet."""
    return score_table(sorted(cells_of(means, **fields), key=lambda each: each.model))


def score_matrices(*, missing: bool = True, min_models: int = 1) -> st.SearchStrategy[NDArray[np.float64]]:
    """Few distinct scores, so that ties are common; with ``missing`` any may be NaN, but not all."""
    scores = st.sampled_from([0.0, 0.25, 0.5, 0.5 + 1e-7, 1.0])
    elements = scores | st.just(np.nan) if missing else scores
    shapes = st.tuples(st.integers(1, 6), st.integers(min_models, 5))
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=elements)).filter(
        lambda means: not np.isnan(means).all()
    )
