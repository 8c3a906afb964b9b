"""The trainability study made visible: figures in the style of the paper, and a page with all of them.

Figures take observations, or lines of them, and give figures of matplotlib:

>>> from mcquack.studies.trainability import Observation
>>> seen = [Observation(model="mcquack", seed=0, settings={"n_qubits": n}, trace={"loss": (0.9, 0.5)}) for n in (2, 3)]
>>> plot_losses(seen).axes[0].get_ylabel()
'loss'
"""

from mcquack.report.trainability.figures import (
    KERNEL,
    SHOTS,
    decays,
    plot_decays,
    plot_gradients,
    plot_importances,
    plot_landscape,
    plot_losses,
    plot_measures,
)
from mcquack.report.trainability.page import write_trainability_report
from mcquack.report.trainability.study import Landscape, Line, lines, paper_slice, read_landscape, with_settings

__all__ = [
    "KERNEL",
    "SHOTS",
    "Landscape",
    "Line",
    "decays",
    "lines",
    "paper_slice",
    "plot_decays",
    "plot_gradients",
    "plot_importances",
    "plot_landscape",
    "plot_losses",
    "plot_measures",
    "read_landscape",
    "with_settings",
    "write_trainability_report",
]
