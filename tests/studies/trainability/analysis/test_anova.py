import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mcquack.errors import InvalidInputError
from mcquack.studies.trainability.analysis import exact_anova


def grid_rows(function, *, n_seeds=1, noise=0.0, seed=0, **levels):
    rng = np.random.default_rng(seed)
    return [
        ({**dict(zip(levels, values, strict=True)), "seed": k}, float(function(*values) + noise * rng.normal()))
        for values in itertools.product(*levels.values())
        for k in range(n_seeds)
    ]


@given(shape=st.lists(st.integers(2, 4), min_size=1, max_size=4), n_seeds=st.integers(1, 3), seed=st.integers(0, 99))
def test_shares_of_all_orders_and_noise_sum_to_one(shape, n_seeds, seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=shape)
    levels = {f"s{axis}": list(range(size)) for axis, size in enumerate(shape)}
    rows = grid_rows(lambda *at: table[at], n_seeds=n_seeds, noise=0.3, seed=seed, **levels)
    found = exact_anova(rows, names=list(levels), n_resamples=100)
    total = sum(found.main.values()) + sum(found.pairs.values()) + found.higher + found.noise
    assert total == pytest.approx(1)
    assert all(-1e-12 <= effect.share <= 1 + 1e-12 for effect in found.effects)
    if len(shape) <= 2:
        assert found.higher == pytest.approx(0, abs=1e-12)
    assert (n_seeds == 1) == (found.noise == 0)
    assert found.variance == pytest.approx(np.var([value for _, value in rows]))


def test_a_sum_has_main_effects_alone_with_the_variances_of_its_terms():
    rows = grid_rows(lambda a, b: 2 * a + b, a=[-1, 1], b=[-1, 0, 1])
    found = exact_anova(rows)
    assert found.share("a") == pytest.approx(4 / (4 + 2 / 3))
    assert found.share("b") == pytest.approx((2 / 3) / (4 + 2 / 3))
    assert found.share("a", "b") == pytest.approx(0, abs=1e-12)
    assert found.mean == pytest.approx(0)
    assert_allclose(sum(found.normalised.values()), 1)


def test_a_product_is_an_interaction_alone_and_one_of_three_is_of_higher_order():
    signs = [-1, 1]
    assert exact_anova(grid_rows(lambda a, b: a * b, a=signs, b=signs)).share("b", "a") == pytest.approx(1)
    assert exact_anova(grid_rows(lambda a, b, c: a * b * c, a=signs, b=signs, c=signs)).higher == pytest.approx(1)


def test_the_order_of_rows_and_the_unit_of_the_values_do_not_matter():
    rows = grid_rows(lambda a, b: a * len(b), a=[1, 2, 3], b=["x", "xyz"])
    one = exact_anova(rows)
    other = exact_anova([(settings, 5 - 3 * value) for settings, value in reversed(rows)])
    assert_allclose([other.share(*effect.names) for effect in one.effects], [effect.share for effect in one.effects])


def test_noise_is_its_share_and_effects_are_found_below_it():
    rows = grid_rows(lambda a, b: 1.0 * a, a=[0, 1], b=[0, 1, 2], n_seeds=200, noise=1.0)
    found = exact_anova(rows, names=["a", "b"], n_resamples=200)
    assert found.noise == pytest.approx(1 / 1.25, abs=0.03)
    assert found.share("a") == pytest.approx(0.25 / 1.25, abs=0.03)
    assert found.noiseless("a") == pytest.approx(1, abs=0.03)
    assert found.effect("a").p < 1e-20
    assert found.effect("b").p > 0.01
    assert found.effect("b").degrees == 2


def test_f_tests_reject_what_is_not_there_as_rarely_as_they_say():
    def p_values(seed):
        rows = grid_rows(lambda a, b: 0, a=[0, 1], b=[0, 1, 2], n_seeds=3, noise=1.0, seed=seed)
        return [effect.p for effect in exact_anova(rows, names=["a", "b"], n_resamples=100).effects]

    rejected = np.mean([p < 0.05 for seed in range(200) for p in p_values(seed)])
    assert 0.02 < rejected < 0.08


def test_intervals_cover_shares_and_unbiased_shares_are_free_of_noise():
    def truth(a, b, c):
        return a + 0.1 * b + 0.15 * a * c

    levels = {"a": [0, 1], "b": list(range(6)), "c": [0, 1]}
    exact = exact_anova(grid_rows(truth, **levels))
    factor = exact.variance / (exact.variance + 0.25)
    covered, unbiased = {"a": 0, "b": 0}, []
    for seed in range(100):
        rows = grid_rows(truth, **levels, n_seeds=4, noise=0.5, seed=seed)
        found = exact_anova(rows, names=list(levels), n_resamples=200)
        for name in covered:
            interval = found.effect(name).interval
            covered[name] += interval.low <= exact.share(name) * factor <= interval.high
        unbiased.append(found.effect("b").unbiased)
    assert min(covered.values()) >= 84
    assert np.mean(unbiased) == pytest.approx(exact.share("b") * factor, rel=0.15)


def test_cells_may_have_lost_some_replicates():
    rows = grid_rows(lambda a, b: a, a=[0, 1], b=[0, 1], n_seeds=4, noise=0.1)[2:]
    found = exact_anova(rows, names=["a", "b"])
    assert found.share("a") > 0.9
    assert found.effect("a").interval is not None


def test_values_that_are_all_equal_have_no_shares():
    found = exact_anova(grid_rows(lambda a: 1.0, a=[0, 1]))
    assert (found.share("a"), found.noise, found.higher, found.variance) == (0, 0, 0, 0)


def test_an_incomplete_grid_is_refused_with_what_it_lacks():
    rows = grid_rows(lambda a, b: a, a=[0, 1], b=["x", "y"])[:-1]
    with pytest.raises(InvalidInputError, match=r"lacks 1 of 4 cells \(a = 1, b = 'y'\)"):
        exact_anova(rows)
    with pytest.raises(InvalidInputError, match="no setting has more than one value"):
        exact_anova(rows[:1])
    with pytest.raises(InvalidInputError, match="not all rows have a setting 'c'"):
        exact_anova(rows, names=["c"])
    with pytest.raises(InvalidInputError, match="there is no effect of z"):
        exact_anova(rows[:2]).share("z")
