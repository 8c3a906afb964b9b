"""Does a model train, and what decides it: gradients, loss curves and states over sizes, depths and starts.

A :class:`Design` says what is run, :class:`TrainabilityProbe` is the instrument, :func:`run_design` fills a store and
:func:`observations` reads it again; :mod:`mcquack.studies.trainability.analysis` tells what the observations say.
"""

from mcquack.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__, __file__)
