"""Classical baselines: scikit-learn trains them, plain arrays hold what was learned."""

from mcquack.models.classical.kernel_machines import CentroidKernelClassifier, NystroemSVM, SupportVectorClassifier
from mcquack.models.classical.neural_network import MatchedNeuralNetwork, MultilayerPerceptron

__all__ = [
    "CentroidKernelClassifier",
    "MatchedNeuralNetwork",
    "MultilayerPerceptron",
    "NystroemSVM",
    "SupportVectorClassifier",
]
