"""Processes of their own that write stores, to be killed without warning."""

import sqlite3
from itertools import count

from mcquack.bench.store import Store
from tests.bench.store.values import done


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


def change_half(path, pipe):
    """Leaves a transaction of the kind that needs a rollback, a part of it already in the file."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA cache_size = 1")  # so that pages are written before the transaction ends
    connection.execute("BEGIN")
    connection.execute("UPDATE outcomes SET fingerprint = hex(randomblob(2000))")
    pipe.send("half done")
    pipe.recv()
