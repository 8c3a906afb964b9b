"""Whole fits of seven rival classifiers: ours beside the same models in PennyLane, JAX and optax."""

import argparse
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import rivals_peers
from benchmarks.machine import n_cores
from benchmarks.race import Timing, introduced_console, milliseconds
from benchmarks.rivals_problem import INTERVAL, PROBLEMS, RivalProblem
from benchmarks.tables import Table, add_output_arguments, write_results
from benchmarks.worker import (
    AbandonedError,
    Worker,
    errors_sent_to,
    peak_beyond_now,
    resident_megabytes,
    seconds_per_step,
)

OURS = "ours"
NEVER_CONVERGED = 2 * INTERVAL
"""The most steps of a fit that the suite's rule cannot end."""

STEPS_OF_PEAK = 10
"""Steps whose memory is measured, after the first."""


class Whole(NamedTuple):
    """A whole fit: seconds after the first step has compiled, steps, and the mean loss of the last ones."""

    seconds: float
    n_steps: int
    last_loss: float


class Peak(NamedTuple):
    """Peak memory of a fit in MB: of the whole process, and beyond imported libraries and data."""

    process: float
    of_fit: float


class Side(Protocol):
    """One implementation of a model, with its libraries imported and the data loaded."""

    def first(self) -> None:
        """Does the first step, which compiles, or loads what was compiled."""

    def turn(self, *, steps: int, budget: float) -> list[float]:
        """Seconds per step of so many steps, or more if the seconds of the budget are not over then."""

    def fit(self, n_steps: int | None) -> Whole:
        """A fit until it ends by itself, or of so many steps."""


class Ours:
    """The estimator of mcquack; a step is a share of a whole call of ``fit``, with all that is done around steps."""

    def __init__(self, problem: RivalProblem) -> None:
        self._build = partial(getattr(import_module("mcquack.models"), problem.model), **problem.settings)
        self._data = problem.data()
        self._pace: float | None = None  # seconds per step

    def _fitted(self, **settings: int) -> Any:
        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return self._build(**settings, random_state=0).fit(*self._data)

    def first(self) -> None:
        self._fitted(max_steps=1)

    def turn(self, *, steps: int, budget: float) -> list[float]:
        if self._pace is None:
            (self._pace,) = self._paces(steps, budget=0)
        n_steps = min(max(steps, int(budget / self._pace)), NEVER_CONVERGED)
        return self._paces(n_steps, budget=budget)

    def _paces(self, max_steps: int, *, budget: float) -> list[float]:
        """Seconds per step of each fit; one that ends early, as losses are not finite, took fewer steps."""
        n_done: list[int] = []
        seconds = seconds_per_step(lambda: n_done.append(self._fitted(max_steps=max_steps).n_iter_), budget=budget)
        return [of_fit / n_steps for of_fit, n_steps in zip(seconds, n_done, strict=True)]

    def fit(self, n_steps: int | None) -> Whole:
        settings = {} if n_steps is None else {"max_steps": n_steps}
        started = time.perf_counter()
        model = self._fitted(**settings)
        seconds = time.perf_counter() - started
        return Whole(seconds, int(model.n_iter_), float(np.mean(model.losses_[-INTERVAL:])))


