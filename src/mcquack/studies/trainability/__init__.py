"""Does a model train, and what decides it: gradients, loss curves and states over sizes, depths and starts.

A :class:`Design` says what is run, :class:`TrainabilityProbe` is the instrument, :func:`run_design` fills a store and
:func:`observations` reads it again; :mod:`mcquack.studies.trainability.analysis` tells what the observations say.
"""

from mcquack.studies.trainability.design import (
    BUILT_IN,
    DEFAULT,
    PROBE,
    Design,
    Grid,
    Sizes,
    design_from_json,
    design_from_text,
    read_design,
)
from mcquack.studies.trainability.observation import (
    GROUPS,
    GradientStatistics,
    Group,
    Observation,
    fidelity_gradients,
    gradient_statistics,
    loss_gradients,
)
from mcquack.studies.trainability.probe import TrainabilityProbe
from mcquack.studies.trainability.running import observations, run_design

__all__ = [
    "BUILT_IN",
    "DEFAULT",
    "GROUPS",
    "PROBE",
    "Design",
    "GradientStatistics",
    "Grid",
    "Group",
    "Observation",
    "Sizes",
    "TrainabilityProbe",
    "design_from_json",
    "design_from_text",
    "fidelity_gradients",
    "gradient_statistics",
    "loss_gradients",
    "observations",
    "read_design",
    "run_design",
]
