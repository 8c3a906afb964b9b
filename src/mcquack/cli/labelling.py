"""From a model and rows to a CSV of labels."""

import csv
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.datasets.table import EncodedTable


def labels_csv(classifier: Any, table: EncodedTable, *, proba: bool) -> str:
    """One line per row, in the same order; a row that cannot be labelled has its reason."""
    names = [f"probability_{label}" for label in classifier.classes_] if proba else []
    lines: dict[int, list[str]] = {
        problem.row: ["", *("" for _ in names), problem.reason] for problem in table.problems
    }
    for row, cells in zip(table.rows.tolist(), _predictions(classifier, table.X, proba=proba), strict=True):
        lines[row] = [*cells, ""]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "prediction", *names, "reason"])
    writer.writerows([row, *lines[row]] for row in sorted(lines))
    return text.getvalue()


def numbered(X: NDArray[np.floating]) -> EncodedTable:
    """Samples that come from no table, counted from 1."""
    return EncodedTable(
        X=np.asarray(X, dtype=np.float64),
        rows=np.arange(1, len(X) + 1),
        problems=(),
        incomplete_rows=(),
        ignored_columns=(),
        n_imputed=0,
    )


def _predictions(classifier: Any, X: NDArray[Any], *, proba: bool) -> list[list[str]]:
    if not len(X):
        return []
    labels = [str(label) for label in classifier.predict(X)]
    if not proba:
        return [[label] for label in labels]
    shares = classifier.predict_proba(X).tolist()
    return [[label, *(f"{share:.6g}" for share in row)] for label, row in zip(labels, shares, strict=True)]
