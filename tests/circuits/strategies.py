"""Random circuits and angles of all kinds, for tests that hold for any."""

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from mcquack.circuits import Angle, Circuit, arccos, arcsin, arctan, b, pi_minus, w, x
from mcquack.circuits.gates import GATES

numbers = st.floats(-4, 4, allow_nan=False).map(lambda value: round(value, 3))
names = st.sampled_from(["alpha", "gain", "tilt"])


@st.composite
def angles(draw: st.DrawFn, n_features: int) -> Angle | float:
    """A constant, a parameter, or w·t(x) + b with each part there or not, own or shared."""
    if draw(st.booleans()):
        return draw(st.one_of(numbers, st.just(b), names.map(b)))
    features = [x[draw(st.integers(0, n_features - 1))] for _ in range(draw(st.integers(1, 3)))]
    angle: Angle | float = draw(numbers)
    for feature in features:
        function = draw(st.sampled_from([None, pi_minus, arcsin, arccos, arctan]))
        angle = angle * (feature if function is None else function(feature))
    if draw(st.booleans()):
        angle = angle * (w if draw(st.booleans()) else w(draw(names)))
    if draw(st.booleans()):
        angle = angle + draw(numbers) * (b if draw(st.booleans()) else b(draw(names)))
    return angle + draw(numbers)


@st.composite
def circuits(draw: st.DrawFn, max_qubits: int = 4, max_gates: int = 12) -> Circuit:
    """A circuit of all gates, and of all starts."""
    n_qubits, n_features = draw(st.integers(1, max_qubits)), draw(st.integers(1, 4))
    starts = ["zeros", "amplitudes"] if n_features <= 1 << n_qubits else ["zeros"]
    circuit = Circuit(n_qubits, n_features, start=draw(st.sampled_from(starts)), padding=draw(numbers))
    possible = [name for name, kind in GATES.items() if kind.n_qubits <= n_qubits]
    for name in draw(st.lists(st.sampled_from(possible), max_size=max_gates)):
        width = draw(st.integers(1, min(2, n_qubits))) if name == "unitary" else GATES[name].n_qubits
        place = tuple(draw(st.permutations(range(n_qubits)))[:width])
        arguments = [draw(angles(n_features)) for _ in range(GATES[name].n_angles)]
        if name == "unitary":
            circuit = circuit.unitary(place[0] if width == 1 else place, unitary(1 << width, draw(st.integers(0, 99))))
        else:
            circuit = getattr(circuit, name)(place if width == 2 else place[0], *arguments)
    return circuit


def unitary(dimension: int, seed: int) -> NDArray[np.complex128]:
    """A random unitary matrix."""
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(dimension, dimension)) + 1j * rng.normal(size=(dimension, dimension))
    return np.asarray(np.linalg.qr(drawn)[0])


def parameters_of(circuit: Circuit, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Random weights and biases."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=circuit.weights_shape), rng.normal(size=circuit.bias_shape)
