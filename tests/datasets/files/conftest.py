"""Every test of files has a cache of its own, and none reaches beyond this machine."""

import pytest

from tests.datasets.files.http_server import serving


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    for name in ("MCQUACK_DATA", "MCQUACK_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MCQUACK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def server():
    with serving() as script:
        yield script
