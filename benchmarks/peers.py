"""The alignment-gradient step in the other libraries.

A peer gets the features already arranged by gate (no gathering inside the step) and starts from parameters that
already are its own arrays.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.libraries import (
    JaxLayer,
    Peer,
    TorchStates,
    jax_states,
    jax_step,
    kokkos_step,
    lightning_step,
    numpy_misalignment,
    peers_with,
    qulacs_step,
    torch_step,
)
from benchmarks.machine import n_cores
from benchmarks.problem import Found, Step, StepProblem

if TYPE_CHECKING:
    import jax
    import torch


def torch_build(circuit: Callable[[int], TorchStates], problem: StepProblem) -> Step:
    """1 - A and its gradients in PyTorch."""
    import torch

    inputs, n_samples, states_of = problem.inputs(), problem.n_samples, circuit(problem.n_qubits)
    features = torch.from_numpy(problem.gate_features())[..., None]
    targets = torch.from_numpy(inputs.targets)

    def loss(weights: "torch.Tensor", bias: "torch.Tensor") -> "torch.Tensor":
        states = states_of(features * weights + bias)
        kernel = (states[:n_samples] @ states[n_samples:].mH).abs() ** 2
        return 1 - (kernel * targets).sum() / torch.sqrt((kernel * kernel).sum() * targets.numel())

    return torch_step(loss, (inputs.weights, inputs.bias))


def jax_build(circuit: Callable[[int], JaxLayer], problem: StepProblem) -> Step:
    """1 - A and its gradients in JAX."""
    import jax.numpy as jnp

    inputs, layer = problem.inputs(), circuit(problem.n_qubits)
    features = jnp.asarray(problem.gate_features().swapaxes(0, 1)[..., None])  # (L, B + M, n, 1)
    targets = jnp.asarray(inputs.targets)

    def loss(weights: "jax.Array", bias: "jax.Array") -> "jax.Array":
        return jax_misalignment(jax_states(layer, features, weights=weights, bias=bias), targets)

    return jax_step(loss, (inputs.weights, inputs.bias))


def jax_misalignment(states: "jax.Array", targets: "jax.Array") -> "jax.Array":
    """1 - A of the states of samples, then centroids, and the targets (B, M)."""
    import jax.numpy as jnp

    n_samples = len(targets)
    kernel = jnp.abs(states[:n_samples] @ states[n_samples:].conj().T) ** 2
    return 1 - (kernel * targets).sum() / jnp.sqrt((kernel * kernel).sum() * targets.size)


GateStep = Callable[..., Step]


def gate_list_build(gate_step: GateStep, problem: StepProblem) -> Step:
    """1 - A, and its gradients where the library has them, from a list of gates that runs for each sample."""
    qubits = range(problem.n_qubits)
    rotations = [(name, [qubit]) for qubit in qubits for name in ("RZ", "RY", "RZ")]
    ring = [("CNOT", [qubit, (qubit + 1) % problem.n_qubits]) for qubit in qubits]
    gate_inputs = np.repeat(problem.gate_features().reshape(problem.n_circuits, -1), 3, axis=1)
    return gate_step(problem, gates=(rotations + ring) * problem.n_layers, gate_inputs=gate_inputs)


def aer_build(problem: StepProblem) -> Step:
    """1 - A alone in Qiskit Aer, which has no derivatives: parameter shifts would take 6nL times as many circuits.

    The statevector method in single precision, on all cores, at the fastest of the settings for fusing gates that were
    tried. Aer counts qubits from the other end, which changes no overlap.
    """
    from qiskit.circuit import ParameterVector, QuantumCircuit
    from qiskit_aer import AerSimulator

    inputs, features = problem.inputs(), problem.gate_features()[..., None]
    angles = ParameterVector("angle", inputs.weights.size)
    circuit = QuantumCircuit(problem.n_qubits)
    left = iter(angles)
    for _ in range(problem.n_layers):
        for qubit in range(problem.n_qubits):
            phi, theta, omega = next(left), next(left), next(left)
            circuit.u(theta, omega, phi, qubit)
        for qubit in range(problem.n_qubits):
            circuit.cx(qubit, (qubit + 1) % problem.n_qubits)
    circuit.save_statevector()
    simulator = AerSimulator(
        method="statevector", precision="single", fusion_max_qubit=3, max_parallel_experiments=n_cores()
    )

    def step() -> Found:
        values = (features * inputs.weights + inputs.bias).reshape(problem.n_circuits, -1)
        bound = dict(zip(angles, values.T.tolist(), strict=True))
        found = simulator.run(circuit, parameter_binds=[bound]).result()
        states = np.stack([found.get_statevector(index).data for index in range(problem.n_circuits)])
        return Found(numpy_misalignment(states, inputs.targets)[0], list)

    return step


PEERS = {
    **peers_with({"torch": torch_build, "jax": jax_build}),
    "lightning": Peer(
        title="PennyLane-Lightning, C++ adjoint",
        packages=("pennylane_lightning",),
        build=partial(gate_list_build, lightning_step),
        one_core=True,
    ),
    "lightning-kokkos": Peer(
        title="PennyLane-Lightning-Kokkos, forward only",
        packages=("pennylane_lightning.lightning_kokkos_ops",),
        build=partial(gate_list_build, kokkos_step),
    ),
    "qulacs": Peer(title="Qulacs, backpropagation", packages=("qulacs",), build=partial(gate_list_build, qulacs_step)),
    "aer": Peer(title="Qiskit Aer, forward only", packages=("qiskit_aer",), build=aer_build),
}
