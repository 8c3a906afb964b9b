"""Circuits as plain values: feature maps of any gates, the paper's among them, overlap circuits, and drawing.

``mcquack.circuits.library`` has maps from the literature by name.
"""

from mcquack.circuits import library
from mcquack.circuits.angles import Angle, arccos, arcsin, arctan, b, pi_minus, w, x
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.gates import Gate, all_to_all, line, ring
from mcquack.circuits.overlap import OverlapCircuits, Sampler

__all__ = [
    "Angle",
    "Circuit",
    "FeatureMap",
    "Gate",
    "OverlapCircuits",
    "Sampler",
    "all_to_all",
    "arccos",
    "arcsin",
    "arctan",
    "b",
    "library",
    "line",
    "pi_minus",
    "ring",
    "w",
    "x",
]
