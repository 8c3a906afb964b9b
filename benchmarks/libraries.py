"""The circuit in the libraries that one would otherwise use, each as its users would write it well.

Packages are imported inside the functions, which run in a process of their own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import n_cores
from benchmarks.problem import FloatArray, Found, Step, StepProblem
from benchmarks.worker import Build, seconds_per_step
from mcquack.circuits.entangler import ring_permutation

if TYPE_CHECKING:
    import jax
    import torch

ComplexArray = NDArray[np.complex64]
Framework = Literal["torch", "jax"]

TorchStates = Callable[["torch.Tensor"], "torch.Tensor"]
"""Angles (S, L, n, 3) → states (S, 2**n)."""

JaxLayer = Callable[["jax.Array", "jax.Array"], "jax.Array"]
"""States (S, 2**n) and the angles (S, n, 3) of a layer → states after it."""

LONG_STEP = 1.0
"""Seconds of a step above which all cores are the better choice without a try."""


@dataclass(frozen=True, kw_only=True)
class Library:
    """A library, the modules it needs, what differentiates it, and its circuit of n qubits."""

    title: str
    packages: tuple[str, ...]
    framework: Framework
    circuit: Callable[[int], Any]  # n → TorchStates or JaxLayer


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A library and how a step is built in it."""

    title: str
    packages: tuple[str, ...]
    build: Build
    one_core: bool = False
    """It cannot share its circuits between threads; then it is charged as if processes shared them at no cost."""


def peers_with(steps: Mapping[Framework, Callable[[Callable[[int], Any], StepProblem], Step]]) -> dict[str, Peer]:
    """All libraries, asked for the same step."""
    return {
        name: Peer(
            title=library.title,
            packages=library.packages,
            build=partial(steps[library.framework], library.circuit),
        )
        for name, library in LIBRARIES.items()
    }


# --- PyTorch --------------------------------------------------------------------------------------------------------


def torch_by_gate(n_qubits: int) -> TorchStates:
    """Eager complex64, one einsum per gate over the whole batch."""
    import torch

    source = torch.from_numpy(_ring_source(n_qubits))

    def states_of(angles: "torch.Tensor") -> "torch.Tensor":
        states = _torch_zero_states(len(angles), n_qubits)
        for layer in _torch_rotations(angles).unbind(1):
            for qubit, gate in enumerate(layer.unbind(1)):
                pairs = states.reshape(len(states), 2**qubit, 2, -1)
                states = torch.einsum("sab,sxbz->sxaz", gate, pairs)
            states = states.flatten(1).index_select(1, source)
        return states

    return states_of


def torch_by_fused_gates(n_qubits: int) -> TorchStates:
    """Eager complex64, tuned: neighbouring gates make one matrix of 8 × 8 or 16 × 16, applied by a batched product."""
    import torch

    size = 3 if n_qubits < 16 else 4  # the fastest of 2 to 5, on one core
    source = torch.from_numpy(_ring_source(n_qubits))

    def states_of(angles: "torch.Tensor") -> "torch.Tensor":
        rotations = _torch_rotations(angles)
        groups = [_torch_kron(rotations[:, :, first : first + size]) for first in range(0, n_qubits, size)]
        states = _torch_zero_states(len(angles), n_qubits)
        for layer in zip(*(group.mT.unbind(1) for group in groups), strict=True):
            for group in layer:
                # The leading qubits are rotated and leave at the end, so after all groups the order is the old one.
                states = torch.bmm(states.reshape(len(states), group.shape[-1], -1).mT, group)
            states = states.flatten(1).index_select(1, source)
        return states

    return states_of


def pennylane_torch(n_qubits: int) -> TorchStates:
    """``default.qubit`` with backpropagation, the batch broadcast through every gate."""
    import pennylane as qml

    @qml.qnode(qml.device("default.qubit", wires=n_qubits), interface="torch", diff_method="backprop")
    def states_of(angles: "torch.Tensor") -> Any:
        for layer in angles.unbind(1):
            for qubit, gate in enumerate(layer.unbind(1)):
                qml.Rot(*gate.unbind(-1), wires=qubit)
            _pennylane_ring(n_qubits)
        return qml.state()

    return states_of


def torch_step(loss_of: Callable[..., "torch.Tensor"], parameters: Sequence[np.ndarray]) -> Step:
    """The loss and its gradients by all parameters, on as many threads as are fastest."""
    import torch

    leaves = [torch.from_numpy(parameter).requires_grad_() for parameter in parameters]

    def step() -> Found:
        for leaf in leaves:
            leaf.grad = None
        loss = loss_of(*leaves)
        loss.backward()
        return Found(float(loss.detach()), lambda: [leaf.grad.numpy() for leaf in leaves])

    torch.set_num_threads(_better_thread_count(step))
    return step


