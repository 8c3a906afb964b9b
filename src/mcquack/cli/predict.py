"""``mcquack predict`` and ``mcquack info``: a model file applied to a table, and what is in it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

from mcquack.cli import console as exit_codes
from mcquack.cli.console import Json, check_can_write, described, epoch_text, tell, tell_problems, write_whole
from mcquack.datasets.table.column import IMPUTING
from mcquack.datasets.table.value import listed
from mcquack.errors import InvalidInputError
from mcquack.models.facts import Facts, model_facts
from mcquack.models.tables import labels_csv, usable_rows

_SHOWN_COLUMNS = 20


@described("mcquack")
def predict(
    model: Path,
    data: Path,
    out: Path | None = None,
    proba: bool = False,
    unknown: Literal["report", "most_frequent", "error"] = "report",
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
    table = usable_rows(classifier, data, unknown=unknown, path=model)
    if table.ignored_columns:
        tell(f"Note: the model does not use the columns {listed(table.ignored_columns)}.")
    labels, shares = [], None
    if len(table.X):
        labels, shares = classifier.predict(table.X), classifier.predict_proba(table.X) if proba else None
    elif proba:
        shares = np.empty((0, len(classifier.classes_)))
    content = labels_csv(table, labels, classes=classifier.classes_, shares=shares).encode()
    if out is None:
        typer.echo(content, nl=False)
    else:
        write_whole(out, content)
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
        typer.echo("\n".join(_lines(facts)))
        if facts["circuit"]:
            typer.echo(f"\n{classifier.feature_map_.draw()}")


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
        yield f"            at the last: {epoch_text(last)}"
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
    yield f"features    {facts['n_features']} columns; missing values: {table['missing']}"
    for column in table["columns"][:_SHOWN_COLUMNS]:
        kinds = column["categories"]
        among = f": {listed(kinds, limit=5)}" if kinds else ""
        fill = ""
        if table["missing"] in IMPUTING:
            value = repr(kinds[int(column["fill"])]) if kinds else f"{column['fill']:g}"
            fill = f"; {value} where missing"
        yield f"            {column['name']!r} {column['kind']}{among}{fill}"
    if len(table["columns"]) > _SHOWN_COLUMNS:
        yield f"            and {len(table['columns']) - _SHOWN_COLUMNS} more (--json shows all)"
