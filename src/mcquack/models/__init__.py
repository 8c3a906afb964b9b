"""Estimators with scikit-learn's interface."""

import os

from mcquack.errors import ModelFileError
from mcquack.models.mcquack import McQuackClassifier
from mcquack.models.model_file import read_model
from mcquack.models.presets import PAPER, PRESETS, QML_SUITE, preset
from mcquack.models.quack import QuackClassifier

__all__ = ["PAPER", "PRESETS", "QML_SUITE", "McQuackClassifier", "QuackClassifier", "load", "preset"]

_KINDS = {kind.__name__: kind for kind in (McQuackClassifier, QuackClassifier)}


def load(path: str | os.PathLike[str]) -> McQuackClassifier:
    """The estimator in a model file, whichever kind it is."""
    name = read_model(path).header.get("kind")
    if not isinstance(name, str) or name not in _KINDS:
        raise ModelFileError(f"{path} holds no estimator that this mcquack knows; upgrade it or save the model again.")
    return _KINDS[name].load(path)
