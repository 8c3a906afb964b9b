import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.errors import InvalidInputError
from mcquack.studies.trainability.analysis import fit_decay, size_means

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
    assert_allclose(fit.predicted(SIZES), np.exp(log_law(SIZES)))
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
        truth = math.exp(exponential(at) + seeds_scatter**2 / 2 * (1 - 1 / n_seeds))
        band = fit.band([at])
        covered += [fit.rate_interval.low <= 0.7 <= fit.rate_interval.high, band.low[0] <= truth <= band.high[0]]
    # 95 % of 120 is 114, with a standard deviation of 2.4.
    assert (covered >= 105).all()
    assert (covered <= 120).all()


def test_a_scatter_that_seeds_do_not_explain_is_told_apart_from_one_that_they_do():
    assert fit_decay(noisy_means(exponential, n_seeds=5, misfit=0.8), law="exponential").excess > 0.4
    assert fit_decay(noisy_means(exponential, n_seeds=5, misfit=0), law="exponential").excess < 0.2


def test_the_band_holds_the_law_and_widens_beyond_the_sizes():
    fit = fit_decay(noisy_means(power), law="power")
    band = fit.band([6, 13, 60])
    assert ((band.low < band.center) & (band.center < band.high)).all()
    widths = np.log(band.high / band.low)
    assert widths[0] < widths[1] < widths[2]
    assert_allclose(band.center, fit.predicted([6, 13, 60]))


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
    residual = math.log(fit.predicted(20.0)) - (exponential(20.0) + 0.5**2 / 2)
    assert abs(residual) < 0.15


def test_the_constant_law_has_no_rate_and_its_mean_as_value():
    fit = fit_decay(noisy_means(lambda n: 0 * n, n_seeds=30), law="constant")
    assert fit.rate == 0
    assert fit.band([5]).low[0] < math.exp(0.3**2 / 2) < fit.band([500]).high[0]
    with pytest.raises(InvalidInputError, match="exponential"):
        _ = fit.halvings_per_qubit


def test_halvings_are_the_rate_in_bits():
    fit = fit_decay(noisy_means(lambda n: -2 * math.log(2) * n, seeds_scatter=0.05), law="exponential")
    assert fit.halvings_per_qubit == pytest.approx(2, abs=0.05)
    assert fit.factor_per_qubit == pytest.approx(1 / 4, abs=0.02)
    assert fit.halvings_interval.low < fit.halvings_per_qubit < fit.halvings_interval.high
    assert "2^(-" in fit.formula


def test_the_same_means_give_the_same_fit():
    one, two = (fit_decay(noisy_means(power), law="power", seed=4) for _ in range(2))
    assert (one.rate, one.rate_interval, one.aicc) == (two.rate, two.rate_interval, two.aicc)


def test_too_few_sizes_are_refused():
    with pytest.raises(InvalidInputError, match="5 sizes or more, got 4"):
        fit_decay(noisy_means(power, sizes=[2, 3, 4, 5]), law="power")
    with pytest.raises(InvalidInputError, match="law must be"):
        fit_decay(noisy_means(power), law="linear")
