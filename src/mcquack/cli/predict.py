"""``mcquack predict``: from a model file and a table to labels."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from mcquack.cli import exit_codes
from mcquack.cli.files import check_can_write, write_whole
from mcquack.cli.labelling import labels_csv
from mcquack.cli.model import encoder_of, within_reach
from mcquack.cli.notes import tell, tell_problems
from mcquack.datasets.table import read_table
from mcquack.datasets.table.value import listed
from mcquack.errors import InvalidInputError


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
