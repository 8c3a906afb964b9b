"""Pictures of a dataset, a fitted model, a device or a ranking; each function returns a figure to show or save."""

from mcquack.report.circuit import plot_circuit
from mcquack.report.dataset import plot_dataset
from mcquack.report.device import plot_bitflip_calibration, plot_device_ring
from mcquack.report.embedding import plot_embedding
from mcquack.report.history import plot_history
from mcquack.report.kernel import plot_kernel
from mcquack.report.ranking import plot_critical_difference, plot_ranking, plot_scores_by_size, plot_wins

__all__ = [
    "plot_bitflip_calibration",
    "plot_circuit",
    "plot_critical_difference",
    "plot_dataset",
    "plot_device_ring",
    "plot_embedding",
    "plot_history",
    "plot_kernel",
    "plot_ranking",
    "plot_scores_by_size",
    "plot_wins",
]
