"""Every figure shows the numbers it was given, and refuses what it cannot show."""

import json
import math

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from numpy.testing import assert_allclose

from mcquack.errors import InvalidInputError
from mcquack.report.trainability import (
    decays,
    gradient_points,
    lines,
    paper_slice,
    plot_concentration,
    plot_decays,
    plot_gradient_norms,
    plot_gradients,
    plot_importances,
    plot_landscape,
    plot_losses,
    plot_oscillations,
    plot_shots,
    plot_states,
    read_landscape,
)
from mcquack.report.trainability.gradients import observed_landscapes
from mcquack.report.trainability.kernels import entry_shots
from mcquack.studies.trainability import TrainabilityProbe
from mcquack.studies.trainability.analysis import LossSlice, exact_anova, forest_importances, shots_to_resolve
from mcquack.studies.trainability.observation import GROUPS, Observation
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
    assert titles(figure) == ["Weights: small and normal", "Weights: all ones"]
    small, ones = figure.axes
    assert small.get_ylim() != ones.get_ylim()
    (container,) = small.containers
    points = gradient_points(lines(PAPER)[0], "weights")
    assert_allclose(container[0].get_xydata(), [(point.n_qubits, point.mean) for point in points])
    assert is_drawn(figure)


def test_all_groups_and_settings_fit_into_one_figure():
    figure = plot_gradients(GRID, groups=GROUPS)
    assert len(figure.axes) == 6
    assert {len(ax.containers) for ax in figure.axes} == {4}
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 4


def test_losses_have_a_curve_for_each_size():
    figure = plot_losses(PAPER)
    assert titles(figure) == ["Small and normal", "All ones"]
    curves = figure.axes[0].lines
    assert [curve.get_label() for curve in curves] == [str(size) for size in SIZES]
    seeds = [each for each in PAPER if each.settings["init_small"] and each.settings["n_qubits"] == 2]
    assert_allclose(curves[0].get_ydata(), np.mean([each.trace["loss"] for each in seeds], axis=0))
    assert len(plot_losses(GRID).axes) == 8


def test_gradients_are_followed_along_training():
    norms = [10.0, 1.0, 0.0, 0.1]
    given = Observation.from_json({**observation(2).to_json(), "trace": {"grad_norm_bias": norms}})
    figure = plot_gradient_norms([given], "bias")
    assert_allclose(figure.axes[0].lines[0].get_ydata(), [1, 0, np.nan, -1])
    assert "bias" in figure.axes[0].get_ylabel()
    assert is_drawn(figure)


def test_a_curve_that_never_falls_has_nothing_to_lose_again():
    rising = Observation.from_json({**observation(2).to_json(), "trace": {"loss": [0.4, 0.5, 0.6]}})
    figure = plot_oscillations(lines([rising]))
    assert [len(ax.lines) for ax in figure.axes] == [1, 1, 0]
    assert is_drawn(figure)


def test_a_loss_that_is_no_number_ends_its_curve_alone():
    broken = Observation.from_json({**observation(2).to_json(), "trace": {"loss": [0.5, 0.4, None]}})
    figure = plot_losses([broken, observation(3, epochs=3)])
    assert np.isnan(figure.axes[0].lines[0].get_ydata()).tolist() == [False, False, True]
    assert is_drawn(figure)
    assert is_drawn(plot_oscillations(lines([broken, observation(3)])))


def test_decays_show_means_and_both_fits():
    found = decays(lines(PAPER))
    figure = plot_decays(found)
    assert titles(figure) == ["Weights", "Biases", "Centroids"]
    ax = figure.axes[0]
    assert_allclose(ax.containers[0][0].get_ydata(), found[0].means.logs / math.log(10))
    assert {line.get_linestyle() for line in ax.lines} >= {"--", ":"}
    assert is_drawn(figure)


def test_decays_of_a_thousand_qubits_are_drawn_though_no_float_is_so_small():
    found = decays(lines(wide_observations(n_seeds=2)), of="fidelity_gradients")
    assert min(each.means.logs.min() for each in found) < -300
    assert is_drawn(plot_decays(found))


def test_too_few_sizes_are_shown_without_a_fit():
    (decay,) = decays(lines([observation(n) for n in (2, 3)]), groups=["weights"])
    assert decay.scaling is None
    assert is_drawn(plot_decays([decay]))


@pytest.mark.parametrize("along", ["n_qubits", "lr"])
def test_oscillations_are_medians(along):
    given = [observation(n, small=False, seed=seed, lr=10.0**-n) for n in (2, 3) for seed in (0, 1, 2)]
    figure = plot_oscillations(lines(given, apart_from=("lr",)), along=along)
    assert titles(figure) == ["Way uphill", "Amplitude", "Relapse"]
    assert len(figure.axes[0].lines[0].get_xdata()) == 2
    assert is_drawn(figure)


def test_importances_show_all_three_measures_and_all_pairs():
    names = ("init_small", "init_strategy", "n_qubits")
    rows = [(each.settings, each.scores["test_accuracy"]) for each in GRID]
    anova, forest = exact_anova(rows, names=names), forest_importances(rows, names=names, n_trees=8)
    bars, pairs = plot_importances(anova, forest).axes
    assert len(bars.patches) == 9
    assert sorted(patch.get_width() for patch in bars.patches[:3]) == pytest.approx(sorted(anova.main.values()))
    numbers = [text.get_text() for text in pairs.texts]
    assert len(numbers) == 6
    assert f"{100 * anova.share('init_small'):.1f}" in numbers
    assert len(plot_importances(anova).axes[0].patches) == 3  # without Optuna


