"""In which order the samples are visited."""

from typing import Protocol

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
        kao[inner] = sample_order(n_samples, settings, purpose=f"kao {epoch} {inner}")
    return kao, sample_order(n_samples, settings, purpose=f"co {epoch}")


class Shuffled(Protocol):
    """Settings of a training that visits its samples in mini-batches, in an order drawn from a seed."""

    @property
    def batch_size(self) -> int: ...
    @property
    def seed(self) -> int: ...


def sample_order(n_samples: int, settings: Shuffled, *, purpose: str) -> NDArray[np.int64]:
    """A permutation for one pass over the samples, unless they all fit into one batch."""
    if n_samples <= settings.batch_size:
        return np.arange(n_samples, dtype=np.int64)
    return stream(settings.seed, purpose).permutation(n_samples)
