"""Does a model train, and what decides it: gradients, loss curves and states over sizes, depths and starts.

A :class:`Design` says what is run, :class:`TrainabilityProbe` is the instrument, :func:`run_design` fills a store and
:func:`observations` reads it again; :mod:`mcquack.studies.trainability.analysis` tells what the observations say.
"""

from mcquack.studies.trainability.design import Design, Grid, Sizes, read_design
from mcquack.studies.trainability.observation import GradientStatistics, Observation
from mcquack.studies.trainability.probe import TrainabilityProbe
from mcquack.studies.trainability.running import observations, run_design

__all__ = [
    "Design",
    "GradientStatistics",
    "Grid",
    "Observation",
    "Sizes",
    "TrainabilityProbe",
    "observations",
    "read_design",
    "run_design",
]
