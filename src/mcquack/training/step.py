"""The compiled trainer: every step of every model, as one loop over batches.

A step has the same phases whatever is trained. The readout encodes the rows of a batch, scores them, and pulls the
derivatives of the loss back to partial gradients. Then the optimizer moves those groups of parameters that the step is
for.

An embedding or a readout is a NamedTuple for compiled code, and a few functions that work on it. The loop calls these
functions by their names. For each pair of an embedding and a readout the loop is compiled with the functions of both in
the place of the names, so that a step calls no pointer. A part from outside of the package registers its functions in
the same way as those inside.

A team of threads (see ``simulators/compiled/team.py``) runs the loop together and shares its work by tickets. What is
computed, and the order in which it is added up, do not depend on the number of threads. Each thread computes short
results for itself. A thread that is late for a phase may read what later phases wrote, but gets no ticket to use it.
"""

import math
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from mcquack.simulators.compiled.entry import borrowing_entry
from mcquack.simulators.compiled.inner import inlined, inner
from mcquack.simulators.compiled.team import all_done, decide_to_stop, done, stop_asked, stops, taken
from mcquack.training.optimizer import ADAM, descend, shrink

# The phases of a step. PREPARE works out what all rows share; the next four belong to the readout.
PREPARE, ENCODE, SCORE, PULL, BACKWARD, UPDATE, RECORD = range(7)
N_PHASES = 7
# Where the gradient of a group comes from: the sum of all partial gradients, their mean, the partial gradient of each
# member of an ensemble, the derivatives by the readout's own rows, the derivative by the loss's beta, or the readout,
# which has written it already.
SUM, MEAN, OWN, ROWS, BETA, DIRECT = range(6)
GROUPS = ("weights", "bias", "centroids", "log_beta", "head")  # of parameters
GOING, CONVERGED, DIVERGED = range(3)


class Data(NamedTuple):
    """The samples, fixed during training."""

    X: Any  # (N, d)
    seen: Any  # (copies, N, d): X alone, or the samples of each pass with noise, anew in every epoch
    labels: Any  # (N,)
    targets: Any  # (N, T) of a regression, else (0, 0)
    row_weights: Any  # (N,)


class TrainedArrays(NamedTuple):
    """What training changes, in place; K trainings that run apart have a row each."""

    values: Any  # (K, P) all parameters, group after group
    mean: Any  # (K, P) the optimizer's running mean of the gradient
    square: Any  # (K, P) and of its square
    slopes: Any  # (K, P) the gradient of the last step
    steps: Any  # (K, G) how often each group was moved
    losses: Any  # (K, S) of all steps, where training ends by convergence
    progress: Any  # (K, 2) the number of steps taken, and GOING, CONVERGED or DIVERGED


def by_group(default: float, **values: float) -> Any:
    """Return a value for each group of parameters (G,), in the order of GROUPS; of the type of the default."""
    return np.array([values.get(name, default) for name in GROUPS], dtype=type(default))


class Config(NamedTuple):
    """How groups of parameters are moved, and where their gradients come from, as numbers.

    All is the same in all launches of a training but the learning rates and the interval, which the trainer fills in.
    """

    batch_size: int
    n_parts: int  # partial gradients of a training at most
    n_shares: int = 1  # how many tickets the parameters are moved by
    is_rowwise: bool = True  # whether the loss is known only with the whole gradient, and one ticket moves everything
    apart: bool = False  # whether each training is run by one thread, and none waits for another
    records: bool = False  # whether the loss of every step is kept
    optimizer: int = ADAM
    decoupled: bool = False  # whether penalties shrink the parameters beside the optimizer (AdamW)
    interval: int = 0  # of the convergence rule; 0 where there is none
    firsts: Any = None  # (G + 1,) where the groups begin
    sources: Any = by_group(SUM)  # (G,) SUM, MEAN, …
    halves: Any = by_group(0)  # (G,) under which of the two reported losses a group counts, -1 under none
    rates: Any = by_group(0.0)  # (G,) learning rates
    ridges: Any = by_group(0.0)  # (G,) λ of the penalty λ‖p‖²
    reg_rows: float = 0.0  # λ of the penalty on rows outside of low … high
    low: float = 0.0
    high: float = 1.0


