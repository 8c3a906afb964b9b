"""The same step in the libraries that one would otherwise use, each as its users would write it well.

A peer gets the features already arranged by gate (no gathering inside the step) and starts from parameters that
already are its own arrays. Packages are imported inside ``build``, which runs in a process of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.machine import n_cores
from benchmarks.problem import Step, StepProblem
from mcquack.circuits.entangler import ring_permutation

if TYPE_CHECKING:
    import jax
    import torch

Build = Callable[[StepProblem], Step]

LONG_STEP = 1.0
"""Seconds of a step above which all cores are the better choice without a try."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A library, the modules it needs, and how the step is built in it."""

    title: str
    packages: tuple[str, ...]
    build: Build


# --- PyTorch --------------------------------------------------------------------------------------------------------


def torch_build(problem: StepProblem) -> Step:
    """Eager complex64, one einsum per gate over the whole batch."""
    return _torch_step(problem, _torch_states_by_gate)


def torch_fused_build(problem: StepProblem) -> Step:
    """Eager complex64, tuned: three neighbouring gates make one 8 × 8 matrix, applied by a batched product."""
    return _torch_step(problem, _torch_states_by_three_gates)


def pennylane_torch_build(problem: StepProblem) -> Step:
    """``default.qubit`` with backpropagation, the batch broadcast through every gate."""
    import pennylane as qml

    @qml.qnode(qml.device("default.qubit", wires=problem.n_qubits), interface="torch", diff_method="backprop")
    def states(angles: "torch.Tensor") -> Any:
        for layer in angles.unbind(1):
            for qubit, gate in enumerate(layer.unbind(1)):
                qml.Rot(*gate.unbind(-1), wires=qubit)
            _pennylane_ring(problem.n_qubits)
        return qml.state()

    return _torch_step(problem, lambda angles, _: states(angles))


def _torch_step(problem: StepProblem, states_of: Callable[["torch.Tensor", StepProblem], "torch.Tensor"]) -> Step:
    import torch

    inputs, n_samples = problem.inputs(), problem.n_samples
    features = torch.from_numpy(problem.gate_features())[..., None]
    targets = torch.from_numpy(inputs.targets)
    weights = torch.from_numpy(inputs.weights).requires_grad_()
    bias = torch.from_numpy(inputs.bias).requires_grad_()

    def step() -> float:
        weights.grad = bias.grad = None
        states = states_of(features * weights + bias, problem)
        kernel = (states[:n_samples] @ states[n_samples:].mH).abs() ** 2
        loss = 1 - (kernel * targets).sum() / torch.sqrt((kernel * kernel).sum() * targets.numel())
        loss.backward()
        return float(loss.detach())

    torch.set_num_threads(_better_thread_count(step))
    return step


def _better_thread_count(step: Step) -> int:
    """1 or all cores, whichever is faster: at a few layers torch loses more by waking threads than it wins."""
    import torch

    from benchmarks.worker import seconds_per_step

    torch.set_num_threads(n_cores())
    (first,) = seconds_per_step(step, budget=0)
    if first > LONG_STEP:
        return n_cores()
    best_seconds = {}
    for threads in {1, n_cores()}:
        torch.set_num_threads(threads)
        best_seconds[threads] = min(seconds_per_step(step, budget=0.3))
    return min(best_seconds, key=best_seconds.__getitem__)


def _torch_zero_states(problem: StepProblem) -> "torch.Tensor":
    import torch

    states = torch.zeros(problem.n_samples + problem.n_classes, 2**problem.n_qubits, dtype=torch.complex64)
    states[:, 0] = 1
    return states


def _torch_rotations(angles: "torch.Tensor") -> "torch.Tensor":
    """RZ(ω)RY(θ)RZ(φ) as 2 × 2 matrices in the last two axes."""
    import torch

    phi, theta, omega = angles.unbind(-1)
    a = torch.polar(torch.cos(theta / 2), -(phi + omega) / 2)
    b = torch.polar(torch.sin(theta / 2), -(phi - omega) / 2)
    return torch.stack([a, -b.conj(), b, a.conj()], -1).unflatten(-1, (2, 2))


