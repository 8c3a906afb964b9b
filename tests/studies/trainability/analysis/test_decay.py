"""Means over seeds, laws fitted to them, and verdicts."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.errors import InvalidInputError
from mcquack.studies.trainability.analysis import gradient_means, scaling
from mcquack.studies.trainability.analysis.decay import fit_decay, size_means
from mcquack.studies.trainability.observation import GradientStatistics, Observation


def test_means_are_those_of_the_values_of_each_size_in_rising_order():
    means = size_means([4, 2, 4, 2, 8], [1.0, 3.0, 2.0, 5.0, 0.25])
    assert_allclose(means.sizes, [2, 4, 8])
    assert_allclose(np.exp(means.logs), [4, 1.5, 0.25])


def test_logarithms_reach_where_numbers_do_not():
    means = size_means([2, 2, 3], [-2000.0, -2000.0 + math.log(3), -4000.0], logarithmic=True)
    assert_allclose(means.logs, [-2000 + math.log(2), -4000])


def test_the_scale_of_the_values_changes_only_the_logarithms():
    values = np.random.default_rng(0).lognormal(size=30)
    sizes = np.repeat(np.arange(2, 12), 3)
    one, other = size_means(sizes, values), size_means(sizes, 7e-9 * values)
    assert_allclose(other.logs, one.logs + math.log(7e-9))
    assert_allclose(other.variances, one.variances)


def test_a_size_with_more_seeds_is_better_known():
    values = np.random.default_rng(1).lognormal(sigma=0.3, size=12)
    means = size_means([2] * 2 + [3] * 8 + [4] * 2, values)
    assert_allclose(means.variances[0], 4 * means.variances[1])


def test_values_that_vanished_are_left_out_and_counted():
    means = size_means([2, 2, 3], [1.0, 0.0, 0.0])
    assert means.sizes.tolist() == [2]
    assert means.n_vanished == 2


def test_gradient_means_are_mean_squares_even_where_squares_underflow():
    statistics = GradientStatistics(mean=0, std=1e-200, mean_abs=1e-200, norm=4e-200, n=16)
    observation = Observation(
        model="mcquack", seed=0, settings={"n_qubits": 9}, fidelity_gradients={"bias": statistics}
    )
    without = Observation(model="mcquack", seed=0, settings={"n_qubits": 9})
    means = gradient_means([observation, without], "bias", of="fidelity_gradients")
    assert_allclose(means.logs, [2 * math.log(1e-200)])
    assert len(gradient_means([observation], "bias")) == 0


@pytest.mark.parametrize(
    ("sizes", "values"), [([2, 3], [1.0]), ([0, 3], [1.0, 1.0]), ([2, 3], [1.0, -1.0]), ([2, 3], [1.0, math.nan])]
)
def test_what_has_no_logarithm_is_refused(sizes, values):
    with pytest.raises(InvalidInputError):
        size_means(sizes, values)


SIZES = np.arange(2, 14)


def noisy_means(log_law, *, sizes=SIZES, n_seeds=3, seeds_scatter=0.3, misfit=0.0, seed=0):
    """Means of log-normal values around a law, each of which a size misses as a whole by ``misfit``."""
    rng = np.random.default_rng(seed)
    at = np.asarray(sizes, float)
    centres = log_law(at) + rng.normal(scale=misfit, size=len(at))
    logs = centres[:, None] + rng.normal(scale=seeds_scatter, size=(len(at), n_seeds))
    return size_means(np.repeat(at, n_seeds), logs.reshape(-1), logarithmic=True)


def exponential(n):
    return 1.5 - 0.7 * n


def power(n):
    return 1.5 - 2.5 * np.log(n)


@pytest.mark.parametrize(("law", "log_law", "rate"), [("exponential", exponential, 0.7), ("power", power, 2.5)])
def test_a_law_without_scatter_is_found_exactly(law, log_law, rate):
    fit = fit_decay(noisy_means(log_law, seeds_scatter=0), law=law)
    assert fit.rate == pytest.approx(rate)
    assert fit.log_amplitude == pytest.approx(1.5)
    assert fit.misfit == pytest.approx(1)
    assert_allclose(fit.log_predicted(SIZES), log_law(SIZES))
    assert fit.rate_interval.low == pytest.approx(rate, abs=1e-6)
    assert fit.rate_interval.high == pytest.approx(rate, abs=1e-6)


@pytest.mark.parametrize(
    ("sizes", "n_seeds", "seeds_scatter", "misfit"),
    [(SIZES, 3, 0.4, 0.0), (SIZES, 1, 0.0, 0.5), ([2, 4, 6, 8, 10, 18], 3, 0.2, 0.3)],
)
def test_intervals_cover_the_truth_as_often_as_they_say(sizes, n_seeds, seeds_scatter, misfit):
    covered, n_runs = np.zeros(2), 120
    at = 20.0
    for seed in range(n_runs):
        means = noisy_means(
            exponential, sizes=sizes, n_seeds=n_seeds, seeds_scatter=seeds_scatter, misfit=misfit, seed=seed
        )
        fit = fit_decay(means, law="exponential", n_resamples=300)
        # The mean of log-normal values lies above their median; of so few, by a little less.
        truth = exponential(at) + seeds_scatter**2 / 2 * (1 - 1 / n_seeds)
        low, high = fit.log_band([at])
        covered += [fit.rate_interval.low <= 0.7 <= fit.rate_interval.high, low[0] <= truth <= high[0]]
    # 95 % of 120 is 114, with a standard deviation of 2.4.
    assert (covered >= 105).all()
    assert (covered <= 120).all()


def test_a_scatter_that_seeds_do_not_explain_is_told_apart_from_one_that_they_do():
    assert fit_decay(noisy_means(exponential, n_seeds=5, misfit=0.8), law="exponential").excess > 0.4
    assert fit_decay(noisy_means(exponential, n_seeds=5, misfit=0), law="exponential").excess < 0.2


def test_the_band_holds_the_law_and_widens_beyond_the_sizes():
    fit = fit_decay(noisy_means(power), law="power")
    low, high = fit.log_band([6, 13, 60])
    center = fit.log_predicted([6, 13, 60])
    assert ((low < center) & (center < high)).all()
    widths = high - low
    assert widths[0] < widths[1] < widths[2]


def test_the_unit_of_the_values_moves_the_amplitude_alone():
    one, other = (fit_decay(noisy_means(lambda n, c=c: c - 0.7 * n), law="exponential") for c in (0.0, -100.0))
    assert other.rate == pytest.approx(one.rate)
    assert other.rate_interval.low == pytest.approx(one.rate_interval.low)
    assert other.log_amplitude == pytest.approx(one.log_amplitude - 100)


def test_a_size_with_many_seeds_counts_more_than_one_with_few():
    rng = np.random.default_rng(3)
    sizes = np.concatenate([np.repeat(SIZES, 3), np.full(200, 20)])
    logs = exponential(sizes) + rng.normal(scale=0.5, size=len(sizes))
    fit = fit_decay(size_means(sizes, logs, logarithmic=True), law="exponential")
    residual = fit.log_predicted(20.0) - (exponential(20.0) + 0.5**2 / 2)
    assert abs(residual) < 0.15


def test_the_constant_law_has_no_rate_and_its_mean_as_value():
    fit = fit_decay(noisy_means(lambda n: 0 * n, n_seeds=30), law="constant")
    assert fit.rate == 0
    assert fit.log_band([5])[0][0] < 0.3**2 / 2 < fit.log_band([500])[1][0]


def test_halvings_are_the_rate_in_bits():
    halvings, ends = scaling(noisy_means(lambda n: -2 * math.log(2) * n, seeds_scatter=0.05)).halvings
    assert halvings == pytest.approx(2, abs=0.05)
    assert ends.low < halvings < ends.high


def test_the_same_means_give_the_same_fit():
    one, two = (fit_decay(noisy_means(power), law="power", seed=4) for _ in range(2))
    assert (one.rate, one.rate_interval, one.aicc) == (two.rate, two.rate_interval, two.aicc)


def test_too_few_sizes_are_refused():
    with pytest.raises(InvalidInputError, match="5 sizes or more, got 4"):
        fit_decay(noisy_means(power, sizes=[2, 3, 4, 5]), law="power")
    with pytest.raises(InvalidInputError, match="law must be"):
        fit_decay(noisy_means(power), law="linear")  # type: ignore[arg-type]


def verdict(log_law, *, scatter=0.1, n_seeds=4, seed=0, sizes=SIZES):
    rng = np.random.default_rng(seed)
    runs = np.repeat(np.asarray(sizes, float), n_seeds)
    logs = log_law(runs) + rng.normal(scale=scatter, size=len(runs))
    return scaling(size_means(runs, logs, logarithmic=True), n_resamples=300)


def test_an_exponential_decay_is_called_so_with_its_rate():
    found = verdict(lambda n: -0.9 * math.log(2) * n)
    assert found.kind == found.best == found.favoured == "exponential"
    assert found.advantage > 6
    assert found.halvings[0] == pytest.approx(0.9, abs=0.02)
    told = -found.halvings[0]
    assert f"decays exponentially, by a factor of 2^({told:.2f}) per qubit" in found.sentence
    assert "favoured over the power law by ΔAICc" in found.sentence


def test_a_power_law_is_called_so_with_its_exponent():
    found = verdict(lambda n: -2 * np.log(n))
    assert found.kind == found.favoured == "power"
    assert found.advantage < -6
    assert found.fits["power"].rate == pytest.approx(2, abs=0.1)
    assert f"decays polynomially, as n^({-found.fits['power'].rate:.2f})" in found.sentence


def test_no_decay_is_none_and_says_what_decay_is_excluded():
    found = verdict(lambda n: 0 * n)
    assert found.kind == "none"
    assert "no change that could be told from scatter" in found.sentence
    assert "95 % interval of the exponent" in found.sentence


def test_growth_is_no_decay():
    assert verdict(lambda n: 0.3 * n).kind == "growth"
    assert "grows" in verdict(lambda n: 0.3 * n).sentence


def test_what_both_laws_fit_is_left_undecided():
    found = verdict(lambda n: -0.1 * n, scatter=0.15, sizes=np.arange(6, 14))
    assert found.kind == "undecided"
    assert found.favoured is None
    assert "do not tell which" in found.sentence


def test_a_law_that_misses_is_reported_as_such():
    wild = np.random.default_rng(0).normal(scale=1.5, size=100)
    found = verdict(lambda n: -2 * n + wild[n.astype(int)])
    assert "no law is close" in found.sentence


def test_truth_is_seldom_called_by_the_wrong_name():
    laws = {"exponential": lambda n: -0.7 * n, "power": lambda n: -3 * np.log(n), "none": lambda n: 0 * n}
    for name, law in laws.items():
        kinds = [verdict(law, scatter=0.4, seed=seed).kind for seed in range(25)]
        assert sum(kind not in (name, "undecided") for kind in kinds) <= 4, (name, kinds)