class Workspace(NamedTuple):
    """Memory that all steps reuse."""

    gradients: Any  # (parts, P of one member)
    currents: Any  # (parts, K, 2**n) of the gates that all samples share
    part_losses: Any  # (parts,)
    by_rows: Any  # (blocks, d, W) derivatives by the readout's own rows
    cells: Any  # (threads, 7) of trainings that run apart
    own: Any  # what the readout needs besides


class LaunchSums(NamedTuple):
    """Sums over the steps of a launch, and what the readout reports at its end."""

    losses: Any  # (K, 2) with the penalties on what a step moves
    n_steps: Any  # (K, 2)
    squared_norms: Any  # (K, G)
    own: Any


class Context(NamedTuple):
    """All that a launch works on."""

    data: Any
    embedding: Any
    readout: Any
    trained: Any
    config: Any
    space: Any
    sums: Any


class Step(NamedTuple):
    """One step: its batch, what it moves, and how its work is divided."""

    member: int  # which of the trainings
    X: Any  # (N, d) the samples as this pass sees them
    order: Any
    first: int  # of the batch, in the order
    n_rows: int
    moves: Any  # (G,) which groups
    moves_embedding: bool
    moves_rows: bool
    base: int  # how many lanes samples take before those of the readout's own rows
    n_blocks: int  # of all lanes
    n_parts: int
    shift: int  # the block of the order that stands first among the kept states
    encoded: int  # the first block of the order that is not encoded yet
    last: int  # before which block of the order states may be encoded ahead


_FUNCTIONS: dict[type, dict[str, Callable[..., Any]]] = {}
_INLINED: set[type] = set()
# Functions of a readout that are so short that they are inlined wherever they are called.
_SHORT = ("phase_items", "after_encode", "batch_loss", "new_step", "next_cursor")


def functions_of(kind: type, *, inline_loop: bool = False, **functions: Callable[..., Any]) -> None:
    """Let the trainer use these functions for parts of this type, a NamedTuple.

    Parameters
    ----------
    kind : type
        The type of the embedding or readout, as compiled code gets it.
    inline_loop : bool
        Whether the whole loop is compiled as one function for embeddings of this type. It takes longer to compile. It
        pays if a step takes a few microseconds, as long as passing all arrays to a function.
    **functions
        Plain functions, by the name that the trainer calls each of them, see below. They may call the functions of the
        other part by their names.
    """
    _FUNCTIONS.setdefault(kind, {}).update(functions)
    if inline_loop:
        _INLINED.add(kind)


def bound_functions(kind: type, names: Mapping[str, Any], *, inline: bool = False) -> dict[str, Any]:
    """Return the functions of a part for compiled code, in which these names stand for the functions that are given."""
    functions = _FUNCTIONS.get(kind, {})
    return {name: _bound(each, names, inline=inline or name in _SHORT) for name, each in functions.items()}


def _bound(function: Callable[..., Any], names: Mapping[str, Any], *, inline: bool) -> Any:
    return (inlined if inline else inner)(with_names(function, names))


def with_names(function: Callable[..., Any], names: Mapping[str, Any]) -> Any:
    """Return a copy of a Python function to which these names mean what is given."""
    copy = FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    return copy


def compiled_only(name: str) -> Callable[..., Any]:
    """Return a stand-in for a function that the trainer calls by its name: it is bound before anything is compiled."""

    def stand_in(*args: Any) -> Any:
        raise NotImplementedError(f"{name} is bound to a function of an embedding or readout when it is compiled")

    return stand_in


@inner
def _nothing(*_: Any) -> int:
    """Do nothing and return 0: the function of every part that registers none under a name."""
    return 0


# What an embedding does. The functions of embeddings and readouts are registered under these names.

# (context, n_threads) -> into how many tickets the work is divided that all samples share.
prepare_items = _nothing
# (context, member, item, n_items): the work of one of them.
prepare = _nothing
# (context, step, part, block, work): the states of a block of the batch, into ``work.scratch.state``.
embed_rows = compiled_only("embed_rows")
# (context, step, part, work): from the adjoint of these states the gradient, added to that of the part.
pull_rows = compiled_only("pull_rows")
# (context, step, slopes): what is left to do when the gradients of all parts are summed.
finish_slopes = _nothing

