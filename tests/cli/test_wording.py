"""Errors that come from options name these as the command line does."""

import pytest
import typer.main

from mcquack.cli.app import app
from mcquack.cli.wording import in_words_of_options

COMMAND = typer.main.get_command(app)


@pytest.mark.parametrize(
    ("arguments", "text", "told"),
    [
        (["hardware", "run"], "a higher max_error, or allow_faulty=True.", "a higher --max-error, or --allow-faulty."),
        (["fit", "t.csv"], "fill them with missing=mean or median", "fill them with --missing mean or median"),
        (["fit", "t.csv"], "ignore=['a b'] leaves it out", "--ignore 'a b' leaves it out"),
        (["fit"], "with decimal=',' or date_format='%d'", "with --decimal ',' or --date-format '%d'"),
        (["fit", "t.csv"], "epochs must be at least 1, got 0.", "--epochs must be at least 1, got 0."),
        (["fit", "t.csv", "--qubits=0"], "n_qubits must be 1, got 0.", "--qubits must be 1, got 0."),
    ],
)
def test_names_of_arguments_become_those_of_options(arguments, text, told):
    assert in_words_of_options(text, COMMAND, arguments) == told


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["fit", "t.csv"], "n_qubits must be 1, got 0."),  # given by --setting, as no option was
        (["fit", "t.csv"], "column 'feature_map' is missing in 3 rows"),
        (["fit", "t.csv"], "the target 'missing=mean' has no labels"),
        (["fit", "t.csv"], "my_feature_map.csv has no column; feature_map.csv neither"),
        (["predict", "m.mcq"], "a higher max_error"),
        ([], "a higher max_error"),
    ],
)
def test_other_words_stay(arguments, text):
    assert in_words_of_options(text, COMMAND, arguments) == text