def test_kernels_are_drawn_beside_states_by_chance():
    figure = plot_concentration(lines(PAPER))
    assert titles(figure) == ["Mean fidelity", "Variance of fidelities"]
    by_chance = figure.axes[0].lines[-1]
    assert_allclose(by_chance.get_ydata(), -np.array(by_chance.get_xdata()) * math.log10(2))
    assert is_drawn(plot_concentration(lines(wide_observations(n_seeds=1))))
    assert titles(plot_states(lines(PAPER))) == ["Entangling power"]


def test_shots_agree_with_the_analysis_where_numbers_are_not_too_small():
    for each in GRID:
        derivative = each.fidelity_gradients["bias"].mean_square ** 0.5
        wanted = shots_to_resolve(derivative, math.exp(each.kernel["log_mean"]))
        assert entry_shots(each) == pytest.approx(max(math.log10(wanted), 0))
    assert is_drawn(plot_shots(lines(PAPER)))


def test_fidelities_tell_nothing_of_the_shots_for_an_expectation_value():
    assert entry_shots(Observation.from_json({**observation(4).to_json(), "model": "vc"})) is None


def test_the_guess_for_a_kernel_entry_is_close_to_what_shifted_circuits_tell():
    X = np.random.default_rng(0).uniform(-1, 1, (40, 12))
    probe = TrainabilityProbe(n_qubits=6, batch_size=40, n_entries=40, n_threads=1, random_state=0)
    seen = probe.fit(X, np.arange(40) % 2).observation_
    kernel = {name: value for name, value in seen.kernel.items() if not name.startswith("log10_shots")}
    guess = entry_shots(Observation.from_json({**seen.to_json(), "kernel": kernel}))
    assert guess == pytest.approx(entry_shots(seen), abs=0.8)


def test_measured_shots_come_before_estimates():
    made = observation(4)
    kernel = {**made.kernel, "log10_shots_entry": 3.0, "log10_shots_alignment": 4.0, "log10_shots_prediction": 2.0}
    measured = Observation.from_json({**made.to_json(), "kernel": kernel})
    assert entry_shots(measured) == 3.0
    assert len(plot_shots(lines([measured])).axes) == 3


def test_a_landscape_marks_its_lowest_point():
    steps = np.linspace(-1, 1, 7)
    first, second = np.meshgrid(steps, steps)
    losses = LossSlice(first=steps, second=steps, losses=(first - steps[4]) ** 2 + second**2)
    figure = plot_landscape(losses, path=[(1, 1), (0.5, 0.2)], title="costs $ 5")
    marked = next(line for line in figure.axes[1].lines if line.get_label() == "smallest loss")
    assert_allclose([marked.get_xdata()[0], marked.get_ydata()[0]], [steps[4], 0], atol=1e-12)
    assert is_drawn(figure)


def test_a_flat_landscape_is_drawn_too():
    steps = np.linspace(-1, 1, 3)
    assert is_drawn(plot_landscape(LossSlice(first=steps, second=steps, losses=np.full((3, 3), 0.5))))


def test_landscapes_of_a_study_are_those_of_the_first_seeds_along_paths_first():
    steps = [-1.0, 0.0, 1.0]
    found = []
    for seed in (1, 0):
        fields = {"first": steps, "second": steps, "losses": [[seed + 1.0] * 3] * 3}
        kept = {"random": {**fields, "path": []}, "path": {**fields, "path": [[1, 1], [0, 0]]}}
        found.append(Observation.from_json({**observation(4, seed=seed).to_json(), "landscapes": kept}))
    path, random = observed_landscapes(found)
    assert path.title == "small and normal, 4 qubits, main directions of training"
    assert (path.path, random.path) == (((1.0, 1.0), (0.0, 0.0)), ())
    assert path.losses.centre == random.losses.centre == 1.0


def test_a_landscape_comes_from_a_file(tmp_path):
    steps = [-1.0, 0.0, 1.0]
    fields = {"first": steps, "second": steps, "losses": [[1, 1, 1], [1, 0, 1], [1, 1, 1]], "path": [[1, 1], [0, 0]]}
    path = tmp_path / "small_start.json"
    path.write_text(json.dumps(fields))
    read = read_landscape(path)
    assert (read.title, read.losses.centre, read.path) == ("small start", 0.0, ((1.0, 1.0), (0.0, 0.0)))
    for wrong in ("[]", "{", json.dumps({**fields, "losses": [[1]]}), json.dumps({"first": steps})):
        path.write_text(wrong)
        with pytest.raises(InvalidInputError, match=r"small_start\.json.*LossSlice\.to_json"):
            read_landscape(path)


@pytest.mark.parametrize(
    "draw",
    [
        lambda nothing: plot_gradients([nothing]),
        lambda nothing: plot_losses([nothing]),
        lambda nothing: plot_decays(decays(lines([nothing]))),
        lambda nothing: plot_oscillations(lines([nothing])),
        lambda nothing: plot_concentration(lines([nothing])),
        lambda nothing: plot_states(lines([nothing])),
        lambda nothing: plot_shots(lines([nothing])),
    ],
)
def test_what_was_not_measured_is_not_drawn(draw):
    nothing = Observation(model="mcquack", seed=0, settings={"n_qubits": 2})
    with pytest.raises(InvalidInputError, match=r"run a study|pass the decays"):
        draw(nothing)
