import subprocess
import sys

import pytest

VERBS = ("list", "show", "fetch", "export", "plot")


def test_help_explains_every_verb(mcquack):
    assert "datasets" in mcquack("--help").out
    overview = mcquack("datasets")
    for verb in VERBS:
        assert verb in overview.out + overview.err
        told = mcquack("datasets", verb, "-h")
        assert told.code == 0
        assert f"mcquack datasets {verb}" in told.out.split("Example")[1]


@pytest.mark.parametrize(
    "arguments",
    [
        ["paint"],
        ["show"],
        ["fetch"],
        ["fetch", "iris3", "--all"],
        ["fetch", "--suite", "qml", "--all"],
        ["export", "iris3"],
        ["export", "iris3", "--out", "d", "--format", "xls"],
        ["export", "iris3", "--out", "d", "--seed", "-1"],
        ["export", "iris3", "--out", "d", "--sizes", "many"],
        ["plot", "iris3"],
    ],
)
def test_wrong_usage_has_its_own_code(mcquack, arguments):
    assert mcquack("datasets", *arguments).code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "mnst10"],
        ["fetch", "iris3", "mnst10"],
        ["export", "mnst10", "--out", "d"],
        ["plot", "mnst10", "--out", "p"],
    ],
)
def test_a_name_that_nobody_knows_is_met_with_those_close_to_it(mcquack, arguments):
    outcome = mcquack("datasets", *arguments)
    assert outcome.code == 1
    assert outcome.out == ""
    assert outcome.err.startswith("mcquack: no dataset is named 'mnst10'; did you mean mnist10 or ")


def test_help_waits_neither_for_the_datasets_nor_for_what_draws_and_fetches_them():
    code = (
        "import sys; from mcquack.cli.app import exit_code; exit_code(['datasets', 'plot', '--help']);"
        "sys.exit(', '.join({'matplotlib', 'mcquack.datasets.qml_suite', 'mcquack.datasets.real_world', "
        "'platformdirs', 'requests', 'sklearn'} & set(sys.modules)))"
    )
    finished = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert finished.stderr.strip() == ""
