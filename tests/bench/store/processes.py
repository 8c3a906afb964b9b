"""Processes of their own that write stores, to be killed without warning."""

import multiprocessing
import sqlite3
import sys
from contextlib import contextmanager
from itertools import count

from mcquack.bench.store import Store
from mcquack.errors import StoreError
from tests.bench.store.values import done

_context = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
# So that a process starts within milliseconds.
_context.set_forkserver_preload(["filelock", "hypothesis.strategies", "mcquack.bench.store"])


@contextmanager
def started(target, path, *arguments):
    """Runs ``target(path, pipe, …)`` in a process that is killed in the end, and gives it with the pipe's other end."""
    here, there = _context.Pipe()
    process = _context.Process(target=target, args=(path, there, *arguments))
    process.start()
    there.close()
    try:
        yield process, here
    finally:
        process.kill()
        process.join()
        here.close()
        process.close()


def add_without_end(path, pipe, first):
    """Adds tasks of seeds from ``first`` and tells of each, opening the store anew after every third."""
    pipe.send("ready")
    seeds = count(first)
    while True:
        with Store.open(path, create=True) as store:
            for _ in range(3):
                seed = next(seeds)
                store.add(done(seed))
                pipe.send(seed)


def hold(path, pipe):
    """Opens the store to write, says so or why not, and waits to be told to close it."""
    try:
        with Store.open(path, create=True) as store:
            store.add(done(1))
            pipe.send("open")
            pipe.recv()
    except StoreError as error:
        pipe.send(f"{type(error).__name__}: {error}")
    else:
        pipe.send("closed")
    pipe.recv()


def change_half(path, pipe):
    """Leaves a transaction of the kind that needs a rollback, a part of it already in the file."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA cache_size = 1")  # so that pages are written before the transaction ends
    connection.execute("BEGIN")
    connection.execute("UPDATE outcomes SET fingerprint = hex(randomblob(2000))")
    pipe.send("half done")
    pipe.recv()
