"""Training by batches that are drawn with replacement, until the loss stands still."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray, IntArray
from mcquack.circuits.circuit import Circuit
from mcquack.errors import InvalidInputError
from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.gates import LOW_BITS, TURN
from mcquack.simulators.compiled.lanes import lane_count
from mcquack.simulators.compiled.memory import aligned_zeros, require_bytes
from mcquack.simulators.compiled.shared import SharedSteps, empty_currents, shared_steps
from mcquack.simulators.compiled.team import compiled, control
from mcquack.simulators.gates import GateEngine
from mcquack.simulators.gates.program import Program, program_of
from mcquack.training.drawn.draws import cumulative_weights, draw_batch, draw_weighted
from mcquack.training.drawn.steps import (
    COPIES,
    CROSS_ENTROPY,
    FIDELITIES,
    GOING,
    LINEAR,
    PRODUCTS,
    PRODUCTS_ALONE,
    REAL_PAIRS,
    SQUARES,
    STORED,
    ZEROS,
    Problem,
    Room,
    Sums,
    Trained,
    Work,
    finish_step,
    measure_rows,
    run_steps,
)

Start: TypeAlias = Literal["zeros", "copies", "real pairs", "stored", "products", "products alone"]
Head: TypeAlias = Literal["cross entropy", "fidelities", "linear", "squares"]
Pauli: TypeAlias = tuple[Literal["x", "y", "z"], tuple[int, ...]]  # X or Y of one qubit, or a product of Z

_STARTS: dict[Start, int] = {
    "zeros": ZEROS,
    "copies": COPIES,
    "real pairs": REAL_PAIRS,
    "stored": STORED,
    "products": PRODUCTS,
    "products alone": PRODUCTS_ALONE,
}
_HEADS: dict[Head, int] = {
    "cross entropy": CROSS_ENTROPY,
    "fidelities": FIDELITIES,
    "linear": LINEAR,
    "squares": SQUARES,
}
STEPS_AT_ONCE = 100  # are one launch
_FLOPS_WORTH_A_THREAD = 5e6


@dataclass(frozen=True, eq=False)
class DrawnState:
    """Everything that decides how training goes on: parameters, Adam's memory of them, and the losses so far."""

    parameters: NDArray[Any]  # (P,)
    mean: NDArray[Any]
    square: NDArray[Any]
    losses: NDArray[np.float64]  # (steps,)
    outcome: int = GOING

    @classmethod
    def start(cls, parameters: FloatArray) -> DrawnState:
        return cls(parameters, np.zeros_like(parameters), np.zeros_like(parameters), np.zeros(0))

    @property
    def n_steps(self) -> int:
        return len(self.losses)


# Of a state, of some batches, of the learning rate, and of the number of losses that convergence looks at.
Advance: TypeAlias = Callable[[DrawnState, IntArray, float, int], DrawnState]


class Trial:
    """Arrays that a few steps work on in place, from one state to the next."""

    def __init__(self, state: DrawnState, n_steps: int) -> None:
        parameters = state.parameters.copy()
        losses = np.concatenate([state.losses, np.zeros(n_steps)])
        self.trained = Trained(
            parameters,
            state.mean.copy(),
            state.square.copy(),
            np.zeros_like(parameters),
            losses,
            np.array([state.n_steps, GOING]),
        )

    @property
    def state(self) -> DrawnState:
        done, outcome = self.trained.progress.tolist()
        return DrawnState(
            self.trained.parameters, self.trained.mean, self.trained.square, self.trained.losses[:done], outcome
        )


class Draws:
    """Draws batches of rows, each row as likely as its share of the weights."""

    def __init__(self, n_samples: int, batch_size: int, weights: FloatArray | None = None) -> None:
        self.shape = n_samples, batch_size
        self.cumulative, self.whole = cumulative_weights(np.ones(0) if weights is None else weights)

    def __call__(self, keys: IntArray) -> IntArray:
        """A batch for each key, (K, B)."""
        orders = np.empty((len(keys), self.shape[1]), np.int64)
        _fill_orders(keys, self.shape[0], self.cumulative, self.whole, orders)
        return orders


