"""``mcquack predict`` and ``mcquack info``: a model file applied to a table, and what is in it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from mcquack.cli import console as exit_codes
from mcquack.cli.console import (
    Json,
    check_can_write,
    described,
    say,
    show_content,
    tell,
    tell_problems,
    write_whole,
)
from mcquack.cli.datasets import DataDir
from mcquack.cli.rows import read_rows, with_columns
from mcquack.datasets.dataset import PartName
from mcquack.datasets.table.column import IMPUTING
from mcquack.datasets.table.encoder import Unknown
from mcquack.datasets.table.value import listed
from mcquack.errors import InvalidInputError, printable
from mcquack.models.catalog import Facts, model_facts
from mcquack.models.tables import labels_csv
from mcquack.progress import row_text

_SHOWN_COLUMNS = 20


@described("mcquack")
def predict(
    model: Path,
    data: str,
    out: Path | None = None,
    proba: bool = False,
    keep: list[str] | None = None,
    unknown: Unknown = "report",
    part: PartName = "test",
    seed: int = 0,
    data_dir: DataDir = None,
    force: bool = False,
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


def info(
    model: Annotated[Path, typer.Argument(help="A model file written by mcquack fit or by save in Python.")],
    as_json: Json = False,
) -> None:
    """Tell what a model file holds: classes, features, circuit, parameters, training and versions.

    Example: mcquack info flowers.mcq
    """
    from mcquack.models import load  # not above: compilers and solvers would delay every --help

    classifier = load(model)
    facts = model_facts(classifier, path=model)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, allow_nan=False))
    else:
        say("\n".join(map(printable, _lines(facts))))
        if facts["circuit"]:
            say(f"\n{classifier.feature_map_.draw()}")


def _lines(facts: Facts) -> Iterator[str]:
    yield f"{facts['file']}: a {facts['kind']}"
    yield f"classes     {len(facts['classes'])}: {listed(map(str, facts['classes']))}"
    yield from _feature_lines(facts)
    circuit, best, last = (facts[name] for name in ("circuit", "best_epoch", "last_epoch"))
    if circuit:
        kind = "layers" if circuit["n_layers"] else "gates"
        size = f"{circuit['n_qubits']} qubits, {circuit[f'n_{kind}']} {kind}"
        yield f"circuit     {size}; {facts['n_parameters']:,} parameters in all"
    else:
        yield f"parameters  {facts['n_parameters']:,}"
    if last:
        which = "" if best is None else f", the best was number {listed(best) if isinstance(best, list) else best}"
        unit = "epochs" if facts["n_steps"] is None else "steps"
        yield f"training    {facts[f'n_{unit}']:,} {unit}{which}"
        yield f"            at the last: {row_text(last)}"
    yield f"settings    {', '.join(f'{name}={_short(value)}' for name, value in facts['settings'].items())}"
    yield f"versions    {', '.join(f'{name} {value}' for name, value in facts['versions'].items())}"


def _short(value: Any) -> str:
    return "a circuit" if isinstance(value, dict) and "gates" in value else repr(value)


def _feature_lines(facts: Facts) -> Iterator[str]:
    table = facts["table"]
    if table is None:
        yield f"features    {facts['n_features']}, without a table: for arrays in Python"
        return
    yield f"target      {table['target']!r}"
    spread = any(column.get("one_hot") for column in table["columns"])
    size = f"{len(table['columns'])} columns" + (f" as {facts['n_features']} features" if spread else "")
    yield f"features    {size}; missing values: {table['missing']}"
    written = {name: how for name, how in table.get("notation", {}).items() if how is not None}
    if written:
        yield f"notation    {', '.join(f'{name} {how!r}' for name, how in written.items())}"
    for column in table["columns"][:_SHOWN_COLUMNS]:
        kinds = column["categories"]
        among = f": {listed(kinds, limit=5)}" if kinds else ""
        fill = ""
        if table["missing"] in IMPUTING:
            value = repr(kinds[int(column["fill"])]) if kinds else f"{column['fill']:g}"
            fill = f"; {value} where missing"
        each = ", a feature for each" if column.get("one_hot") else ""
        yield f"            {column['name']!r} {column['kind']}{each}{among}{fill}"
    if len(table["columns"]) > _SHOWN_COLUMNS:
        yield f"            and {len(table['columns']) - _SHOWN_COLUMNS} more (--json shows all)"
