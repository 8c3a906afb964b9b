"""The N × M matrix of fidelities, how well it fits the labels, how it is measured, and kernels as objects."""

from mcquack.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__, __file__)