def _torch_states_by_gate(angles: "torch.Tensor", problem: StepProblem) -> "torch.Tensor":
    import torch

    source = torch.from_numpy(_ring_source(problem.n_qubits))
    states = _torch_zero_states(problem)
    for layer in _torch_rotations(angles).unbind(1):
        for qubit, gate in enumerate(layer.unbind(1)):
            pairs = states.reshape(len(states), 2**qubit, 2, -1)
            states = torch.einsum("sab,sxbz->sxaz", gate, pairs)
        states = states.flatten(1).index_select(1, source)
    return states


def _torch_states_by_three_gates(angles: "torch.Tensor", problem: StepProblem) -> "torch.Tensor":
    import torch

    source = torch.from_numpy(_ring_source(problem.n_qubits))
    rotations = _torch_rotations(angles)
    groups = [_torch_kron(rotations[:, :, first : first + 3]) for first in range(0, problem.n_qubits, 3)]
    states = _torch_zero_states(problem)
    for layer in zip(*(group.mT.unbind(1) for group in groups), strict=True):
        for group in layer:
            # The leading qubits are rotated and leave at the end, so after all groups the order is the old one.
            states = torch.bmm(states.reshape(len(states), group.shape[-1], -1).mT, group)
        states = states.flatten(1).index_select(1, source)
    return states


def _torch_kron(gates: "torch.Tensor") -> "torch.Tensor":
    """The Kronecker product over axis 2, (S, L, k, 2, 2) → (S, L, 2**k, 2**k)."""
    product, *rest = gates.unbind(2)
    for gate in rest:
        product = (product[..., :, None, :, None] * gate[..., None, :, None, :]).flatten(-4, -3).flatten(-2, -1)
    return product


# --- JAX ------------------------------------------------------------------------------------------------------------


def jax_build(problem: StepProblem) -> Step:
    """A jitted scan over the layers, complex64, the batch in front."""
    import jax.numpy as jnp

    source = _ring_source(problem.n_qubits)

    def layer(states: "jax.Array", angles: "jax.Array") -> "jax.Array":
        a, b = _jax_rotation(angles)
        for qubit in range(problem.n_qubits):
            pairs = states.reshape(len(states), 2**qubit, 2, -1)
            zero, one = pairs[:, :, 0], pairs[:, :, 1]
            a_q, b_q = a[:, qubit, None, None], b[:, qubit, None, None]
            states = jnp.stack([a_q * zero - b_q.conj() * one, b_q * zero + a_q.conj() * one], axis=2)
        return states.reshape(len(states), -1)[:, source]

    return _jax_step(problem, layer)


def pennylane_jax_build(problem: StepProblem) -> Step:
    """``default.qubit``, jitted, vectorised over the batch; scanned, as unrolled layers take minutes to compile."""
    import jax
    import pennylane as qml

    n_qubits = problem.n_qubits

    @qml.qnode(qml.device("default.qubit", wires=n_qubits), interface="jax", diff_method="backprop")
    def layer(state: "jax.Array", angles: "jax.Array") -> Any:
        qml.StatePrep(state, wires=range(n_qubits), validate_norm=False)
        for qubit in range(n_qubits):
            qml.Rot(*angles[qubit], wires=qubit)
        _pennylane_ring(n_qubits)
        return qml.state()

    return _jax_step(problem, jax.vmap(layer))


