"""``mcquack predict``: from a model file and a table to labels."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer
from numpy.typing import NDArray

from mcquack.cli import console as exit_codes
from mcquack.cli.console import Json, check_can_write, epoch_text, tell, tell_problems, write_whole
from mcquack.datasets.table import EncodedTable, RowProblem, TableEncoder, read_table
from mcquack.datasets.table.column import IMPUTING
from mcquack.datasets.table.value import listed
from mcquack.errors import InvalidInputError, ModelFileError

# From a model and rows to a CSV of labels.


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


# What stands between a model file and a table: the encoder stored with the model, and the reach of its circuit.


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


def predict(
    model: Annotated[Path, typer.Argument(help="A model file written by mcquack fit.")],
    data: Annotated[Path, typer.Argument(help="The table to label: CSV (also .gz) with a header, or Parquet.")],
    out: Annotated[Path | None, typer.Option(help="The CSV to write.", show_default="stdout")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also write the probability of each class.")] = False,
    unknown: Annotated[
        Literal["report", "most_frequent", "error"],
        typer.Option(help="Categories not seen in training: report their rows, take the most frequent, or refuse."),
    ] = "report",
) -> None:
    """Label the rows of a table: one line per row, in the same order.

    Columns are found by name; others are ignored. The column `row` is the number of the row in the table (in a CSV the
    header is row 1). A row that cannot be labelled has an empty prediction and a reason, and the exit code is 3.

    Example: mcquack predict flowers.mcq new.csv --out labels.csv
    """
    from mcquack.models import load  # not above: compilers and solvers would delay every --help

    if out is not None:
        check_can_write(out, overwrite=True, inputs=[model, data])
    classifier = load(model)
    if proba and not hasattr(classifier, "predict_proba"):
        raise InvalidInputError(f"a {type(classifier).__name__} knows no probabilities; leave --proba out.")
    encoder = encoder_of(classifier, path=model)
    table = within_reach(encoder.transform(read_table(data), unknown=unknown), classifier=classifier, encoder=encoder)
    if table.ignored_columns:
        tell(f"Note: the model does not use the columns {listed(table.ignored_columns)}.")
    content = labels_csv(classifier, table, proba=proba).encode()
    if out is None:
        typer.echo(content, nl=False)
    else:
        write_whole(out, content)
    tell_problems(table.problems, consequence="could not be labelled")
    if table.problems:
        raise typer.Exit(exit_codes.SOME_ROWS_LEFT_OUT)


# ``mcquack info``: what is in a model file.

_SHOWN_COLUMNS = 20


def info(
    model: Annotated[Path, typer.Argument(help="A model file written by mcquack fit or by save in Python.")],
    as_json: Json = False,
) -> None:
    """Tell what a model file holds: classes, features, circuit, parameters, training and versions.

    Example: mcquack info flowers.mcq
    """
    from mcquack.models import load  # not above: compilers and solvers would delay every --help

    classifier = load(model)
    summary = _summary(classifier, path=model)
    if as_json:
        typer.echo(json.dumps(summary, indent=2, allow_nan=False))
    else:
        typer.echo("\n".join(_lines(summary)))
        if summary["circuit"]:
            typer.echo(f"\n{classifier.feature_map_.draw()}")


def _summary(classifier: Any, *, path: Path) -> dict[str, Any]:
    """All of it as JSON; what a kind of model does not have is None."""
    circuit, history = getattr(classifier, "feature_map_", None), getattr(classifier, "history_", [])
    best: Any = getattr(classifier, "best_epochs_", getattr(classifier, "best_epoch_", None))
    return {
        "file": str(path),
        "kind": type(classifier).__name__,
        "classes": classifier.classes_.tolist(),
        "n_features": classifier.n_features_in_,
        "table": encoder_of(classifier, path=path).to_header() if "table" in classifier.extra_ else None,
        "circuit": circuit
        and {"n_qubits": circuit.n_qubits, "n_layers": circuit.n_layers, "n_features": circuit.n_features},
        "n_parameters": classifier.n_parameters_,
        "n_epochs": classifier.n_iter_ if history else None,
        "best_epoch": best.tolist() if hasattr(best, "tolist") else best,
        "last_epoch": dict(history[-1]) if history else None,
        "settings": classifier.get_params(),
        "versions": dict(classifier.versions_),
    }


def _lines(summary: dict[str, Any]) -> Iterator[str]:
    yield f"{summary['file']}: a {summary['kind']}"
    yield f"classes     {len(summary['classes'])}: {listed(map(str, summary['classes']))}"
    yield from _feature_lines(summary)
    yield from _training_lines(summary)
    yield f"settings    {', '.join(f'{name}={value!r}' for name, value in summary['settings'].items())}"
    yield f"versions    {', '.join(f'{name} {value}' for name, value in summary['versions'].items())}"


def _training_lines(summary: dict[str, Any]) -> Iterator[str]:
    circuit, best, last = (summary[name] for name in ("circuit", "best_epoch", "last_epoch"))
    if circuit:
        yield (
            f"circuit     {circuit['n_qubits']} qubits, {circuit['n_layers']} layers; "
            f"{summary['n_parameters']:,} parameters in all"
        )
    else:
        yield f"parameters  {summary['n_parameters']:,}"
    if last:
        which = "" if best is None else f", the best was number {listed(best) if isinstance(best, list) else best}"
        yield f"training    {summary['n_epochs']} epochs{which}"
        yield f"            at the last: {epoch_text(last)}"


def _feature_lines(summary: dict[str, Any]) -> Iterator[str]:
    table = summary["table"]
    if table is None:
        yield f"features    {summary['n_features']}, without a table: for arrays in Python"
        return
    yield f"target      {table['target']!r}"
    yield f"features    {summary['n_features']} columns; missing values: {table['missing']}"
    for column in table["columns"][:_SHOWN_COLUMNS]:
        categories = f": {listed(column['categories'], limit=5)}" if column["categories"] else ""
        yield f"            {column['name']!r} {column['kind']}{categories}{_fill_text(column, table['missing'])}"
    if len(table["columns"]) > _SHOWN_COLUMNS:
        yield f"            and {len(table['columns']) - _SHOWN_COLUMNS} more (--json shows all)"


def _fill_text(column: dict[str, Any], missing: str) -> str:
    if missing not in IMPUTING:
        return ""
    fill = repr(column["categories"][int(column["fill"])]) if column["categories"] else f"{column['fill']:g}"
    return f"; {fill} where missing"