@entry
def _fill_orders(keys: Any, n_samples: int, cumulative: Any, whole: bool, orders: Any) -> None:
    for number in range(keys.size):
        if cumulative.size:
            draw_weighted(keys[number], cumulative, whole, orders[number])
        else:
            draw_batch(keys[number], n_samples, orders[number])


@entry
def _finish(trained: Any, loss: float, rate: float, interval: int) -> None:
    finish_step(trained, loss, rate, interval)


class GradientTraining:
    """Trains a model that tells loss and gradient (P,) of parameters and of the rows of a batch."""

    def __init__(self, loss_and_gradient: Callable[[FloatArray, IntArray], tuple[float, FloatArray]]) -> None:
        self.loss_and_gradient = loss_and_gradient

    def __call__(self, state: DrawnState, orders: IntArray, rate: float, interval: int) -> DrawnState:
        """The state after a step for each batch (steps, B), or after fewer where training has come to an end."""
        trial = Trial(state, len(orders))
        for order in orders:
            loss, slopes = self.loss_and_gradient(trial.trained.parameters, order)
            trial.trained.gradient[...] = slopes
            _finish(trial.trained, float(loss), rate, interval)
            if trial.trained.progress[1] != GOING:
                break
        return trial.state


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredCircuit:
    """A circuit, what samples begin as in it, what is measured behind it, and what a head makes of that.

    Parameters
    ----------
    circuit : Its biases, and its weights if it has any, are the parameters from ``bias_at`` and ``weights_at`` on.
    start : "zeros" has the features in the angles of the circuit. "copies" begins with so many copies of a sample's
        amplitudes, "real pairs" with one in a circuit of real numbers, "stored" with amplitudes (real and imaginary
        ones in turn) that were computed before. "products" begins with qubits at the angles π/2 tanh(W x) + w, where w
        are the first n parameters and W are those from ``weights_at`` on; "products alone" is that with no gate
        behind it but one ring of CNOTs.
    observables : What is measured.
    head, head_at, factor : "cross entropy" takes logits V z, "fidelities" compares each qubit with a target state of
        each class, "linear" is (1 - y f) / 2, "squares" is factor · (f + b - y)²; V, α or b are the parameters from
        ``head_at`` on.
    n_parameters : How many parameters there are in all.
    """

    circuit: Circuit
    start: Start
    observables: tuple[Pauli, ...]
    head: Head
    n_parameters: int
    bias_at: int = 0
    weights_at: int = 0
    head_at: int = 0
    n_copies: int = 1
    factor: float = 1.0

    @property
    def n_parts(self) -> int:
        """How many samples share a lane."""
        return 2 if self.start in ("real pairs", "products", "products alone") else 1

    def problem(self, rows: FloatArray, labels: IntArray, ideals: FloatArray, dtype: np.dtype[Any]) -> Problem:
        program = program_of(self.circuit, dtype.name)
        flips, turned, signs = _observables(self.observables, program, dtype)
        every = tuple(("z", (qubit,)) for qubit in range(self.circuit.n_qubits))
        return Problem(
            rows=np.require(rows, dtype, ["C", "W"]),
            labels=np.ascontiguousarray(labels, np.int64),
            form=program.form,
            row_of_index=program.row_of_index,
            flips=flips,
            turned=turned,
            signs=signs,
            every_qubit=self.n_parts == 2 and self.observables == every,
            ideals=np.ascontiguousarray(ideals, np.float64),
            start=_STARTS[self.start],
            n_copies=self.n_copies,
            head=_HEADS[self.head],
            factor=self.factor,
            bias_at=self.bias_at,
            weights_at=self.weights_at,
            head_at=self.head_at,
        )

    def measured(self, rows: FloatArray, parameters: FloatArray) -> FloatArray:
        """Expectation values (N, Q) of rows as the start takes them."""
        engine = GateEngine(self.circuit, dtype=parameters.dtype)
        flops = 0.0 if self.is_alone else engine.flops(len(rows), with_gradient=False)
        works = self.works(engine, threads_for(engine, flops, self.n_blocks(len(rows), engine.dtype)))
        places = np.arange(len(rows))  # a problem without labels: each row is asked for once
        problem = self.problem(rows, places, np.zeros((0, 1)), engine.dtype)
        found = np.zeros((len(rows), len(self.observables)), engine.dtype)
        given = np.require(checked_parameters(parameters, self.n_parameters), None, ["C", "W"])
        engine.team(len(works), flops).run(measure_rows, works, problem, _shared(engine), given, found)
        return np.clip(found, -1, 1, out=found)

    @property
    def is_alone(self) -> bool:
        """Whether no state is simulated at all."""
        return self.start == "products alone"

    def n_blocks(self, n_rows: int, dtype: np.dtype[Any]) -> int:
        """How many blocks of samples are run one by one."""
        return math.ceil(n_rows / (lane_count(dtype) * self.n_parts))

    def works(self, engine: GateEngine, n_threads: int) -> list[Work]:
        """What each thread works on."""
        dtype, width, n_parts = engine.dtype, lane_count(engine.dtype), self.n_parts
        n, size, n_measured = self.circuit.n_qubits, self.circuit.dimension, len(self.observables)
        require_bytes(n_threads * engine.scratch_bytes(backward=True), f"running {n} qubits")
        n_inputs = size if self.start == "real pairs" else n
        n_folded = size if n_parts == 2 and not self.is_alone else 1

        def room() -> Room:
            return Room(
                inputs=aligned_zeros((n_parts, n_inputs, width), dtype),
                tanh=aligned_zeros((n_parts, n, width), dtype),
                turns=aligned_zeros((n_parts, n, 2, width), dtype),
                slopes=aligned_zeros((n_parts, n, width), dtype),
                folded=aligned_zeros((n_parts, n_folded, width), dtype),
                measured=aligned_zeros((n_measured, n_parts, width), dtype),
                cotangent=aligned_zeros((n_measured, n_parts, width), dtype),
            )

        return [Work(gates, room()) for gates in engine.scratch(n_threads, backward=not self.is_alone)]


