"""Datasets from arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mcquack.datasets.dataset import Dataset, Part, PartName, checked_image_shape, part_masks, pixel_names
from mcquack.datasets.table.column import column_cells, is_text, plain_column
from mcquack.datasets.table.reading import frame_table, is_frame
from mcquack.datasets.table.value import Table
from mcquack.errors import InvalidInputError

# Arrays and DataFrames of any kind as samples and labels, checked once.

# Bytes of pictures take an eighth of the room; whatever else is no float becomes one.
_KEPT_TYPES = (np.uint8, np.float32, np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Finite numbers and one label for each row of them, with the names that a DataFrame brought along."""

    X: NDArray[Any]
    y: NDArray[Any]
    feature_names: tuple[str, ...] | None = None
    image_shape: tuple[int, int] | None = None

    def only(self, mask: NDArray[np.bool_]) -> Self:
        """The samples where ``mask`` is true."""
        return replace(self, X=self.X[mask], y=self.y[mask])


def checked_samples(X: Any, y: Any, *, of: str) -> Samples:
    """Samples from what the user has; pictures (samples, height, width) become rows of pixels."""
    names = None
    if is_frame(X):
        names, numbers = _frame_numbers(frame_table(X))
    else:
        numbers = _numbers(X, of=of)
    rows = numbers.reshape(len(numbers), -1)
    _check_finite(rows, of=of, names=names)
    labels = _labels(y, of=of)
    if len(labels) != len(rows):
        raise InvalidInputError(f"{of}: X has {len(rows)} samples but y has {len(labels)} labels; give one for each.")
    image_shape = (numbers.shape[1], numbers.shape[2]) if numbers.ndim == 3 else None
    return Samples(X=rows, y=labels, feature_names=names, image_shape=image_shape)


def _frame_numbers(table: Table) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    for name in table.names:
        column = plain_column(table, name)
        if is_text(column) or pa.types.is_timestamp(column.type):
            raise InvalidInputError(
                f"{table.source}: column {name!r} holds no numbers but {column.type}; from_frame also takes text and "
                "dates."
            )
    columns = [column_cells(table, name, kind="number").values for name in table.names]
    return table.names, np.column_stack(columns)


def _numbers(X: Any, *, of: str) -> NDArray[Any]:
    array = _array(X, name="X", of=of)
    if array.ndim == 0:
        raise InvalidInputError(
            f"{of}: X is a {type(X).__name__}, no array; convert it (sparse: toarray(), lazy: collect())."
        )
    if array.ndim not in (2, 3):
        raise InvalidInputError(
            f"{of}: X has the shape {array.shape}; expected (samples, features), or pictures as "
            "(samples, height, width)."
        )
    if not array.size:
        raise InvalidInputError(f"{of}: X has the shape {array.shape}, so nothing is in it; give at least one sample.")
    if array.dtype.kind == "O":
        array = _plain(array, name="X", of=of)
    if array.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"{of}: X holds {'text' if array.dtype.kind in 'SUT' else array.dtype.name} where numbers were expected; "
            "convert it, or use from_frame, which also takes text and dates."
        )
    return array if array.dtype in _KEPT_TYPES else array.astype(np.float64)


def _labels(y: Any, *, of: str) -> NDArray[Any]:
    # As it stands, NumPy would make texts of all labels in a list where one is text, the missing ones included.
    array = _array(np.array(y, dtype=object) if isinstance(y, list | tuple) else y, name="y", of=of)
    if array.ndim != 1:
        raise InvalidInputError(f"{of}: y has the shape {array.shape}; expected one label for each sample, in a row.")
    if array.dtype.kind not in "biufU":
        array = _plain(array.astype(object), name="y", of=of)
    if array.dtype.kind == "f":
        _check_present(~np.isnan(array), of=of)
        if not np.array_equal(array, np.trunc(array)) or np.isinf(array).any():
            raise InvalidInputError(
                f"{of}: y holds fractions or infinities, which are no classes; give whole numbers or text."
            )
    if array.dtype.kind not in "biufU":
        raise InvalidInputError(f"{of}: y holds {array.dtype.name} where labels were expected; give numbers or text.")
    return array


def _array(values: Any, *, name: str, of: str) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InvalidInputError(f"{of}: {name} has masked values; fill them or leave those samples out.")
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InvalidInputError(f"{of}: {name} is no array ({error}); give rows of equal length.") from error


def _plain(array: NDArray[Any], *, name: str, of: str) -> NDArray[Any]:
    """Objects as the numbers or texts they are, once it is sure that all are of one kind."""
    try:
        column = pa.array(array.ravel(), from_pandas=True)
    except (pa.ArrowException, OverflowError) as error:
        raise InvalidInputError(f"{of}: {name} mixes kinds of values ({error}); convert all to one.") from error
    if name == "y":
        _check_present(~column.is_null().to_numpy(zero_copy_only=False), of=of)
    plain = column.to_numpy(zero_copy_only=False)
    return np.asarray(plain.astype(np.str_) if is_text(column) else plain).reshape(array.shape)


def _check_present(present: NDArray[np.bool_], *, of: str) -> None:
    if not present.all():
        raise InvalidInputError(
            f"{of}: the label of sample {np.argmin(present)} is missing, one of {np.sum(~present)}; fill them or leave "
            "those samples out."
        )


def _check_finite(X: NDArray[Any], *, of: str, names: tuple[str, ...] | None) -> None:
    finite = np.isfinite(X)
    if not finite.all():
        row, feature = np.argwhere(~finite)[0].tolist()
        named = f" ({names[feature]!r})" if names else ""
        raise InvalidInputError(
            f"{of}: feature {feature}{named} of sample {row} is {X[row, feature]}, one of {np.sum(~finite)} missing or "
            "infinite values; fill them or leave those samples out."
        )


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
