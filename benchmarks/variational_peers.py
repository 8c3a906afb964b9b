"""The variational step in the other libraries, on the same circuits as the alignment-gradient step."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from benchmarks.libraries import JaxLayer, TorchStates, jax_states, jax_step, peers_with, torch_step
from benchmarks.problem import Step
from benchmarks.variational_problem import VariationalProblem

if TYPE_CHECKING:
    import jax
    import torch


def torch_build(circuit: Callable[[int], TorchStates], problem: VariationalProblem) -> Step:
    """PyTorch: all classifiers and samples make one batch."""
    import torch

    inputs, states_of = problem.ensemble(), circuit(problem.n_qubits)
    features = torch.from_numpy(problem.sample_features())[..., None]
    right, signs = torch.from_numpy(problem.is_other()).flatten(), torch.from_numpy(problem.signs())

    def loss(weights: "torch.Tensor", bias: "torch.Tensor") -> "torch.Tensor":
        angles = features * weights[:, None] + bias[:, None]  # (M, B, L, n, 3)
        states = states_of(angles.flatten(0, 1))
        logits = (states.real**2 + states.imag**2).to(signs.dtype) @ signs
        return torch.nn.functional.cross_entropy(logits, right)

    return torch_step(loss, (inputs.weights, inputs.bias))


def jax_build(circuit: Callable[[int], JaxLayer], problem: VariationalProblem) -> Step:
    """JAX: a scan over the layers, vectorised over the classifiers."""
    import jax
    import jax.numpy as jnp

    inputs, layer = problem.ensemble(), circuit(problem.n_qubits)
    features = jnp.asarray(problem.sample_features().swapaxes(0, 1)[..., None])  # (L, B, n, 1)
    right, signs = jnp.asarray(problem.is_other())[..., None], jnp.asarray(problem.signs())

    def logits_of(weights: "jax.Array", bias: "jax.Array") -> "jax.Array":
        states = jax_states(layer, features, weights=weights, bias=bias)
        return (states.real**2 + states.imag**2) @ signs

    def loss(weights: "jax.Array", bias: "jax.Array") -> "jax.Array":
        scores = jax.nn.log_softmax(jax.vmap(logits_of)(weights, bias))  # (M, B, 2)
        return -jnp.take_along_axis(scores, right, axis=-1).mean()

    return jax_step(loss, (inputs.weights, inputs.bias))


PEERS = peers_with({"torch": torch_build, "jax": jax_build})
