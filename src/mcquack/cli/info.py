"""``mcquack info``: what is in a model file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from mcquack.cli.model import encoder_of
from mcquack.cli.options import Json
from mcquack.cli.progress import epoch_text
from mcquack.datasets.table.column import IMPUTING
from mcquack.datasets.table.value import listed

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
