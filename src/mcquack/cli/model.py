"""What stands between a model file and a table: the encoder stored with the model, and the reach of its circuit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mcquack.datasets.table import EncodedTable, RowProblem, TableEncoder
from mcquack.errors import ModelFileError


def encoder_of(classifier: Any, *, path: Path) -> TableEncoder:
    """The encoder that ``mcquack fit`` stored beside the classifier."""
    if "table" not in classifier.extra_:
        raise ModelFileError(
            f"{path} knows no table columns, since it was not written by mcquack fit; load it in Python with "
            "mcquack.load and call predict on an array."
        )
    encoder = TableEncoder.from_header(classifier.extra_["table"])
    if len(encoder.columns) != classifier.n_features_in_:
        raise ModelFileError(
            f"{path} is broken: its table has {len(encoder.columns)} columns, its classifier takes "
            f"{classifier.n_features_in_} features; fit and save the model again."
        )
    return encoder


def within_reach(table: EncodedTable, *, classifier: Any, encoder: TableEncoder) -> EncodedTable:
    """The table without rows so far from the training data that the circuit could only guess; they become problems."""
    from mcquack.models.preparation import beyond_reach  # not above: it would delay every --help

    if not hasattr(classifier, "feature_map_"):  # only angles come round again
        return table
    far = beyond_reach(table.X, classifier.scaler_, classifier.dtype)
    kept = ~far.any(axis=1)
    problems = [
        RowProblem(
            int(table.rows[position]),
            f"column {encoder.feature_names[far[position].argmax()]!r}: {table.X[position][far[position].argmax()]:g} "
            "is too far outside the range of the training data",
        )
        for position in np.flatnonzero(~kept)
    ]
    return replace(table, X=table.X[kept], rows=table.rows[kept], problems=tuple(sorted([*table.problems, *problems])))
