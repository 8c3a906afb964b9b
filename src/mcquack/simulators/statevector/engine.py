"""The engine of the paper's feature map: exact statevectors on the CPU, as fast as a core computes."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.circuits.circuit import Circuit
from mcquack.circuits.entangler import linear_table, stored_rows
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.engine import paper_map
from mcquack.simulators.statevector.base import StateEngine
from mcquack.simulators.statevector.circuit import RingForm, scratch, scratch_bytes


class StatevectorEngine(StateEngine):
    """Exact simulation of 1 to 20 qubits on the CPU, any number of layers deep; a common phase of a state is not kept.

    Parameters
    ----------
    feature_map : FeatureMap, optional
        The circuit; a classifier that is given the engine brings its own.
    dtype : "float32" or "float64"
        In which numbers are computed, and kept.
    n_threads : int, optional
        Threads to use, by default all that Numba may use. Results do not depend on it.

    Examples
    --------
    >>> from mcquack import FeatureMap, McQuackClassifier
    >>> engine = StatevectorEngine(FeatureMap(n_qubits=2, n_features=2, n_layers=1))
    >>> parameters = [[[0.1, 0.2, 0.3]] * 2]
    >>> encoded = engine.encode([[0.5, 1.0]], parameters, parameters)
    >>> engine.fidelities(encoded, encoded).round(6).tolist()
    [[1.0]]
    >>> model = McQuackClassifier(engine=StatevectorEngine(dtype="float64"))
    """

    name = "statevector"

    @property
    def _paper(self) -> FeatureMap:
        return paper_map(self, self.feature_map)

    def check(self, feature_map: Circuit) -> None:
        paper_map(self, feature_map)
        if feature_map.n_qubits > self.most_qubits:
            raise InvalidInputError(
                f"the statevector engine takes 1 to {self.most_qubits} qubits, got {feature_map.n_qubits}; use fewer "
                'qubits and more layers, or engine="ring", which takes any number of qubits with few layers.'
            )

    @cached_property
    def form(self) -> Any:
        masks = stored_rows(self._paper.n_qubits, self._paper.n_layers)
        return RingForm(self._paper.feature_index, masks)

    @cached_property
    def row_of_index(self) -> NDArray[np.int64]:
        return linear_table(self.form.masks[-1 if self._paper.final_entangler else -2])

    def flops(self, n_rows: int, *, with_gradient: bool) -> float:
        """Count 16 operations for each amplitude and gate on the way forward, and 44 on the way back."""
        gates = self._paper.n_layers * self._paper.n_qubits
        return float((60 if with_gradient else 16) * self.feature_map.dimension * gates * n_rows)

    def scratch(self, n_threads: int, *, backward: bool) -> list[Any]:
        shape = self.feature_map.n_qubits, self.feature_map.n_features
        return [scratch(*shape, self.dtype, backward=backward) for _ in range(n_threads)]

    def scratch_bytes(self, *, backward: bool) -> int:
        return scratch_bytes(self.feature_map.n_qubits, self.feature_map.n_features, backward=backward)
