"""What all pictures of 28 × 28 pixels share: bytes until somebody scales them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.datasets.pixels import pixel_names
from mcquack.datasets.real_world.pool import Pool
from mcquack.errors import DataFileError

SIDE = 28
TENS = tuple((digit,) for digit in range(10))
LOW_AND_HIGH = (tuple(range(5)), tuple(range(5, 10)))


def picture_pool(images: NDArray[Any], labels: NDArray[Any]) -> Pool:
    """Pictures in bytes and their labels; only those that are drawn are ever copied."""
    if images.dtype != np.uint8:
        raise DataFileError(f"the pictures hold {images.dtype} where bytes were expected; use the original files.")
    return Pool(X=images, y=labels, feature_names=pixel_names((SIDE, SIDE)))
