"""Commands on a disk of a few kibibytes, or one that may only be read, mounted for one process alone.

They run in children of a process that has mounts of its own, so that nobody else sees the disk.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np

from mcquack.bench.runner import run
from mcquack.bench.store import Store
from mcquack.cli.app import exit_code
from mcquack.errors import McQuackError
from mcquack.hardware.jobs.ledger import Ledger, stored_counts
from mcquack.hardware.jobs.running import follow, noted
from mcquack.models import load
from tests.bench.doubles import ScriptedExecutor, cell, rows
from tests.cli.fitting import FIT
from tests.cli.tables import two_classes
from tests.hardware.doubles import FakeService, circuits_of, hasty

CELLS = (cell("a"), cell("b", search="random:2"))
_NEW_MOUNTS = 0x00020000


def mount(folder: str, kib: int, *options: str) -> None:
    """A disk of so many kibibytes in the folder; with the option "remount" the one that is there changes."""
    chosen = ",".join((f"size={kib}k", *options))
    subprocess.run(["mount", "-t", "tmpfs", "-o", chosen, "none", folder], check=True, capture_output=True)


def try_to_mount(folder: str) -> int:
    """Whether this process may mount at all."""
    _alone()
    mount(folder, 64)
    return 0


def fit_on(folder: str, kib: int, readonly: bool) -> int:
    """Fits over an old model: it stays or is replaced, and with more room the same command goes well."""
    _alone()
    mount(folder, 1024)
    os.chdir(folder)
    Path("table.csv").write_text(two_classes())
    command = [*FIT, "--epochs", "2"]
    assert exit_code(command) == 0
    shutil.copy("model.mcq", "old.mcq")
    _fill(kib)
    if readonly:
        mount(folder, 1024, "remount", "ro")
    code = exit_code(command)
    assert code in (0, 1)
    assert load("model.mcq").predict([[0.5, 1.0]]).shape == (1,)
    assert not list(Path().glob(".mcquack-*"))
    if code:
        assert Path("model.mcq").read_bytes() == Path("old.mcq").read_bytes()
    mount(folder, 8192, "remount", "rw")
    assert exit_code(command) == 0
    return 10 + code


def store_on(folder: str, kib: int, readonly: bool) -> int:
    """Runs a benchmark until the disk is full; then no row is lost, and with more room the run goes on."""
    _alone()
    mount(folder, 1024)
    os.chdir(folder)
    with Store.open("begun.sqlite", create=True):
        pass
    _fill(kib)
    if readonly:
        mount(folder, 1024, "remount", "ro")
    refused = 0
    try:
        _benchmark("begun.sqlite")
    except McQuackError as error:
        refused = 1
        sys.stdout.write(f"{error}\n")
    mount(folder, 8192, "remount", "rw")
    assert _benchmark("begun.sqlite") == _benchmark("alone.sqlite")
    return 10 + refused


def ledger_on(folder: str, kib: int, readonly: bool) -> int:
    """Measures until the disk is full; then no job is sent twice, and with more room the rest is measured."""
    _alone()
    mount(folder, 1024)
    os.chdir(folder)
    with closing(Ledger.open("begun.sqlite", write=True)):
        pass
    _fill(kib)
    if readonly:
        mount(folder, 1024, "remount", "ro")
    service, refused = FakeService(), 0
    try:
        _measured("begun.sqlite", service)
    except McQuackError as error:
        refused = 1
        sys.stdout.write(f"{error}\n")
    mount(folder, 8192, "remount", "rw")
    np.testing.assert_array_equal(_measured("begun.sqlite", service), _measured("alone.sqlite", FakeService()))
    assert len(service.submitted) == len(set(service.submitted)) == 1
    return 10 + refused


def _benchmark(path: str) -> object:
    executor = ScriptedExecutor()
    with Store.open(path, create=True) as store, executor.waited_for():
        list(run(CELLS, store, executor))
        return rows(store)


def _measured(path: str, service: FakeService) -> np.ndarray:
    with closing(Ledger.open(path, write=True)) as ledger:
        measurement = noted(ledger, service, circuits_of(20, 3), shots=200)
        list(follow(ledger, service, measurement, waiting=hasty()[0]))
        return stored_counts(ledger, measurement.id)


def _fill(kib: int) -> None:
    """Leaves only so much room."""
    room = os.statvfs(".").f_bavail * os.statvfs(".").f_bsize
    Path("filling").write_bytes(bytes(max(0, room - (kib << 10))))


def _alone() -> None:
    """From now on, what this process mounts is seen by it alone."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNTS):
        raise PermissionError(os.strerror(ctypes.get_errno()))
    subprocess.run(["mount", "--make-rprivate", "/"], check=True, capture_output=True)
    sys.stdout.flush()