class JaxPeer:
    """The same model in PennyLane, JAX and optax."""

    def __init__(self, settings: Mapping[str, Any], problem: RivalProblem) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        X, y = problem.data()
        model = rivals_peers.MODELS[problem.model](X.shape[1], {**problem.settings, **settings})
        self._training = rivals_peers.training(
            model, X, y, learning_rate=problem.settings["learning_rate"], batch_size=problem.settings["batch_size"]
        )
        self._losses: list[float] = []
        self._has_blas_threads = False

    def first(self) -> None:
        """Does a step as the loop of a fit would, and asks the rule whether it is the last."""
        self._losses.append(next(self._training))
        if not math.isfinite(self._losses[-1]):
            raise ArithmeticError(f"loss {self._losses[-1]} in step {len(self._losses)}")
        rivals_peers.has_converged(self._losses)

    def turn(self, *, steps: int, budget: float) -> list[float]:
        if not self._has_blas_threads:
            self._choose_blas_threads()
        seconds: list[float] = []
        while len(seconds) < steps or sum(seconds) < budget:
            seconds += seconds_per_step(self.first, budget=0)
        return seconds

    def _choose_blas_threads(self) -> None:
        """One or all, whichever is faster: ``eigh`` of small matrices may lose more by waking threads than it wins."""
        best_seconds = {}
        for threads in (1, n_cores()):
            threadpool_limits(limits=threads, user_api="blas")
            best_seconds[threads] = min(seconds_per_step(self.first, budget=0)[0] for _ in range(3))
        threadpool_limits(limits=min(best_seconds, key=best_seconds.__getitem__), user_api="blas")
        self._has_blas_threads = True

    def fit(self, n_steps: int | None) -> Whole:
        # The losses go on from those of the turns, and the rule's verdict is not heeded: what counts are the steps.
        assert n_steps is not None

        def steps() -> None:
            for _ in range(n_steps):
                self.first()

        (seconds,) = seconds_per_step(steps, budget=0)
        return Whole(seconds, n_steps, float(np.mean(self._losses[-INTERVAL:])))


@dataclass(kw_only=True)
class Measured:
    """All that was measured of one side so far, and why there is no more."""

    steps: Timing = field(default_factory=Timing)
    first: float | None = None
    whole: Whole | None = None
    peak: Peak | None = None

    @contextmanager
    def noting_failure(self) -> Iterator[None]:
        """A failure ends what is done inside, and nothing else."""
        try:
            yield
        except AbandonedError as reason:
            self.steps.note = str(reason)

    def record(self) -> dict[str, object]:
        """Everything as JSON."""
        return {
            **self.steps.summary(),
            "note": self.steps.note,
            "first_step_seconds": self.first,
            "fit": self.whole._asdict() if self.whole else None,
            "peak_megabytes": self.peak._asdict() if self.peak else None,
        }


@dataclass(frozen=True, kw_only=True)
class Row:
    """Both sides of one model; of some models there are several peers."""

    problem: RivalProblem
    ours: Measured
    peers: Mapping[str, Measured]

    @property
    def n_steps(self) -> int | None:
        """How many steps our fit took."""
        return self.ours.whole.n_steps if self.ours.whole else None

    def step_ratio(self, peer: str) -> float | None:
        """How many of our steps fit into one of the peer's."""
        ours, theirs = self.ours.steps, self.peers[peer].steps
        return theirs.median / ours.median if ours.seconds and theirs.seconds else None

    def fit_seconds(self, peer: str) -> float | None:
        """The peer's first step, which compiles, and as many more as our fit took: measured, or so many medians."""
        return _fit_seconds(self.peers[peer], self.n_steps)

    def fit_ratio(self, peer: str, *, both_start: bool = False) -> float | None:
        """How many of our fits fit into one of the peer's; ours has loaded its code before, unless both start."""
        theirs = self.fit_seconds(peer)
        if theirs is None or self.ours.whole is None:
            return None
        start = self.ours.first if both_start and self.ours.first else 0
        return theirs / (start + self.ours.whole.seconds)

    def record(self) -> dict[str, object]:
        """The row as JSON."""
        return {
            "problem": {**asdict(self.problem), **self.problem.size._asdict()},
            "ours": self.ours.record(),
            "peers": {
                name: {
                    **side.record(),
                    "fit_seconds": self.fit_seconds(name),
                    "fit_is_extrapolated": side.whole is None,
                    "step_ratio": self.step_ratio(name),
                    "fit_ratio": self.fit_ratio(name),
                    "fit_ratio_if_both_start": self.fit_ratio(name, both_start=True),
                }
                for name, side in self.peers.items()
            },
        }


def _fit_seconds(peer: Measured, n_steps: int | None) -> float | None:
    if peer.first is None or not peer.steps.seconds or n_steps is None:
        return None
    return peer.first + (peer.whole.seconds if peer.whole else n_steps * peer.steps.median)


