"""One alignment-gradient step: ours, the machine's sgemm rate and the peers, interleaved in one run."""

import argparse
import statistics
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec

from rich.console import Console

from benchmarks import ours, sgemm
from benchmarks.machine import description, load
from benchmarks.peers import PEERS
from benchmarks.problem import StepProblem
from benchmarks.tables import Table, add_output_arguments, write_results
from benchmarks.worker import AbandonedError, Build, Worker, peak_megabytes

SIZES = ((6, 131, 100, 10), (6, 42, 100, 2), (6, 3, 32, 2), (6, 3, 100, 2), (10, 25, 100, 2), (13, 20, 100, 2))
DEPTHS = (10, 100, 1000)
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


def measured_row(problem: StepProblem, peers: Iterable[str], *, rounds: int, budget: float, limit: float) -> Row:
    """Starts all, then goes round: ours, sgemm, peers, and again, so that a busy spell of the machine hits all."""
    timings = {name: Timing() for name in ("ours", *LIMITS)}
    with ExitStack() as stack:
        workers = {
            name: stack.enter_context(Worker(build, problem, limit=limit))
            for name, build in {"ours": ours.build, **LIMITS}.items()
        }
        losses = {name: worker.loss() for name, worker in workers.items()}
        for name in peers:
            timings[name] = Timing()
            try:
                workers[name] = _checked_peer(name, problem, stack, limit=limit, expected=losses["ours"])
            except AbandonedError as reason:
                timings[name].note = str(reason)
        for _ in range(rounds):
            for name, worker in list(workers.items()):
                try:
                    timings[name].seconds += worker.seconds(budget)
                except AbandonedError as reason:
                    timings[name] = Timing(note=str(reason))
                    workers.pop(name).close()
    return Row(problem=problem, timings=timings)


def _checked_peer(name: str, problem: StepProblem, stack: ExitStack, *, limit: float, expected: float) -> Worker:
    """A peer that is ready and computes what we compute."""
    peer = PEERS[name]
    missing = [package for package in peer.packages if find_spec(package) is None]
    if missing:
        raise AbandonedError("not installed")
    worker = Worker(peer.build, problem, limit=limit)
    stack.callback(worker.close)
    try:
        loss = worker.loss()
    except AbandonedError:
        worker.close()
        raise
    if not abs(loss - expected) <= RELATIVE_TOLERANCE * abs(expected):
        worker.close()
        raise AbandonedError(f"refused: loss {loss:.6f}, ours {expected:.6f}")
    return worker


def best_sgemm(rows: Sequence[Row]) -> dict[str, float]:
    """The machine's rates: the best of the whole run, as a long product seldom finds a quiet moment on a busy one."""
    return {name: max(row.sgemm_gflops(name) for row in rows) for name in LIMITS}


def step_table(rows: Sequence[Row], peers: Sequence[str]) -> Table:
    """A column for each size; a peer's cell holds its step and how many of ours fit into it."""
    limits = best_sgemm(rows)
    lines = {
        "ours, best, ms": [_milliseconds(row.timings["ours"].best) for row in rows],
        "ours, median, ms": [_milliseconds(row.timings["ours"].median) for row in rows],
        "ours, GFLOP/s": [f"{row.gflops:.0f}" for row in rows],
        "sgemm, GFLOP/s": [f"{row.sgemm_gflops('sgemm'):.0f}" for row in rows],
        "sgemm, one core": [f"{row.sgemm_gflops('sgemm, one core'):.0f}" for row in rows],
        "ours / best sgemm": [f"{row.gflops / limits['sgemm']:.0%}" for row in rows],
        **{f"{PEERS[peer].title}, ms": [_peer_cell(row, peer) for row in rows] for peer in peers},
    }
    return Table(
        title="one alignment-gradient step (in brackets: how many of our steps fit into it)",
        header=["n, L, B, M", *(str(row.problem) for row in rows)],
        lines=[[name, *cells] for name, cells in lines.items()],
    )


def _peer_cell(row: Row, peer: str) -> str:
    timing = row.timings[peer]
    return timing.note or f"{_milliseconds(timing.best)} ({row.ratio(peer):.1f}×)"