# What a readout does.

# (context, step, n_threads) -> the numbers of tickets of PREPARE, ENCODE, SCORE, PULL and BACKWARD.
phase_items = compiled_only("phase_items")
# (context, step, item, n_items, rank, work): encode some rows, or compute the scores of some.
encode_item = _nothing
score_item = _nothing
# (context, step, item, n_items, terms): the derivatives of the loss by the scores of some rows.
pull_item = _nothing
# (context, step, item, n_items, rank, work, terms): one partial gradient. One ticket of a readout with rows of its own
# calls add_losses instead.
backward_item = compiled_only("backward_item")
# (context, step, rank): what every thread does for itself after ENCODE.
after_encode = _nothing
# (context, step) -> the loss of the batch, three numbers that its derivatives need, and its derivative by log β. Every
# thread asks for itself, after SCORE, or after BACKWARD where no sample needs another.
batch_loss = compiled_only("batch_loss")
# (context, member, number, first, order, moves, cursor) -> the Step on the batch from ``first`` on, in pass ``number``.
new_step = compiled_only("new_step")
# (context, step, n_threads) -> how far samples are encoded after the step.
next_cursor = _nothing
# (context, cells, end, rank, work, order): what is reported of all samples at the end of an epoch.
finish_epoch = _nothing


@inner
def squared_norm(values: Any) -> float:
    """Return the sum of the squares, in double precision."""
    # Four sums, so that an addition need not wait for the one before it.
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = values.size // 4 * 4
    for place in range(0, whole, 4):
        a += float(values[place]) * float(values[place])
        b += float(values[place + 1]) * float(values[place + 1])
        c += float(values[place + 2]) * float(values[place + 2])
        d += float(values[place + 3]) * float(values[place + 3])
    for place in range(whole, values.size):
        a += float(values[place]) * float(values[place])
    return (a + b) + (c + d)


@inner
def _range_penalty(rows: Any, low: float, high: float) -> float:
    """R of the paper: how far centroid features lie outside the range of the data."""
    total = 0.0
    for value in rows:
        total += max(float(value) - high, 0.0) + max(low - float(value), 0.0)
    return total


@inner
def _fill_sum(
    parts: Any, n_parts: int, first: int, values: Any, ridge: float, slopes: Any, low: int, high: int
) -> None:
    """Slopes ``low`` to ``high`` of a group whose gradients begin at ``first``, with those of the penalty."""
    scalar = slopes.dtype.type
    for place in range(low, high):
        slopes[place] = scalar(2 * ridge) * values[place]
    for part in range(n_parts):
        for place in range(low, high):
            slopes[place] += parts[part, first + place]


@inner
def _fill_mean(
    parts: Any, n_parts: int, first: int, values: Any, ridge: float, slopes: Any, low: int, high: int
) -> None:
    """The same with the mean of the partial gradients: those of parameters that the members of an ensemble share."""
    scalar = slopes.dtype.type
    for place in range(low, high):
        total = scalar(0)
        for part in range(n_parts):
            total += parts[part, first + place]
        slopes[place] = total / scalar(n_parts) + scalar(2 * ridge) * values[place]


