"""Pictures of a dataset or a fitted model; each function returns a figure, which the caller shows or saves."""

from mcquack.report.circuit import plot_circuit
from mcquack.report.dataset import plot_dataset
from mcquack.report.embedding import plot_embedding
from mcquack.report.history import plot_history
from mcquack.report.kernel import plot_kernel

__all__ = ["plot_circuit", "plot_dataset", "plot_embedding", "plot_history", "plot_kernel"]
