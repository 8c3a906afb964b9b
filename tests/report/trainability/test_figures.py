"""Every figure shows the numbers it was given, and refuses what it cannot show."""

import math
import re

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from mcquack.errors import InvalidInputError
from mcquack.report.style import HEAT, svg_bytes
from mcquack.report.trainability import (
    KERNEL,
    SHOTS,
    Landscape,
    decays,
    lines,
    paper_slice,
    plot_decays,
    plot_gradients,
    plot_importances,
    plot_landscape,
    plot_losses,
    plot_measures,
)
from mcquack.report.trainability.figures import gradient_points
from mcquack.studies.trainability.analysis import exact_anova, forest_importances
from mcquack.studies.trainability.analysis.losses import LossSlice
from mcquack.studies.trainability.observation import Observation
from tests.report.fakes import lengths, xs, ys
from tests.report.trainability.fakes import observation, observations, wide_observations

SIZES = (2, 3, 4, 5, 6)
GRID = observations(sizes=SIZES, n_seeds=2, epochs=12)
PAPER = paper_slice(GRID)


def is_drawn(figure):
    FigureCanvasAgg(figure).draw()
    return True


def titles(figure):
    return [ax.get_title(loc="left") for ax in figure.axes]


def test_gradient_points_are_those_of_all_parameters_of_all_seeds():
    rng = np.random.default_rng(0)
    values = [rng.normal(size=50), rng.normal(1, 2, size=50)]
    seeds = []
    for seed, array in enumerate(values):
        made = observation(4, seed=seed)
        part = {"mean": array.mean(), "std": array.std(), "mean_abs": 1.0, "norm": np.linalg.norm(array), "n": 50}
        seeds.append(Observation.from_json({**made.to_json(), "gradients": {"weights": part}}))
    (point,) = gradient_points(lines(seeds)[0], "weights")
    everything = np.concatenate(values)
    assert_allclose([point.mean, point.std], [everything.mean(), everything.std()])
    assert (point.n_qubits, point.n_seeds) == (4, 2)
    assert gradient_points(lines(seeds)[0], "bias") == ()


def test_gradients_have_a_panel_for_each_start_with_scales_of_their_own():
    figure = plot_gradients(PAPER)
    assert titles(figure) == ["Small and normal", "All ones"]
    small, ones = figure.axes
    assert small.get_ylim() != ones.get_ylim()
    (container,) = small.containers
    points = gradient_points(lines(PAPER)[0], "weights")
    assert_allclose(xs(container[0]), [point.n_qubits for point in points])
    assert_allclose(ys(container[0]), [point.mean for point in points])
    assert is_drawn(figure)


def test_losses_have_a_curve_for_each_size():
    figure = plot_losses(PAPER)
    assert titles(figure) == ["Small and normal", "All ones"]
    curves = figure.axes[0].lines
    assert [curve.get_label() for curve in curves] == [str(size) for size in SIZES]
    seeds = [each for each in PAPER if each.settings["init_small"] and each.settings["n_qubits"] == 2]
    losses: NDArray[np.float64] = np.array([each.trace["loss"] for each in seeds], dtype=np.float64)
    assert_allclose(ys(curves[0]), losses.mean(axis=0))
    assert len(plot_losses(GRID).axes) == 8


def test_a_loss_that_is_no_number_ends_its_curve_alone():
    broken = Observation.from_json({**observation(2).to_json(), "trace": {"loss": [0.5, 0.4, None]}})
    figure = plot_losses([broken, observation(3, epochs=3)])
    assert np.isnan(ys(figure.axes[0].lines[0])).tolist() == [False, False, True]
    assert is_drawn(figure)


def test_decays_show_means_and_both_fits():
    found = decays(lines(PAPER))
    figure = plot_decays(found)
    assert titles(figure) == ["Weights", "Biases", "Centroids"]
    ax = figure.axes[0]
    assert_allclose(ys(ax.containers[0][0]), found[0].means.logs / math.log(10))
    assert {line.get_linestyle() for line in ax.lines} >= {"--", ":"}
    assert is_drawn(figure)


