"""The circuits as plain values: the trainable feature map, the overlap circuits that measure a kernel, and drawing."""

from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits, Sampler

__all__ = ["FeatureMap", "OverlapCircuits", "Sampler"]
