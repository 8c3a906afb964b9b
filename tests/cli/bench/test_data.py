import pytest

from mcquack.bench.suites import read_suite
from mcquack.cli import bench as data
from mcquack.errors import MissingDataError


@pytest.fixture
def asked(monkeypatch):
    """Collects what is loaded in place of loading it."""
    names = []
    monkeypatch.setattr(data, "loaded", lambda name, *, data_dir: names.append(name))
    return names


def cells(*patterns, suite="real-world"):
    return read_suite(suite).with_(datasets=patterns, models=["svc", "nn"]).cells()


def test_files_are_asked_for_once_however_many_datasets_share_them(asked, capsys):
    data.fetch_missing(cells("mnist_pca_*", "linearly_separable_*", suite="qml"), data_dir=None)
    assert len(asked) == 1
    assert asked[0].startswith("mnist_pca_")
    assert capsys.readouterr().err == f"Fetching {asked[0]} …\n"


def test_what_is_built_in_or_at_hand_is_not_asked_for(asked, data_dir):
    data.fetch_missing(cells("iris3"), data_dir=None)
    data.fetch_missing(cells("doh", "mnist10"), data_dir=data_dir)
    assert asked == []


def test_what_cannot_be_had_is_refused():
    with pytest.raises(MissingDataError, match="doh"):
        data.fetch_missing(cells("doh"), data_dir=None)