def measured_row(problem: RivalProblem, arguments: argparse.Namespace) -> Row:
    """Starts all and goes round, so that a busy spell of the machine hits all; whole fits and memory come after."""
    builds: dict[str, Callable[[RivalProblem], Side]] = {OURS: Ours}
    builds |= {name: partial(JaxPeer, settings) for name, settings in problem.peers.items()}
    sides = {name: Measured() for name in builds}
    workers: dict[str, Worker] = {}
    ours, late = sides[OURS], f"> {arguments.limit:g} s"

    def answer(name: str, method: str, **settings: object) -> Any:
        with sides[name].noting_failure():
            return workers[name].ask((method, settings), f"{late} for a {method}")

    with ours.noting_failure(), _worker(Ours, problem, limit=arguments.limit, serve=_serve) as compiler:
        compiler.answer(f"{late} to compile")  # into files, which are there from the second process on
    with ExitStack() as stack:
        for name in _unharmed(sides):
            with sides[name].noting_failure():
                worker = _worker(builds[name], problem, limit=arguments.limit, serve=_serve)
                workers[name] = stack.enter_context(worker)
                sides[name].first = workers[name].answer(f"{late} to compile")
        for _ in range(arguments.rounds):
            for name, side in _unharmed(sides).items():
                side.steps.seconds += answer(name, "turn", steps=arguments.steps, budget=arguments.budget) or []
        if OURS in _unharmed(sides):
            ours.whole = answer(OURS, "fit", n_steps=arguments.max_steps)
        n_steps = ours.whole.n_steps if ours.whole else None
        for name, side in _unharmed(sides).items():
            seconds = _fit_seconds(side, n_steps)
            if side is not ours and seconds is not None and seconds <= arguments.short:
                side.whole = answer(name, "fit", n_steps=n_steps)
    for name, side in _unharmed(sides).items():
        with side.noting_failure(), _worker(builds[name], problem, limit=arguments.limit, serve=_serve_peak) as worker:
            side.peak = worker.answer(late)
    return Row(problem=problem, ours=sides.pop(OURS), peers=sides)


def _unharmed(sides: Mapping[str, Measured]) -> dict[str, Measured]:
    """Those that have not failed, and so can be asked for more."""
    return {name: side for name, side in sides.items() if not side.steps.note}


def _worker(
    build: Callable[[RivalProblem], Side], problem: RivalProblem, *, limit: float, serve: Callable[..., None]
) -> Worker:
    """A process for one side, if its libraries are there."""
    if build is not Ours and any(find_spec(package) is None for package in rivals_peers.PACKAGES):
        raise AbandonedError("not installed")
    return Worker(build, problem, limit=limit, serve=serve)


def _serve(connection: Connection, build: Callable[[RivalProblem], Side], problem: RivalProblem) -> None:
    with errors_sent_to(connection):
        side = build(problem)
        (seconds,) = seconds_per_step(side.first, budget=0)
        connection.send(("first", seconds))
        while True:
            method, arguments = connection.recv()
            connection.send((method, getattr(side, method)(**arguments)))


def _serve_peak(connection: Connection, build: Callable[[RivalProblem], Side], problem: RivalProblem) -> None:
    with errors_sent_to(connection):
        side = build(problem)

        def work() -> None:
            side.first()
            side.turn(steps=STEPS_OF_PEAK, budget=0)

        of_fit = peak_beyond_now(work)
        connection.send(("peak", Peak(process=resident_megabytes("VmHWM"), of_fit=of_fit)))