def _better_thread_count(step: Step) -> int:
    """1 or all cores, whichever is faster: at a few layers torch loses more by waking threads than it wins."""
    import torch

    torch.set_num_threads(n_cores())
    (first,) = seconds_per_step(step, budget=0)
    if first > LONG_STEP:
        return n_cores()
    best_seconds = {}
    for threads in {1, n_cores()}:
        torch.set_num_threads(threads)
        best_seconds[threads] = min(seconds_per_step(step, budget=0.3))
    return min(best_seconds, key=best_seconds.__getitem__)


def _torch_zero_states(count: int, n_qubits: int) -> "torch.Tensor":
    import torch

    states = torch.zeros(count, 2**n_qubits, dtype=torch.complex64)
    states[:, 0] = 1
    return states


def _torch_rotations(angles: "torch.Tensor") -> "torch.Tensor":
    """RZ(ω)RY(θ)RZ(φ) as 2 × 2 matrices in the last two axes."""
    import torch

    phi, theta, omega = (angles / 2).unbind(-1)
    cos, sin, plus, minus = torch.cos(theta), torch.sin(theta), phi + omega, phi - omega
    # Not torch.polar: its gradients have the wrong sign where its first argument, here cos or sin, is negative.
    a = torch.complex(cos * torch.cos(plus), -cos * torch.sin(plus))
    b = torch.complex(sin * torch.cos(minus), -sin * torch.sin(minus))
    return torch.stack([a, -b.conj(), b, a.conj()], -1).unflatten(-1, (2, 2))


def _torch_kron(gates: "torch.Tensor") -> "torch.Tensor":
    """The Kronecker product over axis 2, (S, L, k, 2, 2) → (S, L, 2**k, 2**k)."""
    product, *rest = gates.unbind(2)
    for gate in rest:
        product = (product[..., :, None, :, None] * gate[..., None, :, None, :]).flatten(-4, -3).flatten(-2, -1)
    return product


# --- JAX ------------------------------------------------------------------------------------------------------------


def jax_layer(n_qubits: int) -> JaxLayer:
    """Plain JAX, complex64, the batch in front."""
    import jax.numpy as jnp

    source = _ring_source(n_qubits)

    def layer(states: "jax.Array", angles: "jax.Array") -> "jax.Array":
        a, b = _jax_rotation(angles)
        for qubit in range(n_qubits):
            pairs = states.reshape(len(states), 2**qubit, 2, -1)
            zero, one = pairs[:, :, 0], pairs[:, :, 1]
            a_q, b_q = a[:, qubit, None, None], b[:, qubit, None, None]
            states = jnp.stack([a_q * zero - b_q.conj() * one, b_q * zero + a_q.conj() * one], axis=2)
        return states.reshape(len(states), -1)[:, source]

    return layer


def pennylane_jax_layer(n_qubits: int) -> JaxLayer:
    """``default.qubit``, vectorised over the batch; a layer, as unrolled layers take minutes to compile."""
    import jax
    import pennylane as qml

    @qml.qnode(qml.device("default.qubit", wires=n_qubits), interface="jax", diff_method="backprop")
    def layer(state: "jax.Array", angles: "jax.Array") -> Any:
        qml.StatePrep(state, wires=range(n_qubits), validate_norm=False)
        for qubit in range(n_qubits):
            qml.Rot(*angles[qubit], wires=qubit)
        _pennylane_ring(n_qubits)
        return qml.state()

    return jax.vmap(layer)


def tensorcircuit_layer(n_qubits: int) -> JaxLayer:
    """TensorCircuit on JAX, vectorised over the batch; a layer, as its documentation advises for depth."""
    import jax
    import jax.numpy as jnp
    import tensorcircuit

    tensorcircuit.set_backend("jax")
    tensorcircuit.set_dtype("complex64")

    def layer(state: "jax.Array", angles: "jax.Array") -> "jax.Array":
        circuit = tensorcircuit.Circuit(n_qubits, inputs=state)
        for qubit in range(n_qubits):
            a, b = _jax_rotation(angles[qubit])
            circuit.any(qubit, unitary=jnp.array([[a, -b.conj()], [b, a.conj()]]))
        for qubit in range(n_qubits):
            circuit.cnot(qubit, (qubit + 1) % n_qubits)
        return circuit.state()

    return jax.vmap(layer)


def jax_states(layer: JaxLayer, features: "jax.Array", *, weights: "jax.Array", bias: "jax.Array") -> "jax.Array":
    """States (S, 2**n) by a scan over the layers, from features (L, S, n, 1) and parameters (L, n, 3)."""
    import jax
    import jax.numpy as jnp

    def scanned(states: "jax.Array", here: tuple["jax.Array", ...]) -> tuple["jax.Array", None]:
        x, w, b = here
        return layer(states, x * w + b).astype(jnp.complex64), None

    _, n_samples, n_qubits, _ = features.shape
    zero = jnp.zeros((n_samples, 2**n_qubits), jnp.complex64).at[:, 0].set(1)
    return jax.lax.scan(scanned, zero, (features, weights, bias))[0]


