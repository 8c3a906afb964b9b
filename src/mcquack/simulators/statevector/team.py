"""A few threads that run the same compiled function on different blocks and wait for each other inside it.

Each thread calls the function with its rank; where a result of the others is needed the function calls
:func:`barrier`. One launch serves a whole epoch, so that a step of microseconds can be shared. Work is divided by
block, never by thread, so the result does not depend on how many there are.
"""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

ARRIVED, ROUND, STOP_ASKED, STOPPING = range(4)
_SPINS_BEFORE_YIELD = 2000


def control() -> NDArray[np.int64]:
    """What the members of a team share: how many wait, in which round, and whether to stop."""
    return np.zeros(4, dtype=np.int64)


def _cell(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index], source_etype=ir.IntType(64))


@intrinsic
def _read(typingctx: Any, cells: Any, index: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_cell(context, builder, cells, *args), "seq_cst", 8, typ=ir.IntType(64))

    return types.int64(cells, types.int64), code


@intrinsic
def _fetch_add(typingctx: Any, cells: Any, index: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _cell(context, builder, cells, *args[:2]), args[2], "seq_cst")

    return types.int64(cells, types.int64, types.int64), code


@intrinsic
def _yield_processor(typingctx: Any) -> Any:
    """Lets another thread of the machine run: a busy machine must not spin against itself."""
    name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])

    return types.int32(), code


@njit(nogil=True)
def barrier(cells: Any, n_threads: int) -> None:
    """Returns when all members of the team have called it."""
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
            _yield_processor()


@njit(nogil=True)
def stop_asked(cells: Any) -> Any:
    """Whether the caller wants the team to stop; members may learn of it at different moments."""
    return _read(cells, STOP_ASKED) != 0


@njit(nogil=True)
def stop_barrier(cells: Any, rank: int, n_threads: int) -> Any:
    """A barrier after which all members agree on whether somebody asked them to stop."""
    if rank == 0 and stop_asked(cells):
        _fetch_add(cells, STOPPING, 1)
    barrier(cells, n_threads)
    return _read(cells, STOPPING) != 0


def available_threads(asked: int | None) -> int:
    """``asked``, or as many as Numba would use (NUMBA_NUM_THREADS; joblib sets it for its workers)."""
    return numba.config.NUMBA_NUM_THREADS if asked is None else asked


class Team:
    """Threads that wait for work together; they end with the object.

    ``patient`` work is short enough to be waited for, and the caller's own thread takes a share of it. Otherwise the
    caller's thread stays free to hear an interrupt, upon which the members stop at their next :func:`stop_barrier`.
    """

    def __init__(self, n_threads: int, *, patient: bool) -> None:
        self.n_threads = n_threads
        self.patient = patient
        n_helpers = n_threads - 1 if patient else n_threads
        self._pool = ThreadPoolExecutor(n_helpers, thread_name_prefix="mcquack") if n_helpers else None

    def run(self, function: Callable[..., Any], works: Sequence[Any], *args: Any) -> None:
        """Calls ``function(cells, rank, n_threads, works[rank], *args)`` for every rank and waits for all."""
        cells = control()
        ranks = range(1 if self.patient else 0, self.n_threads)
        members = [
            self._pool.submit(function, cells, rank, self.n_threads, works[rank], *args) for rank in ranks if self._pool
        ]
        try:
            if self.patient:
                function(cells, 0, self.n_threads, works[0], *args)
            wait(members)
        except BaseException:
            cells[STOP_ASKED] = 1
            wait(members)
            raise
        for member in members:
            member.result()
