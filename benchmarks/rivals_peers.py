"""Seven rival classifiers in PennyLane, JAX and optax, as users of these libraries would write them well.

A circuit is a QNode on ``default.qubit``, of PennyLane's templates where there are any, differentiated by
backpropagation; the batch is broadcast through its gates, which is as fast as ``jax.vmap``. Drawing a batch, loss,
gradients and Adam's update are one compiled function. Packages are imported inside the functions, which run in a
process of their own. All is double, as in the originals: whoever calls has switched ``jax_enable_x64`` on.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.rivals_problem import INTERVAL, FloatArray

if TYPE_CHECKING:
    import jax

Parameters = dict[str, "jax.Array"]
Settings = Mapping[str, Any]
Labels = NDArray[np.int64]

PACKAGES = ("pennylane", "jax", "optax")


def rows_and_labels(rows: FloatArray, y: Labels) -> tuple[FloatArray, FloatArray]:
    """Samples as they are, and labels as numbers to reckon with."""
    return rows, y.astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class JaxModel:
    """How a model prepares rows and draws its parameters, what its circuits give, and its loss."""

    prepared: Callable[[FloatArray], FloatArray]
    """Rows as the circuits take them; scalers are fitted on the rows themselves."""

    initial: Callable[["jax.Array"], Parameters]
    """Parameters drawn by a key."""

    outputs: Callable[[Parameters, "jax.Array"], "jax.Array"]
    """Expectation values (B,) or (B, number of observables) of prepared rows; of the metric learner states (B, D)."""

    loss: Callable[[Parameters, "jax.Array", "jax.Array"], "jax.Array"]
    """The mean over prepared rows and labels ±1; of the metric learner over rows of class -1 and rows of class +1."""

    arrays: Callable[[FloatArray, Labels], tuple[FloatArray, FloatArray]] = rows_and_labels
    """What batches are drawn from, of prepared rows and labels ±1; as long as each other."""


def training(
    model: JaxModel, X: FloatArray, y: Labels, *, learning_rate: float, batch_size: int, seed: int = 0
) -> Iterator[float]:
    """The loss of one step after another, each before its update; the first compiles."""
    import jax
    import jax.numpy as jnp
    import optax

    left, right = map(jnp.asarray, model.arrays(model.prepared(X), y))
    optimizer = optax.adam(learning_rate)

    @jax.jit
    def step(parameters: Parameters, state: Any, key: "jax.Array") -> tuple[Parameters, Any, "jax.Array", "jax.Array"]:
        key, of_batch = jax.random.split(key)
        batch = jax.random.choice(of_batch, len(left), (batch_size,))
        loss, gradients = jax.value_and_grad(model.loss)(parameters, left[batch], right[batch])
        updates, state = optimizer.update(gradients, state)
        return optax.apply_updates(parameters, updates), state, key, loss

    key, of_start = jax.random.split(jax.random.key(seed))
    parameters = model.initial(of_start)
    state = optimizer.init(parameters)
    while True:
        parameters, state, key, loss = step(parameters, state, key)
        yield float(loss)


def has_converged(losses: Sequence[float]) -> bool:
    """The suite's rule: the last mean loss and the one before differ by half a standard error or less."""
    if len(losses) <= 2 * INTERVAL + 1:
        return False
    before, last = np.asarray(losses[-2 * INTERVAL :]).reshape(2, INTERVAL)
    return bool(abs(last.mean() - before.mean()) <= last.std() / math.sqrt(INTERVAL) / 2)


# --- the models -----------------------------------------------------------------------------------------------------