def jax_step(loss_of: Callable[..., "jax.Array"], parameters: Sequence[np.ndarray]) -> Step:
    """The loss and its gradients by all parameters, jitted."""
    import jax
    import jax.numpy as jnp

    arrays = [jnp.asarray(parameter) for parameter in parameters]
    value_and_gradient = jax.jit(jax.value_and_grad(loss_of, argnums=tuple(range(len(arrays)))))

    def step() -> Found:
        loss, gradients = jax.block_until_ready(value_and_gradient(*arrays))
        return Found(float(loss), lambda: [np.asarray(gradient) for gradient in gradients])

    return step


def _jax_rotation(angles: "jax.Array") -> tuple["jax.Array", "jax.Array"]:
    """a and b of RZ(ω)RY(θ)RZ(φ) = [[a, -b*], [b, a*]]."""
    import jax.numpy as jnp

    phi, theta, omega = angles[..., 0], angles[..., 1], angles[..., 2]
    a = jnp.exp(-0.5j * (phi + omega)) * jnp.cos(theta / 2)
    b = jnp.exp(-0.5j * (phi - omega)) * jnp.sin(theta / 2)
    return a, b


# --- PennyLane-Lightning --------------------------------------------------------------------------------------------


def lightning_step(
    problem: StepProblem, *, gates: Sequence[tuple[str, Sequence[int]]], gate_inputs: FloatArray
) -> Step:
    """``lightning.qubit`` in complex64: a circuit for each sample and centroid, and its adjoint method.

    ``gates`` names each gate and its qubits; ``gate_inputs`` (S, P) is what the weight of each angle is multiplied by.
    A QNode on Lightning has derivatives of expectations only, which would take a circuit for each pair. The C++ under
    it can pull back states, so it is called here without the Python around it.
    """
    from pennylane_lightning.lightning_qubit_ops import StateVectorC64
    from pennylane_lightning.lightning_qubit_ops.algorithms import VectorJacobianProductC64, create_ops_listC64

    inputs = problem.inputs()
    weights, bias = inputs.weights.ravel(), inputs.bias.ravel()
    names, wires = zip(*gates, strict=True)
    has_angle = [name in LIGHTNING_ROTATIONS for name in names]
    nothing: tuple[list[list[int]], ...] = [[]] * len(gates), [[]] * len(gates)  # no gate has controls
    plain = [False] * len(gates), [np.empty(0, np.complex64)] * len(gates), *nothing
    register, pull_back = StateVectorC64(problem.n_qubits), VectorJacobianProductC64()

    def step() -> Found:
        angles = (gate_inputs * weights + bias).tolist()
        by_gate = [_by_gate(row, has_angle) for row in angles]
        states = np.empty((len(angles), 2**problem.n_qubits), np.complex64)
        for row, state in zip(by_gate, states, strict=True):
            register.resetStateVector()
            for name, qubits, own in zip(names, wires, row, strict=True):
                getattr(register, name)(qubits, False, own)
            register.getState(state)
        loss, cotangents = numpy_misalignment(states, inputs.targets)
        slopes = np.empty_like(gate_inputs)
        for index, (row, state) in enumerate(zip(by_gate, states, strict=True)):
            register.updateData(state)
            gate_list = create_ops_listC64(names, row, wires, *plain)
            slopes[index] = 2 * pull_back(register, gate_list, cotangents(index), range(weights.size)).real
        gradients = [(slopes * gate_inputs).sum(0), slopes.sum(0)]
        return Found(loss, lambda: [slope.reshape(inputs.weights.shape) for slope in gradients])

    return step


LIGHTNING_ROTATIONS = ("RX", "RY", "RZ", "IsingZZ")


def kokkos_step(problem: StepProblem, *, gates: Sequence[tuple[str, Sequence[int]]], gate_inputs: FloatArray) -> Step:
    """``lightning.kokkos`` in complex64, the states alone: its adjoint differentiates expectations, and no states."""
    from pennylane_lightning.lightning_kokkos_ops import StateVectorC64

    inputs = problem.inputs()
    weights, bias = inputs.weights.ravel(), inputs.bias.ravel()
    has_angle = [name in LIGHTNING_ROTATIONS for name, _ in gates]
    register = StateVectorC64(problem.n_qubits)

    def step() -> Found:
        angles = (gate_inputs * weights + bias).tolist()
        states = np.empty((len(angles), 2**problem.n_qubits), np.complex64)
        for row, state in zip(angles, states, strict=True):
            register.resetStateVector()
            for (name, qubits), own in zip(gates, _by_gate(row, has_angle), strict=True):
                getattr(register, name)(qubits, False, own)
            register.DeviceToHost(state)
        return Found(numpy_misalignment(states, inputs.targets)[0], list)

    return step


