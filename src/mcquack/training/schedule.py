"""In which order the samples are visited."""

import numpy as np
from numpy.typing import NDArray

from mcquack.randomness import stream
from mcquack.training.settings import TrainingSettings


def epoch_orders(n_samples: int, epoch: int, settings: TrainingSettings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A permutation for each KAO pass (epochs_ka, N) and one for all CO passes (N,), drawn from seed and epoch alone.

    Samples that all fit into one batch keep their order: there it decides nothing but rounding.
    """
    kao = np.empty((settings.epochs_ka, n_samples), dtype=np.int64)
    for inner in range(settings.epochs_ka):
        kao[inner] = _order(n_samples, settings, f"kao {epoch} {inner}")
    return kao, _order(n_samples, settings, f"co {epoch}")


def _order(n_samples: int, settings: TrainingSettings, purpose: str) -> NDArray[np.int64]:
    if n_samples <= settings.batch_size:
        return np.arange(n_samples, dtype=np.int64)
    return stream(settings.seed, purpose).permutation(n_samples)
