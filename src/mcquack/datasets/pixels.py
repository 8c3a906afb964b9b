"""How the features of pictures are called."""

import numpy as np


def pixel_names(image_shape: tuple[int, int]) -> tuple[str, ...]:
    """A name for every pixel, row by row."""
    return tuple(f"pixel_{row}_{column}" for row, column in np.ndindex(image_shape))
