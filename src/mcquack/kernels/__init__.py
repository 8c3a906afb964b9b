"""The N × M matrix of fidelities and how well it fits the labels."""

from mcquack.kernels.alignment import alignment_gradient, ideal_kernel, target_alignment
from mcquack.kernels.fidelity import centroid_kernel, class_scores

__all__ = ["alignment_gradient", "centroid_kernel", "class_scores", "ideal_kernel", "target_alignment"]
