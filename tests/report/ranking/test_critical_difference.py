import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.bench.ranking import compare, score_table
from mcquack.report.ranking import plot_critical_difference
from mcquack.report.style import new_axes
from tests.report.ranking.fakes import benchmark, is_drawn, texts

TABLE = score_table(benchmark())
COMPARISON = compare(TABLE)


def lines_of(figure, *, width):
    return [line for ax in figure.axes for line in ax.lines if line.get_linewidth() == pytest.approx(width)]


def test_each_model_is_named_with_its_rank_the_better_half_at_the_left():
    figure = plot_critical_difference(COMPARISON)
    sides = {text.get_text().strip(): text.get_ha() for text in figure.axes[0].texts}
    for index, (contender, rank) in enumerate(zip(COMPARISON.contenders, COMPARISON.average_ranks, strict=True)):
        if index < 2:
            assert sides[f"{contender.label}  {rank:.2f}"] == "right"
        else:
            assert sides[f"{rank:.2f}  {contender.label}"] == "left"


def test_lines_start_at_the_ranks():
    starts = sorted(line.get_xdata()[0] for line in lines_of(plot_critical_difference(COMPARISON), width=0.9))
    assert_allclose(starts, COMPARISON.average_ranks)


def test_bars_span_the_groups():
    bars = lines_of(plot_critical_difference(COMPARISON), width=3.6)
    ranks = dict(zip(COMPARISON.contenders, COMPARISON.average_ranks, strict=True))
    assert len(bars) == len(COMPARISON.groups) > 0
    for bar, group in zip(bars, COMPARISON.groups, strict=True):
        assert_allclose(bar.get_xdata(), [ranks[group[0]], ranks[group[-1]]], atol=0.05)
        assert bar.get_xdata()[0] < ranks[group[0]] <= ranks[group[-1]] < bar.get_xdata()[1]


def test_the_ruler_is_as_long_as_the_critical_difference():
    (ruler,) = lines_of(plot_critical_difference(COMPARISON), width=1.4)
    assert_allclose(np.diff(ruler.get_xdata()), COMPARISON.critical_difference)


def test_the_note_tells_what_was_compared_and_how_surely():
    (note,) = [text for text in texts(plot_critical_difference(COMPARISON)) if "Nemenyi" in text]
    assert note.startswith("6 datasets\nall alike: p < 0.001 (Iman and Davenport); bars: Nemenyi at α = 0.05")
    assert note.endswith("† published: Somebody 2024")
    gapped = [cell for cell in benchmark(published=()) if (cell.model, cell.dataset) != ("delta", "curves_2")]
    (note,) = [text for text in texts(plot_critical_difference(compare(score_table(gapped)))) if "Nemenyi" in text]
    assert note.startswith("5 datasets, 1 left out where a model has no score\n")
    assert "†" not in note
    rare = [cell for cell in benchmark() if cell.model != "beta" or cell.dataset == "curves_2"]
    found = compare(score_table(rare), least_share=0.5)
    (note,) = [text for text in texts(plot_critical_difference(found)) if "Nemenyi" in text]
    assert note.splitlines()[:2] == ["6 datasets", "not compared, with scores on too few datasets: Beta †"]
    assert note.endswith("† published: Somebody 2024")


@pytest.mark.parametrize("n_models", [2, 3, 12])
def test_any_number_of_models_and_any_name_can_be_drawn(n_models):
    names = [*[f"Model {index}" for index in range(n_models - 1)], "$5 to $9 " + "M" * 60]
    comparison = compare(score_table(benchmark(names)))
    assert is_drawn(plot_critical_difference(comparison))
    ax = new_axes(20, 6)
    assert plot_critical_difference(comparison, ax=ax, title="for $1") is ax.figure
    assert ax.get_title(loc="left") == r"for \$1"


def test_many_models_that_take_no_part_find_room_below():
    names = [f"Model number {index}" for index in range(20)]
    cells = [cell for cell in benchmark(names) if cell.model[-2:] in (" 0", " 1") or cell.dataset == "curves_2"]
    comparison = compare(score_table(cells), least_share=0.5)
    assert len(comparison.absent) == 18
    assert is_drawn(plot_critical_difference(comparison))


def test_models_that_are_all_alike_share_one_bar():
    alike = [*benchmark(["Alpha"]), *benchmark(["Beta"])]  # the same random numbers for both
    bars = lines_of(plot_critical_difference(compare(score_table(alike))), width=3.6)
    assert len(bars) == 1
