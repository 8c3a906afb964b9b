"""A user without a home, without a cache and without the right to write into the package can use all of it."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.cli.tables import two_classes

HOME = Path(__file__).parents[2]
NOBODY = 65534
TINY = ("--target", "label", "--epochs", "1", "--qubits", "2")
SUITE = 'name = "tiny"\ndatasets = ["iris3"]\nmodels = ["svc"]\nsearch = "none"\nseeds = 2\n'
# To read, but never to write: an interpreter in the home of the superuser is out of reach of anybody else.
READS_ALL = ("--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search")

pytestmark = [
    pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0, reason="only the superuser can become another user"),
    pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv of util-linux to become another user"),
]


@pytest.fixture
def nobody():
    """Runs a command line as a user who owns nothing but the folder in which it runs."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o755)
        (folder / "own").mkdir()
        os.chown(folder / "own", NOBODY, NOBODY)
        (folder / "own" / "table.csv").write_text(two_classes())
        (folder / "own" / "tiny.toml").write_text(SUITE)
        # What was compiled for others, and where they keep it, is not there.
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "MCQUACK_OFFLINE") if name in os.environ}
        paths = os.pathsep.join((str(HOME), str(HOME / "src")))
        environment = {**kept, "PYTHONPATH": paths, "HOME": "/nonexistent"}
        became = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", *READS_ALL]

        def run(*command):
            return subprocess.run(
                [*became, sys.executable, *command], cwd=folder / "own", env=environment, capture_output=True, text=True
            )

        probe = run("-c", "import os; assert os.geteuid() == 65534")
        if probe.returncode:
            pytest.skip(f"nobody else can run this interpreter here: {probe.stderr.strip()[-200:]}")
        yield run


def check(done, *, n_warnings=0):
    """It went well, and said no more than one warning about what it could not keep."""
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    told = [line for line in done.stderr.splitlines() if "Warning" in line or line.startswith("Note:")]
    assert len(told) <= n_warnings, done.stderr
    return done.stdout


def test_nobody_is_somebody_who_cannot_write(nobody):
    done = nobody("-c", f"open({str(HOME / 'src' / 'mcquack' / 'written')!r}, 'w')")
    assert "PermissionError" in done.stderr


def test_what_computes_nothing_works(nobody):
    assert check(nobody("-m", "mcquack", "--version")).startswith("mcquack")
    assert "iris3" in check(nobody("-m", "mcquack", "datasets", "list"))


def test_a_benchmark_of_classical_models_runs(nobody):
    check(nobody("-m", "mcquack", "bench", "run", "tiny.toml", "--jobs", "1"), n_warnings=1)
    check(nobody("-m", "mcquack", "bench", "status", "tiny.sqlite"))


@pytest.mark.campaign  # everything is compiled anew, as nothing may be kept
def test_a_model_is_fitted_looked_at_and_used(nobody, tally):
    check(nobody("-m", "mcquack", "fit", "table.csv", "--out", "m.mcq", *TINY), n_warnings=1)
    assert "2 qubits" in check(nobody("-m", "mcquack", "info", "m.mcq"), n_warnings=1)
    printed = check(nobody("-m", "mcquack", "predict", "m.mcq", "table.csv"), n_warnings=1)
    assert len(printed.splitlines()) == 1 + 12
    assert check(nobody("-c", "import os; print(*sorted(os.listdir()))")).split() == ["m.mcq", "table.csv", "tiny.toml"]
    tally("commands of a user without a home or a cache", 3, failed=0)