def _observables(paulis: Sequence[Pauli], program: Program, dtype: np.dtype[Any]) -> tuple[IntArray, IntArray, Any]:
    """Which rows are exchanged, which are multiplied by i, and with which signs, as the rows are stored in the end."""
    rows = program.row_of_index
    indices, n = np.arange(len(rows)), len(rows).bit_length() - 1
    signs = np.ones((len(paulis), len(rows)), dtype)
    flips, turned = np.zeros((2, len(paulis)), np.int64)
    for place, (axis, qubits) in enumerate(paulis):
        mask = sum(1 << (n - 1 - qubit) for qubit in qubits)
        if axis != "x":
            signs[place, rows] = 1 - 2 * (np.bitwise_count(indices & mask).astype(np.int64) % 2)
        if axis != "z":
            flips[place] = rows[mask] ^ rows[0]
            turned[place] = axis == "y"
    return flips, turned, signs


def checked_parameters(parameters: FloatArray, count: int) -> FloatArray:
    """The parameters, unless they are of another number: compiled code believes what it is given."""
    if parameters.shape != (count,):
        raise InvalidInputError(
            f"this model has {count} parameters, got an array of the shape {parameters.shape}; give one row of them."
        )
    return parameters


def threads_for(engine: GateEngine, flops: float, n_blocks: int) -> int:
    """How many threads are worth their barriers in steps of so many flops, of which a hundred are one launch."""
    return max(1, min(engine.n_threads, n_blocks, int(flops / _FLOPS_WORTH_A_THREAD)))


