"""Means by setting, exact shares of variance, and fANOVA."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mcquack.errors import InvalidInputError, MissingDependencyError
from mcquack.studies.trainability.analysis import exact_anova, forest_importances, means_by
from mcquack.studies.trainability.analysis import importance as fanova
from mcquack.studies.trainability.analysis.importance import normalised
from tests.known import known


def test_means_are_those_of_the_runs_that_share_the_named_settings():
    rows = [({"lr": lr, "seed": seed}, 10 * lr + seed) for lr in (0.1, 0.01) for seed in range(3)]
    fast, slow = means_by(rows, ["lr"])
    assert (fast.settings, fast.n) == ({"lr": 0.1}, 3)
    assert fast.mean == pytest.approx(2)
    assert (slow.settings, slow.n) == ({"lr": 0.01}, 3)
    assert slow.mean == pytest.approx(1.1)


def test_runs_without_a_value_are_counted_and_groups_without_any_are_left_out():
    rows = [({"lr": 1}, None), ({"lr": 2}, float("nan")), ({"lr": 2}, 3.0)]
    (group,) = means_by(rows, ["lr"])
    assert (group.mean, group.n, group.n_left_out, group.interval) == (3.0, 1, 1, None)


def test_students_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(0)
    groups = means_by([({"g": g}, float(rng.normal())) for g in range(400) for _ in range(4)], ["g"], level=0.9)
    covered = sum(known(group.interval).low <= 0 <= known(group.interval).high for group in groups)
    assert 340 <= covered <= 380


def test_a_setting_that_a_run_lacks_is_named():
    with pytest.raises(InvalidInputError, match="no setting 'lr'; it has n_qubits"):
        means_by([({"n_qubits": 2}, 1.0)], ["lr"])


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
    total = sum(effect.share for effect in found.effects) + found.higher + found.noise
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
    assert found.share("a") / (1 - found.noise) == pytest.approx(1, abs=0.03)
    assert known(found.effect("a").p) < 1e-20
    assert known(found.effect("b").p) > 0.01


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
            interval = known(found.effect(name).interval)
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
    with pytest.raises(InvalidInputError, match="vary one"):
        exact_anova(rows[:1])
    with pytest.raises(InvalidInputError, match="'c'"):
        exact_anova(rows, names=["c"])
    with pytest.raises(InvalidInputError, match=r" of z; "):
        exact_anova(rows[:2]).share("z")


def rows(*, n_seeds=3, noise=0.05, skip=0):
    rng = np.random.default_rng(0)
    grid = itertools.product(range(2, 8), (True, False), ("default", "wx+b=0"), (True, False))
    return [
        (
            {"n_qubits": n, "init_small": small, "init_strategy": strategy, "regularised": regularised},
            float(2 * small + 0.2 * n + 0.5 * (small and strategy == "default") + noise * rng.normal()),
        )
        for n, small, strategy, regularised in grid
        for _ in range(n_seeds)
    ][skip:]


def test_the_forest_agrees_with_the_exact_decomposition_in_both_conventions():
    pytest.importorskip("optuna")
    exact, forest = exact_anova(rows()), forest_importances(rows(), n_trees=32)
    for name in exact.names:
        assert forest[name] == pytest.approx(exact.share(name) / (1 - exact.noise), abs=0.05)
        assert normalised(forest)[name] == pytest.approx(exact.share(name) / sum(exact.main.values()), abs=0.05)
    assert sum(normalised(forest).values()) == pytest.approx(1)
    assert sum(forest.values()) < 1
    assert next(iter(normalised(forest))) == "init_small"


@pytest.mark.filterwarnings("ignore:Argument ``normalize`` is an experimental")
def test_both_conventions_are_those_of_optuna():
    optuna = pytest.importorskip("optuna")
    study = optuna.create_study()
    small = {"init_small": optuna.distributions.CategoricalDistribution([0, 1])}
    n_qubits = {"n_qubits": optuna.distributions.IntDistribution(0, 5)}
    levels: dict[str, list[Any]] = {"n_qubits": list(range(2, 8)), "init_small": [True, False]}
    for settings, value in rows():
        params = {name: levels[name].index(settings[name]) for name in levels}
        study.add_trial(optuna.trial.create_trial(params=params, distributions={**n_qubits, **small}, value=value))
    evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=8, seed=0)
    found = forest_importances(rows(), names=list(levels), n_trees=8)
    for normalize, ours in ((True, normalised(found)), (False, found)):
        theirs = optuna.importance.get_param_importances(study, evaluator=evaluator, normalize=normalize)
        assert ours == pytest.approx(theirs)


def test_no_complete_grid_is_needed_and_the_seed_decides():
    pytest.importorskip("optuna")
    one, two = (forest_importances(rows(skip=20), n_trees=4, seed=5) for _ in range(2))
    assert one == two


def test_without_optuna_the_error_says_what_else_there_is(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with pytest.raises(MissingDependencyError, match="exact_anova"):
        fanova.forest_importances(rows())
