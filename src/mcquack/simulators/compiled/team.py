"""A few threads that run the same compiled function on different blocks and wait for each other inside it.

Each thread calls the function with its rank; where a result of the others is needed the function calls
:func:`barrier`. One launch serves a whole epoch, so that a step of microseconds can be shared. Work is divided by
block, never by thread, so the result does not depend on how many there are.

Where steps are short, tickets take the place of barriers: all work of a launch is numbered, phase after phase. Whoever
is free takes the next number of the phase (:func:`taken`), and a phase is over when all its work is done
(:func:`all_done`), not when all members have come. A member that the system has set aside leaves its share to the
others, and where it comes too late it finds nothing to do and catches up.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import joblib
import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from mcquack.simulators.compiled.entry import Entry
from mcquack.simulators.compiled.inner import inner

ARRIVED, ROUND, STOP_ASKED, STOPPING, ABANDONED, TAKEN, DONE = range(7)
_SPINS_BEFORE_YIELD = 2000


def control() -> NDArray[np.int64]:
    """What the members share: how many wait, in which round, whether to stop, whether one is missing, and tickets."""
    return np.zeros(7, dtype=np.int64)


def _cell(context: Any, builder: ir.IRBuilder, array_type: types.Type, array: ir.Value, index: ir.Value) -> ir.Value:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index], source_etype=ir.IntType(64))


@intrinsic
def _read(typingctx: Any, cells: types.Type, index: types.Type) -> Any:
    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        return builder.load_atomic(_cell(context, builder, cells, *args), "seq_cst", 8, typ=ir.IntType(64))

    return types.int64(cells, types.int64), code


@intrinsic
def _fetch_add(typingctx: Any, cells: types.Type, index: types.Type, value: types.Type) -> Any:
    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        return builder.atomic_rmw("add", _cell(context, builder, cells, *args[:2]), args[2], "seq_cst")

    return types.int64(cells, types.int64, types.int64), code


@intrinsic
def _exchange(typingctx: Any, cells: types.Type, index: types.Type, expected: types.Type, value: types.Type) -> Any:
    """Writes the value where the expected one stands; whether it did."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        place = _cell(context, builder, cells, *args[:2])
        return builder.extract_value(builder.cmpxchg(place, args[2], args[3], "seq_cst"), 1)

    return types.boolean(cells, types.int64, types.int64, types.int64), code


@intrinsic
def _yield_processor(typingctx: Any) -> Any:
    """Lets another thread of the machine run: a busy machine must not spin against itself."""
    name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        kind = ir.FunctionType(ir.IntType(32), [])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])

    return types.int32(), code


@inner
def barrier(cells: NDArray[np.int64], n_threads: int) -> None:
    """Returns when all members of the team have called it, or when one of them never will."""
    if n_threads == 1:
        return
    this_round = _read(cells, ROUND)
    if _fetch_add(cells, ARRIVED, 1) == n_threads - 1:
        _fetch_add(cells, ARRIVED, -n_threads)
        _fetch_add(cells, ROUND, 1)
        return
    spins = 0
    while _read(cells, ROUND) == this_round:
        spins += 1
        if spins > _SPINS_BEFORE_YIELD:
            if _read(cells, ABANDONED):
                return
            _yield_processor()


@inner
def taken(cells: NDArray[np.int64], end: int) -> Any:
    """The next ticket of a phase whose tickets end before ``end``, or -1 where none is left."""
    ticket = _read(cells, TAKEN)
    while ticket < end:
        if _exchange(cells, TAKEN, ticket, ticket + 1):
            return ticket
        ticket = _read(cells, TAKEN)
    return -1


@inner
def done(cells: NDArray[np.int64]) -> None:
    """Tells that the work of a ticket is done."""
    _fetch_add(cells, DONE, 1)


@inner
def all_done(cells: NDArray[np.int64], end: int) -> None:
    """Returns when the work of all tickets before ``end`` is done."""
    spins = 0
    while _read(cells, DONE) < end:
        spins += 1
        if spins > _SPINS_BEFORE_YIELD:
            _yield_processor()


@inner
def decide_to_stop(cells: NDArray[np.int64], end: int) -> None:
    """To be called by one member of a phase: whether the team stops after it."""
    if stop_asked(cells) and _read(cells, STOPPING) == 0:
        _fetch_add(cells, STOPPING, end)


