"""How far a sample can be moved before a fitted model changes its mind: attacks, and radii that no attack gets below.

Everything happens in scaled features, ``model.scaled(X)``, where one length means the same for all features, and
lengths are l-infinity: the largest change of any feature.
"""

from mcquack.models.robustness.attacks import (
    adversarial_radius,
    certified_radius,
    feature_gradients,
    fgsm,
    margins,
    pgd,
    predict_scaled,
)
from mcquack.models.robustness.surfaces import Surface, surface_of

__all__ = [
    "Surface",
    "adversarial_radius",
    "certified_radius",
    "feature_gradients",
    "fgsm",
    "margins",
    "pgd",
    "predict_scaled",
    "surface_of",
]