def tensorcircuit_build(problem: StepProblem) -> Step:
    """TensorCircuit on JAX, jitted, vectorised over the batch; scanned, as its documentation advises for depth."""
    import jax
    import jax.numpy as jnp
    import tensorcircuit

    tensorcircuit.set_backend("jax")
    tensorcircuit.set_dtype("complex64")
    n_qubits = problem.n_qubits

    def layer(state: "jax.Array", angles: "jax.Array") -> "jax.Array":
        circuit = tensorcircuit.Circuit(n_qubits, inputs=state)
        for qubit in range(n_qubits):
            a, b = _jax_rotation(angles[qubit])
            circuit.any(qubit, unitary=jnp.array([[a, -b.conj()], [b, a.conj()]]))
        for qubit in range(n_qubits):
            circuit.cnot(qubit, (qubit + 1) % n_qubits)
        return circuit.state()

    return _jax_step(problem, jax.vmap(layer))


def _jax_step(problem: StepProblem, layer: Callable[["jax.Array", "jax.Array"], "jax.Array"]) -> Step:
    import jax
    import jax.numpy as jnp

    inputs, n_samples = problem.inputs(), problem.n_samples
    features = jnp.asarray(problem.gate_features().swapaxes(0, 1)[..., None])  # (L, B + M, n, 1)
    targets = jnp.asarray(inputs.targets)
    parameters = jnp.asarray(inputs.weights), jnp.asarray(inputs.bias)

    def states_of(weights: "jax.Array", bias: "jax.Array") -> "jax.Array":
        def scanned(states: "jax.Array", here: tuple["jax.Array", ...]) -> tuple["jax.Array", None]:
            x, w, b = here
            return layer(states, x * w + b).astype(jnp.complex64), None

        zero = jnp.zeros((features.shape[1], 2**problem.n_qubits), jnp.complex64).at[:, 0].set(1)
        return jax.lax.scan(scanned, zero, (features, weights, bias))[0]

    def loss(parameters: tuple["jax.Array", "jax.Array"]) -> "jax.Array":
        states = states_of(*parameters)
        kernel = jnp.abs(states[:n_samples] @ states[n_samples:].conj().T) ** 2
        return 1 - (kernel * targets).sum() / jnp.sqrt((kernel * kernel).sum() * targets.size)

    value_and_gradient = jax.jit(jax.value_and_grad(loss))
    return lambda: float(jax.block_until_ready(value_and_gradient(parameters))[0])


def _jax_rotation(angles: "jax.Array") -> tuple["jax.Array", "jax.Array"]:
    """a and b of RZ(ω)RY(θ)RZ(φ) = [[a, -b*], [b, a*]]."""
    import jax.numpy as jnp

    phi, theta, omega = angles[..., 0], angles[..., 1], angles[..., 2]
    a = jnp.exp(-0.5j * (phi + omega)) * jnp.cos(theta / 2)
    b = jnp.exp(-0.5j * (phi - omega)) * jnp.sin(theta / 2)
    return a, b


# --- shared ---------------------------------------------------------------------------------------------------------


def _pennylane_ring(n_qubits: int) -> None:
    import pennylane as qml

    for qubit in range(n_qubits):
        qml.CNOT([qubit, (qubit + 1) % n_qubits])


def _ring_source(n_qubits: int) -> np.ndarray:
    """``new_state = old_state[source]`` applies the CNOT ring."""
    return np.argsort(ring_permutation(n_qubits))


PEERS = {
    "torch": Peer(title="PyTorch", packages=("torch",), build=torch_build),
    "torch-fused": Peer(title="PyTorch, gates fused", packages=("torch",), build=torch_fused_build),
    "jax": Peer(title="JAX scan", packages=("jax",), build=jax_build),
    "pennylane-jax": Peer(title="PennyLane + JAX", packages=("pennylane", "jax"), build=pennylane_jax_build),
    "pennylane-torch": Peer(title="PennyLane + torch", packages=("pennylane", "torch"), build=pennylane_torch_build),
    "tensorcircuit": Peer(title="TensorCircuit + JAX", packages=("tensorcircuit", "jax"), build=tensorcircuit_build),
}