def dressed(n_features: int, settings: Settings) -> JaxModel:
    """Angles by a linear map, a circuit of real gates, and logits by another linear map of all ⟨Z⟩."""
    import jax
    import jax.numpy as jnp
    import pennylane as qml

    n, wires = n_features, range(n_features)

    @_qnode(n)
    def circuit(angles: "jax.Array", weights: "jax.Array") -> Any:
        for wire in wires:
            qml.Hadamard(wire)
        qml.AngleEmbedding(angles, wires, rotation="Y")
        qml.BasicEntanglerLayers(weights, wires, rotation=qml.RY)
        return [qml.expval(qml.Z(wire)) for wire in wires]

    def outputs(parameters: Parameters, rows: "jax.Array") -> "jax.Array":
        angles = jnp.pi / 2 * jnp.tanh(rows @ parameters["input_weights"].T)
        return jnp.stack(circuit(angles, parameters["circuit_weights"]), -1)

    def loss(parameters: Parameters, rows: "jax.Array", labels: "jax.Array") -> "jax.Array":
        scores = jax.nn.log_softmax(outputs(parameters, rows) @ parameters["output_weights"].T)
        return -jnp.where(labels < 0, scores[:, 0], scores[:, 1]).mean()

    def initial(key: "jax.Array") -> Parameters:
        of_circuit, of_input, of_output = jax.random.split(key, 3)
        return {
            "circuit_weights": jax.random.uniform(of_circuit, (settings["n_layers"], n), maxval=2 * jnp.pi),
            "input_weights": jax.random.normal(of_input, (n, n)) / n,
            "output_weights": jax.random.normal(of_output, (2, n)) / n,
        }

    return JaxModel(prepared=_standardised, initial=initial, outputs=outputs, loss=loss)


