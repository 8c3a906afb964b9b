import json
import shutil

import pytest

from mcquack.cli.app import exit_code
from tests.cli.bench.moody import MOOD, NAME
from tests.cli.bench.values import SMALL


@pytest.fixture
def bench(mcquack, tmp_path, monkeypatch):
    """Runs one of the verbs in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda verb, *arguments: mcquack("bench", verb, *arguments)


@pytest.fixture
def status(bench):
    """What the status of a store tells to programs."""
    return lambda store: json.loads(bench("status", store, "--json").out)


@pytest.fixture(scope="session")
def _small_store(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "small.sqlite"
    assert exit_code(["bench", "run", *SMALL, "--jobs", "1", "--store", str(path)]) == 0
    return path


@pytest.fixture
def small_store(_small_store, tmp_path):
    """A store of two models on iris3, all done."""
    return shutil.copy(_small_store, tmp_path / "small.sqlite")


@pytest.fixture
def moody_suite(tmp_path, monkeypatch):
    """Writes a suite of one moody model and one that is not, and sets the mood."""

    def write(mood="good", n_seeds=2):
        monkeypatch.setenv(MOOD, mood)
        return _written(tmp_path / "moody.toml", n_seeds=n_seeds)

    return write


@pytest.fixture(scope="session")
def _failed_store(tmp_path_factory):
    suite = _written(tmp_path_factory.mktemp("failed") / "moody.toml", n_seeds=2)
    store = suite.with_suffix(".sqlite")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MOOD, "bad")
        assert exit_code(["bench", "run", str(suite), "--jobs", "1", "--store", str(store)]) == 3
    return store


@pytest.fixture
def failed_store(_failed_store, tmp_path):
    """A store in which the two tasks of the moody model failed, and two others were done."""
    return shutil.copy(_failed_store, tmp_path / "moody.sqlite")


def _written(path, *, n_seeds):
    path.write_text(
        f'name = "moody"\ndatasets = ["iris3"]\nmodels = ["{NAME}", "svc"]\nsearch = "none"\nseeds = {n_seeds}\n'
    )
    return path
