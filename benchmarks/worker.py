"""A process for each implementation, so that thread pools and memory do not mix and a slow one can be abandoned."""

import ctypes
import gc
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.problem import FloatArray, Step, StepProblem

Build = Callable[[StepProblem], Step]
AnyBuild = Callable[[Any], Any]  # for a worker that serves in another way


class AbandonedError(Exception):
    """The implementation could not be measured; the message is what the table shows."""


class Worker:
    """An implementation that waits in its own process and is timed on demand."""

    def __init__(
        self, build: AnyBuild, problem: Any, *, limit: float, serve: Callable[..., None] | None = None
    ) -> None:
        self.limit = limit
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve or _serve, args=(theirs, build, problem), daemon=True)
        self._process.start()
        theirs.close()

    def found(self) -> tuple[float, list[FloatArray]]:
        """Loss and gradients of the first step, after the build; abandoned when both take longer than the limit."""
        loss, gradients = self.answer(f"> {self.limit:g} s to compile")
        return loss, gradients

    def seconds(self, budget: float) -> list[float]:
        """Seconds of each step done until ``budget`` seconds are over; at least one."""
        return list(self.ask(budget, f"> {self.limit:g} s for a step"))

    def ask(self, question: object, too_late: str) -> Any:
        """What the process answers to a question."""
        self._connection.send(question)
        return self.answer(too_late)

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()

    def answer(self, too_late: str) -> Any:
        """What the process says next; abandoned with the note ``too_late`` after the limit."""
        try:
            if not self._connection.poll(self.limit):
                raise AbandonedError(too_late)
            kind, value = self._connection.recv()
        except EOFError:
            self._process.join()
            raise AbandonedError(f"died with exit code {self._process.exitcode}") from None
        if kind == "error":
            raise AbandonedError(value)
        return value

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def seconds_per_step(step: Callable[[], object], *, budget: float) -> list[float]:
    """Seconds of each step done until ``budget`` seconds are over; at least one."""
    seconds: list[float] = []
    while not seconds or sum(seconds) < budget:
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    return seconds


def peak_megabytes(build: Build, problem: StepProblem, *, limit: float) -> float:
    """Peak memory of building and doing one step, beyond library, data and parameters, in MB."""
    with Worker(build, problem, limit=limit, serve=_serve_peak) as worker:
        return float(worker.answer(f"> {limit:g} s"))


def _serve(connection: Connection, build: Build, problem: StepProblem) -> None:
    with errors_sent_to(connection):
        step = build(problem)
        loss, gradients = step()
        connection.send(("found", (loss, list(gradients()))))
        while True:
            connection.send(("seconds", seconds_per_step(step, budget=connection.recv())))


@contextmanager
def errors_sent_to(connection: Connection) -> Iterator[None]:
    """Whatever a peer raises belongs into its cell of the table and must not end the run."""
    try:
        yield
    except EOFError:  # the parent has closed the connection
        return
    except Exception as error:
        message = str(error).partition("\n")[0][:60]
        connection.send(("error", f"{type(error).__name__}: {message}"))


def _serve_peak(connection: Connection, build: Build, problem: StepProblem) -> None:
    with errors_sent_to(connection):
        connection.send(("megabytes", _peak_of_a_step(build, problem)))


def _peak_of_a_step(build: Build, problem: StepProblem) -> float:
    # Data and parameters are given. The same circuit with one layer loads and compiles all code.
    problem.inputs()
    build(replace(problem, n_layers=1))()
    return peak_beyond_now(lambda: build(problem)())


def peak_beyond_now(work: Callable[[], object]) -> float:
    """Peak memory of this process during the work, beyond what it holds before, in MB."""
    gc.collect()
    _return_free_memory()
    _forget_peak()
    baseline = resident_megabytes("VmRSS")
    work()
    return resident_megabytes("VmHWM") - baseline


def _return_free_memory() -> None:
    """Else the step would reuse what the warm-up left behind, and appear to need nothing."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _forget_peak() -> None:
    """Linux then counts VmHWM anew; elsewhere the peak of the warm-up stays in."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def resident_megabytes(field: str) -> float:
    """Memory of this process where Linux tells it, now (VmRSS) or at the most so far (VmHWM); elsewhere the latter."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith(field))
        return int(line.split()[1]) / 1024
    import resource

    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss is in bytes on macOS, in KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
