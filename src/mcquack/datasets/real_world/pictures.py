"""What all pictures of 28 × 28 pixels share: bytes until somebody scales them."""

from typing import Any

from numpy.typing import NDArray

from mcquack.datasets.pixels import pixel_names
from mcquack.datasets.real_world.pool import Pool

SIDE = 28
TENS = tuple((digit,) for digit in range(10))
LOW_AND_HIGH = (tuple(range(5)), tuple(range(5, 10)))


def picture_pool(images: NDArray[Any], labels: NDArray[Any]) -> Pool:
    """Pictures and their labels; only those that are drawn are ever copied."""
    return Pool(X=images, y=labels, feature_names=pixel_names((SIDE, SIDE)))
