"""Training by drawn batches: the models of the QML benchmark suite, on the compiled trainer.

A model is a circuit behind a start, observables and a head, or pairs of classes that are to overlap less. All its
parameters are one flat group, which every step moves by Adam. Batches are drawn with replacement, and training ends
when the loss stands still.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray, IntArray
from mcquack.circuits.circuit import Circuit
from mcquack.errors import InvalidInputError
from mcquack.simulators.compiled.gates import LOW_BITS, TURN
from mcquack.simulators.compiled.lanes import lane_count
from mcquack.simulators.compiled.memory import aligned_zeros, require_bytes
from mcquack.simulators.compiled.shared import empty_currents, shared_steps
from mcquack.simulators.gates import GateEngine, Program, program_of
from mcquack.training.batches import Passes
from mcquack.training.compiled import CompiledTrainer, rowwise_space, training_rows
from mcquack.training.embeddings import Start, StartedCircuit, StartSpace, Work
from mcquack.training.optimizer import ADAM, descend
from mcquack.training.readouts.expectations import Expectations, Head, MeasuredSpace, measured_rows
from mcquack.training.readouts.pairs import Pairs, PairSpace
from mcquack.training.state import Parameters, TrainingState
from mcquack.training.step import CONVERGED, DIVERGED, GOING, GROUPS, Config, has_converged

Pauli: TypeAlias = tuple[Literal["x", "y", "z"], tuple[int, ...]]  # X or Y of one qubit, or a product of Z

STEPS_AT_ONCE = 100  # are one launch
_FLOPS_WORTH_A_THREAD = 5e6

# Advance a training by a step for each batch: (state, batches, rate, interval) -> state.
Advance: TypeAlias = Callable[[TrainingState, IntArray, float, int], TrainingState]


def start_state(parameters: FloatArray) -> TrainingState:
    """Return the state before the first step of a model whose parameters are one flat array."""
    return TrainingState.start(Parameters(parameters, np.zeros(0, parameters.dtype)))


class GradientTraining:
    """Trains a model whose loss and gradient (P,) are a function of its parameters and of the rows of a batch."""

    def __init__(self, loss_and_gradient: Callable[[FloatArray, IntArray], tuple[float, FloatArray]]) -> None:
        self.loss_and_gradient = loss_and_gradient

    def __call__(self, state: TrainingState, orders: IntArray, rate: float, interval: int) -> TrainingState:
        """Return the state after a step for each batch (steps, B), or after fewer where training ends."""
        values, mean, square = (each.copy() for each in (state.parameters.weights, state.mean, state.square))
        losses, outcome = state.losses.tolist(), GOING
        for order in orders:
            loss, slopes = self.loss_and_gradient(values, order)
            if not math.isfinite(loss):
                outcome = DIVERGED
                break
            losses.append(float(loss))
            slopes = np.ascontiguousarray(slopes, values.dtype)
            descend(values, slopes, mean, square, ADAM, float(rate), len(losses), 0, values.size)
            if has_converged(np.array(losses), len(losses), int(interval)):
                outcome = CONVERGED
                break
        return replace(
            state,
            epoch=state.epoch + 1,
            parameters=replace(state.parameters, weights=values),
            mean=mean,
            square=square,
            losses=np.array(losses),
            outcome=outcome,
        )


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
    ideals : What the head wants of each class (M, A): a direction on the Bloch sphere for "fidelities", a number y for
        "linear" and "squares", by default -1 and 1; a cross entropy only looks at how many there are.
    head, head_at, factor : "cross entropy" takes logits V z, "fidelities" compares each qubit with a target state of
        each class, "linear" is (1 - y f) / 2, "squares" is factor · (f + b - y)²; V, α or b are the parameters from
        ``head_at`` on.
    n_parameters : How many parameters there are in all.
    """

    circuit: Circuit
    n_parameters: int
    start: Start = "zeros"
    observables: tuple[Pauli, ...] = ()
    head: Head = "linear"
    ideals: FloatArray = field(default_factory=lambda: np.array([[-1.0], [1.0]]))
    bias_at: int = 0
    weights_at: int = 0
    head_at: int = 0
    n_copies: int = 1
    factor: float = 1.0

    @property
    def n_parts(self) -> int:
        """How many samples share a lane."""
        return 2 if self.start in ("real pairs", "products", "products alone") else 1

    def embedding(self, engine: GateEngine) -> StartedCircuit:
        """Return the circuit and its start as compiled code takes them."""
        form = engine.form
        return StartedCircuit(
            form=form,
            shared=shared_steps(form, turn=TURN, low_bits=LOW_BITS, dtype=engine.dtype),
            start=get_args(Start).index(self.start),
            n_copies=self.n_copies,
            bias_at=self.bias_at,
            weights_at=self.weights_at,
        )

    def readout(self, dtype: np.dtype[Any]) -> Any:
        """Return what is measured, and the head, as compiled code takes them."""
        program = program_of(self.circuit, dtype.name)
        flips, turned, signs = _observables(self.observables, program, dtype)
        every = tuple(("z", (qubit,)) for qubit in range(self.circuit.n_qubits))
        every_qubit = self.n_parts == 2 and self.observables == every
        return Expectations(
            flips=flips,
            turned=turned,
            signs=signs,
            row_of_index=program.row_of_index,
            every_qubit=every_qubit,
            is_diagonal=self.n_parts == 1 and all(axis == "z" for axis, _ in self.observables),
            ideals=np.ascontiguousarray(self.ideals, np.float64),
            head=get_args(Head).index(self.head),
            factor=self.factor,
            head_at=self.head_at,
            per_block=lane_count(dtype) * self.n_parts,
        )

    def measured(self, rows: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return the expectation values (N, Q) of rows as the start takes them."""
        if parameters.shape != (self.n_parameters,):  # compiled code would trust them to be as many
            raise InvalidInputError(
                f"this model has {self.n_parameters} parameters, got an array of the shape {parameters.shape}; give "
                "one row of them."
            )
        engine = GateEngine(self.circuit, dtype=parameters.dtype)
        flops = self.flops(engine, len(rows), with_gradient=False)
        works = self.works(engine, threads_for(engine, flops, self.n_blocks(len(rows), engine.dtype)))
        found: FloatArray = measured_rows(
            self.embedding(engine),
            self.readout(engine.dtype),
            np.require(rows, engine.dtype, ["C", "W"]),
            np.require(parameters[None], None, ["C", "W"]),
            works=works,
            team=engine.team(len(works), flops),
            n_members=1,
        )[0]
        return found

    @property
    def is_alone(self) -> bool:
        """Whether no state is simulated at all."""
        return self.start == "products alone"

    def flops(self, engine: GateEngine, n_rows: int, *, with_gradient: bool) -> float:
        """Return the floating-point operations that so many rows take."""
        return 0.0 if self.is_alone else engine.flops(n_rows, with_gradient=with_gradient)

    def n_blocks(self, n_rows: int, dtype: np.dtype[Any]) -> int:
        """Return the number of blocks of samples that are run one by one."""
        return math.ceil(n_rows / (lane_count(dtype) * self.n_parts))

    def works(self, engine: GateEngine, n_threads: int) -> list[Work]:
        """Return what each thread works on."""
        dtype, width, n_parts = engine.dtype, lane_count(engine.dtype), self.n_parts
        n, size, n_measured = self.circuit.n_qubits, self.circuit.dimension, len(self.observables)
        require_bytes(n_threads * engine.scratch_bytes(backward=True), f"running {n} qubits")
        n_inputs = size if self.start == "real pairs" else n
        n_folded = size if n_parts == 2 and not self.is_alone else 1

        def zeros(*shape: int) -> NDArray[Any]:
            return aligned_zeros((*shape, width), dtype)

        return [
            Work(
                scratch,
                StartSpace(zeros(n_parts, n_inputs), zeros(n_parts, n), zeros(n_parts, n, 2), zeros(n_parts, n)),
                MeasuredSpace(zeros(n_parts, n_folded), zeros(n_measured, n_parts), zeros(n_measured, n_parts)),
            )
            for scratch in engine.scratch(n_threads, backward=not self.is_alone)
        ]


@dataclass(frozen=True, kw_only=True, eq=False)
class PairedCircuit(MeasuredCircuit):
    """A circuit whose biases are trained so that samples of different classes overlap less.

    The loss is the mean of |⟨a|b⟩|² over the pairs of classes and over the places of a batch (M, B), which has one row
    of each class at every place.
    """

    n_classes: int

    def readout(self, dtype: np.dtype[Any]) -> Pairs:
        return Pairs(self.n_classes)

    def n_blocks(self, n_rows: int, dtype: np.dtype[Any]) -> int:
        return super().n_blocks(n_rows // self.n_classes, dtype)

    def works(self, engine: GateEngine, n_threads: int) -> list[Work]:
        dtype, width = engine.dtype, lane_count(engine.dtype)
        n_bytes = 2 * self.n_classes * engine.state_bytes(width) + engine.scratch_bytes(backward=True)
        n_qubits, shape = self.circuit.n_qubits, (self.n_classes, self.circuit.dimension, 2, width)
        require_bytes(n_threads * n_bytes, f"training {self.n_classes} states of {n_qubits} qubits at a time")
        return [
            Work(scratch, None, PairSpace(*(aligned_zeros(each, dtype) for each in (shape, shape, (2, width)))))
            for scratch in engine.scratch(n_threads, backward=True)
        ]


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


def threads_for(engine: GateEngine, flops: float, n_blocks: int) -> int:
    """How many threads are worth their barriers in steps of so many flops, of which a hundred are one launch."""
    return max(1, min(engine.n_threads, n_blocks, int(flops / _FLOPS_WORTH_A_THREAD)))


class DrawnTraining:
    """Trains one problem by compiled steps, batch by batch; holds the memory that they reuse.

    Parameters
    ----------
    model : The circuit with its start, observables and head; gates that hold no feature are worked out once for each
        step.
    rows, labels : Samples as the start takes them, and their classes.
    batch_size, dtype : How many rows a batch has, and in which numbers all is computed.
    """

    def __init__(
        self, model: MeasuredCircuit, rows: FloatArray, labels: IntArray, *, batch_size: int, dtype: np.dtype[Any]
    ) -> None:
        engine, n_blocks = GateEngine(model.circuit, dtype=dtype), model.n_blocks(batch_size, dtype)
        flops = model.flops(engine, batch_size, with_gradient=True)
        works, embedding = model.works(engine, threads_for(engine, flops, n_blocks)), model.embedding(engine)
        n_diagonals, size = int((engine.form.kinds != TURN).sum()), model.circuit.dimension
        n_bytes = (2 + n_blocks) * n_diagonals * size * dtype.itemsize
        require_bytes(n_bytes, f"training {model.circuit.n_qubits} qubits on batches of {batch_size}")
        currents = empty_currents(embedding.shared, n_blocks)
        self._trainer = CompiledTrainer(
            embedding=embedding,
            readout=model.readout(dtype),
            data=training_rows(np.require(rows, dtype, ["C", "W"]), labels),
            space=rowwise_space(n_blocks, model.n_parameters, dtype, currents=currents),
            works=works,
            team=engine.team(len(works), STEPS_AT_ONCE * flops),
            shapes={"weights": (model.n_parameters,)},
            dtype=dtype,
            config=Config(batch_size=batch_size, n_parts=n_blocks, records=True),
        )

    def __call__(self, state: TrainingState, orders: IntArray, rate: float, interval: int) -> TrainingState:
        """Return the state after a step for each batch (steps, …), or after fewer where training ends."""
        (after,), _ = self._trainer([state], _steps(orders, rate, interval))
        return after

    def loss_and_gradient(self, parameters: FloatArray, order: IntArray) -> tuple[float, FloatArray]:
        """Return the mean loss of one batch, and its derivatives."""
        state = start_state(parameters)
        trained, _ = self._trainer.launch([state], _steps(order[None], 0.0, 0), np.ones(1, np.bool_))
        return float(trained.losses[0, 0]), trained.slopes[0]


def _steps(orders: IntArray, rate: float, interval: int) -> Passes:
    """One pass for each batch, which moves everything."""
    flat = orders.reshape(len(orders), math.prod(orders.shape[1:]))
    moves = np.zeros((len(flat), len(GROUPS)), np.bool_)
    moves[:, 0] = True
    return Passes(flat, moves, np.full(len(GROUPS), float(rate)), int(interval))
