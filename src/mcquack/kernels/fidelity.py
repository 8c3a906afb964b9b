"""The kernel matrix itself, in pieces that fit into memory."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mcquack.simulators.engine import E, Engine

FloatArray = NDArray[np.floating]


def centroid_kernel(
    engine: Engine[E], X: FloatArray, centroids: FloatArray, *, weights: FloatArray, bias: FloatArray
) -> FloatArray:
    """K[i, m] = |⟨0|U†(c_m) U(x_i)|0⟩|² (paper, eq. 8): N + M circuits in place of N × M."""
    encoded = engine.encode(centroids, weights, bias)
    chunks = chunks_of_rows(len(X), engine.feature_map.n_qubits)
    parts = [engine.fidelities(engine.encode(X[rows], weights, bias), encoded) for rows in chunks]
    return np.concatenate(parts) if parts else np.empty((0, len(centroids)))


def chunks_of_rows(n_rows: int, n_qubits: int) -> Iterator[slice]:
    """Rows in pieces whose states fit into memory."""
    size = _chunk_rows(n_qubits)
    return (slice(start, start + size) for start in range(0, n_rows, size))


def _chunk_rows(n_qubits: int) -> int:
    """Enough rows to keep all threads busy, few enough that their states stay around 64 MiB (16 rows at least)."""
    return max(16, 2**23 >> n_qubits) if n_qubits < 24 else 16
