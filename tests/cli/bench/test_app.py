import subprocess
import sys

import pytest

VERBS = ("run", "status", "retry", "export", "suites")


def test_help_explains_every_verb(mcquack):
    assert "bench" in mcquack("--help").out
    overview = mcquack("bench")
    for verb in VERBS:
        assert verb in overview.out + overview.err
        told = mcquack("bench", verb, "-h")
        assert told.code == 0
        assert f"mcquack bench {verb}" in " ".join(told.out.split("Example")[1].split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["race"],
        ["run"],
        ["run", "qml", "--jobs", "0"],
        ["run", "qml", "--seeds", "0"],
        ["run", "qml", "--dask", "tcp://somewhere:8786", "--jobs", "2"],
        ["status"],
        ["retry"],
        ["retry", "some.sqlite"],
        ["export", "some.sqlite"],
    ],
)
def test_wrong_usage_has_its_own_code(bench, arguments):
    assert bench(*arguments).code == 2


@pytest.mark.parametrize("verb", [["status"], ["retry", "--failed"], ["export", "--csv", "t.csv"]])
def test_a_store_that_is_not_there_is_told_in_a_line(bench, tmp_path, verb):
    outcome = bench(*verb, "no.sqlite")
    assert outcome.code == 1
    assert "there is no store at no.sqlite" in outcome.err
    assert outcome.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["bench", "run", "--help"], ["report", "--help"]])
def test_help_waits_for_nothing_that_runs_or_draws(arguments):
    heavy = {"distributed", "joblib", "matplotlib", "numba", "optuna", "sklearn", "sqlite3"}
    code = (
        f"import sys; from mcquack.cli.app import exit_code; exit_code({arguments});"
        f"sys.exit(', '.join({heavy} & set(sys.modules)))"
    )
    finished = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert finished.stderr.strip() == ""
