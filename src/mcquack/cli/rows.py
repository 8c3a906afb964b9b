"""The rows that a model is applied to, of a table or of a part of a dataset by name, and what is known of them."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from mcquack.cli.datasets import loaded
from mcquack.cli.fit import is_name
from mcquack.datasets import describe
from mcquack.datasets.dataset import PartName
from mcquack.datasets.table import EncodedTable, Table, read_table
from mcquack.datasets.table.encoder import Unknown, target_labels
from mcquack.errors import InvalidInputError, InvalidTableError, UnknownDatasetError
from mcquack.models.tables import encoder_of, numbered, within_reach


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Rows that a model can take, and the labels that are known.

    ``labels`` has one for each row of ``encoded``, and is None where there is no column of them; ``known`` says which
    of them are there. ``target`` is what the labels are called, and ``table`` what was read, None of a dataset by name.
    """

    encoded: EncodedTable
    labels: NDArray[Any] | None
    known: NDArray[np.bool_]
    target: str
    table: Table | None

    def kept(self, names: Sequence[str]) -> dict[str, dict[int, str]]:
        """The cells of these columns as text, by the numbers of their rows."""
        if not names:
            return {}
        if self.table is None:
            raise typer.BadParameter("it is for tables, not for a dataset by name.", param_hint="--keep")
        columns = {name: self.table.column(name).to_pylist() for name in dict.fromkeys(names)}
        rows = self.table.rows.tolist()
        return {
            name: {row: "" if cell is None else str(cell) for row, cell in zip(rows, cells, strict=True)}
            for name, cells in columns.items()
        }


def read_rows(
    data: str,
    classifier: Any,
    *,
    model: Path,
    data_dir: Path | None = None,
    part: PartName = "test",
    seed: int = 0,
    unknown: Unknown = "report",
    n_rows: int | None = None,
) -> Rows:
    """The rows of a table, or of this part of a dataset, that the model can take, or the first so many of them."""
    if is_name(data):
        return _part_rows(data, classifier, model=model, data_dir=data_dir, part=part, seed=seed, n_rows=n_rows)
    if data_dir is not None:
        raise typer.BadParameter("it is for datasets by name, not for a table.", param_hint="--data-dir")
    encoder, read = encoder_of(classifier, path=model), first_rows(read_table(data), n_rows)
    encoded = within_reach(encoder.transform(read, unknown=unknown), classifier=classifier, encoder=encoder)
    try:
        labels, missing = target_labels(read, encoder.target)
    except InvalidTableError:  # there is no such column, or one that is to be filled
        nothing = np.zeros(len(encoded.rows), dtype=bool)
        return Rows(encoded=encoded, labels=None, known=nothing, target=encoder.target, table=read)
    usable = np.isin(read.rows, encoded.rows)
    return Rows(encoded=encoded, labels=labels[usable], known=~missing[usable], target=encoder.target, table=read)


def _part_rows(
    name: str,
    classifier: Any,
    *,
    model: Path,
    data_dir: Path | None,
    part: PartName,
    seed: int,
    n_rows: int | None,
) -> Rows:
    try:
        is_seeded = describe(name).is_seeded
    except UnknownDatasetError as error:
        raise UnknownDatasetError(f"there is no file {name!r}, and {error}") from None
    found = loaded(name, seed=seed if is_seeded else 0, data_dir=data_dir).parts.get(part)
    if found is None:
        raise InvalidInputError(f"the dataset {name} has no {part} part; export a table of it and take that.")
    encoded, labels = numbered(found.X[:n_rows]), found.y[:n_rows]
    expected, n_features = classifier.n_features_in_, encoded.X.shape[1]
    if n_features != expected:
        raise InvalidInputError(f"{model} takes {expected} features, and the samples of {name} have {n_features}.")
    return Rows(encoded=encoded, labels=labels, known=np.ones(len(labels), dtype=bool), target="label", table=None)


def first_rows(table: Table, n_rows: int | None) -> Table:
    """The table with only so many of its rows, of which some may be unusable; all of it if the number is None."""
    if n_rows is None:
        return table
    numbers = np.sort([*table.rows, *(problem.row for problem in table.bad_rows)])[:n_rows]
    bad = tuple(problem for problem in table.bad_rows if problem.row in numbers)
    return replace(table.only(np.isin(table.rows, numbers)), bad_rows=bad)


def with_columns(labelled: str, kept: dict[str, dict[int, str]]) -> str:
    """A CSV as ``labels_csv`` writes it with more columns behind that of the row numbers."""
    if not kept:
        return labelled
    header, *lines = csv.reader(io.StringIO(labelled, newline=""))
    if taken := [name for name in kept if name in header]:
        raise InvalidInputError(
            f"the output has a column {taken[0]!r} of its own; rename that of the table to keep it."
        )
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([header[0], *kept, *header[1:]])
    writer.writerows(
        [number, *(cells.get(int(number), "") for cells in kept.values()), *rest] for number, *rest in lines
    )
    return text.getvalue()
