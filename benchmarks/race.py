"""Ours, the machine's sgemm rate and the peers, interleaved in one run."""

import argparse
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from typing import TypeVar

import numpy as np
from rich.console import Console

from benchmarks import quiet, sgemm
from benchmarks.libraries import Peer
from benchmarks.machine import description, n_cores
from benchmarks.problem import FloatArray, StepProblem
from benchmarks.tables import Table, add_output_arguments
from benchmarks.worker import AbandonedError, Build, Worker

Problem = TypeVar("Problem", bound=StepProblem)

RELATIVE_TOLERANCE = 1e-3
LIMITS: Mapping[str, Build] = {"sgemm": sgemm.build_all_cores, "sgemm, one core": sgemm.build_one_core}


@dataclass
class Timing:
    """Seconds of every step of one implementation, or why there are none."""

    seconds: list[float] = field(default_factory=list)
    note: str = ""

    @property
    def best(self) -> float:
        return min(self.seconds, default=float("nan"))

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) if self.seconds else float("nan")

    def summary(self) -> dict[str, float | int | str]:
        if not self.seconds:
            return {"note": self.note}
        return {"best_ms": 1e3 * self.best, "median_ms": 1e3 * self.median, "steps": len(self.seconds)}


@dataclass(frozen=True, kw_only=True)
class Row:
    """All that was measured for one size."""

    problem: StepProblem
    timings: Mapping[str, Timing]

    @property
    def gflops(self) -> float:
        return self.problem.flops / self.timings["ours"].best / 1e9

    def sgemm_gflops(self, name: str) -> float:
        return sgemm.FLOPS / self.timings[name].best / 1e9

    def ratio(self, peer: str) -> float:
        """How many of our steps fit into one of the peer's."""
        return self.timings[peer].best / self.timings["ours"].best

    def record(self, limits: Mapping[str, float]) -> dict[str, object]:
        """The row as JSON, with our share of the rates in ``limits``."""
        return {
            "problem": asdict(self.problem),
            "flops": self.problem.flops,
            "gflops": self.gflops,
            "sgemm_gflops": {name: self.sgemm_gflops(name) for name in LIMITS},
            "share_of_best_sgemm": {name: self.gflops / limit for name, limit in limits.items()},
            "timings": {name: timing.summary() for name, timing in self.timings.items()},
        }


@dataclass(frozen=True, kw_only=True)
class Race:
    """Who takes part: our builds, of which "ours" is what the peers are compared with, and peers by name."""

    own: Mapping[str, Build]
    peers: Mapping[str, Peer]

    def row(self, problem: StepProblem, *, rounds: int, budget: float, limit: float) -> Row:
        """Starts all, then goes round: ours, sgemm, peers, and again, so that a busy spell of the machine hits all."""
        with ExitStack() as stack:
            builds = {**self.own, **LIMITS}
            workers = {name: stack.enter_context(Worker(build, problem, limit=limit)) for name, build in builds.items()}
            timings = {name: Timing() for name in workers}
            found = {name: worker.found() for name, worker in workers.items()}
            for name, peer in self.peers.items():
                timings[name] = Timing()
                try:
                    workers[name] = _checked_worker(peer, problem, stack, limit=limit, expected=found["ours"])
                except AbandonedError as reason:
                    timings[name].note = str(reason)
            for _ in range(rounds):
                _go_round(workers, timings, budget=budget)
        for name in (name for name, peer in self.peers.items() if peer.one_core):
            timings[name].seconds = [seconds / n_cores() for seconds in timings[name].seconds]
        return Row(problem=problem, timings=timings)

    def rows(
        self, arguments: argparse.Namespace, console: Console, problems: Sequence[StepProblem] | None = None
    ) -> list[Row]:
        """A row for each problem, by default for each size that was asked for."""
        rows = []
        for problem in problems or arguments.sizes:
            with console.status(f"measuring {problem}"):
                try:
                    row = self.row(problem, rounds=arguments.rounds, budget=arguments.budget, limit=arguments.limit)
                except AbandonedError as reason:
                    raise SystemExit(
                        f"nothing to compare with at {problem}, as a step of ours failed: {reason}"
                    ) from None
            # Said at once, as a run with all peers takes a while and may be interrupted.
            console.print(f"{problem}: {milliseconds(row.timings['ours'].best)} ms")
            rows.append(row)
        return rows


def _go_round(workers: dict[str, Worker], timings: dict[str, Timing], *, budget: float) -> None:
    for name, worker in list(workers.items()):
        try:
            timings[name].seconds += worker.seconds(budget)
        except AbandonedError as reason:
            timings[name] = Timing(note=str(reason))
            workers.pop(name).close()


def _checked_worker(
    peer: Peer, problem: StepProblem, stack: ExitStack, *, limit: float, expected: tuple[float, list[FloatArray]]
) -> Worker:
    """A peer that is ready and computes what we compute."""
    missing = [package for package in peer.packages if find_spec(package) is None]
    if missing:
        raise AbandonedError("not installed")
    worker = Worker(peer.build, problem, limit=limit)
    stack.callback(worker.close)
    try:
        _require_same(worker.found(), expected)
    except AbandonedError:
        worker.close()
        raise
    return worker


