"""Training of variational classifiers: one circuit for each class, each measured on two qubits."""

from mcquack.training.variational.logits import ClassLogits
from mcquack.training.variational.settings import VariationalSettings
from mcquack.training.variational.state import VariationalParameters, VariationalState
from mcquack.training.variational.training import VariationalEpoch, VariationalReport, VariationalTraining

__all__ = [
    "ClassLogits",
    "VariationalEpoch",
    "VariationalParameters",
    "VariationalReport",
    "VariationalSettings",
    "VariationalState",
    "VariationalTraining",
]
