"""Datasets from arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mcquack.datasets.dataset import Dataset, Part, PartName
from mcquack.datasets.held_out import part_masks
from mcquack.datasets.own.samples import Samples, checked_samples
from mcquack.datasets.pixels import checked_image_shape, pixel_names
from mcquack.errors import InvalidInputError

_ORIGIN = "arrays of the user's"


def from_arrays(
    X: Any,
    y: Any,
    *,
    validation: float = 0.0,
    test: float = 0.0,
    seed: int = 0,
    name: str = "arrays",
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    image_shape: tuple[int, int] | None = None,
) -> Dataset:
    """Samples and labels as a dataset; ``validation`` and ``test`` are shares of them, drawn from each class.

    X is an array, a nested list or a DataFrame of numbers with a row for each sample, or pictures as
    (samples, height, width). y holds numbers or text. A part for which there are too few samples is None: every class
    keeps one sample to train on.
    """
    samples = checked_samples(X, y, of=name)
    masks = part_masks(samples.y, validation=validation, test=test, seed=seed)
    parts = {part: samples.only(mask) for part, mask in masks.items() if mask.any()}
    return _dataset(parts, name=name, feature_names=feature_names, class_names=class_names, image_shape=image_shape)


def from_parts(
    train: tuple[Any, Any],
    *,
    validation: tuple[Any, Any] | None = None,
    test: tuple[Any, Any] | None = None,
    name: str = "arrays",
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    image_shape: tuple[int, int] | None = None,
) -> Dataset:
    """Parts that exist already as a dataset; each is a pair of samples and labels, as ``from_arrays`` takes them."""
    given: dict[PartName, tuple[Any, Any] | None] = {"train": train, "validation": validation, "test": test}
    parts = {part: _part(pair, of=f"{name}, {part} part") for part, pair in given.items() if pair is not None}
    for part in parts:
        _check_alike(parts[part], parts["train"], of=f"{name}, {part} part")
    return _dataset(parts, name=name, feature_names=feature_names, class_names=class_names, image_shape=image_shape)


def _part(pair: tuple[Any, Any], *, of: str) -> Samples:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InvalidInputError(f"{of}: expected a pair (X, y), got {type(pair).__name__}.")
    samples = checked_samples(*pair, of=of)
    # What the user does to the arrays later must not reach the dataset.
    return replace(samples, X=samples.X.copy(), y=samples.y.copy())


def _check_alike(part: Samples, train: Samples, *, of: str) -> None:
    if part.X.shape[1] != train.X.shape[1] or part.image_shape != train.image_shape:
        raise InvalidInputError(
            f"{of}: its samples have {part.image_shape or part.X.shape[1]} features where those of the training part "
            f"have {train.image_shape or train.X.shape[1]}; prepare both in the same way."
        )
    if part.feature_names != train.feature_names:
        raise InvalidInputError(
            f"{of}: its columns are not those of the training part, or in another order; give X[train.columns]."
        )
    texts = {samples.y.dtype.kind == "U" for samples in (part, train)}
    unknown = np.setdiff1d(part.y, train.y).tolist()
    if len(texts) > 1 or unknown:
        raise InvalidInputError(
            f"{of}: it has labels that the training part has not, as {(unknown or part.y.tolist())[0]!r}; leave those "
            "samples out, or train on some of them."
        )


def _dataset(
    parts: Mapping[PartName, Samples],
    *,
    name: str,
    feature_names: Sequence[str] | None,
    class_names: Sequence[str] | None,
    image_shape: tuple[int, int] | None,
) -> Dataset:
    train = parts["train"]
    labels = np.unique(train.y).tolist()
    if len(labels) == 1:
        raise InvalidInputError(
            f"{name}: all samples have the label {labels[0]!r}; a classifier needs at least two classes."
        )
    # Pixels that are bytes in one part and floats in another are floats in all.
    dtype = np.result_type(*(samples.X for samples in parts.values()))
    arrays = {part: Part(samples.X.astype(dtype, copy=False), samples.y) for part, samples in parts.items()}
    return Dataset(
        name=name,
        train=arrays["train"],
        validation=arrays.get("validation"),
        test=arrays.get("test"),
        labels=tuple(labels),
        class_names=_names("class_names", class_names, otherwise=[str(label) for label in labels]),
        feature_names=_names("feature_names", feature_names, otherwise=_feature_names(train, image_shape)),
        image_shape=_image_shape(train, image_shape),
        origin=_ORIGIN,
    )


def _names(what: str, given: Sequence[str] | None, *, otherwise: Sequence[str]) -> tuple[str, ...]:
    names = tuple(otherwise if given is None else map(str, given))
    if len(names) != len(otherwise) or len(set(names)) < len(names) or not all(names):
        raise InvalidInputError(
            f"{what} must be {len(otherwise)} different names, got {len(set(names))} of them; leave it out, or give "
            "one for each."
        )
    return names


def _feature_names(samples: Samples, image_shape: tuple[int, int] | None) -> Sequence[str]:
    if samples.feature_names is not None:
        return samples.feature_names
    shape = _image_shape(samples, image_shape)
    return [f"x{index}" for index in range(samples.X.shape[1])] if shape is None else pixel_names(shape)


def _image_shape(samples: Samples, given: tuple[int, int] | None) -> tuple[int, int] | None:
    if given is None:
        return samples.image_shape
    shape = checked_image_shape(given, of="arrays", n_features=samples.X.shape[1])
    if samples.image_shape not in (None, shape):
        raise InvalidInputError(
            f"image_shape is {shape}, but the pictures in X have the shape {samples.image_shape}; leave it out."
        )
    return shape
