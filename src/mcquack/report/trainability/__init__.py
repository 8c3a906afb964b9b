"""The trainability study made visible: figures in the style of the paper, and a page with all of them."""

from mcquack.report.trainability.figures import (
    Line,
    lines,
    paper_slice,
    plot_gradient_norms,
    plot_losses,
    plot_oscillations,
    with_settings,
)
from mcquack.report.trainability.gradients import (
    Decay,
    GradientPoint,
    Landscape,
    decays,
    gradient_points,
    plot_decays,
    plot_gradients,
    plot_importances,
    plot_landscape,
    read_landscape,
)
from mcquack.report.trainability.kernels import plot_concentration, plot_shots, plot_states
from mcquack.report.trainability.writing import write_trainability_report

__all__ = [
    "Decay",
    "GradientPoint",
    "Landscape",
    "Line",
    "decays",
    "gradient_points",
    "lines",
    "paper_slice",
    "plot_concentration",
    "plot_decays",
    "plot_gradient_norms",
    "plot_gradients",
    "plot_importances",
    "plot_landscape",
    "plot_losses",
    "plot_oscillations",
    "plot_shots",
    "plot_states",
    "read_landscape",
    "with_settings",
    "write_trainability_report",
]
