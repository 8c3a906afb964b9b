"""What ``mcquack fit`` trains on."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.cli.notes import tell
from mcquack.datasets.held_out import held_out
from mcquack.datasets.table import LabelledTable, RowProblem, Table, TableEncoder, read_table
from mcquack.datasets.table.encoder import MissingTarget
from mcquack.errors import InvalidTableError

# More different values than this share of the rows do not repeat: they name rows, or measure something.
_MOSTLY_DIFFERENT = 0.5
_FEW_ROWS = 20

Part = tuple[NDArray[np.float64], NDArray[np.generic]]


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingData:
    """The training part, the part kept back, and the encoder that made both.

    ``left_out`` are rows that could not be used, without those that were meant to be dropped.
    """

    X: NDArray[np.float64]
    y: NDArray[np.generic]
    validation: Part | None
    encoder: TableEncoder
    left_out: tuple[RowProblem, ...]
    n_dropped: int

    @property
    def description(self) -> str:
        """How much there is to learn from."""
        kept_back = f", {len(self.validation[1]):,} kept back to validate" if self.validation else ""
        n_rows, n_features = self.X.shape
        return f"Training on {n_rows:,} rows{kept_back}; {n_features} features, {len(np.unique(self.y))} classes."


def training_data(
    path: Path,
    *,
    target: str,
    validation: float,
    seed: int,
    missing_target: MissingTarget,
    encoding: Mapping[str, Any],
) -> TrainingData:
    """The table at ``path`` in two parts; ``encoding`` are the options of ``TableEncoder.fit``."""
    table = read_table(path)
    encoder = TableEncoder.fit(table, target=target, **encoding)
    samples = encoder.labelled(table, missing_target=missing_target)
    _check_classes(samples, table=table, target=target)
    _check_spans(samples, table=table, encoder=encoder)
    _tell_identifiers(encoder, samples)
    kept_back = held_out(samples.y, fraction=validation, seed=seed)
    if samples.n_imputed and kept_back.any():
        # What stands in for missing values must not know the part that judges.
        encoder = TableEncoder.fit(table, target=target, held_out=samples.rows[kept_back].tolist(), **encoding)
        samples = encoder.labelled(table)
    dropped = set(samples.incomplete_rows) if encoder.missing == "drop" else set()
    return TrainingData(
        X=samples.X[~kept_back],
        y=samples.y[~kept_back],
        validation=(samples.X[kept_back], samples.y[kept_back]) if kept_back.any() else None,
        encoder=encoder,
        left_out=tuple(problem for problem in samples.problems if problem.row not in dropped),
        n_dropped=len(dropped),
    )


def _check_classes(samples: LabelledTable, *, table: Table, target: str) -> None:
    labels = np.unique(samples.y)
    if len(labels) == 1:
        raise InvalidTableError(
            f"{table.source}: all {len(samples.y)} usable rows have the label {labels[0].item()!r} in {target!r}; "
            "a classifier needs at least two classes."
        )
    if len(samples.y) > _FEW_ROWS and len(labels) > _MOSTLY_DIFFERENT * len(samples.y):
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


def _tell_identifiers(encoder: TableEncoder, samples: LabelledTable) -> None:
    n_rows = len(samples.y)
    for column in encoder.columns:
        if n_rows > _FEW_ROWS and len(column.categories) > _MOSTLY_DIFFERENT * n_rows:
            tell(
                f"Note: column {column.name!r} has {len(column.categories)} different texts in {n_rows} rows; if it "
                f"names the rows, leave it out with --ignore {column.name!r}."
            )
