"""Passes over the samples: in which order, what each of them moves, at which learning rates, and with which noise."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.kernels.losses import is_learned
from mcquack.randomness import stream
from mcquack.training.settings import LoopSettings, TrainingSettings


class Passes(NamedTuple):
    """What one launch of a trainer does."""

    orders: NDArray[np.int64]  # (passes, n), or (trainings, passes, n) where each has its own
    moves: NDArray[np.bool_]  # (passes, G)
    rates: NDArray[np.float64]  # (G,)
    interval: int = 0  # of the convergence rule, in steps; 0 never ends early


def epoch_passes(n_samples: int, epoch: int, settings: TrainingSettings) -> Passes:
    """Return the passes of KAO and CO, or of joint steps, of one epoch; every step moves a β that is learned."""
    orders, co = epoch_orders(n_samples, epoch, settings)
    if settings.passes_co:
        orders = np.concatenate([orders, *[co[None]] * settings.passes_co])
    joint, learned = settings.steps == "joint", is_learned(settings.loss)
    lr_ka, lr_co = settings.learning_rates(epoch)
    moves = _moves(settings.epochs_ka, settings.passes_co, joint, learned)
    return Passes(orders, moves, np.array([lr_ka, lr_ka, lr_co, lr_co, lr_co]))


@lru_cache(maxsize=64)
def _moves(n_kao: int, n_co: int, joint: bool, learned: bool) -> NDArray[np.bool_]:
    of_kao, of_co = (True, True, joint, learned, joint), (False, False, True, learned, True)
    return np.array([of_kao] * n_kao + [of_co] * n_co)


def epoch_orders(n_samples: int, epoch: int, settings: TrainingSettings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A permutation for each KAO pass (epochs_ka, N) and one for all CO passes (N,), from seed and epoch alone.

    Without passes of CO the latter is the samples' own order.
    """
    kao = np.empty((settings.epochs_ka, n_samples), dtype=np.int64)
    for inner in range(settings.epochs_ka):
        kao[inner] = sample_order(n_samples, settings, purpose=f"kao {epoch} {inner}")
    if not settings.passes_co:
        return kao, np.arange(n_samples, dtype=np.int64)
    return kao, sample_order(n_samples, settings, purpose=f"co {epoch}")


def blurred(X: FloatArray, epoch: int, settings: TrainingSettings) -> FloatArray:
    """The samples as the passes of an epoch see them, (copies, N, d); without noise and drop X alone.

    Every pass of KAO, or of joint steps, has a copy of its own, and all passes of CO share one. In each copy every
    feature of every sample is replaced by the mean of all samples with the chance ``feature_drop``, and then moved by
    normal noise, ``input_noise`` times the width of the features' range. Copies depend on seed and epoch alone.
    """
    if not settings.is_blurred:
        return X[None]
    n_copies = settings.epochs_ka + (settings.passes_co > 0)
    copies = np.repeat(X[None], n_copies, axis=0)
    low, high = settings.feature_range
    for number, copy in enumerate(copies):
        draws = stream(settings.seed, f"blur {epoch} {number}")
        if settings.feature_drop > 0:
            dropped = draws.random(X.shape, dtype=np.float32) < settings.feature_drop
            np.copyto(copy, X.mean(axis=0, dtype=np.float64).astype(X.dtype), where=dropped)
        if settings.input_noise > 0:
            noise = draws.standard_normal(X.shape, dtype=np.float32)
            copy += X.dtype.type(settings.input_noise * (high - low)) * noise
    return copies


def sample_order(n_samples: int, settings: LoopSettings, *, purpose: str) -> NDArray[np.int64]:
    """A permutation for one pass over the samples; in a single batch it would decide nothing but rounding."""
    if n_samples <= settings.batch_size:
        return np.arange(n_samples, dtype=np.int64)
    return stream(settings.seed, purpose).permutation(n_samples)
