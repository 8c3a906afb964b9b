"""The kernel matrix itself, in pieces that fit into memory."""

import numpy as np
from numpy.typing import NDArray

from mcquack.simulators.engine import E, Engine

FloatArray = NDArray[np.floating]


def centroid_kernel(
    engine: Engine[E], X: FloatArray, centroids: FloatArray, *, weights: FloatArray, bias: FloatArray
) -> FloatArray:
    """K[i, m] = |⟨0|U†(c_m) U(x_i)|0⟩|² (paper, eq. 8): N + M circuits in place of N × M."""
    encoded = engine.encode(centroids, weights, bias)
    # A device takes all rows in one job, and what runs on one sees to its own memory.
    size = max(len(X), 1) if getattr(engine, "splits_rows", False) else _chunk_rows(engine.feature_map.n_qubits)
    chunks = (X[start : start + size] for start in range(0, len(X), size))
    parts = [engine.fidelities(engine.encode(chunk, weights, bias), encoded) for chunk in chunks]
    return np.concatenate(parts) if parts else np.empty((0, len(centroids)))


def _chunk_rows(n_qubits: int) -> int:
    """Enough rows to keep all threads busy, few enough that their states stay around 64 MiB (16 rows at least)."""
    return max(16, 2**23 >> n_qubits) if n_qubits < 24 else 16
