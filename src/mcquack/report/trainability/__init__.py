"""The trainability study made visible: figures in the style of the paper, and a page with all of them."""

from mcquack.report.trainability.decays import Decay, decays, plot_decays
from mcquack.report.trainability.gradients import GradientPoint, gradient_points, plot_gradients
from mcquack.report.trainability.importance import plot_importances
from mcquack.report.trainability.kernels import plot_concentration, plot_states
from mcquack.report.trainability.landscape import Landscape, plot_landscape, read_landscape
from mcquack.report.trainability.lines import Line, lines, paper_slice, with_settings
from mcquack.report.trainability.losses import plot_gradient_norms, plot_losses
from mcquack.report.trainability.oscillations import plot_oscillations
from mcquack.report.trainability.shots import plot_shots
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
