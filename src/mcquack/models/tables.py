"""Models that read tables: the encoder that travels with a model, the rows that it can label, and their labels.

With these functions a notebook can do what ``mcquack fit`` and ``mcquack predict`` do: save a model with how the
columns of a table become features, and label the rows of any table, where rows that cannot be labelled cost no others.
"""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcquack.arrays import FloatArray
from mcquack.datasets import Dataset
from mcquack.datasets.own import names_rows
from mcquack.datasets.table import EncodedTable, RowProblem, Table, TableEncoder, TableReading, frame_table, read_table
from mcquack.datasets.table.encoder import Unknown
from mcquack.errors import ModelFileError

_EXPORTED_TARGET = "label"  # what mcquack datasets export calls the column of labels


def table_reading(dataset: Dataset) -> TableReading:
    """How a table becomes samples of the dataset: as the one it was read from, or one that was exported from it."""
    if dataset.table is not None:
        return dataset.table
    return TableReading(encoder=TableEncoder.of_numbers(dataset.feature_names, target=_EXPORTED_TARGET))


def table_extra(dataset: Dataset) -> dict[str, Any]:
    """The argument ``extra`` of a model's ``save``, by which it can read tables like the one its dataset came from.

    >>> import mcquack
    >>> table_extra(mcquack.datasets.load("iris3"))["table"]["target"]
    'label'
    """
    return {"table": table_reading(dataset).encoder.to_header()}


def identifying_columns(dataset: Dataset) -> dict[str, str]:
    """The columns of text that hardly repeat, so that they name rows and teach nothing, each with how it looks."""
    n_rows = sum(len(part.y) for part in dataset.parts.values())
    sizes = {column.name: len(column.categories) for column in table_reading(dataset).encoder.columns}
    return {
        name: f"{n_texts} different texts in {n_rows} rows"
        for name, n_texts in sizes.items()
        if names_rows(n_texts, n_rows=n_rows)
    }


def encoder_of(classifier: Any, *, path: object = "the model") -> TableEncoder:
    """The encoder that was saved with a model; ModelFileError, which names the ``path``, if it is missing or broken."""
    extra = getattr(classifier, "extra_", {})
    if "table" not in extra:
        raise ModelFileError(
            f"{path} knows no table columns, since it was not written by mcquack fit; load it in Python with "
            "mcquack.load and call predict on an array."
        )
    encoder = TableEncoder.from_header(extra["table"])
    if len(encoder.feature_names) != classifier.n_features_in_:
        raise ModelFileError(
            f"{path} is broken: its table has {len(encoder.feature_names)} features, its classifier takes "
            f"{classifier.n_features_in_} features; fit and save the model again."
        )
    return encoder


def usable_rows(
    classifier: Any, data: object, *, unknown: Unknown = "report", path: object = "the model"
) -> EncodedTable:
    """The rows of a table that a model can label, as features, and for each other row the reason.

    The table is the path of a CSV or Parquet file, a ``Table``, or a DataFrame; columns are found by name. ``unknown``
    says what becomes of categories that were not seen in training, and ``path`` what messages call the model.

    >>> import mcquack, pyarrow
    >>> frame = pyarrow.table({"x": [0, 1, 8, 9], "colour": ["red", "red", "blue", "blue"], "label": [*"aabb"]})
    >>> dataset = mcquack.datasets.from_frame(frame, target="label")
    >>> model = mcquack.McQuackClassifier(n_qubits=2, epochs=3, random_state=0).fit(*dataset.train)
    >>> model.extra_ = table_extra(dataset)  # as it comes from a file
    >>> table = usable_rows(model, pyarrow.table({"x": [0, 9, 5], "colour": ["red", "blue", "green"]}))
    >>> print(labels_csv(table, model.predict(table.X)), end="")
    row,prediction,reason
    0,a,
    1,b,
    2,,column 'colour': 'green' is none of the 2 categories seen in training
    """
    encoder = encoder_of(classifier, path=path)
    if not isinstance(data, Table):
        data = read_table(data) if isinstance(data, str | Path) else frame_table(data)
    return within_reach(encoder.transform(data, unknown=unknown), classifier=classifier, encoder=encoder)


def within_reach(table: EncodedTable, *, classifier: Any, encoder: TableEncoder) -> EncodedTable:
    """The table without rows so far from the training data that the circuit could only guess; they become problems."""
    from mcquack.models.preparation import beyond_reach  # not above: scikit-learn would delay every --help

    if not hasattr(classifier, "feature_map_"):  # only angles come round again
        return table
    as_given = classifier.features_ is None
    rows = table.X if as_given else classifier.features_(table.X)
    far = beyond_reach(rows, classifier.scaler_, classifier.weights_.dtype, classifier.feature_map_)
    kept = ~far.any(axis=1)
    problems = list(table.problems)
    reason = "too far outside the range of the training data"
    for position in np.flatnonzero(~kept):
        column = far[position].argmax()
        where = f"column {encoder.feature_names[column]!r}: {table.X[position, column]:g} is" if as_given else "it lies"
        problems.append(RowProblem(int(table.rows[position]), f"{where} {reason}"))
    return replace(table, X=table.X[kept], rows=table.rows[kept], problems=tuple(sorted(problems)))


def numbered(X: ArrayLike) -> EncodedTable:
    """Samples that come from no table as if they did: all can be used, and their rows are counted from 1."""
    samples = np.asarray(X, dtype=np.float64)
    rows = np.arange(1, len(samples) + 1)
    return EncodedTable(X=samples, rows=rows, problems=(), incomplete_rows=(), ignored_columns=(), n_imputed=0)


def labels_csv(
    table: EncodedTable, labels: ArrayLike, *, classes: ArrayLike = (), shares: FloatArray | None = None
) -> str:
    """A line of CSV for each row in the order of the table: its label, or why it has none.

    ``labels`` are those of the rows that can be used; with ``shares`` (N, M) the probability of each class is told too.
    """
    names = [] if shares is None else [f"probability_{label}" for label in np.asarray(classes)]
    lines = {problem.row: ["", *("" for _ in names), problem.reason] for problem in table.problems}
    numbers = np.empty((len(table.rows), 0)) if shares is None else shares
    for row, label, of_row in zip(table.rows.tolist(), np.asarray(labels), numbers.tolist(), strict=True):
        lines[row] = [str(label), *(f"{share:.6g}" for share in of_row), ""]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "prediction", *names, "reason"])
    writer.writerows([row, *lines[row]] for row in sorted(lines))
    return text.getvalue()
