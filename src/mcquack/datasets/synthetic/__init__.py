"""Datasets out of nothing but a seed: the recipes of the QML benchmark suite with free parameters, and plus signs."""

from mcquack.datasets.synthetic.hidden_manifold import hidden_manifold
from mcquack.datasets.synthetic.hyperplanes import hyperplanes
from mcquack.datasets.synthetic.linearly_separable import linearly_separable
from mcquack.datasets.synthetic.plus_minus import plus_minus
from mcquack.datasets.synthetic.two_curves import two_curves

__all__ = ["hidden_manifold", "hyperplanes", "linearly_separable", "plus_minus", "two_curves"]