def boltzmann(n_features: int, settings: Settings) -> JaxModel:
    """The thermal state of a dense Hamiltonian, by the exponential of matrices as in the original, or by ``eigh``."""
    import jax
    import jax.numpy as jnp
    import pennylane as qml

    n, wires, temperature = n_features, range(n_features), settings["temperature"]
    n_visible = {"single": 1, "half": n // 2, "full": n}[settings["visible_qubits"]]
    Z, X = ([qml.matrix(pauli(wire), wire_order=wires).real for wire in wires] for pauli in (qml.Z, qml.X))
    couplings = sum(Z[i] @ Z[j] for j in wires for i in range(j))
    terms = jnp.asarray([*(term for pair in zip(Z, X, strict=True) for term in pair), couplings])
    observable = jnp.asarray(np.diag(sum(Z[:n_visible])) / n_visible)

    def by_expm(hamiltonian: "jax.Array") -> "jax.Array":
        weights = jnp.diag(jax.scipy.linalg.expm(-hamiltonian / temperature, max_squarings=32))
        return weights @ observable / weights.sum()

    def by_eigh(hamiltonian: "jax.Array") -> "jax.Array":
        energies, states = jnp.linalg.eigh(hamiltonian)
        return jax.nn.softmax(-energies / temperature) @ (observable @ states**2)

    expectation = {"expm": by_expm, "eigh": by_eigh}[settings["by"]]

    def outputs(parameters: Parameters, rows: "jax.Array") -> "jax.Array":
        strengths = rows @ parameters["thetas"][: 2 * n + 1].T
        return jax.vmap(expectation)(jnp.einsum("bt,tij->bij", strengths, terms))

    def loss(parameters: Parameters, rows: "jax.Array", labels: "jax.Array") -> "jax.Array":
        return -jnp.log((1 + labels * outputs(parameters, rows)) / 2).mean()

    def initial(key: "jax.Array") -> Parameters:
        # The original draws a row for every pair, and uses the first of them for all.
        return {"thetas": jax.random.normal(key, (2 * n + math.comb(n, 2), n))}

    return JaxModel(prepared=_standardised, initial=initial, outputs=outputs, loss=loss)


def reuploading(n_features: int, settings: Settings) -> JaxModel:
    """Three features on each qubit, again in every layer; the circuit of the published scores."""
    import jax
    import jax.numpy as jnp
    import pennylane as qml

    q, n_layers = math.ceil(n_features / 3), settings["n_layers"]
    n_observed = {"single": 1, "half": max(1, q // 2), "full": q}[settings["observable_type"]]

    @_qnode(q)
    def circuit(angles: "jax.Array") -> Any:
        for layer in range(n_layers + 1):
            for wire in range(q):
                qml.Rot(*(angles[..., layer, wire, axis] for axis in range(3)), wires=wire)
            if layer < n_layers:
                for wire in range(layer % 2, q - 1, 2):
                    qml.CZ([wire, wire + 1])
        return [qml.expval(qml.Z(wire)) for wire in range(n_observed)]

    def outputs(parameters: Parameters, rows: "jax.Array") -> "jax.Array":
        scaled = (rows[:, None] * parameters["omegas"]).reshape(len(rows), n_layers + 1, q, 3)
        return jnp.stack(circuit(scaled + parameters["thetas"].swapaxes(0, 1)), -1)

    def loss(parameters: Parameters, rows: "jax.Array", labels: "jax.Array") -> "jax.Array":
        z, signs, alphas = outputs(parameters, rows), labels[:, None], parameters["alphas"]
        errors = [
            alpha * (1 + sign * z) / 2 - (1 + sign * signs) / 2 for alpha, sign in zip(alphas, (-1, 1), strict=True)
        ]
        return sum((error**2).sum(1).mean() for error in errors) / 2

    def initial(key: "jax.Array") -> Parameters:
        of_thetas, of_omegas = jax.random.split(key)
        return {
            "thetas": jax.random.uniform(of_thetas, (q, n_layers + 1, 3)),
            "omegas": jax.random.uniform(of_omegas, (n_layers + 1, 3 * q)),
            "alphas": jnp.ones((2, n_observed)),
        }

    def prepared(X: FloatArray) -> FloatArray:
        return np.pad(_to_half_turn(X), ((0, 0), (0, 3 * q - n_features)))

    return JaxModel(prepared=prepared, initial=initial, outputs=outputs, loss=loss)


def iqp(n_features: int, settings: Settings) -> JaxModel:
    """An IQP embedding, strongly entangling layers with CZ, and ⟨Z₀Z₁⟩ in a linear loss."""
    import jax
    import jax.numpy as jnp
    import pennylane as qml

    wires = range(n_features)

    @_qnode(n_features)
    def circuit(rows: "jax.Array", weights: "jax.Array") -> Any:
        qml.IQPEmbedding(rows, wires, n_repeats=settings["repeats"])
        qml.StronglyEntanglingLayers(weights, wires, imprimitive=qml.CZ)
        return qml.expval(qml.Z(0) @ qml.Z(1))

    def outputs(parameters: Parameters, rows: "jax.Array") -> "jax.Array":
        return circuit(rows, parameters["weights"])

    def loss(parameters: Parameters, rows: "jax.Array", labels: "jax.Array") -> "jax.Array":
        return (1 - labels * outputs(parameters, rows)).mean() / 2

    def initial(key: "jax.Array") -> Parameters:
        return {"weights": jax.random.uniform(key, (settings["n_layers"], n_features, 3), maxval=2 * jnp.pi)}

    return JaxModel(prepared=_to_half_turn, initial=initial, outputs=outputs, loss=loss)


def metric(n_features: int, settings: Settings) -> JaxModel:
    """Overlaps of embedded pairs from both classes: two states for each, where the original runs three circuits."""
    import jax
    import jax.numpy as jnp
    import pennylane as qml

    q = n_features + 1

    @_qnode(q)
    def circuit(rows: "jax.Array", weights: "jax.Array") -> Any:
        qml.QAOAEmbedding(rows, weights, range(q))
        return qml.state()

    def outputs(parameters: Parameters, rows: "jax.Array") -> "jax.Array":
        return circuit(rows, parameters["weights"])

    def loss(parameters: Parameters, left: "jax.Array", right: "jax.Array") -> "jax.Array":
        states = outputs(parameters, jnp.concatenate([left, right]))
        overlaps = (states[: len(left)].conj() * states[len(left) :]).sum(1)
        return (jnp.abs(overlaps) ** 2).mean()

    def initial(key: "jax.Array") -> Parameters:
        return {"weights": 0.1 * jax.random.normal(key, (settings["n_layers"], 2 * q if q > 2 else 3))}

    def arrays(rows: FloatArray, y: Labels) -> tuple[FloatArray, FloatArray]:
        # The original draws one index for both classes; where the second is shorter, its last row stands in.
        left, right = rows[y == -1], rows[y == 1]
        return left, right[np.minimum(np.arange(len(left)), len(right) - 1)]

    return JaxModel(prepared=_to_half_turn, initial=initial, outputs=outputs, loss=loss, arrays=arrays)


def circuit_centric(n_features: int, settings: Settings) -> JaxModel:
    """Copies of the amplitude-encoded row, strongly entangling layers with CNOT, and ⟨Z₀⟩ plus a bias."""
    import jax
    import jax.numpy as jnp
    import pennylane as qml

    n_copies, n_layers = settings["n_input_copies"], settings["n_layers"]
    m = math.ceil(math.log2(n_features))
    q = n_copies * m

    @_qnode(q)
    def circuit(states: "jax.Array", weights: "jax.Array") -> Any:
        qml.StatePrep(states, range(q), validate_norm=False)
        qml.StronglyEntanglingLayers(weights, range(q), imprimitive=qml.CNOT)
        return qml.expval(qml.Z(0))

    def outputs(parameters: Parameters, rows: "jax.Array") -> "jax.Array":
        return circuit(rows, parameters["weights"])

    def loss(parameters: Parameters, rows: "jax.Array", labels: "jax.Array") -> "jax.Array":
        return ((outputs(parameters, rows) + parameters["b"] - labels) ** 2).mean() / 2

    def initial(key: "jax.Array") -> Parameters:
        return {
            "weights": jax.random.uniform(key, (n_layers, q, 3), maxval=2 * jnp.pi),
            "b": jnp.full((), 0.01, float),  # with its type, or the step would be compiled again when it has one
        }

    def prepared(X: FloatArray) -> FloatArray:
        one = copies = _amplitudes(X, 2**m)
        for _ in range(n_copies - 1):
            copies = np.einsum("si,sj->sij", copies, one).reshape(len(X), -1)
        return copies

    return JaxModel(prepared=prepared, initial=initial, outputs=outputs, loss=loss)


def tree(n_features: int, _: Settings) -> JaxModel:
    """Amplitudes of a row through a tree of RY and CNOT to the first qubit, and ⟨Z₀⟩ plus a bias."""
    import jax
    import jax.numpy as jnp
    import pennylane as qml

    n_levels = math.ceil(math.log2(math.ceil(math.log2(n_features))))
    q = 2**n_levels

    @_qnode(q)
    def circuit(states: "jax.Array", weights: "jax.Array") -> Any:
        qml.StatePrep(states, range(q), validate_norm=False)
        left = iter(weights)
        for distance in (2**level for level in range(n_levels)):
            for wire in range(0, q, distance):
                qml.RY(next(left), wire)
            for wire in range(0, q, 2 * distance):
                qml.CNOT([wire + distance, wire])
        qml.RY(next(left), 0)
        return qml.expval(qml.Z(0))

    def outputs(parameters: Parameters, rows: "jax.Array") -> "jax.Array":
        return circuit(rows, parameters["weights"])

    def loss(parameters: Parameters, rows: "jax.Array", labels: "jax.Array") -> "jax.Array":
        return ((outputs(parameters, rows) + parameters["bias"] - labels) ** 2).mean()

    def initial(key: "jax.Array") -> Parameters:
        of_weights, of_bias = jax.random.split(key)
        return {
            "weights": jax.random.uniform(of_weights, (2 * q - 1,), maxval=2 * jnp.pi),
            "bias": 0.1 * jax.random.normal(of_bias, (1,)),
        }

    def prepared(X: FloatArray) -> FloatArray:
        return _amplitudes(X, 2**q)

    return JaxModel(prepared=prepared, initial=initial, outputs=outputs, loss=loss)


MODELS: Mapping[str, Callable[[int, Settings], JaxModel]] = {
    "DressedQuantumCircuitClassifier": dressed,
    "QuantumBoltzmannMachine": boltzmann,
    "DataReuploadingClassifier": reuploading,
    "IQPVariationalClassifier": iqp,
    "QuantumMetricLearner": metric,
    "CircuitCentricClassifier": circuit_centric,
    "TreeTensorClassifier": tree,
}


# --- shared ---------------------------------------------------------------------------------------------------------


def _qnode(n_qubits: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    import pennylane as qml

    return qml.qnode(qml.device("default.qubit", wires=n_qubits), interface="jax", diff_method="backprop")


def _standardised(X: FloatArray) -> FloatArray:
    from sklearn.preprocessing import StandardScaler

    return StandardScaler().fit_transform(X)


def _to_half_turn(X: FloatArray) -> FloatArray:
    """Every feature on [-π/2, π/2]."""
    from sklearn.preprocessing import MinMaxScaler

    return MinMaxScaler((-np.pi / 2, np.pi / 2)).fit_transform(X)


def _amplitudes(X: FloatArray, dimension: int) -> FloatArray:
    """Rows filled up with 1 / dimension, at norm 1."""
    filled = np.pad(X, ((0, 0), (0, dimension - X.shape[1])), constant_values=1 / dimension)
    return filled / np.linalg.norm(filled, axis=1, keepdims=True)