# --- Qulacs ---------------------------------------------------------------------------------------------------------


def qulacs_step(problem: StepProblem, *, gates: Sequence[tuple[str, Sequence[int]]], gate_inputs: FloatArray) -> Step:
    """Qulacs in complex128, the only precision it has: a state for each sample and centroid, and its backpropagation.

    Qubits are counted from the other end, which changes no overlap, and rotations turn the other way.
    """
    import qulacs

    inputs = problem.inputs()
    weights, bias = inputs.weights.ravel(), inputs.bias.ravel()
    circuit = qulacs.ParametricQuantumCircuit(problem.n_qubits)
    for name, qubits in gates:
        if name in LIGHTNING_ROTATIONS:
            getattr(circuit, f"add_parametric_{name}_gate")(*qubits, 0.0)
        else:
            getattr(circuit, f"add_{name}_gate")(*qubits)
    state, cotangent = qulacs.QuantumState(problem.n_qubits), qulacs.QuantumState(problem.n_qubits)

    def bind(row: Sequence[float]) -> None:
        for index, angle in enumerate(row):
            circuit.set_parameter(index, -angle)

    def step() -> Found:
        angles = (gate_inputs * weights + bias).tolist()
        states = np.empty((len(angles), 2**problem.n_qubits), complex)
        for index, row in enumerate(angles):
            bind(row)
            state.set_zero_state()
            circuit.update_quantum_state(state)
            states[index] = state.get_vector()
        loss, cotangents = numpy_misalignment(states, inputs.targets)
        slopes = np.empty_like(gate_inputs)
        for index, row in enumerate(angles):
            bind(row)
            cotangent.load(cotangents(index))
            slopes[index] = -2 * np.asarray(circuit.backprop_inner_product(cotangent))
        gradients = [(slopes * gate_inputs).sum(0), slopes.sum(0)]
        return Found(loss, lambda: [slope.reshape(inputs.weights.shape) for slope in gradients])

    return step


def _by_gate(angles: Sequence[float], has_angle: Sequence[bool]) -> list[list[float]]:
    """The angle of each gate, or none."""
    left = iter(angles)
    return [[next(left)] if own else [] for own in has_angle]


def numpy_misalignment(
    states: NDArray[np.complexfloating[Any, Any]], targets: FloatArray
) -> tuple[float, Callable[[int], ComplexArray]]:
    """1 - A of the states of samples, then centroids, and by the index of a state v with d(1 - A) = 2 Re⟨v|dψ⟩."""
    n_samples = len(targets)
    samples, centroids = states[:n_samples], states[n_samples:]
    overlaps = samples @ centroids.conj().T
    kernel = np.abs(overlaps) ** 2
    squares = (kernel**2).sum()
    norm = np.sqrt(squares * targets.size)
    alignment = (kernel * targets).sum() / norm
    by_overlaps = (alignment * kernel / squares - targets / norm) * overlaps

    def cotangent(index: int) -> ComplexArray:
        if index < n_samples:
            return by_overlaps[index] @ centroids
        return by_overlaps[:, index - n_samples].conj() @ samples

    return float(1 - alignment), cotangent


# --- shared ---------------------------------------------------------------------------------------------------------


def _pennylane_ring(n_qubits: int) -> None:
    import pennylane as qml

    for qubit in range(n_qubits):
        qml.CNOT([qubit, (qubit + 1) % n_qubits])


def _ring_source(n_qubits: int) -> np.ndarray:
    """``new_state = old_state[source]`` applies the CNOT ring."""
    return np.argsort(ring_permutation(n_qubits))


LIBRARIES = {
    "torch": Library(title="PyTorch", packages=("torch",), framework="torch", circuit=torch_by_gate),
    "torch-fused": Library(
        title="PyTorch, gates fused", packages=("torch",), framework="torch", circuit=torch_by_fused_gates
    ),
    "jax": Library(title="JAX scan", packages=("jax",), framework="jax", circuit=jax_layer),
    "pennylane-jax": Library(
        title="PennyLane + JAX", packages=("pennylane", "jax"), framework="jax", circuit=pennylane_jax_layer
    ),
    "pennylane-torch": Library(
        title="PennyLane + torch", packages=("pennylane", "torch"), framework="torch", circuit=pennylane_torch
    ),
    "tensorcircuit": Library(
        title="TensorCircuit + JAX", packages=("tensorcircuit", "jax"), framework="jax", circuit=tensorcircuit_layer
    ),
}
