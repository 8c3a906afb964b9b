import itertools

import numpy as np
import pytest

from mcquack.errors import MissingDependencyError
from mcquack.studies.trainability.analysis import exact_anova, forest_importances
from mcquack.studies.trainability.analysis import importance as fanova


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
        assert forest.unnormalised[name] == pytest.approx(exact.noiseless(name), abs=0.05)
        assert forest.normalised[name] == pytest.approx(exact.normalised[name], abs=0.05)
    assert sum(forest.normalised.values()) == pytest.approx(1)
    assert sum(forest.unnormalised.values()) < 1
    assert next(iter(forest.normalised)) == "init_small"
    assert (forest.n_rows, forest.n_trees) == (len(rows()), 32)


@pytest.mark.filterwarnings("ignore:Argument ``normalize`` is an experimental")
def test_both_conventions_are_those_of_optuna():
    optuna = pytest.importorskip("optuna")
    study = optuna.create_study()
    small = {"init_small": optuna.distributions.CategoricalDistribution([0, 1])}
    n_qubits = {"n_qubits": optuna.distributions.IntDistribution(0, 5)}
    levels = {"n_qubits": list(range(2, 8)), "init_small": [True, False]}
    for settings, value in rows():
        params = {name: levels[name].index(settings[name]) for name in levels}
        study.add_trial(optuna.trial.create_trial(params=params, distributions={**n_qubits, **small}, value=value))
    evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=8, seed=0)
    found = forest_importances(rows(), names=list(levels), n_trees=8)
    for normalize, ours in ((True, found.normalised), (False, found.unnormalised)):
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
