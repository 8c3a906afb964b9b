"""Whatever a file holds, it is read or refused by an error of mcquack, in bounded memory."""

import subprocess
import sys

import pytest

from tests.datasets.table.damaged import KINDS
from tests.spoiling import tell

_SECONDS = 3_000  # beyond any slow machine: what takes longer hangs


def read_damaged(kind, n_files, folder):
    command = [sys.executable, "-m", "tests.datasets.table.damaged", kind, str(n_files), str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    assert ended.returncode == 0, ended.stderr[-5_000:]
    assert "endless" not in ended.stdout
    tell(ended.stdout.strip())


@pytest.mark.parametrize("kind", ["csv", "parquet", "suite"])
def test_damaged_files_are_read_or_refused(kind, tmp_path):
    read_damaged(kind, 60, tmp_path)


@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_damaged_files_are_read_or_refused(kind, tmp_path):
    read_damaged(kind, 300 if kind in ("suite", "design") else 2_000, tmp_path)
