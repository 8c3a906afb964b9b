from hypothesis import given
from hypothesis import strategies as st

from mcquack.bench.ranking import CellScores, Contender
from mcquack.report.benchmark.views import score_grid

SCORES = st.lists(st.sampled_from([None, 0.1, 0.5, 0.9, 0.90000000000001]), min_size=1, max_size=6)


def cells(scores):
    return [
        CellScores(
            dataset="d", family="f", model=f"m{index}", title=f"M{index}", values={("test", "accuracy"): (score,) * 2}
        )
        for index, score in enumerate(scores)
        if score is not None
    ]


@given(scores=SCORES)
def test_the_best_and_the_next_best_scores_are_marked(scores):
    grid = score_grid(cells(scores), part="test", metric="accuracy")
    levels = sorted({round(score.mean, 8) for score in grid.values()}, reverse=True)
    for score in grid.values():
        place = levels.index(round(score.mean, 8))
        expected = "" if len(grid) < 2 else {0: "best", 1: "second"}.get(place, "")
        assert score.mark == expected


def test_mean_and_spread_are_those_of_the_seeds(contents, statistics):
    grid = statistics.grids["test", "accuracy"]
    known = {(cell.dataset, Contender.of(cell)): cell for cell in contents.scores}
    assert grid.keys() == known.keys()
    for key, score in grid.items():
        assert score.mean == known[key].mean("test", "accuracy")
        assert score.spread == known[key].spread("test", "accuracy")
