"""Processes that start within milliseconds, whatever they import, to be killed, interrupted or robbed of privileges.

One process imports everything once and forks a child for each call, so that hundreds of kills take seconds.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from contextlib import contextmanager
from pathlib import Path

HOME = Path(__file__).parents[1]


class Child:
    """A call in a process of its own."""

    def __init__(self, nursery, pid, output):
        self._nursery, self.pid, self._output = nursery, pid, output

    def send(self, number):
        """A signal; a process that is over but not waited for still has its number, so that no other gets it."""
        os.kill(self.pid, number)

    def end(self):
        """The exit code, below zero the signal that ended it, and all that was printed."""
        code = self._nursery._asked("wait", self.pid)
        return code, self._output.read_text(encoding="utf-8", errors="replace")


class Nursery:
    """Starts children for which modules were imported, and functions of them, "module:function", called already."""

    def __init__(self, folder, modules):
        self._folder, self._n = folder, 0
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error::RuntimeWarning", "-m", "tests.nursery", *modules],
            cwd=HOME,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join((str(HOME), str(HOME / "src"))),
                # A child of a process with threads has only the one that forked it.
                **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, function, *arguments):
        """Calls ``function(*arguments)``, a function of a module, with arguments that JSON knows."""
        self._n += 1
        output = self._folder / f"output-{self._n}.txt"
        pid = self._asked("start", f"{function.__module__}:{function.__qualname__}", list(arguments), str(output))
        return Child(self, pid, output)

    def run(self, function, *arguments):
        """The exit code of the call and what it printed."""
        return self.start(function, *arguments).end()

    def close(self):
        stdin, stdout = self._pipes()
        stdin.close()
        self._process.wait()
        stdout.close()

    def _asked(self, *message):
        stdin, stdout = self._pipes()
        stdin.write(json.dumps(message) + "\n")
        stdin.flush()
        return json.loads(stdout.readline())

    def _pipes(self):
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout


@contextmanager
def nursery(*modules):
    """A nursery for the time of a module of tests: use it in a fixture."""
    with tempfile.TemporaryDirectory() as folder:
        opened = Nursery(Path(folder), modules)
        try:
            yield opened
        finally:
            opened.close()


def _called(name, arguments, output):
    """In the child: makes the call, and ends with the code that it returns."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for old, new in ((nothing, 0), (file, 1), (file, 2)):
        os.dup2(old, new)
    code = 70
    try:
        module, function = name.split(":")
        code = getattr(sys.modules.get(module) or importlib.import_module(module), function)(*arguments) or 0
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _serve(names):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is printed meanwhile is no answer
    for name in names:
        module, _, function = name.partition(":")
        found = importlib.import_module(module)
        if function:
            getattr(found, function)()
    for line in sys.stdin:
        verb, *rest = json.loads(line)
        if verb == "start":
            answer = os.fork()
            if not answer:
                _called(*rest)
        else:
            answer = os.waitstatus_to_exitcode(os.waitpid(rest[0], 0)[1])
        answers.write(f"{answer}\n")
        answers.flush()


if __name__ == "__main__":
    _serve(sys.argv[1:])