@inner
def _fill_own(
    parts: Any, n_parts: int, first: int, values: Any, ridge: float, slopes: Any, low: int, high: int
) -> None:
    """The same for parameters that each member of an ensemble has for itself, one member after the other."""
    scalar = slopes.dtype.type
    size = values.size // n_parts
    for place in range(low, high):
        slopes[place] = parts[place // size, first + place % size] + scalar(2 * ridge) * values[place]


@inner
def _fill_rows(by_rows: Any, base: int, config: Any, values: Any, slopes: Any, low: int, high: int) -> None:
    """Derivatives by the features ``low`` to ``high`` of the readout's rows, with those of the range penalty."""
    scalar = slopes.dtype.type
    n_features, width = by_rows.shape[1], by_rows.shape[2]
    for number in range(low // n_features, (high + n_features - 1) // n_features):
        start = number * n_features
        row = base % width + number
        rows, lane = by_rows[row // width], row % width
        for feature in range(max(low - start, 0), min(high - start, n_features)):
            slope = rows[feature, lane]
            if values[start + feature] > config.high:
                slope += scalar(config.reg_rows)
            elif values[start + feature] < config.low:
                slope -= scalar(config.reg_rows)
            slopes[start + feature] = slope


def _update(context: Any, step: Any, share: int, by_beta: float) -> None:
    """Move one share of every group that the step moves downhill on the loss and its penalties."""
    trained, config, space = context.trained, context.config, context.space
    parts = space.gradients[step.member * config.n_parts :]
    for group in range(config.rates.size):
        if not step.moves[group]:
            continue
        first, last, source = config.firsts[group], config.firsts[group + 1], config.sources[group]
        low, high = share * (last - first) // config.n_shares, (share + 1) * (last - first) // config.n_shares
        values, slopes = trained.values[step.member, first:last], trained.slopes[step.member, first:last]
        ridge = 0.0 if config.decoupled else config.ridges[group]
        if source == SUM:
            _fill_sum(parts, step.n_parts, first, values, ridge, slopes, low, high)
            finish_slopes(context, step, slopes)
        elif source == MEAN:
            _fill_mean(parts, step.n_parts, first, values, ridge, slopes, low, high)
        elif source == OWN:
            _fill_own(parts, step.n_parts, first, values, ridge, slopes, low, high)
        elif source == ROWS:
            _fill_rows(space.by_rows, step.base, config, values, slopes, low, high)
        elif source == BETA and high > low:
            slopes[0] = by_beta
        if config.decoupled and source != ROWS and source != BETA:
            shrink(values, 2 * config.rates[group] * config.ridges[group], low, high)
        descend(
            values, slopes, trained.mean[step.member, first:last], trained.square[step.member, first:last],
            config.optimizer, config.rates[group], trained.steps[step.member, group] + 1, low, high,
        )  # fmt: skip


@inner
def add_losses(context: Any, step: Any, loss: float) -> None:
    """Add the loss before the step, with the penalties on what the step moves, under each half that it moves.

    To be called before the parameters move: by a readout that has rows, while others still go back, else by UPDATE.
    """
    trained, config, sums = context.trained, context.config, context.sums
    for half in range(2):
        penalty, is_moved = 0.0, False
        for group in range(config.rates.size):
            if step.moves[group] and config.halves[group] == half:
                is_moved = True
                values = trained.values[step.member, config.firsts[group] : config.firsts[group + 1]]
                if config.sources[group] == ROWS:
                    penalty += config.reg_rows * _range_penalty(values, config.low, config.high)
                elif config.ridges[group] > 0.0:
                    penalty += config.ridges[group] * squared_norm(values)
        if is_moved:
            sums.losses[step.member, half] += loss + penalty
            sums.n_steps[step.member, half] += 1


@inner
def _record(context: Any, step: Any, loss: float) -> None:
    """Count the step, and where training ends by convergence record its loss and say whether training goes on."""
    trained, config, sums = context.trained, context.config, context.sums
    progress = trained.progress[step.member]
    if config.records:
        trained.losses[step.member, progress[0]] = loss
        if not math.isfinite(loss):
            progress[1] = DIVERGED
            return
    progress[0] += 1
    for group in range(config.rates.size):
        if step.moves[group]:
            trained.steps[step.member, group] += 1
            slopes = trained.slopes[step.member, config.firsts[group] : config.firsts[group + 1]]
            sums.squared_norms[step.member, group] += squared_norm(slopes)
    if config.records and has_converged(trained.losses[step.member], progress[0], config.interval):
        progress[1] = CONVERGED


@inner
def has_converged(losses: Any, n_steps: int, interval: int) -> Any:
    """Whether the mean of the last losses differs from that of as many before by less than half its standard error."""
    if interval < 1 or n_steps < 2 * interval + 2:
        return False
    last, before = 0.0, 0.0
    for step in range(n_steps - interval, n_steps):
        last += losses[step]
        before += losses[step - interval]
    last /= interval
    before /= interval
    spread = 0.0
    for step in range(n_steps - interval, n_steps):
        spread += (losses[step] - last) ** 2
    return abs(last - before) <= math.sqrt(spread / interval) / math.sqrt(interval) / 2


def _run_step(cells: Any, end: int, rank: int, n_threads: int, work: Any, context: Any, step: Any) -> Any:
    """Take one step, phase after phase; return where the tickets end."""
    n_items = phase_items(context, step, n_threads)
    is_rowwise, records = context.config.is_rowwise, context.config.records
    terms = 0.0, 0.0, 0.0, 0.0, 0.0
    for phase in range(N_PHASES):
        n = context.config.n_shares if phase == UPDATE else 1 if phase == RECORD else n_items[phase]
        start, end = end, end + n
        ticket = taken(cells, end)
        while ticket >= 0:
            item = ticket - start
            if phase == PREPARE:
                prepare(context, step.member, item, n)
            elif phase == ENCODE:
                encode_item(context, step, item, n, rank, work)
            elif phase == SCORE:
                score_item(context, step, item, n, rank, work)
            elif phase == PULL:
                pull_item(context, step, item, n, terms)
            elif phase == BACKWARD:
                backward_item(context, step, item, n, rank, work, terms)
            elif phase == UPDATE:
                # A training that records its losses stays where it was when its loss is not a number.
                if not records or math.isfinite(terms[0]):
                    if is_rowwise:
                        add_losses(context, step, terms[0])
                    _update(context, step, item, terms[4])
            else:
                _record(context, step, terms[0])
                decide_to_stop(cells, end)
            done(cells)
            ticket = taken(cells, end)
        all_done(cells, end)
        if phase == ENCODE and not is_rowwise:
            after_encode(context, step, rank)
        if phase == (BACKWARD if is_rowwise else SCORE):
            terms = batch_loss(context, step)
    return end


def _run_training(
    cells: Any, shared: Any, rank: int, n_threads: int, work: Any, context: Any, member: int, orders: Any, moves: Any
) -> Any:
    """Take the steps of all passes, or of as many as there are before training ends; return where the tickets end.

    An order (passes, n) is cut into batches; where batches are drawn with replacement, each is a pass.
    """
    end, n, size = 0, orders.shape[1], context.config.batch_size
    progress = context.trained.progress[member]
    cursor = 0
    for number in range(orders.shape[0]):
        for first in range(0, n, size):
            step = new_step(context, member, number, first, orders[number], moves[number], cursor)
            end = _run_step(cells, end, rank, n_threads, work, context, step)
            if context.config.apart:
                if stop_asked(shared):
                    return -1
            elif stops(cells, end):
                return -1
            if progress[1] != GOING:
                return end
            cursor = next_cursor(context, step, n_threads)
    return end


def _run(cells: Any, rank: int, n_threads: int, work: Any, context: Any, active: Any, orders: Any, moves: Any) -> None:
    """Run all passes of every active training: one with all threads, or several with a thread each."""
    apart = context.config.apart
    for member in range(rank if apart else 0, active.size, n_threads if apart else 1):
        if not active[member]:
            continue
        own, own_rank, own_threads = cells, rank, n_threads
        if apart:
            own, own_rank, own_threads = context.space.cells[rank], 0, 1
            for place in range(own.size):
                own[place] = 0
        end = _run_training(own, cells, own_rank, own_threads, work, context, member, orders[member], moves)
        if end < 0:
            return
        finish_epoch(context, own, end, own_rank, work, orders[member, orders.shape[1] - 1])


_ENTRIES: dict[tuple[type, type], Any] = {}


def run_epoch(embedding: type, readout: type) -> Any:
    """Return the compiled function that runs epochs of contexts with an embedding and a readout of these types.

    It is kept on disk under the module of the readout, so that a change there compiles it anew. Only code of this
    package is kept: of other code it is not known which files it depends on.
    """
    if (embedding, readout) not in _ENTRIES:
        inline = embedding in _INLINED
        of_embedding = bound_functions(embedding, {}, inline=inline)
        names = of_embedding | bound_functions(readout, of_embedding, inline=inline)
        for each in (_update, _run_step, _run_training):
            names[each.__name__] = _bound(each, names, inline=inline)
        run = with_names(_run, names)
        run.__module__, run.__qualname__ = readout.__module__, f"run_{embedding.__name__}_{readout.__name__}"
        ours = all(kind.__module__.startswith("mcquack.") for kind in (embedding, readout))
        _ENTRIES[embedding, readout] = borrowing_entry(run, keep=ours)
    return _ENTRIES[embedding, readout]
