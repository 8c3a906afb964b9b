"""Small pictures of one fit, as plain JSON values: its training and its kernel."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.checks import is_number, is_whole_number

_MOST_EPOCHS = 200
_MOST_ROWS = 60
_DIGITS = 5
_NOT_OF_THE_TASK = ("seconds",)  # they differ from run to run, and the outcome of a task does not


def history_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[float | None]]:
    """The numbers of each epoch by name; of a long training some epochs, the first and the last among them."""
    if not rows:
        return {}
    kept = [rows[index] for index in _spread(len(rows), _MOST_EPOCHS)]
    names = [name for name, value in rows[-1].items() if is_number(value) and name not in _NOT_OF_THE_TASK]
    return {name: [_rounded(row.get(name)) for row in kept] for name in names}


def kernel_sample(model: Any, X: NDArray[Any], truth: NDArray[np.intp]) -> dict[str, Any]:
    """Some rows of the kernel between samples and centroids, sorted by class; empty for a model without centroids."""
    if not (hasattr(model, "transform") and hasattr(model, "centroids_")):
        return {}
    order = np.argsort(truth, kind="stable")
    rows = order[_spread(len(order), _MOST_ROWS)]
    values = np.asarray(model.transform(X[rows]), dtype=np.float64)
    return {"classes": truth[rows].tolist(), "values": [[_rounded(value) for value in row] for row in values]}


def _spread(length: int, most: int) -> NDArray[np.intp]:
    """At most so many positions, evenly from the first to the last."""
    return np.unique(np.linspace(0, length - 1, min(length, most)).round().astype(np.intp))


def _rounded(value: Any) -> float | None:
    """To the digits that a picture shows; None for what is no finite number."""
    if is_whole_number(value):
        return int(value)
    return float(f"{value:.{_DIGITS}g}") if is_number(value) and np.isfinite(value) else None
