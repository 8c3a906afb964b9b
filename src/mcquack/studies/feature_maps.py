"""Which feature map is best for McQuack: its classifier on any map of the library, all of about the same size."""

from dataclasses import dataclass, field
from typing import Any

from mcquack.circuits.circuit import Circuit
from mcquack.circuits.library import MAPS, Sized
from mcquack.models.mcquack import McQuackClassifier
from mcquack.simulators.choice import engine_of
from mcquack.simulators.engine import Engine

CONTENDERS = tuple(name for name in MAPS if name != "device")
"""The maps that the study compares; "device" has the fidelities of "paper"."""


@dataclass(eq=False, repr=False)
class SizedMcQuack(McQuackClassifier):
    """McQuack on a map of the library, repeated so often that it comes close to a number of parameters.

    In a suite numbers and texts say so, for datasets of any number of features; in Python
    ``McQuackClassifier(feature_map=Sized(…))`` is the same.

    Parameters
    ----------
    n_map_parameters : How many weights and biases the circuit is to have about; 720 are those of the paper's with 20
        layers on 6 qubits.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SizedMcQuack(feature_map="iqp", n_map_parameters=100, epochs=1).fit(X, y)
    >>> model.feature_map_.n_embedding_parameters
    108
    """

    n_map_parameters: int = field(default=720, kw_only=True)

    def _circuit_and_engine(self, n_features: int) -> tuple[Circuit, Engine[Any]]:
        circuit = Sized(str(self.feature_map), self.n_map_parameters, n_qubits=self.n_qubits)(n_features)
        return circuit, engine_of(self.engine, circuit)
