"""Importances as Optuna's fANOVA estimates them, with a forest in place of the grid, in both of its conventions."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from mcquack.checks import required_count
from mcquack.extras import OPTUNA
from mcquack.studies.trainability.analysis.complete_grid import Rows, are_numbers, varying_levels


@dataclass(frozen=True, kw_only=True)
class ForestImportances:
    """Main effects of the settings, largest first.

    ``unnormalised`` are shares of the forest's variance, and what they lack to 1 are interactions; ``normalised`` are
    the same divided by their sum, which is what Optuna gives and draws unless it is asked otherwise.
    """

    normalised: Mapping[str, float]
    unnormalised: Mapping[str, float]
    n_rows: int
    n_trees: int


def forest_importances(
    rows: Rows, *, names: Sequence[str] | None = None, n_trees: int = 64, seed: int = 0
) -> ForestImportances:
    """fANOVA of a random forest fitted to the rows, by the named settings or by all that vary; no grid is needed.

    Every level of a setting counts alike, as in the exact ANOVA.
    """
    required_count("n_trees", n_trees)
    given = list(rows)
    levels = varying_levels(given, names)
    optuna = _optuna()
    study = optuna.create_study(study_name="importance", storage=None)
    kinds = {name: _distribution(optuna, values) for name, values in levels.items()}
    study.add_trials(
        optuna.trial.create_trial(
            params={name: _coded(settings[name], values) for name, values in levels.items()},
            distributions=kinds,
            value=float(value),
        )
        for settings, value in given
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=n_trees, seed=seed)
        found = {name: float(share) for name, share in evaluator.evaluate(study).items()}
    ordered = dict(sorted(found.items(), key=lambda item: -item[1]))
    total = sum(ordered.values())
    return ForestImportances(
        normalised={name: share / total if total > 0 else 0.0 for name, share in ordered.items()},
        unnormalised=ordered,
        n_rows=len(given),
        n_trees=n_trees,
    )


def _distribution(optuna: ModuleType, levels: tuple[Any, ...]) -> Any:
    if are_numbers(levels):
        # Places in their order: trees may divide them, and gaps between numbers do not count as more of the space.
        return optuna.distributions.IntDistribution(0, len(levels) - 1)
    return optuna.distributions.CategoricalDistribution(range(len(levels)))


def _coded(value: Any, levels: tuple[Any, ...]) -> int:
    return levels.index(value)


def _optuna() -> ModuleType:
    optuna = OPTUNA.imported(what="fANOVA (on a complete grid, exact_anova needs nothing)")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
