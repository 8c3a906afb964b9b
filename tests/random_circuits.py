"""Random circuits of all gates, for laws that hold for every circuit."""

from typing import Any

import numpy as np
from scipy.stats import unitary_group

from mcquack.arrays import FloatArray
from mcquack.circuits import Angle, Circuit, arccos, arcsin, arctan, b, pi_minus, w, x
from mcquack.circuits.gates import GATES

_FUNCTIONS = (lambda feature: feature, pi_minus, arcsin, arccos, arctan)


def random_circuit(
    seed: int, *, n_qubits: int = 3, n_features: int = 3, n_gates: int = 30, amplitudes: bool = False
) -> Circuit:
    """A circuit of gates drawn from all that there are, in which a long one has every kind of gate and of angle.

    A single qubit has gates on one qubit alone. ``amplitudes`` makes the samples the amplitudes to begin with, as far
    as they fit into a state of so many qubits.
    """
    draws = np.random.default_rng([seed, n_qubits, n_features, n_gates])
    n_features = min(n_features, 1 << n_qubits) if amplitudes else n_features
    circuit = Circuit(
        n_qubits,
        n_features,
        start="amplitudes" if amplitudes else "zeros",
        padding=float(amplitudes and draws.choice([0.0, 0.3])),
    )
    names = [name for name, kind in GATES.items() if kind.n_qubits <= n_qubits]
    # All names before any comes again, so that a circuit of some length has every gate.
    order = np.concatenate([draws.permutation(len(names)) for _ in range(-(-n_gates // len(names)))])[:n_gates]
    for number in order:
        circuit = _with_gate(circuit, names[number], draws)
    return circuit


def random_point(circuit: Circuit, seed: int, *, n_rows: int = 2) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Samples in [-1, 1], where all functions of features are smooth, weights and biases."""
    draws = np.random.default_rng([seed, circuit.n_angles])
    X = draws.uniform(-0.95, 0.95, (n_rows, circuit.n_features))
    return X, draws.normal(0, 1.5, circuit.weights_shape), draws.normal(0, 1.5, circuit.bias_shape)


def _with_gate(circuit: Circuit, name: str, draws: np.random.Generator) -> Circuit:
    n_qubits = GATES[name].n_qubits
    if name == "unitary":
        n_qubits = int(draws.integers(1, min(circuit.n_qubits, 2) + 1))
    place = tuple(draws.choice(circuit.n_qubits, n_qubits, replace=False).tolist())
    target: Any = place[0] if n_qubits == 1 else place
    if name == "unitary":
        return circuit.unitary(target, unitary_group.rvs(1 << n_qubits, random_state=draws))
    angles = [_angle(circuit.n_features, draws) for _ in range(GATES[name].n_angles)]
    return getattr(circuit, name)(target, *angles)


def _angle(n_features: int, draws: np.random.Generator) -> Angle | float:
    """A number, a bias, or factor·w·t(x) + factor·b + offset with any of its parts missing."""
    parts: list[Any] = []
    if draws.random() < 0.75:
        product: Any = _factor(draws)
        for _ in range(1 + int(draws.random() < 0.4) + int(draws.random() < 0.2)):
            feature = x[int(draws.integers(n_features))]
            product = product * _FUNCTIONS[int(draws.integers(len(_FUNCTIONS)))](feature)
        parts.append(product * _parameter(w, "w", draws) if draws.random() < 0.7 else product)
    if draws.random() < 0.5:
        parts.append(_factor(draws) * _parameter(b, "b", draws))
    if not parts or draws.random() < 0.4:
        parts.append(float(draws.normal()))
    return sum(parts[1:], start=parts[0])


def _factor(draws: np.random.Generator) -> float:
    return float(draws.choice([1.0, 1.0, -1.0, 2.0, 0.5, -0.7]))


def _parameter(own: Any, letter: str, draws: np.random.Generator) -> Angle:
    """One of its own, with a start or without, or one of two that are shared."""
    if draws.random() < 0.3:
        return own(f"{letter}_shared_{draws.integers(2)}", start=0.25)
    return own(start=0.5) if draws.random() < 0.2 else own
