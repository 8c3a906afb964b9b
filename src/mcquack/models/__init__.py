"""Estimators with scikit-learn's interface."""

import os

from mcquack.models import archive
from mcquack.models.mcquack import McQuackClassifier
from mcquack.models.presets import PAPER, PRESETS, QML_SUITE, preset
from mcquack.models.quack import QuackClassifier

__all__ = ["PAPER", "PRESETS", "QML_SUITE", "McQuackClassifier", "QuackClassifier", "load", "preset"]

_KINDS: dict[str, type[McQuackClassifier]] = {kind.__name__: kind for kind in (McQuackClassifier, QuackClassifier)}


def load(path: str | os.PathLike[str]) -> McQuackClassifier:
    """The estimator in a model file, whichever kind it is."""
    return archive.load(_KINDS, path)
