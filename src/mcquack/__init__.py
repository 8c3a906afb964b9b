"""Trainable multiclass quantum kernels with one centroid per class."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcquack.circuits.feature_map import FeatureMap
    from mcquack.models import McQuackClassifier, QuackClassifier, load
    from mcquack.models.devices import open_device, open_sampler

__all__ = ["FeatureMap", "McQuackClassifier", "QuackClassifier", "__version__", "load", "open_device", "open_sampler"]

__version__ = version("mcquack")

# Loaded when first asked for: Numba and scikit-learn take seconds, and `mcquack --help` needs neither.
_HOMES = {
    "FeatureMap": "mcquack.circuits.feature_map",
    "McQuackClassifier": "mcquack.models",
    "QuackClassifier": "mcquack.models",
    "load": "mcquack.models",
    "open_device": "mcquack.models.devices",
    "open_sampler": "mcquack.models.devices",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
