"""Training of variational classifiers: one circuit for each class, each measured on two qubits."""

from mcquack.training.variational.settings import VariationalSettings
from mcquack.training.variational.state import VariationalParameters, VariationalState
from mcquack.training.variational.training import VariationalEpoch, VariationalReport, VariationalTraining, class_logits

__all__ = [
    "VariationalEpoch",
    "VariationalParameters",
    "VariationalReport",
    "VariationalSettings",
    "VariationalState",
    "VariationalTraining",
    "class_logits",
]
