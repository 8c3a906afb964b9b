"""Processes of their own that write files, to be killed without warning."""

import multiprocessing
import sys
from contextlib import contextmanager
from typing import Any

from mcquack.errors import StoreError
from tests.database.notebook import Notebook

_context: Any = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
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


def hold(path, pipe):
    """Opens the notebook to write, says so or why not, and waits to be told to close it."""
    try:
        with Notebook.open(path, create=True) as notebook:
            notebook.add("1")
            pipe.send("open")
            pipe.recv()
    except StoreError as error:
        pipe.send(f"{type(error).__name__}: {error}")
    else:
        pipe.send("closed")
    pipe.recv()
