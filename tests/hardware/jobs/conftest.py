"""Ledgers to write to."""

from dataclasses import replace

import pytest

from mcquack.hardware.jobs.ledger import LEDGER, Ledger


@pytest.fixture(autouse=True, scope="package")
def _no_power_cuts():
    """No test cuts the power, so none has to wait for the disk; a process that is killed loses nothing anyway."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "_kind", replace(LEDGER, synchronous="OFF"))
        yield


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path):
    with Ledger.open(path, write=True) as opened:
        yield opened