def _shared(engine: GateEngine) -> SharedSteps:
    return shared_steps(engine.form, turn=TURN, low_bits=LOW_BITS, dtype=engine.dtype)


class CompiledTraining:
    """Trains one problem by compiled steps, batch by batch; holds the memory that they reuse.

    Parameters
    ----------
    steps : The compiled function that takes a step for each batch.
    problem, works : What is fixed, and what each thread works on.
    engine : Runs the circuit, whose gates that hold no feature are worked out once for each step.
    n_parameters, n_blocks : How many parameters there are, and blocks in a batch.
    flops : Of a step.
    """

    def __init__(
        self,
        steps: Any,
        problem: Any,
        works: Sequence[Any],
        *,
        engine: GateEngine,
        n_parameters: int,
        n_blocks: int,
        flops: float,
    ) -> None:
        self._steps, self._problem, self._works = steps, problem, works
        self._engine, self._flops = engine, flops
        n_diagonals, size = int((engine.form.kinds != TURN).sum()), engine.feature_map.dimension
        n_bytes = (2 + n_blocks) * n_diagonals * size * engine.dtype.itemsize
        require_bytes(n_bytes, f"training {engine.feature_map.n_qubits} qubits in so large batches")
        self._shared = _shared(engine)
        self._sums = Sums(
            losses=np.zeros(n_blocks),
            gradients=np.zeros((n_blocks, n_parameters), engine.dtype),
            currents=empty_currents(self._shared, n_blocks),
        )
        self._compiled: Any = None

    def __call__(self, state: DrawnState, orders: IntArray, rate: float, interval: int) -> DrawnState:
        """The state after a step for each batch (steps, …), or after fewer where training has come to an end."""
        trial = Trial(state, len(orders))
        self._run(trial.trained, orders, rate, interval)
        return trial.state

    def loss_and_gradient(self, parameters: FloatArray, order: IntArray) -> tuple[float, FloatArray]:
        """The mean loss of one batch, and its derivatives."""
        trial = Trial(DrawnState.start(parameters), 1)
        self._run(trial.trained, order[None], 0.0, 0)
        return float(trial.trained.losses[0]), trial.trained.gradient

    def _run(self, trained: Trained, orders: IntArray, rate: float, interval: int) -> None:
        checked_parameters(trained.parameters, self._sums.gradients.shape[1])
        arguments = self._problem, self._shared, trained, self._sums, orders, rate, interval
        if self._compiled is None:
            self._compiled = compiled(self._steps, control(), 0, 1, self._works[0], *arguments)
            self._team = self._engine.team(len(self._works), STEPS_AT_ONCE * self._flops)
        self._team.run(self._compiled, self._works, *arguments)


class CircuitTraining(CompiledTraining):
    """Trains a measured circuit on the same rows.

    Parameters
    ----------
    model : The circuit with its start, observables and head.
    rows, labels : Samples as the start takes them, and their classes.
    ideals : What the head wants of each class, (M, A): a direction on the Bloch sphere for "fidelities", a number y
        for "linear" and "squares"; a cross entropy only looks at how many there are.
    batch_size, dtype : How many rows a batch has, and in which numbers all is computed.
    """

    def __init__(
        self,
        model: MeasuredCircuit,
        rows: FloatArray,
        labels: IntArray,
        ideals: FloatArray,
        *,
        batch_size: int,
        dtype: np.dtype[Any],
    ) -> None:
        engine, n_blocks = GateEngine(model.circuit, dtype=dtype), model.n_blocks(batch_size, dtype)
        flops = 0.0 if model.is_alone else engine.flops(batch_size, with_gradient=True)
        super().__init__(
            run_steps,
            model.problem(rows, labels, ideals, dtype),
            model.works(engine, threads_for(engine, flops, n_blocks)),
            engine=engine,
            n_parameters=model.n_parameters,
            n_blocks=n_blocks,
            flops=flops,
        )
