"""Stores to write to and to read from."""

import pytest

from mcquack.bench.store import Store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(path):
    with Store.open(path, create=True) as opened:
        yield opened
