import re
import sys

import pytest


@pytest.fixture
def terminal(monkeypatch, mcquack):
    """Runs one of the verbs as on a terminal of this width, and gives the lines without colours."""

    def run(*arguments, width):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(width))
        return re.sub(r"\x1b\[[0-9;]*m", "", mcquack("models", *arguments).out).splitlines()

    return run
