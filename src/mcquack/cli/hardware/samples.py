"""What a model is to label on a device: the rows of a table, or the test part of a dataset by name."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from mcquack.cli.datasets.loading import loaded
from mcquack.cli.labelling import numbered
from mcquack.cli.model import encoder_of, within_reach
from mcquack.cli.training_data import is_name
from mcquack.datasets.table import EncodedTable, Table, read_table
from mcquack.datasets.table.labels import target_labels
from mcquack.errors import InvalidInputError, InvalidTableError

if TYPE_CHECKING:
    from mcquack.models import McQuackClassifier


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Rows that the model can take, and their true labels where they are known."""

    table: EncodedTable
    truth: NDArray[Any] | None = None

    def accuracy(self, predicted: NDArray[Any]) -> float | None:
        """The share of rows with the true label; None if nobody knows it."""
        return None if self.truth is None else float(np.mean(predicted.astype(str) == self.truth.astype(str)))


def kernel_model(path: Path) -> "McQuackClassifier":
    """The model in the file, refused if it is no kernel between samples and centroids."""
    from mcquack.models import McQuackClassifier, load

    classifier = load(path)
    if not isinstance(classifier, McQuackClassifier):
        raise InvalidInputError(
            f"{path} holds a {type(classifier).__name__}; a device measures the kernels of McQuackClassifier and "
            "QuackClassifier."
        )
    return classifier


def samples(
    data: str,
    classifier: "McQuackClassifier",
    *,
    model: Path,
    data_dir: Path | None = None,
    n_rows: int | None = None,
) -> Samples:
    """The rows of ``data`` as the model takes them, or the first so many."""
    if is_name(data):
        test = loaded(data, data_dir=data_dir).parts.get("test")
        if test is None:
            raise InvalidInputError(f"the dataset {data} has no test part; export a table of it and label that.")
        if test.X.shape[1] != classifier.n_features_in_:
            raise InvalidInputError(
                f"{model} takes {classifier.n_features_in_} features, and the samples of {data} have {test.X.shape[1]}."
            )
        return Samples(table=numbered(test.X[:n_rows]), truth=test.y[:n_rows])
    encoder = encoder_of(classifier, path=model)
    read = _first(read_table(data), n_rows)
    table = within_reach(encoder.transform(read), classifier=classifier, encoder=encoder)
    return Samples(table=table, truth=_truth(read, encoder.target, rows=table.rows))


def _first(table: Table, n_rows: int | None) -> Table:
    """So many rows, readable or not."""
    if n_rows is None:
        return table
    numbers = np.sort([*table.rows, *(problem.row for problem in table.bad_rows)])[:n_rows]
    bad = tuple(problem for problem in table.bad_rows if problem.row in numbers)
    return replace(table.only(np.isin(table.rows, numbers)), bad_rows=bad)


def _truth(table: Table, target: str, *, rows: NDArray[np.int64]) -> NDArray[Any] | None:
    """The labels of these rows, if the table has them all: a column that is to be filled has none."""
    known = np.isin(table.rows, rows)
    if target not in table.names or not known.any():
        return None
    try:
        labels, missing = target_labels(table, target)
    except InvalidTableError:
        return None
    return None if missing[known].any() else cast("NDArray[Any]", labels[known])
