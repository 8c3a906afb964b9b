"""How far a sample can be moved before a fitted model changes its mind: attacks, and radii that no attack gets below.

Everything happens in scaled features, ``model.scaled(X)``, where one length means the same for all features, and
lengths are l-infinity: the largest change of any feature.
"""

from mcquack.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__, __file__)