def tables(rows: Sequence[Row]) -> list[Table]:
    """Steps, ratios and memory, and the seconds behind them; a line for each model and peer."""
    lines = [(row, peer) for row in rows for peer in row.peers]
    return [
        Table(
            title="steps and fits, and peak memory of the process (in brackets: beyond libraries and data)",
            header=[
                *("model", "qubits", "layers", "parameters", "steps", "ours, ms", "peer, ms"),
                *("ratio of steps", "ratio of fits", "ours, MB", "peer, MB"),
            ],
            lines=[_step_line(row, peer) for row, peer in lines],
        ),
        Table(
            title="seconds behind the ratio of fits (≈: the first step, and so many times the median of others)",
            header=[
                *("model", "ours, first step", "peer, first step", "ours, fit", "peer, first step and fit"),
                "ratio if both start",
            ],
            lines=[_fit_line(row, peer) for row, peer in lines],
        ),
    ]


def _step_line(row: Row, peer: str) -> list[str]:
    ours, theirs, size = row.ours, row.peers[peer], row.problem.size
    return [
        *(_title(row, peer), str(size.n_qubits), _cell(size.n_layers, "d"), f"{size.n_parameters:,}"),
        *(_cell(row.n_steps, ",d"), _step_cell(ours), _step_cell(theirs)),
        *(_cell(row.step_ratio(peer), ",.1f", "×"), _cell(row.fit_ratio(peer), ",.1f", "×")),
        *(_peak_cell(side.peak) for side in (ours, theirs)),
    ]


def _fit_line(row: Row, peer: str) -> list[str]:
    ours, theirs, seconds = row.ours, row.peers[peer], row.fit_seconds(peer)
    guess = "" if seconds is None or theirs.whole else "≈ "
    return [
        *(_title(row, peer), _cell(ours.first, ".1f"), _cell(theirs.first, ".1f")),
        _cell(ours.whole.seconds, ",.2f") if ours.whole else ours.steps.note,
        guess + _cell(seconds, ",.1f"),
        _cell(row.fit_ratio(peer, both_start=True), ",.1f", "×"),
    ]


def _title(row: Row, peer: str) -> str:
    return row.problem.title if len(row.peers) == 1 else f"{row.problem.title}, {peer}"


def _cell(number: float | None, form: str, unit: str = "") -> str:
    return "" if number is None else f"{number:{form}}{unit}"


def _step_cell(side: Measured) -> str:
    return milliseconds(side.steps.median) if side.steps.seconds else side.steps.note


def _peak_cell(peak: Peak | None) -> str:
    return f"{peak.process:,.0f} ({peak.of_fit:,.0f})" if peak else ""


def main() -> None:
    arguments = _arguments()
    console = introduced_console()
    rows = []
    for problem in (PROBLEMS[name] for name in arguments.models):
        with console.status(f"measuring {problem}"):
            rows.append(measured_row(problem, arguments))
        # Said at once, as a run with all models takes a while and may be interrupted.
        told = [f"{name} {_step_cell(side)}" for name, side in {OURS: rows[-1].ours, **rows[-1].peers}.items()]
        console.print(f"{problem}, ms a step: {', '.join(told)}")
    made = tables(rows)
    for each in made:
        each.print(console)
    results = {
        "rounds": arguments.rounds,
        "steps": arguments.steps,
        "budget": arguments.budget,
        "max_steps": arguments.max_steps,
        "load_average": os.getloadavg(),
        "rows": [row.record() for row in rows],
    }
    write_results(made, results, marker="rivals", json_file=arguments.json, markdown_file=arguments.markdown)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals", description=__doc__)
    parser.add_argument("--models", nargs="+", choices=PROBLEMS, default=list(PROBLEMS), help="which (default all)")
    parser.add_argument("--rounds", type=int, default=5, help="how often all are timed in turn (default 5)")
    parser.add_argument("--steps", type=int, default=10, help="steps of a side in a round, at least (default 10)")
    parser.add_argument("--budget", type=float, default=0.5, help="seconds of a side in a round, about (default 0.5)")
    parser.add_argument("--short", type=float, default=30, help="seconds up to which a peer's fit is run (default 30)")
    parser.add_argument("--max-steps", type=int, help="of our whole fits (default: what the originals allow)")
    parser.add_argument("--limit", type=float, default=900, help="seconds until a side is abandoned (default 900)")
    add_output_arguments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
