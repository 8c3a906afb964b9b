"""Pictures of a minus, a plus and its two halves, drawn here in the manner of the PlusMinus dataset."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mcquack.checks import is_whole_number, require, required_count
from mcquack.datasets.dataset import Dataset, Part, PartName
from mcquack.datasets.pixels import pixel_names
from mcquack.randomness import stream

SIDE = 16
CLASS_NAMES = ("-", "+", "⊢", "⊣")

# Chosen so that ink, width and brightness are about those of the published pictures.
_FAINTEST = 0.36
_WIDTH = (1.7, 2.9)
_LARGEST_ANGLE = np.radians(10)
_LARGEST_SHIFT = 1.0
_SOFT_EDGE = 2.2

FloatArray = NDArray[np.float64]


def plus_minus(
    *, n_classes: int = 4, n_train: int = 250, n_validation: int = 50, n_test: int = 50, seed: int = 0
) -> Dataset:
    """Signs of 16 × 16 pixels in [0, 1], so many of each of the first 2 to 4 classes; the parts share no picture."""
    required = is_whole_number(n_classes) and 2 <= n_classes <= len(CLASS_NAMES)
    require(required, "n_classes", f"2 to {len(CLASS_NAMES)}", n_classes)
    require(is_whole_number(seed) and seed >= 0, "seed", "a whole number of at least 0", seed)
    sizes: dict[PartName, int] = {
        "train": required_count("n_train", n_train),
        "validation": required_count("n_validation", n_validation),
        "test": required_count("n_test", n_test),
    }
    return drawn_signs({part: (size,) * n_classes for part, size in sizes.items()}, seed=seed)


def drawn_signs(counts: Mapping[PartName, Sequence[int]], *, seed: int) -> Dataset:
    """So many signs of each class for each of the three parts."""
    n_classes = len(counts["train"])
    parts = {part: _part(part, n_each=each, seed=seed) for part, each in counts.items()}
    return Dataset(
        name=f"pm{n_classes}_generated",
        train=parts["train"],
        validation=parts["validation"],
        test=parts["test"],
        labels=tuple(range(n_classes)),
        class_names=CLASS_NAMES[:n_classes],
        feature_names=pixel_names((SIDE, SIDE)),
        image_shape=(SIDE, SIDE),
        origin=f"drawn from seed {seed}, in the manner of PlusMinus",
    )


def _part(part: PartName, *, n_each: Sequence[int], seed: int) -> Part:
    random = stream(seed, "datasets", "plus minus", part)
    y = random.permutation(np.repeat(np.arange(len(n_each)), n_each))
    return Part(signs(y, random=random).reshape(len(y), -1).astype(np.float32), y)


def signs(classes: NDArray[np.int64], *, random: np.random.Generator) -> FloatArray:
    """A picture for each class index: one intensity and stroke width, turned and moved a little, with soft edges."""
    n = len(classes)
    intensity = 1 - (1 - _FAINTEST) * (1 - np.sqrt(random.uniform(size=n)))  # strong ink is more common than faint
    width = random.uniform(*_WIDTH, size=n)
    angle = random.uniform(-_LARGEST_ANGLE, _LARGEST_ANGLE, size=n)
    along, across = _turned(angle, random.uniform(-_LARGEST_SHIFT, _LARGEST_SHIFT, size=(2, n)))
    horizontal = intensity[:, None, None] * _coverage(across, width)
    vertical = intensity[:, None, None] * _coverage(along, width)
    kind = classes[:, None, None]
    # A half bar begins at the middle of the other; the minus has no other.
    horizontal = np.where(((kind == 2) & (along < 0)) | ((kind == 3) & (along > 0)), 0, horizontal)
    vertical = np.where(kind == 0, 0, vertical)
    return np.asarray(1 - (1 - horizontal) * (1 - vertical))  # two strokes of translucent ink


def _turned(angle: FloatArray, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distances of all pixels from the upright and from the level line through the middle of each picture."""
    centred = np.arange(SIDE) - (SIDE - 1) / 2
    x, y = centred[None, None, :] - shift[0, :, None, None], centred[None, :, None] - shift[1, :, None, None]
    cosine, sine = np.cos(angle)[:, None, None], np.sin(angle)[:, None, None]
    return cosine * x + sine * y, cosine * y - sine * x


def _coverage(distance: FloatArray, width: FloatArray) -> FloatArray:
    """1 within the stroke, falling to 0 over its soft edge."""
    reach = (width[:, None, None] + _SOFT_EDGE) / 2
    return np.asarray(np.clip((reach - np.abs(distance)) / _SOFT_EDGE, 0, 1))
