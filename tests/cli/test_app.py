"""The command explains itself, and whatever goes wrong is a code and a line."""

import os
import subprocess
import sys

import pytest

from mcquack.cli import fit as fit_module
from tests.cli.tables import two_classes

GROUPS: dict[str, tuple[str, ...]] = {
    "": ("demo", "fit", "predict", "score", "info", "compile", "report"),
    "datasets": ("list", "show", "fetch", "export", "plot"),
    "models": ("list", "show"),
    "bench": ("run", "status", "retry", "export", "merge", "suites"),
    "trainability": ("run", "report"),
    "hardware": ("devices", "layout", "calibrate", "run", "submit", "status", "resume", "cancel", "train", "export"),
}


@pytest.mark.parametrize("group", GROUPS)
def test_help_explains_every_verb_in_plain_words_on_a_narrow_terminal(mcquack, monkeypatch, group):
    monkeypatch.setenv("COLUMNS", "80")
    overview = mcquack(*group.split())
    assert mcquack(*group.split(), "-h").code == 0
    for verb in GROUPS[group]:
        assert f" {verb} " in overview.out + overview.err
        told = mcquack(*group.split(), verb, "--help")
        assert told.code == 0
        assert f"Usage: mcquack {group} {verb}".replace("  ", " ") in told.out
        assert max(map(len, told.out.splitlines())) <= 80
        assert not any(mark in told.out for mark in ("<bool>", "(ours)", "{"))
    assert group or all(f" {name} " in overview.out + overview.err for name in GROUPS if name)


def test_usual_options_come_first_and_the_others_in_panels(mcquack):
    told = mcquack("fit", "--help").out
    places = [told.index(text) for text in ("╭─ Options", "╭─ The model", "╭─ Reading the table", "--decimal")]
    assert places == sorted(places)


def test_help_and_lists_wait_for_nothing_that_computes_draws_or_asks():
    heavy = {"distributed", "joblib", "matplotlib", "numba", "optuna", "platformdirs", "qiskit", "requests", "sklearn"}
    heavy |= {"sqlite3", "mcquack.datasets.qml_suite", "mcquack.datasets.real_world"}
    helps = ("", "datasets plot", "report", "bench run", "models", "hardware run", "trainability run", "fit")
    commands = [*([*verb.split(), "--help"] for verb in helps), ["models", "list"], ["models", "list", "--json"]]
    code = (
        "import sys; from mcquack.cli.app import exit_code;"
        f"assert not any([exit_code(each) for each in {commands}]);"
        f"print({heavy} & set(sys.modules), file=sys.stderr);"
        "import mcquack.hardware.devices, mcquack.hardware.labelling; assert 'qiskit' not in sys.modules"
    )
    finished = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert finished.stderr.strip() == "set()"


def test_version(mcquack):
    outcome = mcquack("--version")
    assert outcome.code == 0
    assert outcome.out.startswith("mcquack ")


@pytest.mark.parametrize(
    "line",
    [
        "quack",
        "fit",
        "fit t.csv --target y",
        "fit t.csv --target y --out m.mcq --epochs -1",
        "fit t.csv --target y --out m.mcq --seed 4294967296",
        "fit t.csv --target y --out m.mcq --missing guess",
        "fit t.csv --target y --out m.mcq --validation 1",
        "predict m.mcq",
        "report some.sqlite",
        "report some.sqlite --out page --rank-scale percent",
        "models paint",
        "models show",
        "models list --kind quantic",
        "datasets paint",
        "datasets show",
        "datasets fetch",
        "datasets fetch iris3 --all",
        "datasets fetch --suite qml --all",
        "datasets export iris3",
        "datasets export iris3 --out d --format xls",
        "datasets export iris3 --out d --seed -1",
        "datasets export iris3 --out d --sizes many",
        "datasets plot iris3",
        "bench race",
        "bench run",
        "bench run qml --jobs 0",
        "bench run qml --seeds 0",
        "bench run qml --budget -1",
        "bench run qml --dask tcp://somewhere:8786 --jobs 2",
        "bench status",
        "bench retry",
        "bench export some.sqlite",
        "trainability run quick --dask tcp://somewhere:8786 --jobs 2",
        "trainability report some.sqlite",
    ],
)
def test_wrong_usage_has_its_own_code(mcquack, line):
    refused = mcquack(*line.split())
    assert refused.code == 2
    *_, last = line.split()
    assert not last.startswith("--") or last in refused.err


