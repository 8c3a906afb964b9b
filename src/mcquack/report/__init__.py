"""Pictures of a dataset, a circuit, a fitted model, a device or a ranking, and the report of a benchmark as a page.

Each ``plot_`` function returns a matplotlib figure to show or save, at print resolution, and displays are the same
pictures as scikit-learn has them: ``KernelDisplay.from_estimator(model, X, y)``. ``write_report`` writes a folder with
a page that needs nothing but a browser. The report of a trainability study is in ``mcquack.report.trainability``.
"""

from mcquack.report.benchmark import write_report
from mcquack.report.circuit import plot_circuit
from mcquack.report.dataset import plot_dataset
from mcquack.report.device import plot_bitflip_calibration, plot_device_ring
from mcquack.report.embedding import EmbeddingDisplay, plot_embedding
from mcquack.report.model import (
    KernelDisplay,
    TrainingDisplay,
    plot_history,
    plot_importances,
    plot_kernel,
)
from mcquack.report.ranking import plot_critical_difference, plot_ranking, plot_scores_by_size, plot_wins

__all__ = [
    "EmbeddingDisplay",
    "KernelDisplay",
    "TrainingDisplay",
    "plot_bitflip_calibration",
    "plot_circuit",
    "plot_critical_difference",
    "plot_dataset",
    "plot_device_ring",
    "plot_embedding",
    "plot_history",
    "plot_importances",
    "plot_kernel",
    "plot_ranking",
    "plot_scores_by_size",
    "plot_wins",
    "write_report",
]
