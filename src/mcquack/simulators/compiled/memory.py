"""Arrays that registers can be loaded from, and a look at what memory there is before asking for it."""

import math
import os
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.errors import MemoryLimitError
from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.lanes import load, row_bytes, splat, store

_TOO_SMALL_TO_ASK = 64 * 1024


def aligned_zeros(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Zeros that start on a multiple of a row, so that no row straddles two cache lines."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    buffer = np.zeros(n_bytes + row_bytes(), dtype=np.uint8)
    start = -buffer.ctypes.data % row_bytes()
    zeros: NDArray[Any] = buffer[start : start + n_bytes].view(dtype).reshape(shape)
    return zeros


def aligned_parts(shapes: Sequence[tuple[int, ...]], dtype: Any) -> list[NDArray[Any]]:
    """Return zeros of several shapes from one allocation, each as :func:`aligned_zeros` makes it.

    >>> [part.shape for part in aligned_parts([(2, 3), (4,)], "float32")]
    [(2, 3), (4,)]
    """
    itemsize = np.dtype(dtype).itemsize
    sizes = [math.prod(shape) for shape in shapes]
    strides = [-(-size * itemsize // row_bytes()) * row_bytes() // itemsize for size in sizes]
    buffer = aligned_zeros((sum(strides),), dtype)
    ends = list(accumulate(strides, initial=0))
    parts = zip(ends, sizes, shapes, strict=False)  # the last end begins no part
    return [buffer[start : start + size].reshape(shape) for start, size, shape in parts]


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself where registers can be loaded from it, else a copy: unpickling, for one, loses the alignment."""
    if array.ctypes.data % row_bytes() == 0 and array.flags.c_contiguous:
        return array
    copy = aligned_zeros(array.shape, array.dtype)
    copy[...] = array
    return copy


def _free_in_group(group: Path) -> int | None:
    try:
        limit = (group / "memory.max").read_text().strip()
        used = int((group / "memory.current").read_text())
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(0, int(limit) - used + _forgettable(group))


def _forgettable(group: Path) -> int:
    """Files that were read once count as used, yet give way when memory is wanted."""
    try:
        lines = (group / "memory.stat").read_text().splitlines()
        return next((int(line.split()[1]) for line in lines if line.startswith("inactive_file ")), 0)
    except (OSError, ValueError, IndexError):
        return 0


def available_bytes(system: Path = Path("/")) -> int | None:
    """Memory that can be had without swapping, or None where the system does not tell."""
    found = []
    try:
        lines = (system / "proc/meminfo").read_text().splitlines()
        found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    except (OSError, ValueError, IndexError):
        pass
    in_group = _free_in_group(system / "sys/fs/cgroup")
    if in_group is not None:
        found.append(in_group)
    if not found and hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(found, default=None)


def require_bytes(n_bytes: int, purpose: str) -> None:
    """Refuses what would not fit, before any of it is allocated.

    The system is not asked about requests below 64 KiB: to ask takes longer than the work that needs so little.
    """
    if n_bytes < _TOO_SMALL_TO_ASK:
        return
    free = available_bytes()
    if free is not None and n_bytes > free:
        raise MemoryLimitError(
            f"{purpose} needs {n_bytes / 2**30:.1f} GiB but {free / 2**30:.1f} GiB are free; "
            "use fewer qubits, fewer samples at a time, or float32."
        )


# Moving samples in and out of blocks of W lanes. Plain loops: they compile in a fraction of the time of slices.


@inner
def gather_block(X: Any, first: int, features: Any) -> None:
    """Transposes W rows of X, from ``first`` on, into the rows (d, W) of a block; lanes beyond the end get zeros."""
    for lane in range(features.shape[1]):
        for feature in range(features.shape[0]):
            features[feature, lane] = X[first + lane, feature] if first + lane < X.shape[0] else 0


@inner
def gather_rows(X: Any, order: Any, first: int, count: int, block: int, features: Any) -> None:
    """Rows ``order[first + …]`` of a mini-batch's block, transposed into (d, W); lanes beyond its end get zeros."""
    n_features, width = features.shape
    # So many features at a time that what is written stays in the first cache until all lanes are.
    for start in range(0, n_features, 64):
        end = min(start + 64, n_features)
        for lane in range(width):
            position = block * width + lane
            if position < count:
                row = order[first + position]
                for feature in range(start, end):
                    features[feature, lane] = X[row, feature]
            else:
                for feature in range(start, end):
                    features[feature, lane] = 0


@inner
def copy_block(source: Any, target: Any) -> None:
    """Copies all amplitudes (2**n, 2, W)."""
    for row in range(2 * target.shape[0]):
        store(target, row, load(source, row))


@inner
def clear_block(block: Any) -> None:
    """Sets all rows (…, W) to zero."""
    for row in range(block.size // block.shape[-1]):
        store(block, row, splat(block.dtype.type(0)))
