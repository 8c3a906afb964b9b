"""The gate engine: exact statevectors of any circuit, many samples at once, with derivatives by reversible adjoint."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.circuits.circuit import Circuit
from mcquack.errors import InvalidInputError
from mcquack.simulators.compiled.gates import gate_scratch, gate_scratch_bytes
from mcquack.simulators.gates import plain
from mcquack.simulators.gates.program import Program, program_of
from mcquack.simulators.statevector.base import StateBlocks, StateEngine


class GateEngine(StateEngine):
    """Exact simulation of any circuit of 1 to 20 qubits on the CPU.

    Gates are fused before they run: neighbouring rotations about z, of one qubit or of products of several, become one
    phase of each amplitude, and CNOT, SWAP and X cost nothing at all. The feature map of the paper has a faster engine,
    ``StatevectorEngine``, and runs here too.

    Parameters
    ----------
    feature_map : Circuit, optional
        The circuit; a classifier that is given the engine brings its own.
    dtype : "float32" or "float64"
        In which numbers are computed, and kept.
    n_threads : int, optional
        Threads to use, by default all that Numba may use. Results do not depend on it.

    Examples
    --------
    >>> from mcquack.circuits import Circuit, b, x
    >>> circuit = Circuit(2, 2).h([0, 1]).rz([0, 1], [x[0], x[1]]).rzz((0, 1), x[0] * x[1]).ry([0, 1], b)
    >>> engine = GateEngine(circuit, dtype="float64")
    >>> encoded = engine.encode([[0.5, 1.0], [0.0, 0.0]], [], [0.1, 0.2])
    >>> engine.fidelities(encoded, encoded).shape
    (2, 2)
    >>> engine.expectations(encoded, [0, (0, 1)]).shape  # ⟨Z₀⟩ and ⟨Z₀Z₁⟩
    (2, 2)
    """

    name = "gates"

    def check(self, feature_map: Circuit) -> None:
        if feature_map.n_qubits > self.most_qubits:
            raise InvalidInputError(
                f"the gate engine takes 1 to {self.most_qubits} qubits, got {feature_map.n_qubits}; use fewer qubits."
            )

    @cached_property
    def _program(self) -> Program:
        return program_of(self.feature_map, self.dtype.name)

    @cached_property
    def form(self) -> Any:
        return self._program.form

    @cached_property
    def row_of_index(self) -> NDArray[np.int64]:
        return self._program.row_of_index

    def flops(self, n_rows: int, *, with_gradient: bool) -> float:
        turns, diagonals = self._program.n_turns, self._program.n_diagonals
        per_amplitude = (30 * turns + 90 * diagonals) if with_gradient else (8 * turns + 40 * diagonals)
        return float(self.feature_map.dimension * per_amplitude * n_rows)

    def scratch(self, n_threads: int, *, backward: bool) -> list[Any]:
        sizes = self.feature_map.n_qubits, self.feature_map.n_features
        return [gate_scratch(*sizes, self.form, self.dtype, backward=backward) for _ in range(n_threads)]

    def scratch_bytes(self, *, backward: bool) -> int:
        sizes = self.feature_map.n_qubits, self.feature_map.n_features, len(self.form.input_firsts)
        return gate_scratch_bytes(*sizes, backward=backward)

    def hamming_distributions(self, samples: StateBlocks, centroids: StateBlocks) -> FloatArray:
        self.feature_map.for_overlaps()
        points = (centroids.features, centroids.weights, centroids.bias)
        angles = self.feature_map.angles(*(array.astype(np.float64) for array in points))
        return plain.hamming_distributions(self.feature_map, self.statevectors(samples), angles)
