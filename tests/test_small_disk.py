"""Disks that are full at any moment, or may only be read, cost nothing that was written before."""

import sys

import pytest

from tests.campaigns import rounds
from tests.nursery import nursery
from tests.small_disk import fit_on, ledger_on, store_on, try_to_mount

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mounts small disks as Linux does")


@pytest.fixture(scope="module")
def children(tmp_path_factory):
    with nursery("tests.small_disk", "tests.cli.fitting:warm_up") as started:
        code, printed = started.run(try_to_mount, str(tmp_path_factory.mktemp("disk")))
        if code:
            pytest.skip(f"may not mount a disk of its own here: {printed.strip()[-200:]}")
        yield started


@pytest.mark.parametrize("command", [fit_on, store_on, ledger_on], ids=["fit", "store", "ledger"])
@pytest.mark.parametrize("n_disks", rounds(3, short=8, full=30))
def test_a_disk_that_is_full_or_read_only_costs_nothing(children, tmp_path, command, n_disks, tally):
    n_refused = 0
    for number in range(n_disks):
        # Small steps where files are as large as that; the last disk has room, but may only be read.
        code, printed = children.run(command, str(tmp_path), 4 * number, number == n_disks - 1)
        assert code in (10, 11), printed
        assert "unexpected" not in printed
        n_refused += code == 11
    assert n_refused >= 2
    tally("disks that were full or read-only", n_disks, refused_in_words=n_refused, rows_or_models_lost=0)
