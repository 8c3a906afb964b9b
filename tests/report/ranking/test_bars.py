from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.bench.ranking import score_table, standings
from mcquack.errors import InvalidInputError
from mcquack.report.ranking import plot_ranking, shade
from mcquack.report.style import new_axes
from tests.report.ranking.fakes import benchmark, is_drawn, texts

LINES = standings(score_table(benchmark()))


def names_of(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_segments_are_the_counts_of_the_ranks_from_left_to_right():
    (ax,) = plot_ranking(LINES).axes
    ranks = [[(bar.get_x(), bar.get_width()) for bar in bars] for bars in ax.containers]
    counts = np.array([line.rank_counts for line in LINES])
    assert_array_equal(np.array(ranks)[:, :, 1].T, counts)
    assert_array_equal(np.array(ranks)[:, :, 0].T, np.cumsum(counts, axis=1) - counts)


def test_numbers_are_written_where_there_is_room():
    figure = plot_ranking(LINES)
    (ax,) = figure.axes
    numbers = [text for text in ax.texts if text.get_text().isdecimal()]
    assert len(numbers) == np.count_nonzero([line.rank_counts for line in LINES])
    for text in numbers:
        x, row = text.get_position()
        (bar,) = [bar for bar in ax.patches if bar.get_width() and bar.contains_point(ax.transData.transform((x, row)))]
        assert text.get_text() == str(int(bar.get_width()))


def test_the_best_stands_on_top_and_what_is_published_is_marked():
    (ax,) = plot_ranking(LINES).axes
    assert names_of(ax) == ["Alpha", "Beta †", "Gamma", "Delta"]
    assert ax.yaxis_inverted()
    assert ax.get_xlabel() == "number of datasets\n† published: Somebody 2024"


def test_without_published_scores_nothing_is_said_of_them():
    (ax,) = plot_ranking(standings(score_table(benchmark(published=())))).axes
    assert ax.get_xlabel() == "number of datasets"
    assert not any("†" in name for name in names_of(ax))


def test_averages_and_intervals_are_written_beside_the_bars():
    written = texts(plot_ranking(LINES))
    for line in LINES:
        assert f"{line.average_rank:.2f}" in written
        assert f"{line.interval.low:.2f} – {line.interval.high:.2f}" in written
    assert "95 % interval" in written
    assert "99.5 % interval" in texts(plot_ranking(standings(score_table(benchmark()), level=0.995)))


def test_an_interval_that_is_not_known_is_a_dash_and_where_none_is_there_is_no_column():
    first, *others = LINES
    assert "–" in texts(plot_ranking([replace(first, interval=None), *others]))
    written = texts(plot_ranking([replace(line, interval=None) for line in LINES]))
    assert "average" in written
    assert not any("–" in text or "interval" in text for text in written)


def test_the_first_rank_is_blue_and_the_last_red():
    (ax,) = plot_ranking(LINES).axes
    first, *_, last = (to_rgb(bars[0].get_facecolor()) for bars in ax.containers)
    assert_allclose([first, last], [shade(0), shade(1)])
    assert first[2] > first[0]
    assert last[0] > last[2]


@pytest.mark.parametrize("n_models", [1, 2, 12])
def test_the_legend_names_first_and_last_rank_and_no_more_than_ten(n_models):
    lines = standings(score_table(benchmark([f"Model {index}" for index in range(n_models)])))
    figure = plot_ranking(lines)
    shown = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert shown[0] == "rank 1"
    assert n_models == 1 or shown[-1] == str(n_models)
    assert len(shown) == min(n_models, 10)
    assert is_drawn(figure)


def test_any_name_can_be_drawn_in_axes_of_ones_own():
    lines = standings(score_table(benchmark(["$5 to $9", "a_b^c", "M" * 80])))
    ax = new_axes(12, 4)
    figure = plot_ranking(lines, title="for $1", ax=ax)
    assert figure is ax.figure
    assert ax.get_title(loc="left").strip() == r"for \$1"
    assert is_drawn(figure)
    assert is_drawn(plot_ranking(lines))


def test_nothing_to_rank_is_refused():
    with pytest.raises(InvalidInputError, match="nothing to rank"):
        plot_ranking(())
