"""Adam, alone or with penalties that act beside it (AdamW), and gradient descent with momentum."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mcquack.simulators.compiled.inner import inner

ADAM, SGD = 0, 1
OPTIMIZER_CODES = {"adam": ADAM, "sgd": SGD, "adamw": ADAM}
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8
MOMENTUM = 0.9


class Moments(NamedTuple):
    """An optimizer's memory of one parameter array: running mean and mean square of its gradients."""

    mean: NDArray[Any]
    square: NDArray[Any]


@inner
def shrink(parameter: Any, share: float, first: int, last: int) -> None:
    """Takes a share off the entries ``first`` to ``last``: the decay of AdamW (Loshchilov and Hutter, 2019)."""
    kept = parameter.dtype.type(1 - share)
    for place in range(first, last):
        parameter[place] *= kept


@inner
def descend(
    parameter: Any, gradient: Any, mean: Any, square: Any, optimizer: int, rate: float, step: int, first: int, last: int
) -> None:
    """One step in place on the entries ``first`` to ``last`` of flat arrays; ``step`` counts from 1."""
    scalar = parameter.dtype.type
    if optimizer == SGD:
        for place in range(first, last):
            mean[place] = scalar(MOMENTUM) * mean[place] + gradient[place]
            parameter[place] -= scalar(rate) * mean[place]
        return
    # Both bias corrections go into the rate and the epsilon, as Kingma and Ba suggest.
    root = np.sqrt(1 - BETA_2**step)
    scaled_rate = scalar(rate * root / (1 - BETA_1**step))
    epsilon = scalar(EPSILON * root)
    for place in range(first, last):
        slope = gradient[place]
        mean[place] = scalar(BETA_1) * mean[place] + scalar(1 - BETA_1) * slope
        square[place] = scalar(BETA_2) * square[place] + scalar(1 - BETA_2) * slope * slope
        parameter[place] -= scaled_rate * mean[place] / (np.sqrt(square[place]) + epsilon)
