"""Passes over the samples: in which order, what each of them moves, and at which learning rates."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcquack.kernels.losses import is_learned
from mcquack.training.settings import TrainingSettings, epoch_orders


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
