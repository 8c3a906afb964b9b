"""What an estimator's settings must look like; scikit-learn wants this asked in ``fit``, not in ``__init__``."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mcquack.checks import is_number, is_whole_number, require
from mcquack.models.engines import check_engine

MAX_BOUND = 1e4  # of the feature range; angles beyond it would lose digits in float32


def check_settings(settings: Mapping[str, Any], *, least_epochs: int = 1) -> None:
    """Raises on the first setting that training could not use; those of the loop itself check themselves."""
    for name, least in (("n_qubits", 1), ("epochs", least_epochs)):
        enough = is_whole_number(settings[name]) and settings[name] >= least
        require(enough, name, f"a whole number of at least {least}", settings[name])
    for name in ("n_repetitions", "patience", "n_threads"):
        value = settings[name]
        require(value is None or _is_count(value), name, "None or a whole number of at least 1", value)
    check_engine(settings.get("engine", "statevector"), int(settings["n_qubits"]))
    for name in ("scale", "init_small", "final_entangler", *(["warm_start"] if "warm_start" in settings else [])):
        require(isinstance(settings[name], bool | np.bool_), name, "True or False", settings[name])
    for name, choices in (("init_strategy", ("default", "wx+b=0")), ("dtype", ("float32", "float64"))):
        value = str(settings[name]) if name == "dtype" else settings[name]
        require(value in choices, name, " or ".join(map(repr, choices)), settings[name])
    fraction = settings["validation_fraction"]
    require(
        fraction is None or (is_number(fraction) and 0 <= fraction < 1),
        "validation_fraction",
        "None or a number from 0 to below 1",
        fraction,
    )
    _check_feature_range(settings["feature_range"])
    _check_class_weight(settings["class_weight"])
    check_random_state(settings["random_state"])


def check_random_state(seed: Any) -> None:
    """Refuses what no stream of random numbers can be opened from."""
    drawn = isinstance(seed, np.random.RandomState) or seed is None or seed is np.random
    whole = is_whole_number(seed) and 0 <= seed < 2**32
    require(drawn or whole, "random_state", "None, a whole number from 0 to 2**32 - 1, or a RandomState", seed)


def _check_feature_range(pair: Any) -> None:
    numbers = isinstance(pair, tuple | list) and len(pair) == 2 and all(map(is_number, pair))
    require(
        numbers and all(abs(bound) <= MAX_BOUND for bound in pair),
        "feature_range",
        f"a pair of numbers between -{MAX_BOUND:g} and {MAX_BOUND:g}",
        pair,
    )


def _check_class_weight(weights: Any) -> None:
    if weights is None or (isinstance(weights, str) and weights == "balanced"):
        return
    require(
        isinstance(weights, Mapping) and all(is_number(w) and 0 <= w < np.inf for w in weights.values()),
        "class_weight",
        'None, "balanced" or a dict of numbers of at least 0',
        weights,
    )


def _is_count(value: Any) -> bool:
    return is_whole_number(value) and bool(value >= 1)
