"""The alignment-gradient step in the other libraries.

A peer gets the features already arranged by gate (no gathering inside the step) and starts from parameters that
already are its own arrays.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from benchmarks.libraries import JaxLayer, TorchStates, jax_states, jax_step, peers_with, torch_step
from benchmarks.problem import Step, StepProblem

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


PEERS = peers_with({"torch": torch_build, "jax": jax_build})
