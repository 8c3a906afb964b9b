"""Training of variational classifiers: one circuit for each class, each measured on two qubits."""

from mcquack.training.variational.settings import VariationalParameters, VariationalSettings, VariationalState
from mcquack.training.variational.training import ClassLogits, VariationalEpoch, VariationalReport, VariationalTraining

__all__ = [
    "ClassLogits",
    "VariationalEpoch",
    "VariationalParameters",
    "VariationalReport",
    "VariationalSettings",
    "VariationalState",
    "VariationalTraining",
]
