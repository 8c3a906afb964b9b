"""Kernel alignment and centroid optimisation, epoch by epoch."""

from mcquack.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__, __file__)
