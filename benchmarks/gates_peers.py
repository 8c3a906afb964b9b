"""The alignment-gradient step of the maps in the other libraries, each as its users would write it well.

Whatever an angle is multiplied by, a feature or a product of two, a peer gets computed beforehand, and the parameters
as arrays of its own. Packages are imported inside the functions, which run in a process of their own.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.gates_problem import IqpProblem, MapProblem
from benchmarks.libraries import JaxLayer, Peer, jax_step, lightning_step
from benchmarks.peers import jax_misalignment
from benchmarks.problem import FloatArray, Step

if TYPE_CHECKING:
    import jax


# --- JAX ------------------------------------------------------------------------------------------------------------


def jax_build(layer_of: Callable[[MapProblem], JaxLayer], problem: MapProblem) -> Step:
    """1 - A and its gradients in JAX, by a scan over the layers."""
    import jax
    import jax.numpy as jnp

    inputs, layer = problem.inputs(), layer_of(problem)
    gate_inputs, targets = jnp.asarray(problem.gate_inputs()), jnp.asarray(inputs.targets)
    zero = jnp.zeros((len(gate_inputs), 2**problem.n_qubits), jnp.complex64).at[:, 0].set(1)

    def loss(weights: "jax.Array", bias: "jax.Array") -> "jax.Array":
        def scanned(states: "jax.Array", here: tuple["jax.Array", ...]) -> tuple["jax.Array", None]:
            w, b = here
            return layer(states, gate_inputs * w + b).astype(jnp.complex64), None

        states, _ = jax.lax.scan(scanned, zero, (problem.by_layer(weights), problem.by_layer(bias)))
        return jax_misalignment(states, targets)

    return jax_step(loss, (inputs.weights, inputs.bias))


def jax_layer(problem: MapProblem) -> JaxLayer:
    """Plain JAX, the batch in front: real rotations qubit by qubit, and all diagonal gates as one phase."""
    import jax.numpy as jnp

    n, signs, entangler = problem.n_qubits, _signs(problem), _entangler(problem)

    def layer(states: "jax.Array", angles: "jax.Array") -> "jax.Array":
        rotations = _jax_rotations(problem, angles)[..., None, None]
        for qubit in range(n):
            pairs, own = states.reshape(len(states), 2**qubit, 2, -1), rotations[:, qubit]
            zero, one = pairs[:, :, 0], pairs[:, :, 1]
            states = jnp.stack([own[:, row, 0] * zero + own[:, row, 1] * one for row in range(2)], axis=2)
        phases = angles[:, -len(signs) :] @ (signs / 2)
        return states.reshape(-1, 2**n) * (entangler * jnp.exp(-1j * phases))

    return layer


def jax_fused_layer(problem: MapProblem) -> JaxLayer:
    """Tuned: the real rotations of each half of the qubits make one matrix, too."""
    import jax.numpy as jnp

    n, signs, entangler = problem.n_qubits, _signs(problem), _entangler(problem)

    def layer(states: "jax.Array", angles: "jax.Array") -> "jax.Array":
        rotations = _jax_rotations(problem, angles)
        left, right = (_jax_kron(half)[:, None] for half in (rotations[:, : n // 2], rotations[:, n // 2 :]))
        parts = jnp.stack([states.real, states.imag], 1).reshape(len(states), 2, 2 ** (n // 2), -1)
        parts = left @ parts @ right.mT
        phases = angles[:, -len(signs) :] @ (signs / 2)
        return (parts[:, 0] + 1j * parts[:, 1]).reshape(-1, 2**n) * (entangler * jnp.exp(-1j * phases))

    return layer


def _signs(problem: MapProblem) -> FloatArray:
    """Eigenvalues ±1 of Z, and for IQP of ZZ, of the diagonal gates of a layer, which come last in it: (D, 2**n)."""
    signs = _bit_signs(problem.n_qubits)
    if isinstance(problem, IqpProblem):
        return np.concatenate([signs, [signs[p] * signs[q] for p, q in problem.pairs]])
    return signs


def _entangler(problem: MapProblem) -> FloatArray:
    """The sign that all CZ of a layer give to each amplitude: -1 for each pair of ones."""
    signs = _bit_signs(problem.n_qubits)
    pairs = [] if isinstance(problem, IqpProblem) else problem.pairs
    return np.prod([np.where(signs[p] + signs[q] < 0, -1, 1) for p, q in pairs], axis=0, dtype=np.float32)


def _bit_signs(n_qubits: int) -> FloatArray:
    bits = np.arange(2**n_qubits) >> np.arange(n_qubits)[::-1, None] & 1
    return (1 - 2 * bits).astype(np.float32)


def _jax_rotations(problem: MapProblem, angles: "jax.Array") -> "jax.Array":
    """The real rotations of a layer, (S, n, 2, 2), or (1, n, 2, 2) if they are the same for all states."""
    import jax.numpy as jnp

    if isinstance(problem, IqpProblem):
        hadamard = np.sqrt(0.5, dtype=np.float32) * np.array([[1, 1], [1, -1]], np.float32)
        return jnp.broadcast_to(hadamard, (1, problem.n_qubits, 2, 2))
    halves = angles[:, : problem.n_qubits] / 2
    cos, sin = jnp.cos(halves), jnp.sin(halves)
    return jnp.stack([cos, -sin, sin, cos], -1).reshape(*halves.shape, 2, 2)


def _jax_kron(gates: "jax.Array") -> "jax.Array":
    """The Kronecker product over axis 1, (S, k, 2, 2) → (S, 2**k, 2**k)."""
    found = gates[:, 0]
    for place in range(1, gates.shape[1]):
        larger = found[:, :, None, :, None] * gates[:, place, None, :, None, :]
        found = larger.reshape(len(larger), 2 ** (place + 1), -1)
    return found


def pennylane_layer(problem: MapProblem) -> JaxLayer:
    """``default.qubit``, vectorised over the batch; a layer, as unrolled layers take minutes to compile."""
    import jax
    import pennylane as qml

    kinds = {"h": qml.Hadamard, "ry": qml.RY, "rz": qml.RZ, "rzz": qml.IsingZZ, "cz": qml.CZ}

    @qml.qnode(qml.device("default.qubit", wires=problem.n_qubits), interface="jax", diff_method="backprop")
    def layer(state: "jax.Array", angles: "jax.Array") -> Any:
        qml.StatePrep(state, wires=range(problem.n_qubits), validate_norm=False)
        place = 0
        for gate in problem.layer.gates:
            own = [angles[place]] if gate.angles else []
            kinds[gate.name](*own, wires=list(gate.qubits))
            place += len(gate.angles)
        return qml.state()

    return jax.vmap(layer)


def tensorcircuit_layer(problem: MapProblem) -> JaxLayer:
    """TensorCircuit on JAX, vectorised over the batch; a layer, as its documentation advises for depth."""
    import jax
    import tensorcircuit

    tensorcircuit.set_backend("jax")
    tensorcircuit.set_dtype("complex64")

    def layer(state: "jax.Array", angles: "jax.Array") -> "jax.Array":
        circuit, place = tensorcircuit.Circuit(problem.n_qubits, inputs=state), 0
        for gate in problem.layer.gates:
            own = {"theta": angles[place]} if gate.angles else {}
            getattr(circuit, gate.name)(*gate.qubits, **own)
            place += len(gate.angles)
        return circuit.state()

    return jax.vmap(layer)


# --- PennyLane-Lightning --------------------------------------------------------------------------------------------


def lightning_build(problem: MapProblem) -> Step:
    """1 - A and its gradients in PennyLane-Lightning."""
    names = {"h": "Hadamard", "ry": "RY", "rz": "RZ", "rzz": "IsingZZ", "cz": "CZ"}
    layer = [(names[gate.name], list(gate.qubits)) for gate in problem.layer.gates]
    gate_inputs = np.tile(problem.gate_inputs(), (1, problem.n_layers))
    return lightning_step(problem, gates=layer * problem.n_layers, gate_inputs=gate_inputs)


PEERS = {
    "jax": Peer(title="JAX scan", packages=("jax",), build=partial(jax_build, jax_layer)),
    "jax-fused": Peer(title="JAX scan, gates fused", packages=("jax",), build=partial(jax_build, jax_fused_layer)),
    "pennylane-jax": Peer(
        title="PennyLane + JAX", packages=("pennylane", "jax"), build=partial(jax_build, pennylane_layer)
    ),
    "tensorcircuit": Peer(
        title="TensorCircuit + JAX", packages=("tensorcircuit", "jax"), build=partial(jax_build, tensorcircuit_layer)
    ),
    "lightning": Peer(
        title="PennyLane-Lightning, C++ adjoint",
        packages=("pennylane_lightning",),
        build=lightning_build,
        one_core=True,
    ),
}
