"""Classical baselines: scikit-learn trains them, plain arrays hold what was learned."""

from mcquack.models.classical.centroid_kernel import CentroidKernelClassifier
from mcquack.models.classical.neural_network import MatchedNeuralNetwork, MultilayerPerceptron
from mcquack.models.classical.nystroem import NystroemSVM
from mcquack.models.classical.support_vectors import SupportVectorClassifier

__all__ = [
    "CentroidKernelClassifier",
    "MatchedNeuralNetwork",
    "MultilayerPerceptron",
    "NystroemSVM",
    "SupportVectorClassifier",
]