@inner
def stops(cells: NDArray[np.int64], end: int) -> Any:
    """Whether it was decided to stop after this phase or an earlier one; all members find the same."""
    return 0 < _read(cells, STOPPING) <= end


@inner
def stop_asked(cells: NDArray[np.int64]) -> Any:
    """Whether the caller wants the team to stop; members may learn of it at different moments."""
    return _read(cells, STOP_ASKED) != 0


@inner
def stop_barrier(cells: NDArray[np.int64], rank: int, n_threads: int) -> Any:
    """A barrier after which all members agree on whether somebody asked them to stop."""
    this_round = _read(cells, ROUND)
    # The decision names its round: a member that is late must not take the next round's decision for its own.
    if rank == 0 and stop_asked(cells) and _read(cells, STOPPING) == 0:
        _fetch_add(cells, STOPPING, this_round + 1)
    barrier(cells, n_threads)
    return _read(cells, ABANDONED) != 0 or 0 < _read(cells, STOPPING) <= this_round + 1


_most_threads: ContextVar[int | None] = ContextVar("most_threads", default=None)


@contextmanager
def limited_threads(most: int) -> Iterator[None]:
    """Let engines that are first used inside take at most so many threads, unless they are told a number.

    Whoever runs many fits side by side wants one thread for each of them.

    Examples
    --------
    >>> from mcquack.simulators import StatevectorEngine, limited_threads
    >>> with limited_threads(1):
    ...     StatevectorEngine().n_threads
    1
    """
    token = _most_threads.set(most)
    try:
        yield
    finally:
        _most_threads.reset(token)


def available_threads(asked: int | None) -> int:
    """``asked``, or as many as Numba may use (joblib's workers are told) and the machine or container gives."""
    if asked is not None:
        return asked
    most: int = min(config.NUMBA_NUM_THREADS, _cpu_count(_allowed_cpus(), os.environ.get("LOKY_MAX_CPU_COUNT")))
    return min(most, _most_threads.get() or most)


def _allowed_cpus() -> frozenset[int]:
    """The processors that this process may run on, where the system says which."""
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()


@lru_cache(maxsize=16)
def _cpu_count(allowed: frozenset[int], asked: str | None) -> int:
    """Return joblib's count, kept for as long as what it follows from stays the same: it opens files of the system."""
    count: int = joblib.cpu_count()
    return count


class Team:
    """Threads that wait for work together; they end with the object, and a forked process makes itself others.

    ``patient`` work is short enough to be waited for, and the caller's own thread takes a share of it. Otherwise the
    caller's thread stays free to hear an interrupt, upon which the members stop at their next :func:`stop_barrier`.
    """

    def __init__(self, n_threads: int, *, patient: bool) -> None:
        self.n_threads = n_threads
        self.patient = patient
        self._hire()

    def _hire(self) -> None:
        n_helpers = self.n_threads - 1 if self.patient else self.n_threads
        self._pool = ThreadPoolExecutor(n_helpers, thread_name_prefix="mcquack") if n_helpers else None
        self._process = os.getpid()

    def run(self, function: Callable[..., Any], works: Sequence[Any], *args: Any) -> None:
        """Call ``function(cells, rank, n_threads, works[rank], *args)`` for every rank, and wait for all."""
        cells = control()
        if self._process != os.getpid():  # a fork has the object without the threads, and would wait for them forever
            self._hire()
        if isinstance(function, Entry):  # before any thread starts: nobody may wait for one that never arrives
            function = function.version(cells, 0, self.n_threads, works[0], *args)
        if self._pool is None:
            function(cells, 0, 1, works[0], *args)
            return
        members: list[Future[None]] = []
        entered = not self.patient
        try:
            for rank in range(1 if self.patient else 0, self.n_threads):  # one by one, to know how many have begun
                members.append(self._pool.submit(function, cells, rank, self.n_threads, works[rank], *args))  # noqa: PERF401
            if self.patient:
                function(cells, 0, self.n_threads, works[0], *args)
                entered = True
            wait(members)
        except BaseException:
            cells[STOP_ASKED] = 1
            cells[ABANDONED] = int(not entered or len(members) < self.n_threads - int(self.patient))
            wait(members)
            raise
        for member in members:
            member.result()
