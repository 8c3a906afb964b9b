import subprocess
import sys

import pytest


def test_help_explains_every_verb(mcquack):
    assert "models" in mcquack("--help").out
    overview = mcquack("models")
    for verb in ("list", "show"):
        assert verb in overview.out + overview.err
        told = mcquack("models", verb, "-h")
        assert told.code == 0
        assert f"mcquack models {verb}" in told.out.split("Example")[1]


@pytest.mark.parametrize("arguments", [["paint"], ["show"], ["list", "--kind", "quantic"]])
def test_wrong_usage_has_its_own_code(mcquack, arguments):
    assert mcquack("models", *arguments).code == 2


def test_a_name_that_nobody_knows_is_met_with_those_close_to_it(mcquack):
    outcome = mcquack("models", "show", "nystrom")
    assert outcome.code == 1
    assert outcome.out == ""
    assert outcome.err == "mcquack: no model is named 'nystrom'; did you mean nystroem_svm?\n"


@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["list", "--json"]])
def test_a_list_waits_for_no_model(arguments):
    code = (
        f"import sys; from mcquack.cli.app import exit_code; exit_code(['models', *{arguments}]);"
        "sys.exit(', '.join({'matplotlib', 'numba', 'sklearn'} & set(sys.modules)))"
    )
    finished = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert finished.stderr.strip() == ""
