"""``mcquack predict`` and ``mcquack score``: a model applied to a table, or to a part of a dataset by name."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import ArrayLike, NDArray

from mcquack.cli import console as exit_codes
from mcquack.cli.console import check_can_write, show_content, show_rows, tell, tell_problems, write_whole
from mcquack.cli.datasets import is_name, named
from mcquack.cli.options import (
    DATASET,
    DataDir,
    Force,
    Json,
    ModelFile,
    Part,
    UnknownCategories,
    argument,
    flag,
    option,
    seed_option,
)
from mcquack.datasets.dataset import PartName
from mcquack.datasets.table import EncodedTable, Table, read_table
from mcquack.datasets.table.encoder import Unknown, target_labels
from mcquack.datasets.table.value import listed
from mcquack.errors import InvalidInputError, InvalidTableError
from mcquack.models.tables import encoder_of, labels_csv, numbered, within_reach
from mcquack.progress import counted

_DATA = "A table, CSV (also .gz) with a header or Parquet, or a dataset by name."
_KEEP = "A column of the table to write as well, as an id (may be repeated)."
_SEED = "Which samples, where they are a random draw; as given to mcquack fit."


def predict(
    model: ModelFile,
    data: Annotated[str, argument("DATA", _DATA)],
    out: Annotated[Path | None, option("The CSV to write; without it, stdout.", "FILE")] = None,
    proba: Annotated[bool, flag("--proba", "Also write the probability of each class.")] = False,
    keep: Annotated[list[str] | None, option(_KEEP, "COLUMN")] = None,
    force: Force = False,
    unknown: UnknownCategories = "report",
    part: Part = "test",
    seed: Annotated[int, seed_option(_SEED, DATASET)] = 0,
    data_dir: DataDir = None,
) -> None:
    """Label the rows of a table, or of a part of a dataset by name: one line per row, in the same order.

    Columns are found by name; others are ignored. The column `row` is the number of the row in the table (in a CSV the
    header is row 1). A row that cannot be labelled has an empty prediction and a reason, and the exit code is 3. Where
    the column of labels is there as well, the accuracy is told.

    Examples: mcquack predict flowers.mcq new.csv --out labels.csv --keep id, or mcquack predict iris.mcq iris3
    """
    from mcquack.models import load  # not above: compilers and solvers would delay every --help

    if out is not None:
        is_replaceable = force or (out.exists() and not out.is_file())  # a pipe or a device is written to, not over
        check_can_write(out, overwrite=is_replaceable, inputs=[model, Path(data)])
    classifier: Any = load(model)
    if proba and not hasattr(classifier, "predict_proba"):
        raise InvalidInputError(f"a {type(classifier).__name__} knows no probabilities; leave --proba out.")
    rows = read_rows(data, classifier, model=model, data_dir=data_dir, part=part, seed=seed, unknown=unknown)
    table, kept = rows.encoded, rows.kept(keep or ())
    if unused := [name for name in table.ignored_columns if name not in kept]:
        tell(f"Note: the model does not use the columns {listed(unused)}.")
    labels: Any = np.empty(0)
    shares = None
    if len(table.X):
        labels, shares = classifier.predict(table.X), classifier.predict_proba(table.X) if proba else None
    elif proba:
        shares = np.empty((0, len(classifier.classes_)))
    content = with_columns(labels_csv(table, labels, classes=classifier.classes_, shares=shares), kept).encode()
    if out is None:
        show_content(content)
    else:
        write_whole(out, content)
        tell(f"{len(labels):,} of {len(labels) + len(table.problems):,} rows are labelled in {out}.")
    if rows.labels is not None and rows.known.any():
        right = np.asarray(labels).astype(str)[rows.known] == rows.labels[rows.known].astype(str)
        tell(f"Accuracy on the {len(right):,} rows with a label in {rows.target!r}: {np.mean(right):.3f}.")
    tell_problems(table.problems, consequence="could not be labelled")
    if table.problems:
        raise typer.Exit(exit_codes.SOME_ROWS_LEFT_OUT)


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


def score(
    model: ModelFile,
    data: Annotated[str, argument("DATA", _DATA)],
    as_json: Json = False,
    unknown: UnknownCategories = "report",
    part: Part = "test",
    seed: Annotated[int, seed_option(_SEED, DATASET)] = 0,
    data_dir: DataDir = None,
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
        typer.echo(json.dumps(_score_facts(scores, model=model, data=data, n_left_out=n_left_out), indent=2))
    else:
        _show_scores(scores)
    if scores.unknown:
        tell(f"Note: the model was never shown the classes {listed(scores.unknown)}, which count as wrong.")
    if not rows.known.all():
        tell(f"Left out: {counted(int((~rows.known).sum()), 'row')} without a label.")
    tell_problems(rows.encoded.problems, consequence="could not be labelled")
    if n_left_out:
        raise typer.Exit(exit_codes.SOME_ROWS_LEFT_OUT)


def _score_facts(scores: Scores, *, model: Path, data: str, n_left_out: int) -> dict[str, Any]:
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


def _show_scores(scores: Scores) -> None:
    lines = [
        ("accuracy", scores.accuracy, scores.n_rows),
        ("balanced accuracy", scores.balanced_accuracy, scores.n_rows),
    ]
    lines += [(f"recall of {name}", recall, scores.n_of_class[name]) for name, recall in scores.recalls.items()]
    texts = [(name, f"{share:.3f}", count) for name, share, count in lines]
    show_rows({"": "left", "score": "right", "rows": "right"}, texts)


# The rows that a model is applied to, and what is known of them.


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
    found = named(name, seed=seed, data_dir=data_dir).parts.get(part)
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
