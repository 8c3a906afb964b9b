"""The real-world pictures: MNIST, FMNIST and EMNIST of 28 × 28 pixels as pools, and PM2 and PM4 of 16 × 16."""

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.datasets.dataset import Dataset, Part, pixel_names
from mcquack.datasets.files import HDF5
from mcquack.datasets.formats import idx_array, idx_content, npz_arrays, unzipped
from mcquack.datasets.real_world.drawing import Pool, wanted_counts
from mcquack.datasets.registry import Request
from mcquack.datasets.synthetic import SIGN_NAMES, SIGN_SIDE, drawn_signs, plus_minus, sign_dataset
from mcquack.errors import DataFileError, MissingDataError, SubstitutedDataWarning

_MOST_PIXELS = 1 << 24  # of plus and minus signs: a hundred times as many as were published


def stored_pictures(path: Path) -> Pool:
    """The sample in an npz file."""
    return _picture_pool(*npz_arrays(path, "X", "y"))


def idx_pictures(*paths: Path) -> Pool:
    """All pictures of four idx files, those to train on before those to test on."""
    train_images, train_labels, test_images, test_labels = map(idx_array, paths)
    return _picture_pool(np.concatenate([train_images, test_images]), np.concatenate([train_labels, test_labels]))


def openml_pictures(path: Path) -> Pool:
    """What a download from OpenML leaves."""
    data, target = npz_arrays(path, "data", "target")
    try:
        labels = target.astype(np.uint8)
    except (ValueError, TypeError) as error:
        raise DataFileError(f"{path} is not what openml.org has under this number ({error}); remove it.") from error
    return _picture_pool(data, labels)


def stored_letters(path: Path, *, from_letters: bool) -> Pool:
    """Of the sample either the rows of the letters split, which stop at M, or those of the balanced split."""
    X, y, source = npz_arrays(path, "X", "y", "source")
    chosen = (source == 0) == from_letters
    return _picture_pool(X[chosen], y[chosen])


def published_letters(path: Path) -> Pool:
    """The letters split, training and test files together; its pictures lie on their side."""

    def both_parts(kind: str) -> NDArray[np.uint8]:
        names = [f"emnist-letters-{part}-{kind}-ubyte.gz" for part in ("train", "test")]
        return np.concatenate([idx_content(unzipped(path, member=name), source=name) for name in names])

    return _picture_pool(both_parts("images-idx3").transpose(0, 2, 1), both_parts("labels-idx1"))


def _picture_pool(images: NDArray[Any], labels: NDArray[Any]) -> Pool:
    """Pictures stay bytes until somebody scales them, and only those that are drawn are ever copied."""
    if images.dtype != np.uint8:
        raise DataFileError(f"the pictures hold {images.dtype} where bytes were expected; use the original files.")
    return Pool(X=images, y=labels, feature_names=pixel_names((28, 28)))


# PM2 and PM4: plus and minus signs.


def original_signs(request: Request) -> Dataset:
    """The published pictures or, with a warning, ones of the same kind where those are out of reach."""
    name, n_classes = request.description.name, request.description.n_classes
    try:
        found, parts = request.places.read(request.description.sources, wanted_for=name)
    except MissingDataError as error:
        warnings.warn(
            f"{name} is drawn here in the manner of the original pictures, which are not at hand ({error.reason}); "
            f"mcquack datasets show {name} tells how to get them.",
            SubstitutedDataWarning,
            stacklevel=3,  # whoever called load
        )
        return replace(plus_minus(n_classes=n_classes), described_as=f"{name}_generated")
    train, test = (Part(part.X[part.y < n_classes], part.y[part.y < n_classes]) for part in parts)
    # The paper's pictures to validate on are not public.
    return sign_dataset({"train": train, "validation": test, "test": test}, n_classes, origin=found.source.title)


def generated_signs(request: Request) -> Dataset:
    """Signs drawn here, from any seed and in any number."""
    return drawn_signs(wanted_counts(request), seed=request.seed)


def stored_signs(path: Path) -> tuple[Part, Part]:
    """The original pictures to train and to test on, in an npz file."""
    X, y, split = npz_arrays(path, "X", "y", "split")
    train, test = (Part(X[split == part], y[split == part].astype(np.int64)) for part in (0, 1))
    return train, test


def published_signs(path: Path) -> tuple[Part, Part]:
    """The same in the HDF5 file of PennyLane, which has no checksum: its server may write other metadata."""
    try:
        import h5py
    except ImportError as error:
        raise HDF5.missing(to_read=path) from error
    try:
        with h5py.File(path, "r") as file:
            train, test = (
                _signs(_hdf5_numbers(file, f"img_{part}"), _hdf5_numbers(file, f"labels_{part}"))
                for part in ("train", "test")
            )
    except Exception as error:  # its C library has no errors of its own, and h5py calls them what it likes
        raise DataFileError(f"{path} is not the PlusMinus file ({error}); remove it.") from error
    return train, test


def _hdf5_numbers(file: Any, name: str) -> NDArray[Any]:
    """The array of that name, if the file itself holds it and it is no larger than such pictures are."""
    if file.get(name, getlink=True).__class__.__name__ != "HardLink":
        raise ValueError(f"{name} is a link to somewhere else")
    array = file[name]
    numbers = hasattr(array, "shape") and array.shape is not None and array.dtype.kind in "iuf"
    if not numbers or array.dtype.hasobject or array.ndim > 4:
        raise ValueError(f"{name} is no array of numbers")
    # What is elsewhere, or counted before it is there, would be read or made room for on the word of a stranger.
    if array.external or array.is_virtual:
        raise ValueError(f"{name} is kept in another file")
    if math.prod(array.shape) > _MOST_PIXELS:
        raise ValueError(f"{name} claims {math.prod(array.shape):,} numbers")
    found: NDArray[Any] = array[()]
    return found


def _signs(images: NDArray[Any], labels: NDArray[Any]) -> Part:
    with np.errstate(over="ignore", invalid="ignore"):  # what does not fit is refused below
        X, y = np.asarray(images, np.float32), np.asarray(labels, np.int64).ravel()
    if len(X) != len(y) or X.size != len(y) * SIGN_SIDE**2 or not np.isfinite(X).all():
        raise ValueError(f"it has the shape {X.shape} for {len(y)} pictures, or values that are not finite")
    if not np.isin(y, range(len(SIGN_NAMES))).all():
        raise ValueError(f"it has the labels {np.unique(y).tolist()}")
    return Part(X.reshape(len(y), -1), y)
