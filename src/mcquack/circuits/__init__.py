"""Circuits as plain values: feature maps of any gates, the paper's among them, overlap circuits, and drawing.

``mcquack.circuits.library`` has maps from the literature by name.
"""

from mcquack.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__, __file__)
