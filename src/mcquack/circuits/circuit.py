"""A circuit as a value: qubits, the state to begin with, and gates whose angles depend on samples and parameters.

Nothing here simulates. Engines, samplers and drawings take from a circuit what its angles are and which gates have
them; a trainable kernel takes from it how many weights and biases there are, and where they start.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from mcquack.arrays import FloatArray
from mcquack.checks import is_number, is_whole_number, require, required_count
from mcquack.circuits.angles import (
    PARAMETER_NAMES,
    Angle,
    AngleTable,
    Parameter,
    angle_of,
    angle_table,
    is_finite,
    is_parameter_name,
)
from mcquack.circuits.gates import GATES, Gate
from mcquack.errors import InvalidInputError

Start: TypeAlias = Literal["zeros", "amplitudes"]
Targets: TypeAlias = int | Iterable[int]
PairTargets: TypeAlias = tuple[int, int] | Iterable[tuple[int, int]]
Angles: TypeAlias = Angle | float | Sequence[Angle | float]
_MOST_GATES = 1_000_000
_MOST_QUBITS = 10_000
_MOST_FEATURES = 1_000_000_000


class Circuit:
    """Gates on qubits, one after the other; every method that adds some gives a new circuit.

    Parameters
    ----------
    n_qubits : The number n of qubits.
    n_features : The number d of features of a sample.
    start : "zeros" begins with |0…0⟩. "amplitudes" begins with the features themselves as the first of 2**n amplitudes,
        divided by their norm; a sample of nothing but zeros begins with |0…0⟩.
    padding : What stands in the place of amplitudes that no feature has, before the norm is taken.

    Attributes
    ----------
    gates : The gates, in order.
    weight_names, bias_names : Names of the parameters, w0, w1, … and b0, b1, … unless they were given one.
    weight_starts, bias_starts : Where each of them starts, on average.

    Examples
    --------
    >>> from mcquack.circuits import Circuit, b, ring, w, x
    >>> circuit = Circuit(2, 2).h([0, 1]).rz([0, 1], [x[0], x[1]]).ry([0, 1], b).cnot(ring(2))
    >>> circuit.n_bias, circuit.counts
    (2, {'h': 2, 'rz': 2, 'ry': 2, 'cnot': 2})
    >>> (circuit + circuit).n_bias  # unnamed parameters are not shared between gates
    4
    >>> Circuit(1, 1).rx(0, w("shared") * x[0]).ry(0, w("shared") * x[0]).weight_names
    ('shared',)
    """

    n_qubits: int
    n_features: int
    start: Start
    padding: float
    gates: tuple[Gate, ...]
    _weights: tuple[Parameter, ...]
    _bias: tuple[Parameter, ...]

    def __init__(self, n_qubits: int, n_features: int, *, start: Start = "zeros", padding: float = 0.0) -> None:
        require(start in ("zeros", "amplitudes"), "start", '"zeros" or "amplitudes"', start)
        require(is_finite(padding), "padding", "a finite number", padding)
        self._set(
            n_qubits=required_count("n_qubits", n_qubits),
            n_features=required_count("n_features", n_features),
            start=start,
            padding=float(padding),
            gates=(),
            _weights=(),
            _bias=(),
        )
        require(self.n_qubits <= _MOST_QUBITS, "n_qubits", f"at most {_MOST_QUBITS:,}", n_qubits)
        if start == "amplitudes" and n_features > 1 << self.n_qubits:
            raise InvalidInputError(
                f"{n_features} features do not fit into the 2**{n_qubits} = {1 << self.n_qubits} amplitudes of "
                f"{n_qubits} qubits; take more qubits."
            )

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a circuit does not change; its methods give new ones, so do not set {name}.")

    # Building

    def _with(self, gates: Iterable[Gate]) -> Circuit:
        """This circuit and some gates more, whose expressions get their places among the parameters."""
        weights, bias = list(self._weights), list(self._bias)
        added = [
            replace(gate, angles=tuple(self._placed(angle, weights, bias) for angle in gate.angles)) for gate in gates
        ]
        found = object.__new__(Circuit)
        found._set(
            n_qubits=self.n_qubits,
            n_features=self.n_features,
            start=self.start,
            padding=self.padding,
            gates=(*self.gates, *added),
            _weights=tuple(weights),
            _bias=tuple(bias),
        )
        return found

    def _placed(self, angle: Angle, weights: list[Parameter], bias: list[Parameter]) -> Angle:
        if isinstance(angle.weight, int) or isinstance(angle.bias, int):
            raise InvalidInputError(
                f"the angle {angle} has its parameters in another circuit; write it anew with w and b, or add the "
                "circuits with +."
            )
        for _, feature in angle.inputs:
            if feature >= self.n_features:
                raise InvalidInputError(
                    f"the angle {angle} takes feature {feature}, and samples have the features 0 to "
                    f"{self.n_features - 1}; take x[i % {self.n_features}], or make the circuit for more features."
                )
        if angle.weight is not None and not angle.inputs:
            raise InvalidInputError(f"the angle {angle} is a weight without a feature; a parameter alone is b.")
        return angle.changed(weight=_place(angle.weight, weights), bias=_place(angle.bias, bias))

    def gate(self, name: str, targets: Any, *angles: Angles) -> Circuit:
        """Add a gate by its name in :data:`mcquack.circuits.gates.GATES`, on one place or on several.

        >>> Circuit(2, 1).gate("crx", [(0, 1), (1, 0)], 0.5) == Circuit(2, 1).crx([(0, 1), (1, 0)], 0.5)
        True
        """
        known = GATES.get(name)
        if known is None or not known.n_qubits or len(angles) != known.n_angles:
            names = ", ".join(each for each, one in GATES.items() if one.n_qubits)
            expected = f"one of {names}" if known is None or not known.n_qubits else f"{known.n_angles} angles"
            raise InvalidInputError(f"a gate must be added as {expected}, got {name!r} with {len(angles)} angles.")
        places = self._targets(targets, known.n_qubits, name)
        columns = [_column(angle, len(places), name) for angle in angles]
        return self._with(
            Gate(name, place, tuple(column[number] for column in columns)) for number, place in enumerate(places)
        )

    def _targets(self, targets: Any, n_qubits: int, name: str) -> list[tuple[int, ...]]:
        wanted = f"{'a qubit' if n_qubits == 1 else 'two different qubits'} from 0 to {self.n_qubits - 1}"
        given = [targets] if is_whole_number(targets) else _listed(targets, name, wanted)
        single = n_qubits == 2 and len(given) == 2 and all(map(is_whole_number, given))
        places: list[list[Any]] = [given] if single else [[place] for place in given]
        if n_qubits == 2 and not single:
            places = [_listed(pair, name, wanted) for pair in given]
        for place in places:
            known = all(is_whole_number(qubit) and 0 <= qubit < self.n_qubits for qubit in place)
            if not known or len(place) != n_qubits or len(set(place)) != n_qubits:
                raise InvalidInputError(f"{name} takes {wanted}, or several of them, got {', '.join(map(str, place))}.")
        return [tuple(int(qubit) for qubit in place) for place in places]

    def rx(self, qubits: Targets, angle: Angles) -> Circuit:
        """RX(angle) = exp(-i/2 angle X) on a qubit, or on each of several; then ``angle`` may be as many angles."""
        return self.gate("rx", qubits, angle)

    def ry(self, qubits: Targets, angle: Angles) -> Circuit:
        """RY(angle) on a qubit, or on each of several."""
        return self.gate("ry", qubits, angle)

    def rz(self, qubits: Targets, angle: Angles) -> Circuit:
        """RZ(angle) on a qubit, or on each of several."""
        return self.gate("rz", qubits, angle)

    def rot(self, qubits: Targets, phi: Angles, theta: Angles, omega: Angles) -> Circuit:
        """Rot(φ, θ, ω) = RZ(ω) RY(θ) RZ(φ) on a qubit, or on each of several."""
        return self.gate("rot", qubits, phi, theta, omega)

    def rxx(self, pairs: PairTargets, angle: Angles) -> Circuit:
        """exp(-i/2 angle XX) on a pair of qubits, or on each of several."""
        return self.gate("rxx", pairs, angle)

    def ryy(self, pairs: PairTargets, angle: Angles) -> Circuit:
        """exp(-i/2 angle YY) on a pair of qubits, or on each of several."""
        return self.gate("ryy", pairs, angle)

    def rzz(self, pairs: PairTargets, angle: Angles) -> Circuit:
        """exp(-i/2 angle ZZ) on a pair of qubits, or on each of several."""
        return self.gate("rzz", pairs, angle)

    def crx(self, pairs: PairTargets, angle: Angles) -> Circuit:
        """RX(angle) on the second qubit of a pair where the first one is 1."""
        return self.gate("crx", pairs, angle)

    def cry(self, pairs: PairTargets, angle: Angles) -> Circuit:
        """RY(angle) on the second qubit of a pair where the first one is 1."""
        return self.gate("cry", pairs, angle)

    def crz(self, pairs: PairTargets, angle: Angles) -> Circuit:
        """RZ(angle) on the second qubit of a pair where the first one is 1."""
        return self.gate("crz", pairs, angle)

    def h(self, qubits: Targets) -> Circuit:
        """Hadamard gates."""
        return self.gate("h", qubits)

    def x(self, qubits: Targets) -> Circuit:
        """Pauli X."""
        return self.gate("x", qubits)

    def y(self, qubits: Targets) -> Circuit:
        """Pauli Y."""
        return self.gate("y", qubits)

    def z(self, qubits: Targets) -> Circuit:
        """Pauli Z."""
        return self.gate("z", qubits)

    def s(self, qubits: Targets) -> Circuit:
        """S = diag(1, i)."""
        return self.gate("s", qubits)

    def t(self, qubits: Targets) -> Circuit:
        """T = diag(1, exp(iπ/4))."""
        return self.gate("t", qubits)

    def sx(self, qubits: Targets) -> Circuit:
        """The square root of X."""
        return self.gate("sx", qubits)

    def cnot(self, pairs: PairTargets | int, target: int | None = None) -> Circuit:
        """CNOT from the first to the second qubit: ``cnot(0, 1)``, or ``cnot(ring(4))`` for several pairs."""
        return self.gate("cnot", pairs if target is None else (pairs, target))

    def cz(self, pairs: PairTargets | int, target: int | None = None) -> Circuit:
        """CZ on a pair of qubits, or on each of several."""
        return self.gate("cz", pairs if target is None else (pairs, target))

    def cy(self, pairs: PairTargets | int, target: int | None = None) -> Circuit:
        """CY from the first to the second qubit of a pair, or of each of several."""
        return self.gate("cy", pairs if target is None else (pairs, target))

    def swap(self, pairs: PairTargets | int, target: int | None = None) -> Circuit:
        """Exchanges the two qubits of a pair, or of each of several."""
        return self.gate("swap", pairs if target is None else (pairs, target))

    def unitary(self, qubits: int | tuple[int, ...], matrix: ArrayLike) -> Circuit:
        """A fixed matrix on one qubit, or on two, of which the first is the higher bit of its index."""
        expected = "a unitary matrix of the shape (2, 2) or (4, 4)"
        try:
            array = np.asarray(matrix, dtype=complex)
        except (TypeError, ValueError):
            raise InvalidInputError(f"matrix must be {expected}, got {matrix!r}.") from None
        width = {(2, 2): 1, (4, 4): 2}.get(array.shape, 0)
        # No entry of a unitary matrix is larger than 1, and the products of huge ones would overflow.
        small = width > 0 and np.abs([array.real, array.imag]).max() < 2
        unitary = small and np.allclose(array @ array.conj().T, np.eye(len(array)), rtol=0, atol=1e-10)
        require(unitary, "matrix", expected, array)
        places = self._targets(qubits if width == 1 else [qubits], width, "unitary")
        require(len(places) == 1, "qubits", "one for a matrix (2, 2) and two for a matrix (4, 4)", qubits)
        entries = tuple(tuple(complex(entry) for entry in row) for row in array)
        return self._with([Gate("unitary", places[0], (), entries)])

    def __add__(self, other: Circuit) -> Circuit:
        if not isinstance(other, Circuit):
            return NotImplemented
        if (self.n_qubits, self.n_features) != (other.n_qubits, other.n_features) or other.start != "zeros":
            raise InvalidInputError(
                "circuits are put together that have equal numbers of qubits and of features, and the second must "
                f'start with "zeros"; got {self!r} and {other!r}.'
            )
        weights, bias = list(self._weights), list(self._bias)
        # Unnamed parameters become new ones, each for all gates that had it in the other circuit.
        weight_at = cache(lambda at: None if at is None else _place(other._weights[at], weights))
        bias_at = cache(lambda at: None if at is None else _place(other._bias[at], bias))

        def moved(angle: Angle) -> Angle:
            return angle.changed(weight=weight_at(angle.weight), bias=bias_at(angle.bias))

        gates = [replace(gate, angles=tuple(map(moved, gate.angles))) for gate in other.gates]
        found = self._with(())
        found._set(gates=(*self.gates, *gates), _weights=tuple(weights), _bias=tuple(bias))
        return found

    def repeated(self, times: int) -> Circuit:
        """This circuit so many times over, each time with parameters of its own but for those with a name."""
        found = self
        for _ in range(required_count("times", times) - 1):
            found = found + self
        return found

    def with_free_angles(self) -> Circuit:
        """The same gates with a bias for each angle alone, in the order of the angles: what shifts of angles move.

        With the biases ``angle_table.constants(b)`` it has the angles that this circuit has with b.

        >>> from mcquack.circuits import Circuit, b, x
        >>> print(Circuit(1, 1).rx(0, x[0] + b("one")).ry(0, 2 * b("one") + 1).with_free_angles().gates[1])
        RY(b1) 0
        """
        gates, n_angles = [], 0
        for gate in self.gates:
            places = range(n_angles, n_angles + len(gate.angles))
            angles = zip(gate.angles, places, strict=True)
            own = tuple(angle.changed(bias=place, bias_factor=1.0, offset=0.0) for angle, place in angles)
            gates.append(replace(gate, angles=own))
            n_angles += len(own)
        found = self._with(())
        found._set(gates=tuple(gates), _bias=(Parameter(),) * n_angles)
        return found

    def for_overlaps(self) -> Circuit:
        """Return the circuit U of which overlaps U†(c) U(x) are run; it is refused if it does not begin with zeros."""
        if self.start != "zeros":
            raise InvalidInputError(
                "the overlap U†(c) U(x) is run gate by gate, and a circuit that starts with the amplitudes of a sample "
                "has no gates for them; compute its kernel exactly, with a simulator as the engine, or encode the "
                "features in angles."
            )
        return self

    # What is in it

    @property
    def dimension(self) -> int:
        """The number 2**n of amplitudes of a state."""
        return 1 << self.n_qubits

    @property
    def weight_names(self) -> tuple[str, ...]:
        return tuple(known.name or f"w{place}" for place, known in enumerate(self._weights))

    @property
    def bias_names(self) -> tuple[str, ...]:
        return tuple(known.name or f"b{place}" for place, known in enumerate(self._bias))

    @property
    def weight_starts(self) -> FloatArray:
        return np.array([known.start for known in self._weights])

    @property
    def bias_starts(self) -> FloatArray:
        return np.array([known.start for known in self._bias])

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """The shape of the array of all weights."""
        return (len(self._weights),)

    @property
    def bias_shape(self) -> tuple[int, ...]:
        """The shape of the array of all biases."""
        return (len(self._bias),)

    @property
    def angles_shape(self) -> tuple[int, ...]:
        """The shape of the angles of one sample."""
        return (len(self.angle_table.input),)

    @property
    def n_weights(self) -> int:
        return math.prod(self.weights_shape)

    @property
    def n_bias(self) -> int:
        return math.prod(self.bias_shape)

    @property
    def n_angles(self) -> int:
        return math.prod(self.angles_shape)

    @property
    def n_embedding_parameters(self) -> int:
        """The number of weights and biases together."""
        return self.n_weights + self.n_bias

    def n_parameters(self, n_classes: int) -> int:
        """The number of weights, biases and features of one centroid per class."""
        return self.n_embedding_parameters + n_classes * self.n_features

    @property
    def counts(self) -> dict[str, int]:
        """How many gates there are of each name."""
        return dict(Counter(gate.name for gate in self.gates))

    @property
    def n_gates(self) -> int:
        return len(self.gates)

    @property
    def depth(self) -> int:
        """How many gates are in the longest chain in which each waits for the one before it."""
        busy = [0] * self.n_qubits
        for gate in self.gates:
            until = 1 + max(busy[qubit] for qubit in gate.qubits)
            for qubit in gate.qubits:
                busy[qubit] = until
        return max(busy)

    @cached_property
    def angle_table(self) -> AngleTable:
        """All angles of all gates, in order, as arrays."""
        return angle_table([angle for gate in self.gates for angle in gate.angles])

    def angles(self, X: ArrayLike, weights: FloatArray, bias: FloatArray) -> FloatArray:
        """The angles of every row of samples (N, d), in the order of the gates: shape (N, *angles_shape).

        >>> from mcquack.circuits import Circuit, b, w, x
        >>> Circuit(1, 1).rx(0, w * x[0] + b).ry(0, 0.5).angles([[2.0]], np.array([3.0]), np.array([0.1])).tolist()
        [[6.1, 0.5]]
        """
        rows = self.checked_rows(X)
        for name, array in (("weights", weights), ("bias", bias)):
            shape = getattr(self, f"{name}_shape")
            if np.shape(array) != shape:
                raise InvalidInputError(f"{name} must have the shape {shape} of the circuit, got {np.shape(array)}.")
        found = self.angle_table.angles(rows.astype(np.result_type(rows, np.float32)), weights, bias)
        return found.reshape(len(rows), *self.angles_shape)

    def checked_rows(self, X: ArrayLike) -> FloatArray:
        """Samples as an array, refused unless each has as many features as the circuit takes."""
        rows = np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise InvalidInputError(f"expected rows of {self.n_features} features, got an array of shape {rows.shape}.")
        return rows

    def amplitudes(self, X: ArrayLike) -> FloatArray:
        """The state (N, 2**n) that each sample begins with, where the circuit starts with amplitudes."""
        rows = self.checked_rows(X)
        found = np.full((len(rows), self.dimension), self.padding, dtype=np.result_type(rows, np.float32))
        found[:, : self.n_features] = rows
        norms = np.linalg.norm(found, axis=1, keepdims=True)
        np.divide(found, norms, out=found, where=norms > 0)
        found[norms[:, 0] == 0, 0] = 1
        return np.asarray(found)

    # As text and as data

    def draw(self, *, max_gates: int = 60) -> str:
        """The circuit as text; of more than ``max_gates`` gates only the first ones are drawn."""
        from mcquack.circuits.drawing import gates_text

        return gates_text(self, max_gates=max_gates)

    def __str__(self) -> str:
        return self.draw()

    def __repr__(self) -> str:
        sizes = {
            "qubit": self.n_qubits,
            "feature": self.n_features,
            "gate": self.n_gates,
            "parameter": self.n_embedding_parameters,
        }
        told = ", ".join(f"{size:,} {noun}{'s' * (size != 1)}" for noun, size in sizes.items())
        return f"<{type(self).__name__} of {told}>"

    def _likeness(self) -> Any:
        begin = self.n_qubits, self.n_features, self.start, self.padding
        return *begin, self.gates, self._weights, self._bias

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._likeness() == other._likeness()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self._likeness())

    def to_json(self) -> dict[str, Any]:
        """The circuit as numbers, texts and lists, for :meth:`from_json`; a model file keeps it so.

        >>> Circuit.from_json(Circuit(1, 1).h(0).to_json()) == Circuit(1, 1).h(0)
        True
        """
        return {
            "n_qubits": self.n_qubits,
            "n_features": self.n_features,
            "start": self.start,
            "padding": self.padding,
            "weights": [[known.name, known.start] for known in self._weights],
            "bias": [[known.name, known.start] for known in self._bias],
            "gates": [_plain_gate(gate) for gate in self.gates],
        }

    @staticmethod
    def from_json(plain: Mapping[str, Any]) -> Circuit:
        """The circuit that :meth:`to_json` described; InvalidInputError, with the reason, for anything else."""
        if isinstance(plain, Mapping) and "n_layers" in plain:
            from mcquack.circuits.feature_map import FeatureMap

            return FeatureMap.from_plain(plain)
        fields = {"n_qubits", "n_features", "start", "padding", "weights", "bias", "gates"}
        _require(isinstance(plain, Mapping) and plain.keys() == fields, f"an object with {', '.join(sorted(fields))}")
        sizes = plain["n_qubits"], plain["n_features"]
        _require(all(type(size) is int and 1 <= size <= _MOST_FEATURES for size in sizes), "one of whole sizes")
        _require(plain["start"] in ("zeros", "amplitudes"), 'one that starts with "zeros" or "amplitudes"')
        _require(is_finite(plain["padding"]), "one whose padding is a finite number")
        found = Circuit(plain["n_qubits"], plain["n_features"], start=plain["start"], padding=plain["padding"])
        gates = plain["gates"]
        _require(isinstance(gates, list) and len(gates) <= _MOST_GATES, f"a list of at most {_MOST_GATES:,} gates")
        try:
            weights, bias = (_parameters(plain[name]) for name in ("weights", "bias"))
            read = [_read_gate(gate, found, len(weights), len(bias)) for gate in gates]
        except InvalidInputError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidInputError(
                f"the description of a circuit has a part of another form ({error}); make it anew with to_json()."
            ) from error
        used = [angle for gate in read for angle in gate.angles]
        for name, parameters in (("weight", weights), ("bias", bias)):
            all_used = {getattr(angle, name) for angle in used} - {None} == set(range(len(parameters)))
            _require(all_used, "parameters each of which is used by a gate")
        circuit = found._with(())
        circuit._set(gates=tuple(read), _weights=tuple(weights), _bias=tuple(bias))
        return circuit

    # In and out

    def to_qiskit(
        self, *, x: ArrayLike | None = None, weights: ArrayLike | None = None, bias: ArrayLike | None = None
    ) -> Any:
        """The circuit as a QuantumCircuit of Qiskit, whose qubit q is our qubit q.

        Qiskit has qubit 0 as the lowest bit of an index into a state, and we have it as the highest:
        ``Statevector(found).reverse_qargs()`` is in our order.

        Parameters
        ----------
        x, weights, bias : Numbers for the features of one sample (d,), for the weights and for the biases. What is not
            given stays symbols: the vectors ``x``, ``w`` and ``b`` of parameters. Of symbols Qiskit takes arcsin and
            arccos in [-1, 1] alone. A circuit that starts with amplitudes needs x.

        Examples
        --------
        >>> from mcquack.circuits import Circuit, b, w, x
        >>> circuit = Circuit(2, 1).ry(0, w * x[0] + b).cnot(0, 1)
        >>> [parameter.name for parameter in circuit.to_qiskit().parameters]
        ['b[0]', 'w[0]', 'x[0]']
        >>> circuit.to_qiskit(x=[2.0], weights=[0.5], bias=[0.25]).data[0].operation.params
        [1.25]
        """
        from mcquack.circuits.exchange import to_qiskit

        return to_qiskit(self, x=x, weights=weights, bias=bias)

    @staticmethod
    def from_qiskit(circuit: Any, features: Sequence[Any]) -> Circuit:
        """The circuit that Qiskit has, up to the phase of whole states, with its parameters divided in two.

        A parameter that multiplies a feature becomes a weight, and one that stands alone a bias; both keep their name,
        as far as it is one (``theta[0]`` is ``theta_0``), and their order in ``circuit.parameters``.

        Parameters
        ----------
        circuit : A QuantumCircuit of any gates that Qiskit can take apart; measurements at its end are left out.
        features : Parameters of it, or vectors of parameters, that stand for the features of a sample, in order.

        Examples
        --------
        >>> from qiskit import QuantumCircuit
        >>> from qiskit.circuit import Parameter, ParameterVector
        >>> x, theta, phi = ParameterVector("x", 2), Parameter("theta"), Parameter("phi")
        >>> known = QuantumCircuit(2)
        >>> _ = known.rx(theta * x[0] + phi, 0)
        >>> _ = known.rzz(2 * x[1], 0, 1)
        >>> print("; ".join(map(str, Circuit.from_qiskit(known, features=x).gates)))
        RX(w0·x0 + b0) 0; RZZ(2·x1) 0,1
        """
        from mcquack.circuits.exchange import from_qiskit

        return from_qiskit(circuit, features)

    def to_pennylane(self) -> Callable[[Any, Any, Any], None]:
        """A function f(x, weights, bias) that applies the gates on the wires 0 to n - 1, for use inside a QNode.

        ``x`` is one sample (d,), or several (N, d), which PennyLane runs as a batch; all three may be arrays of any
        interface of PennyLane, and are differentiated by it.

        Examples
        --------
        >>> import pennylane as qml
        >>> from mcquack.circuits import Circuit, b, x
        >>> gates = Circuit(1, 1).rx(0, x[0] + b).to_pennylane()
        >>> @qml.qnode(qml.device("default.qubit", wires=1))
        ... def ones(x, weights, bias):
        ...     gates(x, weights, bias)
        ...     return qml.probs(wires=0)
        >>> ones(np.array([np.pi / 2]), np.zeros(0), np.array([np.pi / 2])).round(12).tolist()
        [0.0, 1.0]
        """
        from mcquack.circuits.exchange import to_pennylane

        return to_pennylane(self)

    def to_qasm(
        self, *, x: ArrayLike | None = None, weights: ArrayLike | None = None, bias: ArrayLike | None = None
    ) -> str:
        """The circuit as a text in OpenQASM 3, with all digits of every angle.

        Parameters
        ----------
        x, weights, bias : Numbers, as for :meth:`to_qiskit`. What is not given stays inputs of the text, which are
            called ``x_0``, ``w_0``, ``b_0`` and so on.

        Examples
        --------
        >>> from mcquack.circuits import Circuit, b, w, x
        >>> print(Circuit(1, 1).ry(0, 2 * w * x[0] + b).to_qasm(weights=[0.5], bias=[0.25]), end="")
        OPENQASM 3.0;
        include "stdgates.inc";
        input float x_0;
        qubit[1] q;
        ry(2.0*0.5*x_0 + 0.25) q[0];
        """
        from mcquack.circuits.exchange import to_qasm

        return to_qasm(self, x=x, weights=weights, bias=bias)

    def __reduce__(self) -> Any:
        return Circuit.from_json, (self.to_json(),)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


def _place(parameter: Parameter | int | None, known: list[Parameter]) -> int | None:
    """Where a parameter stands among the known ones, to which it is added if need be."""
    if parameter is None or isinstance(parameter, int):
        return parameter
    if parameter.name is not None:
        for place, other in enumerate(known):
            if other.name == parameter.name:
                if other.start != parameter.start:
                    raise InvalidInputError(
                        f"the parameter {parameter.name} starts at {other.start:g} in one gate and at "
                        f"{parameter.start:g} in another; give it one start."
                    )
                return place
    known.append(parameter)
    return len(known) - 1


def _listed(values: Any, name: str, wanted: str) -> list[Any]:
    """What can be iterated over as a list; InvalidInputError for anything else."""
    try:
        return list(values)
    except TypeError:
        raise InvalidInputError(f"{name} takes {wanted}, or several of them, got {values!r}.") from None


def _column(angle: Angles, count: int, name: str) -> list[Angle]:
    if isinstance(angle, Angle) or is_number(angle):
        return [angle_of(angle)] * count  # type: ignore[arg-type]
    column = [angle_of(one) for one in _listed(angle, name, "an angle such as w * x[0] + b")]
    if len(column) != count:
        raise InvalidInputError(f"{name} on {count} places takes one angle or {count}, got {len(column)}.")
    return column


def _plain_gate(gate: Gate) -> list[Any]:
    plain: list[Any] = [gate.name, list(gate.qubits)]
    if gate.matrix is not None:
        return [*plain, [[[entry.real, entry.imag] for entry in row] for row in gate.matrix]]
    return [*plain, [_plain_angle(angle) for angle in gate.angles]]


def _plain_angle(angle: Angle) -> float | list[Any]:
    if angle.is_constant:
        return angle.offset
    inputs = [[name, feature] for name, feature in angle.inputs]
    return [inputs, angle.weight, angle.factor, angle.bias, angle.bias_factor, angle.offset]


def _require(condition: Any, expected: str) -> None:
    if not condition:
        raise InvalidInputError(f"the description of a circuit must be {expected}; make it anew with to_json().")


def _parameters(plain: Any) -> list[Parameter]:
    _require(isinstance(plain, list) and len(plain) <= _MOST_GATES, "one with lists of parameters")
    found = []
    for name, start in plain:
        known = name is None or (isinstance(name, str) and is_parameter_name(name))
        _require(known and is_finite(start), f"one whose names are {PARAMETER_NAMES}")
        found.append(Parameter(name, float(start)))
    names = [parameter.name for parameter in found if parameter.name is not None]
    _require(len(names) == len(set(names)), "one in which a name stands for one parameter")
    return found


def _read_gate(plain: Any, circuit: Circuit, n_weights: int, n_bias: int) -> Gate:
    name, qubits, rest = plain
    _require(name in GATES and isinstance(rest, list), "one with gates that are known")
    n_qubits = GATES[name].n_qubits or min(len(qubits), 2)
    known = all(type(qubit) is int and 0 <= qubit < circuit.n_qubits for qubit in qubits)
    _require(known and len(qubits) == len(set(qubits)) == n_qubits, "one whose gates have qubits that there are")
    place = tuple(qubits)
    if name == "unitary":
        matrix = [[complex(real, imag) for real, imag in row] for row in rest]
        return Circuit(circuit.n_qubits, 1).unitary(place[0] if n_qubits == 1 else place, matrix).gates[0]
    _require(len(rest) == GATES[name].n_angles, "one whose gates have all of their angles")
    return Gate(name, place, tuple(_read_angle(angle, circuit, n_weights, n_bias) for angle in rest))


def _read_angle(plain: Any, circuit: Circuit, n_weights: int, n_bias: int) -> Angle:
    if is_finite(plain):
        return Angle(offset=float(plain))
    inputs, weight, factor, bias, bias_factor, offset = plain
    _require(len(inputs) <= 100, "one whose angles depend on at most 100 features")
    for at, count in ((weight, n_weights), (bias, n_bias)):
        _require(at is None or (type(at) is int and 0 <= at < count), "one whose angles name parameters that it has")
    _require(weight is None or inputs, "one whose weights have features")
    _require(all(map(is_finite, (factor, bias_factor, offset))), "one whose angles have finite factors")
    known = all(type(feature) is int and feature < circuit.n_features for _, feature in inputs)
    _require(known, "one whose angles depend on features that there are")
    factors = tuple((name, feature) for name, feature in inputs)
    return Angle(factors, weight, float(factor), bias, float(bias_factor), float(offset))
