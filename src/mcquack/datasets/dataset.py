"""A dataset as a plain value, and how samples are divided into what to train on, to choose by and to be judged on."""

import hashlib
import math
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from mcquack.checks import is_number, is_whole_number, require
from mcquack.datasets.table import TableReading
from mcquack.errors import InvalidInputError
from mcquack.randomness import held_out

PartName = Literal["train", "validation", "test"]
PART_NAMES: tuple[PartName, ...] = ("train", "validation", "test")
Scaling = Literal["min-max", "standard"]

one_at_a_time = threading.RLock()
"""Held around every late import of scikit-learn, whose modules import each other in circles.

Two threads that enter such a circle at different places would find half a module.
"""


class Part(NamedTuple):
    """Samples and their labels, so that ``model.fit(*dataset.train)`` reads as it should.

    Parameters
    ----------
    X : array of shape (samples, features). One row of numbers for each sample.
    y : array of shape (samples,). The label of each sample.

    Examples
    --------
    >>> from mcquack import datasets
    >>> X, y = datasets.load("linearly_separable_2").train
    >>> X.shape, y.shape
    ((240, 2), (240,))
    """

    X: NDArray[Any]
    y: NDArray[Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """Up to three parts of one dataset, with the names of what they hold.

    Parameters
    ----------
    name : What it is called.
    train, validation, test : The samples to train on, to choose settings by and to be judged on; the latter two may be
        None.
    labels : The values of y in sorted order.
    class_names, feature_names : What each label and each column of X means.
    image_shape : (height, width), optional. Where the samples are pictures, row by row.
    origin : Where the numbers came from, for result rows and doubts.
    described_as : The registered dataset whose licence and notes hold for the samples, where that is not the one that
        was loaded.
    table : The encoder and the rows left out, for datasets that were read from a table of yours.

    Examples
    --------
    >>> from mcquack import datasets
    >>> flowers = datasets.load("iris3")
    >>> flowers
    iris3: 4 features, 3 classes; 105 train, 45 validation, 45 test
    >>> flowers.class_names, flowers.class_counts("test")
    (('setosa', 'versicolor', 'virginica'), (19, 13, 13))
    >>> float(flowers.scaled().train.X.max())
    1.0
    """

    name: str
    train: Part
    validation: Part | None = None
    test: Part | None = None
    labels: tuple[Any, ...]
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    image_shape: tuple[int, int] | None = None
    origin: str
    described_as: str = ""
    table: TableReading | None = None

    def __post_init__(self) -> None:
        for name, (X, y) in self.parts.items():
            of, n_features = f"the {name} part of {self.name!r}", self.n_features
            is_matrix = X.ndim == 2 and X.shape[1] == n_features
            _check(is_matrix, f"{of} has the shape {X.shape}; expected (samples, {n_features})")
            _check(y.shape == (len(X),), f"{of} has {len(X)} samples but labels of the shape {y.shape}")
            _check(len(X) > 0, f"{of} is empty; leave it out instead")
            unlisted = set(np.unique(y).tolist()) - set(self.labels)
            _check(not unlisted, f"{of} has labels that are not listed, as {unlisted}")
        _check(len(self.class_names) == len(self.labels), f"{self.name!r} has labels without a name, or names too many")
        if self.image_shape is not None:
            shape = checked_image_shape(self.image_shape, of=self.name, n_features=self.n_features)
            object.__setattr__(self, "image_shape", shape)

    @property
    def parts(self) -> Mapping[PartName, Part]:
        """The parts that exist, in the order of their use."""
        found = {"train": self.train, "validation": self.validation, "test": self.test}
        return MappingProxyType({name: part for name in PART_NAMES if (part := found[name]) is not None})

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    @property
    def validation_is_test(self) -> bool:
        """Whether both are the same samples, as in a few datasets of the paper: then choose by cross-validation."""
        if self.validation is None or self.test is None:
            return False
        same = (np.array_equal(mine, other) for mine, other in zip(self.validation, self.test, strict=True))
        return self.validation is self.test or all(same)

    def class_counts(self, part: PartName) -> tuple[int, ...]:
        """The samples of each class in a part, in the order of ``labels``."""
        if part not in self.parts:
            raise InvalidInputError(f"{self.name} has no {part} part; it has {', '.join(self.parts)}.")
        return tuple(int(np.sum(self.parts[part].y == label)) for label in self.labels)

    @property
    def fingerprint(self) -> str:
        """Short digest of all samples and labels: results with equal fingerprints were measured on the same numbers."""
        digest = hashlib.sha256()
        for name, part in self.parts.items():
            for array in part:
                digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def scaled(self, method: Scaling = "min-max", *, to: tuple[float, float] = (0.0, 1.0), clip: bool = False) -> Self:
        """Gives all parts as floats on the scale of the training part: no other part is looked at.

        Bytes become float32, float32 stays what it is, and all else becomes float64.

        Parameters
        ----------
        method : "min-max" or "standard". Maps each feature onto the range ``to``, or gives it the mean 0 and the
            variance 1.
        to : (float, float). The range for "min-max".
        clip : Whether values of other parts that lie beyond the range are moved to its ends.
        """
        with one_at_a_time:
            from sklearn.preprocessing import MinMaxScaler, StandardScaler

        if method not in ("min-max", "standard"):
            raise InvalidInputError(f"method must be 'min-max' or 'standard', got {method!r}.")
        if not to[0] < to[1]:
            raise InvalidInputError(f"to must be a range (least, most), got {to}.")
        scaler = MinMaxScaler(to, clip=clip) if method == "min-max" else StandardScaler()
        scaler.fit(_floats(self.train.X))
        scaled = {name: Part(scaler.transform(_floats(part.X)), part.y) for name, part in self.parts.items()}
        return replace(self, train=scaled["train"], validation=scaled.get("validation"), test=scaled.get("test"))

    def __str__(self) -> str:
        sizes = ", ".join(f"{len(part.y):,} {name}" for name, part in self.parts.items())
        return f"{self.name}: {self.n_features} features, {self.n_classes} classes; {sizes}"

    __repr__ = __str__


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise InvalidInputError(f"{otherwise}.")


def _floats(X: NDArray[Any]) -> NDArray[Any]:
    return X.astype(np.float32 if X.dtype in (np.uint8, np.float32) else np.float64, copy=False)


def pixel_names(image_shape: tuple[int, int]) -> tuple[str, ...]:
    """A name for every pixel of a picture, row by row."""
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


def part_masks(
    y: NDArray[np.generic], *, validation: float, test: float, seed: int
) -> Mapping[PartName, NDArray[np.bool_]]:
    """Which samples belong to each part, the test part being drawn first; both shares are of all samples."""
    for name, share in (("validation", validation), ("test", test)):
        require(is_number(share) and 0 <= share < 1, name, "a share of at least 0 and below 1", share)
    require(validation + test < 1, "validation + test", "below 1, to leave something to train on", validation + test)
    require(is_whole_number(seed) and seed >= 0, "seed", "a whole number of at least 0", seed)
    tested = held_out(y, "test", fraction=test, seed=seed)
    validated = np.zeros_like(tested)
    validated[~tested] = held_out(y[~tested], fraction=validation / (1 - test), seed=seed)
    return {"train": ~(tested | validated), "validation": validated, "test": tested}


def with_drawn_validation(dataset: Dataset, *, fraction: float, seed: int) -> Dataset:
    """The dataset with a share of its training part to validate on, in place of any validation part it had."""
    X, y = dataset.train
    mask = held_out(y, fraction=fraction, seed=seed)
    validation = Part(X[mask], y[mask]) if mask.any() else None
    return replace(dataset, train=Part(X[~mask], y[~mask]), validation=validation)


K = TypeVar("K")
V = TypeVar("V")


class FrozenMapping(Mapping[K, V]):
    """A mapping that is a value: it can be compared, hashed, copied and pickled, but not changed."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[K, V]) -> None:
        self._entries = dict(entries)

    def __getitem__(self, key: K) -> V:
        return self._entries[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __repr__(self) -> str:
        return repr(self._entries)
