"""Circuits as pure functions of JAX: states, kernels, and derivatives that need no more memory for deeper circuits.

Gates are sums of slices of the state, so that no matrices are built and zeros cost nothing; layers that repeat are one
``lax.scan``, so that a deeper circuit takes no longer to compile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, reduce
from importlib import import_module
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcquack.checks import JAX
from mcquack.circuits.angles import SLOPE_LIMIT
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.gates import GATES, Entries, Gate, adjoint, constant_entries
from mcquack.errors import InvalidInputError

jax: Any = JAX.imported(what='the engine "jax"')
jnp: Any = jax.numpy
lax: Any = jax.lax

Array: TypeAlias = Any


def jax_states(circuit: Circuit) -> Callable[[Array, Array, Array], Array]:
    """The function (X, weights, bias) → states (N, 2**n) of a circuit, to be differentiated, mapped or jitted further.

    It is pure, and jitted once for each circuit. Numbers have the precision of X, so that double precision takes
    ``jax.enable_x64``. Both modes of differentiation work, and repeat; qubit 0 is the most significant bit of an index.

    Parameters
    ----------
    circuit : Circuit
        Any circuit; the paper's feature map is one.

    Examples
    --------
    >>> from mcquack.circuits import Circuit, b, w, x
    >>> states = jax_states(Circuit(1, 1).ry(0, w * x[0] + b))
    >>> slopes = jax.jacfwd(states, argnums=2)(jnp.array([[1.0]]), jnp.array([0.5]), jnp.array([0.5]))
    >>> slopes.real.round(3).tolist()
    [[[-0.2400000095367431...], [0.4390000104904175]]]
    """
    return program_of(circuit).checked_states


def jax_kernel(circuit: Circuit) -> Callable[[Array, Array, Array, Array], Array]:
    """The function (X, centroids, weights, bias) → K (N, M) with K[i, m] = |⟨c_m|x_i⟩|², pure as :func:`jax_states`.

    Parameters
    ----------
    circuit : Circuit
        Any circuit; the paper's feature map is one.

    Examples
    --------
    >>> from mcquack.circuits import Circuit, x
    >>> kernel = jax_kernel(Circuit(1, 1).ry(0, x[0]))
    >>> nothing = jnp.zeros(0)
    >>> kernel(jnp.array([[0.0], [jnp.pi]]), jnp.array([[0.0]]), nothing, nothing).round(4).tolist()
    [[1.0], [0.0]]
    """
    states = jax_states(circuit)
    return lambda X, centroids, weights, bias: fidelities(states(X, weights, bias), states(centroids, weights, bias))


def precision(dtype: np.dtype[Any]) -> AbstractContextManager[Any]:
    """Inside, JAX computes in this type; what the user has set for his own computations stays as it is."""
    if dtype != np.float64:
        return nullcontext()
    # Where it was before JAX 0.8.
    switch = jax.enable_x64 if hasattr(jax, "enable_x64") else import_module("jax.experimental").enable_x64
    return switch(True)


@lru_cache(maxsize=32)
def program_of(circuit: Circuit) -> JaxProgram:
    """What was compiled for a circuit, or for one that is equal; the last few circuits are remembered."""
    return JaxProgram(circuit)


class JaxProgram:
    """A circuit as functions of JAX; those whose name ends in ``_jit`` are compiled once for each number of rows."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.sections = sections(circuit.gates)
        self.states_jit, self.pulled_jit, self.hamming_jit = map(jax.jit, (self.states, self.pulled, self.hamming))

    def states(self, X: Array, weights: Array, bias: Array) -> Array:
        """U(x; w, b)|start⟩ of every row, (N, 2**n)."""
        return self._run(self._start(X), self._angles(X, weights, bias))

    def pulled(self, X: Array, weights: Array, bias: Array, states: Array, cotangent: Array) -> tuple[Array, ...]:
        """Derivatives by X, weights and bias of a number whose derivatives by the states are known.

        Every gate is undone on the states, from the last one back, so that none has to be kept on the way forward.
        """
        angles, pull_angles = jax.vjp(self._angles, X, weights, bias)
        pair = jnp.stack([states, cotangent.conj()])  # what undoes a gate on one undoes it on the other
        by_angles, last = [jnp.zeros((len(X), 0), angles.dtype)], angles.shape[1]
        for section in reversed(self.sections):
            size = section.n_angles * section.times
            own = _by_time(angles[:, last - size : last], section)
            pair, slopes = _looped(_pull_section, section, pair, own, reverse=True)
            by_angles.append(slopes.transpose(1, 0, 2).reshape(len(X), size))
            last -= size
        by_X, by_weights, by_bias = pull_angles(jnp.concatenate(by_angles[::-1], axis=1))
        if self.circuit.start == "amplitudes":
            _, pull_start = jax.vjp(self._start, X)
            by_X += pull_start(pair[1].conj())[0]
        return by_X, by_weights, by_bias

    def hamming(self, states: Array, x: Array, weights: Array, bias: Array) -> Array:
        """Probabilities of 0 to n ones in U†(x)|state⟩ (N, n + 1), for one data point x (1, d)."""
        angles = self._angles(x, weights, bias)
        undone = self._run(states, jnp.broadcast_to(angles, (len(states), angles.shape[1])), undo=True)
        found = (undone.real**2 + undone.imag**2)[:, :, None]
        for _ in range(self.circuit.n_qubits):  # one qubit less, and one more number of ones
            pairs = found.reshape(len(states), found.shape[1] // 2, 2, found.shape[2])
            zero, one = ((0, 0), (0, 0), (0, 1)), ((0, 0), (0, 0), (1, 0))
            found = jnp.pad(pairs[:, :, 0], zero) + jnp.pad(pairs[:, :, 1], one)
        return found[:, 0] / found[:, 0].sum(axis=1, keepdims=True)

    def checked_states(self, X: Array, weights: Array, bias: Array) -> Array:
        """The states, where the arrays have the shapes that the circuit takes."""
        X, weights, bias = (jnp.asarray(array) for array in (X, weights, bias))
        X = X.astype(jnp.result_type(X, jnp.float32))  # whole numbers are samples too
        if X.ndim != 2 or X.shape[1] != self.circuit.n_features:
            raise InvalidInputError(f"expected rows of {self.circuit.n_features} features, got the shape {X.shape}.")
        shapes = self.circuit.weights_shape, self.circuit.bias_shape
        for name, array, shape in zip(("weights", "bias"), (weights, bias), shapes, strict=True):
            if array.shape != shape:
                raise InvalidInputError(f"{name} must have the shape {shape} of the circuit, got {array.shape}.")
        return self.states_jit(X, weights, bias)

    def _start(self, X: Array) -> Array:
        n_rows, dimension = len(X), self.circuit.dimension
        if self.circuit.start == "zeros":
            return jnp.zeros((n_rows, dimension), jnp.result_type(X, jnp.complex64)).at[:, 0].set(1)
        rest = jnp.full((n_rows, dimension - self.circuit.n_features), self.circuit.padding, X.dtype)
        amplitudes = jnp.concatenate([X, rest], axis=1)
        square = jnp.sum(amplitudes**2, axis=1, keepdims=True)
        # Divided by 1 where there is nothing: the slope of a norm of 0 would be no number, and spoil all others.
        found = amplitudes / jnp.sqrt(jnp.where(square > 0, square, 1))
        found = jnp.where(square > 0, found, jnp.zeros_like(found).at[:, 0].set(1))
        return found.astype(jnp.result_type(X, jnp.complex64))

    def _angles(self, X: Array, weights: Array, bias: Array) -> Array:
        """The angles of every row (N, A), as few array operations however many there are."""
        table, dtype = self.circuit.angle_table, X.dtype
        names = sorted({name for factors in table.inputs for name, _ in factors})
        columns = jnp.concatenate([*(_FUNCTIONS[name](X) for name in names), jnp.ones((len(X), 1), dtype)], axis=1)
        most = max(map(len, table.inputs), default=0)
        # The last column is 1, and so is the last product.
        index = np.full((len(table.inputs) + 1, most), columns.shape[1] - 1, np.int32)
        for place, factors in enumerate(table.inputs):
            for own, (name, feature) in enumerate(factors):
                index[place, own] = names.index(name) * self.circuit.n_features + feature
        products = reduce(lambda left, right: left * right, (columns[:, own] for own in index.T), columns[:, -1:])
        products = jnp.broadcast_to(products, (len(X), len(index)))
        slopes = table.factor.astype(dtype) * jnp.append(weights.astype(dtype), 1)[_places(table.weight, weights.size)]
        shifts = table.bias_factor.astype(dtype) * jnp.append(bias.astype(dtype), 0)[_places(table.bias, bias.size)]
        return slopes * products[:, _places(table.input, len(table.inputs))] + shifts + table.offset.astype(dtype)

    def _run(self, states: Array, angles: Array, *, undo: bool = False) -> Array:
        """All gates, or from the last to the first what undoes each of them."""
        first = angles.shape[1] if undo else 0
        for section in reversed(self.sections) if undo else self.sections:
            size = section.n_angles * section.times
            first -= size if undo else 0
            own = _by_time(angles[:, first : first + size], section)
            step = _undo_section if undo else _run_section
            states, _ = _looped(step, section, states, own, reverse=undo)
            first += 0 if undo else size
        return states


def fidelities(left: Array, right: Array) -> Array:
    """|⟨right|left⟩|² of states (N, 2**n) and (M, 2**n)."""
    overlaps = jnp.matmul(left, right.conj().T, precision="highest")
    return overlaps.real**2 + overlaps.imag**2


def pull_fidelities(left: Array, right: Array, cotangent: Array) -> Array:
    """Derivatives of Σ cotangent∘K by the states on the left, as JAX has them: it moves by Re Σ derivative·dψ."""
    overlaps = jnp.matmul(left, right.conj().T, precision="highest")
    return 2 * jnp.matmul(cotangent * overlaps, right, precision="highest").conj()


def expectations(states: Array, masks: Array) -> Array:
    """Expectation values (N, O) of products of Z on the qubits whose bits are set in each of the masks (O,)."""
    indices = jnp.arange(states.shape[1], dtype=masks.dtype)
    probabilities = states.real**2 + states.imag**2

    def expectation(mask: Array) -> Array:
        signs = 1 - 2 * (lax.population_count(indices & mask) & 1).astype(probabilities.dtype)
        return jnp.sum(probabilities * signs, axis=1)

    return lax.map(expectation, masks).T


def _pull_of_expectations(states: Array, masks: Array, cotangent: Array) -> Array:
    _, pull = jax.vjp(lambda moved: expectations(moved, masks), states)
    return pull(cotangent)[0]


fidelities_jit = jax.jit(fidelities)
pull_fidelities_jit = jax.jit(pull_fidelities)
expectations_jit = jax.jit(expectations)
pull_expectations_jit = jax.jit(_pull_of_expectations)


# Sections


def _by_time(angles: Array, section: Section) -> Array:
    """The angles (N, times·P) of a section as (times, N, P)."""
    return angles.reshape(len(angles), section.times, section.n_angles).transpose(1, 0, 2)


def _looped(step: Any, section: Section, carried: Any, angles: Array, *, reverse: bool) -> tuple[Any, Any]:
    """The step once for each time of the section; compiled once."""
    if section.times == 1:
        carried, found = step(section, carried, angles[0])
        return carried, None if found is None else found[None]
    # Whoever differentiates the loop keeps one state for each time, and computes those between the gates again.
    once = jax.checkpoint(lambda at, own: step(section, at, own), prevent_cse=False)
    return lax.scan(once, carried, angles, reverse=reverse)


def _gates_with_angles(section: Section, angles: Array) -> list[tuple[Gate, Array]]:
    ends = list(accumulate(len(gate.angles) for gate in section.gates))
    return [(gate, angles[:, end - len(gate.angles) : end]) for gate, end in zip(section.gates, ends, strict=True)]


def _run_section(section: Section, states: Array, angles: Array) -> tuple[Array, None]:
    for gate, own in _gates_with_angles(section, angles):
        states = _after(gate, states, own)
    return states, None


def _undo_section(section: Section, states: Array, angles: Array) -> tuple[Array, None]:
    for gate, own in reversed(_gates_with_angles(section, angles)):
        states = _after(gate, states, own, undo=True)
    return states, None


def _pull_section(section: Section, pair: Array, angles: Array) -> tuple[Array, Array]:
    """States and adjoints (2, N, 2**n) before the section, and the derivatives by its angles."""
    found = [angles[:, :0]]
    for gate, own in reversed(_gates_with_angles(section, angles)):
        states, adjoints = pair[0], pair[1].conj()
        # A rotation moves a state by -i/2 times its generator.
        slopes = [jnp.sum((adjoints * _mixed(each, states, gate)).imag, axis=1) / 2 for each in _generators(gate, own)]
        found += [slope[:, None] for slope in reversed(slopes)]
        pair = _after(gate, pair, own, undo=True)
    return pair, jnp.concatenate(found[::-1], axis=1)


# Gates


def _after(gate: Gate, states: Array, angles: Array, *, undo: bool = False) -> Array:
    """States (…, N, 2**n) after a gate with angles (N, k), or before it."""
    entries = _entries(gate, angles)
    return _mixed(adjoint(entries) if undo else entries, states, gate)


def _mixed(entries: Entries, states: Array, gate: Gate) -> Array:
    """A matrix on the qubits of a gate; entries that are 1 or missing cost nothing."""
    shape, n_qubits = states.shape, states.shape[-1].bit_length() - 1
    low, high = min(gate.qubits), max(gate.qubits)
    if low == high:
        tensor = states.reshape(*shape[:-1], 1 << low, 2, 1 << (n_qubits - low - 1))
        parts = _sums(entries, [tensor[..., bit, :] for bit in (0, 1)])
        return jnp.stack(parts, axis=-2).reshape(shape)
    tensor = states.reshape(*shape[:-1], 1 << low, 2, 1 << (high - low - 1), 2, 1 << (n_qubits - high - 1))
    order = [divmod(index, 2) if gate.qubits[0] == low else divmod(index, 2)[::-1] for index in range(4)]
    parts = _sums(entries, [tensor[..., i, :, j, :] for i, j in order])
    placed = dict(zip(order, parts, strict=True))
    halves = [jnp.stack([placed[i, 0], placed[i, 1]], axis=-2) for i in (0, 1)]
    return jnp.stack(halves, axis=-4).reshape(shape)


def _sums(entries: Entries, parts: list[Array]) -> list[Array]:
    """Σ_j entries[i][j]·parts[j]."""

    def times(entry: Any, part: Array) -> Array:
        if isinstance(entry, complex):
            return part if entry == 1 else entry * part
        by_row = entry.reshape(len(entry), *(1,) * (len(parts) // 2 + 1))
        return by_row * part

    found = []
    for row in entries:
        terms = [times(entry, part) for entry, part in zip(row, parts, strict=True) if entry is not None]
        found.append(reduce(lambda left, right: left + right, terms) if terms else jnp.zeros_like(parts[0]))
    return found


def _entries(gate: Gate, angles: Array) -> Entries:
    if gate.matrix is not None:
        return constant_entries(gate.matrix)
    return GATES[gate.name].entries(angles.T, jnp)


def _generators(gate: Gate, angles: Array) -> list[Entries]:
    """For each angle the matrix G with dU = -i/2 G U."""
    return GATES[gate.name].generators(angles.T, jnp) if gate.angles else []


def _places(index: Any, last: int) -> Any:
    """Indices as JAX takes them in any precision; -1 is the last one."""
    return np.where(index < 0, last, index).astype(np.int32)


# Functions of features


@jax.custom_jvp
def _arcsin(x: Array) -> Array:
    return jnp.arcsin(jnp.clip(x, -1, 1))


@_arcsin.defjvp
def _slope_of_arcsin(primals: Any, tangents: Any) -> Any:
    """As everywhere in the package: bounded at ±1, and 0 beyond."""
    (x,), (moved,) = primals, tangents
    slope = jnp.where(jnp.abs(x) <= 1, 1 / jnp.sqrt(jnp.maximum(1 - x**2, SLOPE_LIMIT)), 0)
    return _arcsin(x), slope * moved


_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "x": lambda x: x,
    "pi_minus": lambda x: np.pi - x,
    "arcsin": _arcsin,
    "arccos": lambda x: np.pi / 2 - _arcsin(x),
    "arctan": jnp.arctan,
}


# Where the gates of a circuit repeat: what is compiled once and run many times

_LEAST_SAVED = 12  # gates; a loop costs as much as compiling a few of them
_LONGEST = 4_000  # gates that a layer may have to be found again


class Section(NamedTuple):
    """Some gates one after the other, so many times; their angles differ from time to time."""

    gates: tuple[Gate, ...]
    times: int

    @property
    def n_angles(self) -> int:
        """The number of angles of one time."""
        return sum(len(gate.angles) for gate in self.gates)


def sections(gates: Iterable[Gate]) -> tuple[Section, ...]:
    """The gates of a circuit, in order, cut such that layers that repeat are one section.

    Gates are alike that differ in their angles alone.

    >>> from mcquack.circuits import Circuit, b, ring
    >>> layer = Circuit(3, 1).rx([0, 1, 2], b).cnot(ring(3))
    >>> [(len(section.gates), section.times) for section in sections((Circuit(3, 1).h(0) + layer.repeated(9)).gates)]
    [(1, 1), (6, 9)]
    """
    return tuple(_joined(_found(tuple(gates))))


def _found(gates: tuple[Gate, ...]) -> Iterator[Section]:
    known: dict[object, int] = {}
    likes = [known.setdefault((gate.name, gate.qubits, gate.matrix), len(known)) for gate in gates]
    codes, first = np.array(likes, dtype=np.int64), 0
    while first < len(gates):
        length, times = _best_period(codes[first:])
        yield Section(gates[first : first + length], times)
        first += length * times


def _best_period(codes: NDArray[np.int64]) -> tuple[int, int]:
    """How long the layer at the beginning is, and how often it comes in a row, where that saves the most gates."""
    best = (1, 1)
    for length in 1 + np.flatnonzero(codes[1 : 1 + _LONGEST] == codes[0]):
        differ = codes[length:] != codes[:-length]
        same = int(differ.argmax()) if differ.any() else len(differ)
        times = 1 + same // int(length)
        if length * (times - 1) >= max(_LEAST_SAVED, best[0] * (best[1] - 1) + 1):
            best = int(length), times
    return best


def _joined(found: Iterator[Section]) -> Iterator[Section]:
    """Neighbours that come once are one section."""
    single: list[Gate] = []
    for section in found:
        if section.times == 1:
            single += section.gates
            continue
        if single:
            yield Section(tuple(single), 1)
            single = []
        yield section
    if single:
        yield Section(tuple(single), 1)