def _require_same(found: tuple[float, list[FloatArray]], expected: tuple[float, list[FloatArray]]) -> None:
    """Refuses another loss, and gradients of another length or direction; a peer without derivatives gives none."""
    (loss, gradients), (our_loss, our_gradients) = found, expected
    if not abs(loss - our_loss) <= RELATIVE_TOLERANCE * abs(our_loss):
        raise AbandonedError(f"refused: loss {loss:.6f}, ours {our_loss:.6f}")
    pairs = zip(gradients, our_gradients, strict=True) if gradients else ()
    for name, (theirs, ours) in zip(("weights", "biases"), pairs, strict=False):
        apart = np.linalg.norm(theirs - ours) / np.linalg.norm(ours)
        if not apart <= RELATIVE_TOLERANCE:
            raise AbandonedError(f"refused: gradients of the {name} {apart:.1%} apart")


def best_sgemm(rows: Sequence[Row]) -> dict[str, float]:
    """The machine's rates: the best of the whole run, as a long product seldom finds a quiet moment on a busy one."""
    return {name: max(row.sgemm_gflops(name) for row in rows) for name in LIMITS}


def sgemm_scaling(rows: Sequence[Row]) -> float:
    """How sgemm scaled to all cores at the size where it did worst."""
    seconds = [[row.timings[name].best for name in ("sgemm, one core", "sgemm")] for row in rows]
    return min(quiet.scaling(one_core=one, all_cores=every) for one, every in seconds)


def race_table(
    rows: Sequence[Row],
    peers: Mapping[str, Peer],
    *,
    title: str,
    more: Callable[[Row], Mapping[str, str]] = lambda _: {},
) -> Table:
    """A column for each size; a peer's cell holds its step and how many of ours fit into it."""
    limits = best_sgemm(rows)
    columns = [
        {
            "ours, best, ms": milliseconds(row.timings["ours"].best),
            "ours, median, ms": milliseconds(row.timings["ours"].median),
            "ours, GFLOP/s": f"{row.gflops:.0f}",
            "sgemm, GFLOP/s": f"{row.sgemm_gflops('sgemm'):.0f}",
            "sgemm, one core": f"{row.sgemm_gflops('sgemm, one core'):.0f}",
            "ours / best sgemm": f"{row.gflops / limits['sgemm']:.0%}",
            **more(row),
            **{f"{peer.title}, ms": _peer_cell(row, name) for name, peer in peers.items()},
        }
        for row in rows
    ]
    return Table(
        title=f"{title} (in brackets: how many of our steps fit into it)",
        header=["n, L, B, M", *(str(row.problem) for row in rows)],
        lines=[[name, *(column[name] for column in columns)] for name in columns[0]],
    )


def _peer_cell(row: Row, peer: str) -> str:
    timing = row.timings[peer]
    return timing.note or f"{milliseconds(timing.best)} ({row.ratio(peer):.1f}×)"


def milliseconds(seconds: float) -> str:
    """Three digits, or all before the point."""
    value = 1e3 * seconds
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def race_results(rows: Sequence[Row], arguments: argparse.Namespace) -> dict[str, object]:
    """All rows as JSON."""
    limits = best_sgemm(rows)
    return {
        "rounds": arguments.rounds,
        "best_sgemm_gflops": limits,
        "rows": [row.record(limits) for row in rows],
    }


def introduced_console() -> Console:
    """A terminal that has been told about the machine."""
    console = Console()
    console.print(description())
    return console


def race_parser(
    command: str,
    about: str | None,
    *,
    problem: type[Problem],
    sizes: Iterable[tuple[int, int, int, int]],
    peers: Collection[str],
) -> argparse.ArgumentParser:
    """The options that all races share."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{command}", description=about)
    parser.add_argument(
        "--peers",
        type=lambda text: _peer_names(text, peers),
        help=f"comma-separated, of {', '.join(peers)}; '' for none",
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often all are timed in turn (default 5)")
    parser.add_argument("--budget", type=float, default=0.3, help="seconds for each in a round (default 0.3)")
    parser.add_argument("--limit", type=float, default=300, help="seconds until a peer is abandoned (default 300)")
    parser.add_argument(
        "--sizes",
        type=lambda text: _problem(text, problem),
        nargs="+",
        default=[problem_of(size, problem) for size in sizes],
        help="each n,L,B,M such as 6,42,100,2",
    )
    add_output_arguments(parser)
    return parser


def _peer_names(text: str, known: Collection[str]) -> list[str]:
    names = [name for name in text.split(",") if name]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(f"no peer {', '.join(unknown)}; there are {', '.join(known)}")
    return names


def _problem(text: str, kind: type[Problem]) -> Problem:
    try:
        n_qubits, n_layers, n_samples, n_classes = map(int, text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"a size is n,L,B,M such as 6,42,100,2, not {text}") from None
    return problem_of((n_qubits, n_layers, n_samples, n_classes), kind)


def problem_of(size: tuple[int, int, int, int], kind: type[Problem]) -> Problem:
    """The problem of the size (n, L, B, M)."""
    n_qubits, n_layers, n_samples, n_classes = size
    return kind(n_qubits=n_qubits, n_layers=n_layers, n_samples=n_samples, n_classes=n_classes)