def test_what_moved_to_the_studies_says_so(mcquack):
    told = mcquack("paper", "--quick", "--out", "site")
    assert told.code == 2
    assert "python -m studies.paper" in told.err
    assert told.err.count("\n") == 1
    assert " paper " not in mcquack("--help").out.partition("Commands")[2]


def test_a_fault_of_ours_is_one_line_and_with_debug_a_traceback(mcquack, table, tmp_path, monkeypatch):
    def faulty(*_, **__):
        raise ZeroDivisionError("by us")

    monkeypatch.setattr(fit_module, "training_data", faulty)
    arguments = ["fit", table(two_classes()), "--target", "label", "--out", tmp_path / "m.mcq"]
    outcome = mcquack(*arguments)
    assert outcome.code == 1
    assert outcome.err.startswith("mcquack: unexpected ZeroDivisionError: by us")
    assert outcome.err.count("\n") == 1
    with pytest.raises(ZeroDivisionError):
        mcquack(*arguments, "--debug")


def test_an_interrupt_anywhere_has_its_code(mcquack, table, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit_module, "training_data", interrupted)
    assert mcquack("fit", table(two_classes()), "--target", "label", "--out", tmp_path / "m.mcq").code == 130


def test_the_module_is_the_command(fitted, table):
    model, _ = fitted(two_classes(labels=("猫", "é")))
    finished = subprocess.run(
        [sys.executable, "-m", "mcquack", "predict", str(model), str(table("x,colour\n0.1,red\nx,red\n5,blue\n"))],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": "ascii"},
    )
    assert finished.returncode == 3
    assert finished.stdout.decode() == ("row,prediction,reason\n2,猫,\n3,,column 'x': 'x' is not a number\n4,é,\n")


def test_ctrl_c_while_the_command_is_loaded_is_quiet():
    code = (
        "import builtins, mcquack.__main__\n"
        "usual = builtins.__import__\n"
        "def interrupted(name, *rest):\n"
        "    if name == 'mcquack.cli.app':\n"
        "        raise KeyboardInterrupt\n"
        "    return usual(name, *rest)\n"
        "builtins.__import__ = interrupted\n"
        "mcquack.__main__.main()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, env=environment)
    assert (finished.returncode, finished.stdout, finished.stderr) == (130, b"", b"")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--missing", "error"], "--missing mean"),
        (["--ignore", "b", "--qubits", 0], "--qubits"),
        (["--ignore", "b", "--setting", "n_qubits=0"], "n_qubits must be"),
        (["--ignore", "b", "--feature-map", "nothing"], "--feature-map must be"),
        (["--ignore", "b", "--no-scale"], "--scale, or"),
        (["--ignore", "b", "--one-hot", "--thousands", "."], "--thousands must be"),
    ],
)
def test_errors_name_the_options_that_the_verb_has_and_that_were_given(mcquack, table, tmp_path, options, named):
    path = table("a,b,feature_map,label\n1e30,,missing=1,x\n2e30,1,missing=2,y\n3,2,missing=1,x\n")
    told = mcquack("fit", path, "--target", "label", "--out", tmp_path / "m.mcq", "--epochs", 1, *options)
    assert told.code in (1, 2)
    assert named in told.err


@pytest.mark.filterwarnings("default::mcquack.errors.NotationWarning")
def test_warnings_name_the_options_of_the_verb(mcquack, table, tmp_path):
    path = table("a b,label\n" + "31.12.2020,x\n30.11.2020,y\n" * 3)
    told = mcquack("fit", path, "--target", "label", "--out", tmp_path / "m.mcq", "--epochs", 1, "--qubits", 2)
    assert "--categorical 'a b'" in told.err
