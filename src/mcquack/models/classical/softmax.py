"""From scores to shares that add up to one."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating]


def softmax(scores: FloatArray) -> FloatArray:
    """exp(s_m) / Σ exp(s_k) along each row."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: FloatArray = powers / powers.sum(axis=1, keepdims=True)
    return shares
