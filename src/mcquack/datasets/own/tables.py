"""Datasets from tables: a CSV, a Parquet file or a DataFrame with a column of labels."""

from collections.abc import Collection, Hashable
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np

from mcquack.datasets.dataset import Dataset, Part, part_masks
from mcquack.datasets.table import LabelledTable, Table, TableEncoder, TableReading, frame_table, read_csv
from mcquack.datasets.table.column import Missing
from mcquack.datasets.table.encoder import MissingTarget
from mcquack.datasets.table.reading import parquet_table
from mcquack.errors import InvalidTableError

_FEW_ROWS = 20
_MOSTLY_DIFFERENT = 0.5


class ColumnOptions(TypedDict, total=False):
    """What is made of the cells; the default of each option comes first.

    ``missing``: values that are missing or infinite are refused ("error"), filled with what the training part says
    ("mean", "median", "most_frequent"), or their rows are left out ("drop"). ``missing_target``: rows without a label
    are left out ("drop") or refused ("error"). ``numeric``, ``categorical``, ``ignore``: names of columns that are not
    to be taken as their cells suggest. Kinds and categories are learned from all rows that have a label; the numbers of
    the categories, and what fills missing values, depend on the training part alone.
    """

    missing: Missing
    missing_target: MissingTarget
    numeric: Collection[Hashable]
    categorical: Collection[Hashable]
    ignore: Collection[Hashable]


def load_csv(
    path: str | Path,
    *,
    target: str,
    validation: float = 0.0,
    test: float = 0.0,
    seed: int = 0,
    name: str | None = None,
    **columns: Unpack[ColumnOptions],
) -> Dataset:
    """A CSV with a header as a dataset; ``target`` is the column with the labels. The name may end in .gz.

    ``validation`` and ``test`` are shares of the rows, drawn from each class. Text becomes categories and dates become
    days; ``missing``, ``missing_target``, ``numeric``, ``categorical`` and ``ignore`` are as in ``ColumnOptions``.
    """
    return table_dataset(
        read_csv(path), target=target, validation=validation, test=test, seed=seed, name=name, **columns
    )


def load_parquet(
    path: str | Path,
    *,
    target: str,
    validation: float = 0.0,
    test: float = 0.0,
    seed: int = 0,
    name: str | None = None,
    **columns: Unpack[ColumnOptions],
) -> Dataset:
    """A Parquet file as a dataset; the options are those of ``load_csv``."""
    return table_dataset(
        parquet_table(Path(path)), target=target, validation=validation, test=test, seed=seed, name=name, **columns
    )


def from_frame(
    frame: object,
    *,
    target: Hashable,
    validation: float = 0.0,
    test: float = 0.0,
    seed: int = 0,
    name: str | None = None,
    **columns: Unpack[ColumnOptions],
) -> Dataset:
    """A DataFrame of pandas or polars, or an Arrow table, as a dataset; the options are those of ``load_csv``.

    Where a message names a row, it is the position in the frame, counted from 0. An index is no feature.
    """
    return table_dataset(
        frame_table(frame), target=str(target), validation=validation, test=test, seed=seed, name=name, **columns
    )


def table_dataset(
    table: Table,
    *,
    target: str,
    validation: float = 0.0,
    test: float = 0.0,
    seed: int = 0,
    name: str | None = None,
    missing: Missing = "error",
    missing_target: MissingTarget = "drop",
    numeric: Collection[Hashable] = (),
    categorical: Collection[Hashable] = (),
    ignore: Collection[Hashable] = (),
) -> Dataset:
    """The usable rows of a table in their parts; what fills missing values is learned from the training part."""
    # A DataFrame may call its columns by numbers, which are texts in the table that is made of it.
    chosen = {
        option: tuple(map(str, columns))
        for option, columns in (("numeric", numeric), ("categorical", categorical), ("ignore", ignore))
    }

    def fitted(held_out: Collection[int] = ()) -> TableEncoder:
        return TableEncoder.fit(table, target=target, missing=missing, held_out=held_out, **chosen)

    encoder = fitted()
    samples = encoder.labelled(table, missing_target=missing_target)
    _check_classes(samples, table=table, target=target)
    _check_spans(samples, table=table, encoder=encoder)
    masks = part_masks(samples.y, validation=validation, test=test, seed=seed)
    kept_back = ~masks["train"]
    if kept_back.any() and any(column.fill is not None for column in encoder.columns):
        # What stands in for missing values, here or in later tables, must not know the parts that judge.
        encoder = fitted(held_out=samples.rows[kept_back].tolist())
        samples = encoder.labelled(table)
    parts = {part: Part(samples.X[mask], samples.y[mask]) for part, mask in masks.items() if mask.any()}
    labels = np.unique(samples.y).tolist()
    return Dataset(
        name=table.source if name is None else name,
        train=parts["train"],
        validation=parts.get("validation"),
        test=parts.get("test"),
        labels=tuple(labels),
        class_names=tuple(map(str, labels)),
        feature_names=encoder.feature_names,
        origin=f"the table {table.source}",
        table=_reading(encoder, samples),
    )


def names_rows(n_values: int, *, n_rows: int) -> bool:
    """Whether so many different values hardly repeat: then they name rows, or measure something."""
    return n_rows > _FEW_ROWS and n_values > _MOSTLY_DIFFERENT * n_rows


def _reading(encoder: TableEncoder, samples: LabelledTable) -> TableReading:
    dropped = set(samples.incomplete_rows) if encoder.missing == "drop" else set()
    left_out = tuple(problem for problem in samples.problems if problem.row not in dropped)
    return TableReading(encoder=encoder, left_out=left_out, n_dropped=len(dropped))


def _check_classes(samples: LabelledTable, *, table: Table, target: str) -> None:
    labels = np.unique(samples.y)
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


def _check_spans(samples: LabelledTable, *, table: Table, encoder: TableEncoder) -> None:
    with np.errstate(over="ignore"):
        spans = np.ptp(samples.X, axis=0)
    for name in np.array(encoder.feature_names)[~np.isfinite(spans)].tolist():
        raise InvalidTableError(
            f"{table.source}: the values of column {name!r} lie too far apart to be scaled; correct or ignore it."
        )
