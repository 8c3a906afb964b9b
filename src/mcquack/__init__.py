"""Trainable multiclass quantum kernels with one centroid per class."""

from importlib.metadata import version

from mcquack.circuits.feature_map import FeatureMap
from mcquack.models import McQuackClassifier, QuackClassifier, load

__all__ = ["FeatureMap", "McQuackClassifier", "QuackClassifier", "__version__", "load"]

__version__ = version("mcquack")
