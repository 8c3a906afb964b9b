"""Training on mini-batches that are drawn with replacement, as the models of the QML benchmark suite are trained."""

from mcquack.training.drawn.loop import CircuitTraining, DrawnState, Draws, GradientTraining, MeasuredCircuit
from mcquack.training.drawn.pairs import PairTraining

__all__ = ["CircuitTraining", "DrawnState", "Draws", "GradientTraining", "MeasuredCircuit", "PairTraining"]
