"""``mcquack score``: how often a model is right on rows whose labels are known."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import ArrayLike

from mcquack.cli import console as exit_codes
from mcquack.cli.console import Json, described, show_rows, tell, tell_problems
from mcquack.cli.datasets import DataDir
from mcquack.cli.rows import read_rows
from mcquack.datasets.dataset import PartName
from mcquack.datasets.table.encoder import Unknown
from mcquack.datasets.table.value import listed
from mcquack.errors import InvalidInputError
from mcquack.progress import counted


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Shares of rows that were labelled right: of all, and of each class that the rows have.

    ``unknown`` are classes of the rows that the model was never shown: it cannot be right there.
    """

    n_rows: int
    accuracy: float
    recalls: dict[str, float]
    n_of_class: dict[str, int]
    unknown: tuple[str, ...]

    @classmethod
    def of(cls, labels: ArrayLike, predicted: ArrayLike, *, classes: ArrayLike) -> "Scores":
        # Labels that were numbers when the model was trained may be texts in another table.
        true, said = np.asarray(labels).astype(str), np.asarray(predicted).astype(str)
        known = np.asarray(classes).astype(str).tolist()
        found = set(true.tolist())
        unknown = tuple(sorted(found - set(known)))
        of_class = {name: true == name for name in (*known, *unknown) if name in found}
        return cls(
            n_rows=len(true),
            accuracy=float(np.mean(true == said)),
            recalls={name: float(np.mean(said[rows] == name)) for name, rows in of_class.items()},
            n_of_class={name: int(rows.sum()) for name, rows in of_class.items()},
            unknown=unknown,
        )

    @property
    def balanced_accuracy(self) -> float:
        """The mean of the recalls, in which every class counts the same."""
        return float(np.mean(list(self.recalls.values())))


@described("mcquack")
def score(
    model: Path,
    data: str,
    part: PartName = "test",
    seed: int = 0,
    unknown: Unknown = "report",
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Tell how often a model is right: accuracy, balanced accuracy, and the recall of each class.

    The rows are those of a table with the column of labels that the model was trained on, or a part of a dataset by
    name. Rows that the model cannot label, or without a label, are left out; then the exit code is 3. Elsewhere than
    on a terminal each score is a line of its name, the score and the number of rows, separated by tabs.

    Examples: mcquack score flowers.mcq test.csv, or mcquack score iris.mcq iris3 --json
    """
    from mcquack.models import load  # not above: compilers and solvers would delay every --help

    classifier: Any = load(model)
    rows = read_rows(data, classifier, model=model, data_dir=data_dir, part=part, seed=seed, unknown=unknown)
    if rows.labels is None:
        raise InvalidInputError(
            f"{data} has no labels in a column {rows.target!r}, as the model has it; add them, or label the rows with "
            "mcquack predict."
        )
    if not rows.known.any():
        raise InvalidInputError(f"{data} has no row with a label that the model can take; nothing can be scored.")
    X, labels = rows.encoded.X[rows.known], rows.labels[rows.known]
    scores = Scores.of(labels, classifier.predict(X), classes=classifier.classes_)
    n_left_out = len(rows.encoded.problems) + int((~rows.known).sum())
    if as_json:
        typer.echo(json.dumps(_facts(scores, model=model, data=data, n_left_out=n_left_out), indent=2))
    else:
        _show(scores)
    if scores.unknown:
        tell(f"Note: the model was never shown the classes {listed(scores.unknown)}, which count as wrong.")
    if not rows.known.all():
        tell(f"Left out: {counted(int((~rows.known).sum()), 'row')} without a label.")
    tell_problems(rows.encoded.problems, consequence="could not be labelled")
    if n_left_out:
        raise typer.Exit(exit_codes.SOME_ROWS_LEFT_OUT)


def _facts(scores: Scores, *, model: Path, data: str, n_left_out: int) -> dict[str, Any]:
    classes = [
        {"class": name, "recall": recall, "n_rows": scores.n_of_class[name]} for name, recall in scores.recalls.items()
    ]
    return {
        "model": str(model),
        "data": data,
        "n_rows": scores.n_rows,
        "n_left_out": n_left_out,
        "accuracy": scores.accuracy,
        "balanced_accuracy": scores.balanced_accuracy,
        "classes": classes,
    }


def _show(scores: Scores) -> None:
    lines = [
        ("accuracy", scores.accuracy, scores.n_rows),
        ("balanced accuracy", scores.balanced_accuracy, scores.n_rows),
    ]
    lines += [(f"recall of {name}", recall, scores.n_of_class[name]) for name, recall in scores.recalls.items()]
    texts = [(name, f"{share:.3f}", count) for name, share, count in lines]
    show_rows({"": "left", "score": "right", "rows": "right"}, texts)