def test_decays_of_a_thousand_qubits_are_drawn_though_no_float_is_so_small():
    found = decays(lines(wide_observations(n_seeds=2)), of="fidelity_gradients")
    assert min(each.means.logs.min() for each in found) < -300
    assert is_drawn(plot_decays(found))


def test_too_few_sizes_are_shown_without_a_fit():
    found = decays(lines([observation(n) for n in (2, 3)]))
    assert {decay.scaling for decay in found} == {None}
    assert is_drawn(plot_decays(found))


def test_importances_show_all_three_measures():
    names = ("init_small", "init_strategy", "n_qubits")
    rows = [(each.settings, each.scores["test_accuracy"]) for each in GRID]
    anova, forest = exact_anova(rows, names=names), forest_importances(rows, names=names, n_trees=8)
    (bars,) = plot_importances(anova, forest).axes
    assert len(bars.patches) == 9
    assert sorted(lengths(bars)[:3]) == pytest.approx(sorted(anova.main.values()))
    assert len(plot_importances(anova).axes[0].patches) == 3  # without Optuna


def test_kernels_are_drawn_beside_states_by_chance():
    figure = plot_measures(lines(PAPER), KERNEL)
    assert titles(figure) == ["Mean fidelity", "Variance of fidelities", "Entangling power"]
    by_chance = figure.axes[0].lines[-1]
    assert_allclose(ys(by_chance), -xs(by_chance) * math.log10(2))
    assert is_drawn(plot_measures(lines(wide_observations(n_seeds=1)), KERNEL))


def test_shots_are_medians_and_at_least_one():
    kernel = {"log10_shots_entry": 3.0, "log10_shots_prediction": -2.0}
    given = [
        Observation.from_json({**observation(4, seed=seed).to_json(), "kernel": {**kernel, "log10_shots_entry": shots}})
        for seed, shots in enumerate((2.0, 3.0, 7.0))
    ]
    figure = plot_measures(lines(given), SHOTS)
    assert titles(figure) == ["To see a kernel entry’s gradient", "To tell two classes apart"]
    assert [ys(ax.lines[0]).tolist() for ax in figure.axes] == [[3.0], [0.0]]
    assert is_drawn(figure)


def test_no_curve_runs_through_the_name_of_a_line():
    figure = plot_measures(lines(PAPER), SHOTS)
    assert is_drawn(figure)
    for ax in figure.axes:
        (name,) = ax.texts
        assert name.get_window_extent().x0 >= ax.get_window_extent().x1


def test_a_landscape_marks_its_lowest_point():
    steps = np.linspace(-1, 1, 7)
    first, second = np.meshgrid(steps, steps)
    losses = LossSlice(first=steps, second=steps, losses=(first - steps[4]) ** 2 + second**2)
    figure = plot_landscape(Landscape(title="costs $ 5", losses=losses, path=((1, 1), (0.5, 0.2))))
    marked = next(line for line in figure.axes[0].lines if line.get_label() == "smallest loss")
    assert_allclose([xs(marked)[0], ys(marked)[0]], [steps[4], 0], atol=1e-12)
    assert is_drawn(figure)
    # Every shade has one of its own on a dark page, and nothing is written over the losses.
    drawn = set(re.findall(r"fill: (#[0-9a-f]{6})", svg_bytes(figure).decode()))
    assert len(drawn & set(HEAT)) > 8
    assert figure.axes[0].get_legend() is None


def test_a_flat_landscape_is_drawn_too():
    steps = np.linspace(-1, 1, 3)
    flat = LossSlice(first=steps, second=steps, losses=np.full((3, 3), 0.5))
    assert is_drawn(plot_landscape(Landscape(title="flat", losses=flat)))


@pytest.mark.parametrize(
    "draw",
    [
        lambda nothing: plot_gradients([nothing]),
        lambda nothing: plot_losses([nothing]),
        lambda nothing: plot_decays(decays(lines([nothing]))),
        lambda nothing: plot_measures(lines([nothing]), KERNEL),
        lambda nothing: plot_measures(lines([nothing]), SHOTS),
    ],
)
def test_what_was_not_measured_is_not_drawn(draw):
    nothing = Observation(model="mcquack", seed=0, settings={"n_qubits": 2})
    with pytest.raises(InvalidInputError, match=r"run a study|pass the decays"):
        draw(nothing)
