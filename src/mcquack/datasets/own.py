"""Data of your own: arrays, DataFrames and table files become the same ``Dataset`` as what is loaded by name."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mcquack.datasets.dataset import Dataset, Part, PartName, checked_image_shape, part_masks, pixel_names
from mcquack.datasets.table import LabelledTable, Table, TableEncoder, TableReading, frame_table, read_csv
from mcquack.datasets.table.column import Missing, column_cells, is_text, plain_column
from mcquack.datasets.table.encoder import MissingTarget
from mcquack.datasets.table.reading import TableLimits, is_frame, parquet_table
from mcquack.datasets.table.value import Notation
from mcquack.errors import InvalidInputError, InvalidTableError


class ColumnOptions(TypedDict, total=False):
    """What is made of the cells of a table; the default of each option comes first.

    ``missing``: values that are missing or infinite are refused ("error"), filled with what the training part says
    ("mean", "median", "most_frequent"), or their rows are left out ("drop"). ``missing_target``: rows without a label
    are left out ("drop") or refused ("error"). ``numeric``, ``categorical``, ``ignore``: names of columns that are not
    to be taken as their cells suggest. Kinds and categories are learned from all rows that have a label; the numbers of
    the categories, and what fills missing values, depend on the training part alone. ``one_hot``: text becomes one
    feature, the position of its category (False), or a feature of 0 and 1 for each category (True, or names of
    columns). ``decimal``, ``thousands``, ``date_format``: how numbers and dates are written, where they are not as
    1234.5 and 2024-12-31; see ``mcquack.datasets.table.Notation``.
    """

    missing: Missing
    missing_target: MissingTarget
    numeric: Collection[Hashable]
    categorical: Collection[Hashable]
    ignore: Collection[Hashable]
    one_hot: bool | Collection[Hashable]
    decimal: str | None
    thousands: str | None
    date_format: str | None


class TableOptions(ColumnOptions, total=False):
    """What ``load_csv`` takes besides a file and its target."""

    validation: float
    test: float
    seed: int
    name: str | None


def load_csv(
    path: str | Path,
    *,
    target: str,
    most_bytes: int | None = None,
    most_cells: int | None = None,
    **options: Unpack[TableOptions],
) -> Dataset:
    r"""A CSV with a header as a dataset; text becomes categories and dates become days.

    Parameters
    ----------
    path : The file; it is gzipped if its name ends in .gz.
    target : The column with the labels.
    most_bytes, most_cells : How large the table may be, unpacked, and in rows times columns: by default what the
        variables MCQUACK_TABLE_BYTES and MCQUACK_TABLE_CELLS say, or 512 MiB and 50 million. What is larger is refused
        before it fills the memory.
    validation, test : Shares of the rows for these parts, drawn from each class.
    seed : Which rows are drawn.
    name : What the dataset is called, by default as the file.
    missing, missing_target, numeric, categorical, ignore, one_hot, decimal, thousands, date_format : What is made of
        the cells; see ``ColumnOptions``.

    Returns
    -------
    Dataset
        Its ``table`` keeps the encoder, and the rows that could not be used.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mcquack import datasets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pets.csv"
    ...     _ = path.write_text("legs,colour,kind\n4,brown,dog\n2,green,bird\n4,black,dog\n")
    ...     pets = datasets.load_csv(path, target="kind")
    >>> pets.class_names, pets.train.X.tolist()
    (('bird', 'dog'), [[4.0, 1.0], [2.0, 2.0], [4.0, 0.0]])
    """
    limits = TableLimits.of(most_bytes=most_bytes, most_cells=most_cells)
    return table_dataset(read_csv(path, limits=limits), target=target, **options)


def load_parquet(
    path: str | Path,
    *,
    target: str,
    most_bytes: int | None = None,
    most_cells: int | None = None,
    **options: Unpack[TableOptions],
) -> Dataset:
    """A Parquet file as a dataset; parameters and result are those of ``load_csv``.

    >>> import tempfile
    >>> import pyarrow as pa
    >>> import pyarrow.parquet as pq
    >>> from mcquack import datasets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"legs": [4, 2], "kind": ["dog", "bird"]}), f"{folder}/pets.parquet")
    ...     datasets.load_parquet(f"{folder}/pets.parquet", target="kind")
    pets.parquet: 1 features, 2 classes; 2 train
    """
    limits = TableLimits.of(most_bytes=most_bytes, most_cells=most_cells)
    return table_dataset(parquet_table(Path(path), limits=limits), target=target, **options)


def from_frame(frame: object, *, target: Hashable, **options: Unpack[TableOptions]) -> Dataset:
    """A DataFrame of pandas or polars, or an Arrow table, as a dataset.

    The other parameters and the result are those of ``load_csv``. Where a message names a row, it is the position in
    the frame, counted from 0. An index is no feature.

    >>> import pyarrow as pa
    >>> from mcquack import datasets
    >>> frame = pa.table({"legs": [4, 2, 4, 2], "kind": ["dog", "bird", "cat", "bird"]})
    >>> datasets.from_frame(frame, target="kind", name="pets")
    pets: 1 features, 3 classes; 4 train
    """
    return table_dataset(frame_table(frame), target=str(target), **options)


def table_dataset(
    table: Table,
    *,
    target: str,
    validation: float = 0.0,
    test: float = 0.0,
    seed: int = 0,
    name: str | None = None,
    missing_target: MissingTarget = "drop",
    decimal: str | None = None,
    thousands: str | None = None,
    date_format: str | None = None,
    **columns: Any,
) -> Dataset:
    """The usable rows of a table in their parts; what fills missing values is learned from the training part.

    ``columns`` are the other ``ColumnOptions``.
    """
    notation = Notation(decimal=decimal, thousands=thousands, date_format=date_format)
    fitted = partial(TableEncoder.fit, table, target=target, notation=notation, **columns)
    encoder = fitted()
    samples = encoder.labelled(table, missing_target=missing_target)
    _check_instructive(samples, table=table, encoder=encoder)
    masks = part_masks(samples.y, validation=validation, test=test, seed=seed)
    kept_back = ~masks["train"]
    if kept_back.any() and any(column.fill is not None for column in encoder.columns):
        # What stands in for missing values, here or in later tables, must not know the parts that judge.
        encoder = fitted(held_out=samples.rows[kept_back].tolist())
        samples = encoder.labelled(table)
    dropped = set(samples.incomplete_rows) if encoder.missing == "drop" else set()
    left_out = tuple(problem for problem in samples.problems if problem.row not in dropped)
    parts: dict[str, Any] = {name: Part(samples.X[mask], samples.y[mask]) for name, mask in masks.items() if mask.any()}
    labels = np.unique(samples.y).tolist()
    return Dataset(
        name=table.source if name is None else name,
        **parts,
        labels=tuple(labels),
        class_names=tuple(map(str, labels)),
        feature_names=encoder.feature_names,
        origin=f"the table {table.source}",
        table=TableReading(encoder=encoder, left_out=left_out, n_dropped=len(dropped)),
    )


def names_rows(n_values: int, *, n_rows: int) -> bool:
    """Whether so many different values hardly repeat: then they name rows, or measure something."""
    return n_rows > 20 and n_values > 0.5 * n_rows


def _check_instructive(samples: LabelledTable, *, table: Table, encoder: TableEncoder) -> None:
    target, labels = encoder.target, np.unique(samples.y)
    if len(labels) == 1:
        raise InvalidTableError(
            f"{table.source}: all {len(samples.y)} usable rows have the label {labels[0].item()!r} in {target!r}; "
            "a classifier needs at least two classes."
        )
    if names_rows(len(labels), n_rows=len(samples.y)):
        raise InvalidTableError(
            f"{table.source}: the target {target!r} has {len(labels)} different values in {len(samples.y)} rows: it "
            "names or measures rows rather than sorting them into classes; choose another column, or group its values."
        )
    with np.errstate(over="ignore"):
        spans = np.ptp(samples.X, axis=0)
    for name in np.array(encoder.feature_names)[~np.isfinite(spans)].tolist():
        raise InvalidTableError(
            f"{table.source}: the values of column {name!r} lie too far apart to be scaled; correct or ignore it."
        )


# Datasets from arrays.


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
    """Samples and labels as a dataset.

    Parameters
    ----------
    X : array, nested list or DataFrame of numbers. A row for each sample, or pictures as (samples, height, width).
    y : array or list. A label for each sample: whole numbers or text.
    validation, test : Shares of the samples for these parts, drawn from each class. A part for which there are too few
        samples is None: every class keeps one sample to train on.
    seed : Which samples are drawn.
    name : What the dataset is called, "arrays" by default.
    feature_names, class_names : What the columns and, in sorted order, the labels are called.
    image_shape : (height, width), optional. Where each row of X is a picture.

    Returns
    -------
    Dataset
        Bytes and floats stay what they are; other numbers become float64.

    Examples
    --------
    >>> import numpy as np
    >>> from mcquack import datasets
    >>> X, y = np.arange(20.0).reshape(10, 2), ["odd", "even"] * 5
    >>> datasets.from_arrays(X, y, test=0.2, name="numbers")
    numbers: 2 features, 2 classes; 8 train, 2 test
    """
    samples = _checked_samples(X, y, of=name)
    masks = part_masks(samples.y, validation=validation, test=test, seed=seed)
    parts = {part: replace(samples, X=samples.X[mask], y=samples.y[mask]) for part, mask in masks.items() if mask.any()}
    return _dataset(parts, name, feature_names=feature_names, class_names=class_names, image_shape=image_shape)


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
    """Parts that exist already as a dataset.

    Parameters
    ----------
    train, validation, test : (X, y). Pairs of samples and labels, as ``from_arrays`` takes them; their arrays are
        copied.
    name, feature_names, class_names, image_shape : As in ``from_arrays``.

    Examples
    --------
    >>> from mcquack import datasets
    >>> datasets.from_parts(([[0.0], [1.0], [2.0]], [0, 1, 1]), test=([[3.0]], [1]))
    arrays: 1 features, 2 classes; 3 train, 1 test
    """
    given: dict[PartName, tuple[Any, Any] | None] = {"train": train, "validation": validation, "test": test}
    parts: dict[PartName, _Samples] = {}
    for part, pair in given.items():
        if pair is not None:
            of = f"{name}, {part} part"
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise InvalidInputError(f"{of}: expected a pair (X, y), got {type(pair).__name__}.")
            samples = _checked_samples(*pair, of=of)
            # What the user does to the arrays later must not reach the dataset.
            parts[part] = replace(samples, X=samples.X.copy(), y=samples.y.copy())
            _check_alike(parts[part], parts["train"], of=of)
    return _dataset(parts, name, feature_names=feature_names, class_names=class_names, image_shape=image_shape)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Samples:
    """Finite numbers and one label for each row of them, with the names that a DataFrame brought along."""

    X: NDArray[Any]
    y: NDArray[Any]
    feature_names: tuple[str, ...] | None
    image_shape: tuple[int, int] | None


def _checked_samples(X: Any, y: Any, *, of: str) -> _Samples:
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
    return _Samples(X=rows, y=labels, feature_names=names, image_shape=image_shape)


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
    # Bytes of pictures take an eighth of the room; whatever else is no float becomes one.
    return array if array.dtype in (np.uint8, np.float32, np.float64) else array.astype(np.float64)


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


def _check_alike(part: _Samples, train: _Samples, *, of: str) -> None:
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
    parts: Mapping[PartName, _Samples],
    name: str,
    *,
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
    shape, n_features = train.image_shape, train.X.shape[1]
    if image_shape is not None:
        shape = checked_image_shape(image_shape, of="arrays", n_features=n_features)
        if train.image_shape not in (None, shape):
            raise InvalidInputError(
                f"image_shape is {shape}, but the pictures in X have the shape {train.image_shape}; leave it out."
            )
    usual = [f"x{index}" for index in range(n_features)] if shape is None else pixel_names(shape)
    # Pixels that are bytes in one part and floats in another are floats in all.
    dtype = np.result_type(*(samples.X for samples in parts.values()))
    arrays: dict[str, Any] = {part: Part(each.X.astype(dtype, copy=False), each.y) for part, each in parts.items()}
    return Dataset(
        name=name,
        **arrays,
        labels=tuple(labels),
        class_names=_names("class_names", class_names, otherwise=[str(label) for label in labels]),
        feature_names=_names("feature_names", feature_names, otherwise=train.feature_names or usual),
        image_shape=shape,
        origin="arrays of the user's",
    )


def _names(what: str, given: Sequence[str] | None, *, otherwise: Sequence[str]) -> tuple[str, ...]:
    names = tuple(otherwise if given is None else map(str, given))
    if len(names) != len(otherwise) or len(set(names)) < len(names) or not all(names):
        raise InvalidInputError(
            f"{what} must be {len(otherwise)} different names, got {len(set(names))} of them; leave it out, or give "
            "one for each."
        )
    return names
