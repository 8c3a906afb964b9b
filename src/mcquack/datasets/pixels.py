"""How the features of pictures are laid out and called."""

import math
from typing import Any

import numpy as np

from mcquack.checks import is_whole_number
from mcquack.errors import InvalidInputError


def pixel_names(image_shape: tuple[int, int]) -> tuple[str, ...]:
    """A name for every pixel, row by row."""
    return tuple(f"pixel_{row}_{column}" for row, column in np.ndindex(image_shape))


def checked_image_shape(shape: Any, *, of: str, n_features: int) -> tuple[int, int]:
    """The shape as two plain integers, refused unless it is that of so many pixels."""
    is_pair = isinstance(shape, tuple | list) and len(shape) == 2
    if not is_pair or not all(is_whole_number(side) and side >= 1 for side in shape) or math.prod(shape) != n_features:
        raise InvalidInputError(
            f"{of}: image_shape must be (height, width) of {n_features} pixels, got {shape!r}; correct it or leave it "
            "out."
        )
    return int(shape[0]), int(shape[1])
