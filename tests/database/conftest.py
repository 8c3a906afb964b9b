"""Notebooks to write to and to read from."""

import pytest

from tests.database.notebook import Notebook


@pytest.fixture
def path(tmp_path):
    return tmp_path / "notebook.sqlite"


@pytest.fixture
def notebook(path):
    with Notebook.open(path, create=True) as opened:
        yield opened