def _milliseconds(seconds: float) -> str:
    value = 1e3 * seconds
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def memory_peaks(peers: Sequence[str], *, limit: float) -> dict[str, list[float | str]]:
    """Peak memory in MB at each depth, or why there is none, by implementation."""
    builds = {"ours": ours.build, **{PEERS[name].title: PEERS[name].build for name in peers}}
    return {title: [_peak(build, depth, limit=limit) for depth in DEPTHS] for title, build in builds.items()}


def _peak(build: Build, depth: int, *, limit: float) -> float | str:
    # As many features as qubits, so that the data do not grow with the depth.
    problem = StepProblem(n_qubits=8, n_layers=depth, n_samples=100, n_classes=2, n_features=8)
    try:
        return round(peak_megabytes(build, problem, limit=limit), 1)
    except AbandonedError as reason:
        return str(reason)


def memory_table(peaks: Mapping[str, Sequence[float | str]]) -> Table:
    """A line for each implementation, a column for each depth."""
    return Table(
        title="peak memory of a step, MB",
        header=["n = 8, B = 100, M = 2", *(f"L = {depth:,}" for depth in DEPTHS)],
        lines=[[title, *map(str, cells)] for title, cells in peaks.items()],
    )


def main() -> None:
    arguments = _arguments()
    console = Console()
    console.print(description())
    if load() > 0.5:
        console.print(f"The machine is busy (load {load():.1f}): shares and ratios will be off.", style="bold")
    if arguments.memory:
        peaks = memory_peaks(arguments.peers or [], limit=arguments.limit)
        table, marker, results = memory_table(peaks), "memory", {"depths": DEPTHS, "megabytes": peaks}
    else:
        peers = list(PEERS) if arguments.peers is None else arguments.peers
        rows = _measured_rows(arguments, peers, console)
        table, marker = step_table(rows, peers), "step"
        limits = best_sgemm(rows)
        results = {
            "rounds": arguments.rounds,
            "best_sgemm_gflops": limits,
            "rows": [row.record(limits) for row in rows],
        }
    table.print(console)
    write_results([table], results, marker=marker, json_file=arguments.json, markdown_file=arguments.markdown)


def _measured_rows(arguments: argparse.Namespace, peers: Sequence[str], console: Console) -> list[Row]:
    rows = []
    for problem in arguments.sizes:
        with console.status(f"measuring {problem}"):
            try:
                row = measured_row(
                    problem, peers, rounds=arguments.rounds, budget=arguments.budget, limit=arguments.limit
                )
            except AbandonedError as reason:
                raise SystemExit(f"nothing to compare with at {problem}, as our own step failed: {reason}") from None
        # Said at once, as a run with all peers takes a while and may be interrupted.
        console.print(f"{problem}: {_milliseconds(row.timings['ours'].best)} ms")
        rows.append(row)
    return rows


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.step", description=__doc__)
    parser.add_argument("--peers", type=_peer_names, help=f"comma-separated, of {', '.join(PEERS)}; '' for none")
    parser.add_argument("--rounds", type=int, default=5, help="how often all are timed in turn (default 5)")
    parser.add_argument("--budget", type=float, default=0.3, help="seconds for each in a round (default 0.3)")
    parser.add_argument("--limit", type=float, default=300, help="seconds until a peer is abandoned (default 300)")
    parser.add_argument("--sizes", type=_problem, nargs="+", default=[_problem_of(*size) for size in SIZES])
    parser.add_argument("--memory", action="store_true", help="peak memory over depth; peers only if named")
    add_output_arguments(parser)
    return parser.parse_args()


def _peer_names(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    unknown = [name for name in names if name not in PEERS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no peer {', '.join(unknown)}; there are {', '.join(PEERS)}")
    return names


def _problem(text: str) -> StepProblem:
    try:
        n_qubits, n_layers, n_samples, n_classes = map(int, text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"a size is n,L,B,M such as 6,42,100,2, not {text}") from None
    return _problem_of(n_qubits, n_layers, n_samples, n_classes)


def _problem_of(n_qubits: int, n_layers: int, n_samples: int, n_classes: int) -> StepProblem:
    return StepProblem(n_qubits=n_qubits, n_layers=n_layers, n_samples=n_samples, n_classes=n_classes)


if __name__ == "__main__":
    main()
