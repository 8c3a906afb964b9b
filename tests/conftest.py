"""Settings that hold for every test."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import campaigns

# No display is needed to draw, and none is looked for; set before anything imports matplotlib.
os.environ["MPLBACKEND"] = "Agg"

# Some tests send Ctrl-C; a shell that starts them all in the background would have them ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No test asks the internet for data; those that download bring a server of their own.
os.environ["MCQUACK_OFFLINE"] = "1"

# The same examples on every run and every machine. The first example of a test may wait for the compiler, and a busy
# machine may draw slowly: neither is a fault of the code under test.
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    max_examples=50,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# What ``make campaign`` runs beside the tests with that marker.
settings.register_profile(
    "campaign", parent=settings.get_profile("ci"), max_examples=campaigns.examples(short=100, full=200)
)
# New examples on every run, to look for what the fixed ones miss.
settings.register_profile("explore", parent=settings.get_profile("ci"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_report_header():
    """Where numbers differ, it matters for which registers they were computed."""
    from benchmarks.machine import processor, vector_width

    return f"processor: {processor()}, compiled for {vector_width()}"


def pytest_terminal_summary(terminalreporter, config):
    """A campaign says what it has tried how often; of other runs only pass and fail matter."""
    is_campaign = "campaign" in config.option.markexpr and "not campaign" not in config.option.markexpr
    ended = [*terminalreporter.stats.get("passed", []), *terminalreporter.stats.get("failed", [])]
    lines = list(campaigns.told(ended)) if is_campaign else []
    if lines:
        terminalreporter.section(f"what the {campaigns.SIZE} campaign counted")
        for line in lines:
            terminalreporter.line(line)


@pytest.fixture
def tally(request):
    """Counts what a test has tried, for the end of a campaign: ``tally("kills of a writer", 10, rows_lost=0)``."""
    return campaigns.Tally(request.node.user_properties)


_DATA = Path(os.environ.pop("MCQUACK_DATA", "") or Path(__file__).parents[2] / "shared" / "data")


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path, monkeypatch):
    """What an earlier run or the user has fetched changes no test."""
    monkeypatch.setenv("MCQUACK_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def data_dir():
    """The folder with the files of published datasets, which are not part of the project."""
    if not _DATA.is_dir():
        pytest.skip(f"needs the files of published datasets, and {_DATA} is no folder: set MCQUACK_DATA")
    return _DATA
