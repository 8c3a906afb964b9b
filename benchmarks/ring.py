"""124 qubits, two layers: kernel, training, weights and noisy shots, beside matrix-product states in one run."""

import argparse
import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing.connection import Connection

import numpy as np
from rich.console import Console

from benchmarks import ring_peers, ring_problem
from benchmarks.race import Timing, introduced_console
from benchmarks.ring_problem import SHOTS, RingProblem
from benchmarks.tables import Table, add_output_arguments, write_results
from benchmarks.worker import AbandonedError, Build, Worker

SECONDS_OF_A_TURN = 0.5  # at least, for ours and peers alike: more steps have more chances of a quiet moment
SPREADS_APART = 6  # standard errors by which a peer's mean number of ones may differ from ours


@dataclass(frozen=True, kw_only=True)
class Work:
    """Something of ours, and how much a peer would have to do for it, in the units that the peer is timed in."""

    title: str
    build: Build
    needs: Mapping[str, int]  # by the name of a unit


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What a peer is timed on; a step does ``n_at_once`` of them."""

    title: str
    peer: str
    build: Build
    n_at_once: Callable[[RingProblem], int] = lambda _: 1


PEERS = {"aer": ("Aer MPS", ("qiskit", "qiskit_aer")), "quimb": ("quimb", ("quimb",))}
UNITS = {
    "circuit": Unit(title=f"Aer MPS: a circuit of {SHOTS} shots", peer="aer", build=ring_peers.aer_circuits),
    "shot": Unit(
        title="Aer MPS: a noisy shot",
        peer="aer",
        build=ring_peers.aer_noisy_shots,
        n_at_once=lambda problem: problem.n_shots,
    ),
    "state": Unit(title="quimb: a state", peer="quimb", build=ring_peers.quimb_states),
    "overlap": Unit(title="quimb: an overlap", peer="quimb", build=ring_peers.quimb_overlaps),
}
WORK = {
    "kernel": Work(
        title="kernel, 150 × 2",
        build=ring_problem.kernel,
        needs={"circuit": 300, "state": 152, "overlap": 300},
    ),
    # Of training, peers are asked for the kernels alone: their gradients would need thousands of circuits for each. Of
    # the three kernels of an epoch the last two have the samples' states in common.
    "step": Work(
        title="training step, batch of 100",
        build=ring_problem.training_step,
        needs={"circuit": 200, "state": 102, "overlap": 200},
    ),
    "epoch": Work(
        title="epoch, 100 samples",
        build=ring_problem.epoch,
        needs={"circuit": 600, "state": 206, "overlap": 600},
    ),
    "weights": Work(
        title="distributions of weights, 150 × 2", build=ring_problem.distributions, needs={"circuit": 300}
    ),
    "noisy": Work(title=f"noisy shots, 300 × {SHOTS}", build=ring_problem.noisy_shots, needs={"shot": 300 * SHOTS}),
}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Timings of ours by work, of the peers by unit, and the peak memory of a whole process for each work."""

    problem: RingProblem
    ours: Mapping[str, Timing]
    units: Mapping[str, Timing]
    megabytes: Mapping[str, float]

    def unit_seconds(self, name: str) -> float:
        return self.units[name].best / UNITS[name].n_at_once(self.problem)

    def n_timed(self, name: str) -> int:
        return len(self.units[name].seconds) * UNITS[name].n_at_once(self.problem)

    def peer_seconds(self, work: str, peer: str) -> float:
        """What the whole work would take a peer, by the units that it was timed on."""
        return sum(count * self.unit_seconds(name) for name, count in needs(work, peer).items())

    def note(self, work: str, peer: str) -> str:
        """Why a peer has no numbers, if so."""
        return next(filter(None, (self.units[name].note for name in needs(work, peer))), "")


def needs(work: str, peer: str) -> dict[str, int]:
    """How many units of this peer would do the work; none where it has no part in it."""
    return {name: count for name, count in WORK[work].needs.items() if UNITS[name].peer == peer}


def measured(problem: RingProblem, peers: Sequence[str], *, rounds: int, limit: float, console: Console) -> Measured:
    """Starts all, then goes round: ours and the peers take turns, so that a busy spell of the machine hits all."""
    with ExitStack() as stack:
        workers = {name: stack.enter_context(Worker(work.build, problem, limit=limit)) for name, work in WORK.items()}
        found = {name: worker.found()[1] for name, worker in workers.items()}
        ours, units = {name: Timing() for name in WORK}, {}
        for name, unit in UNITS.items():
            if unit.peer not in peers:
                continue
            units[name] = Timing()
            try:
                workers[name] = _peer_worker(unit, problem, found, stack=stack, limit=limit)
            except AbandonedError as reason:
                units[name].note = str(reason)
        for number in range(rounds):
            console.print(f"round {number + 1} of {rounds}")
            for name, worker in list(workers.items()):
                timing = ours[name] if name in ours else units[name]
                try:
                    timing.seconds += worker.seconds(SECONDS_OF_A_TURN)
                except AbandonedError as reason:
                    if name in ours:
                        raise SystemExit(f"nothing to compare with, as {name} of ours failed: {reason}") from None
                    units[name] = Timing(note=str(reason))
                    workers.pop(name).close()
    megabytes = {name: _peak_megabytes(work.build, problem, limit=limit) for name, work in WORK.items()}
    return Measured(problem=problem, ours=ours, units=units, megabytes=megabytes)


def _peer_worker(
    unit: Unit, problem: RingProblem, ours: Mapping[str, list[np.ndarray]], *, stack: ExitStack, limit: float
) -> Worker:
    """A peer that is ready and finds what we find."""
    if any(find_spec(package) is None for package in PEERS[unit.peer][1]):
        raise AbandonedError("not installed")
    worker = Worker(unit.build, problem, limit=limit)
    stack.callback(worker.close)
    value, arrays = worker.found()
    place = problem.pair(0)
    if unit.build is ring_peers.quimb_overlaps:
        expected = ours["kernel"][0][place]
        if not abs(value - expected) <= 1e-6 * abs(expected):
            raise AbandonedError(f"refused: log fidelity {value:.6f}, ours {expected:.6f}")
    elif arrays:
        of_ours = ours["weights" if unit.build is ring_peers.aer_circuits else "noisy"][0][place]
        _require_same_mean(arrays[0], of_ours)
    return worker


def _require_same_mean(weights: np.ndarray, of_ours: np.ndarray) -> None:
    """Refuses shots whose mean number of ones chance does not explain."""
    ones, shares = np.arange(len(of_ours)), of_ours / of_ours.sum()
    mean = float(np.sum(shares * ones))
    spread = float(np.sqrt(np.sum(shares * (ones - mean) ** 2) / len(weights)))
    if not abs(weights.mean() - mean) <= SPREADS_APART * spread:
        raise AbandonedError(f"refused: {weights.mean():.1f} ones on average, ours {mean:.1f}")


def _peak_megabytes(build: Build, problem: RingProblem, *, limit: float) -> float:
    with Worker(build, problem, limit=limit, serve=_serve_peak) as worker:
        return float(worker.answer(f"> {limit:g} s"))


def _serve_peak(connection: Connection, build: Build, problem: RingProblem) -> None:
    """The whole process counts: interpreter, libraries, compiled code, data and work."""
    build(problem)()
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss is in bytes on macOS, in KiB elsewhere
    connection.send(("megabytes", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20))


def tables(found: Measured, peers: Sequence[str]) -> list[Table]:
    """A line for each work, and one for each unit that a peer was timed on."""
    lines = []
    for name, work in WORK.items():
        timing = found.ours[name]
        cells = [_peer_cell(found, name, peer) for peer in peers]
        lines.append(
            [work.title, _seconds(timing.best), _seconds(timing.median), *cells, f"{found.megabytes[name]:,.0f}"]
        )
    of_work = Table(
        title="124 qubits, two layers (in brackets: how many times ours fits into it)",
        header=["work", "ours, best", "ours, median", *(PEERS[peer][0] for peer in peers), "peak MB"],
        lines=lines,
    )
    of_units = Table(
        title=f"what the peers were timed on ({_told_versions(peers)})",
        header=["unit", "best", "how many"],
        lines=[
            [UNITS[name].title, timing.note or _seconds(found.unit_seconds(name)), str(found.n_timed(name))]
            for name, timing in found.units.items()
        ],
    )
    return [of_work, of_units] if found.units else [of_work]


def _peer_cell(found: Measured, work: str, peer: str) -> str:
    if not needs(work, peer):
        return ""
    seconds = found.peer_seconds(work, peer)
    return found.note(work, peer) or f"{_seconds(seconds)} ({seconds / found.ours[work].best:,.0f}×)"


def _seconds(seconds: float) -> str:
    if seconds < 1:
        return f"{1e3 * seconds:.1f} ms"
    return (
        f"{seconds:.2f} s" if seconds < 100 else f"{seconds:,.0f} s" if seconds < 7200 else f"{seconds / 3600:,.1f} h"
    )


def _versions(peers: Sequence[str]) -> dict[str, str]:
    """Version by package, of those installed."""
    packages = [package for peer in peers for package in PEERS[peer][1] if find_spec(package)]
    return {package: version(package.replace("_", "-")) for package in packages}


def _told_versions(peers: Sequence[str]) -> str:
    return ", ".join(f"{package} {number}" for package, number in _versions(peers).items()) or "none installed"


def results(found: Measured, *, rounds: int, peers: Sequence[str]) -> dict[str, object]:
    """All numbers as JSON."""
    return {
        "rounds": rounds,
        "problem": asdict(found.problem),
        "peer_versions": _versions(peers),
        "work": {
            name: {
                "ours": found.ours[name].summary(),
                "peak_megabytes": found.megabytes[name],
                "peers": {peer: _peer_record(found, name, peer) for peer in peers if needs(name, peer)},
            }
            for name in WORK
        },
        "units": {
            name: {"seconds": found.unit_seconds(name), "timed": found.n_timed(name)} if timing.seconds else timing.note
            for name, timing in found.units.items()
        },
    }


def _peer_record(found: Measured, work: str, peer: str) -> str | dict[str, float]:
    seconds = found.peer_seconds(work, peer)
    return found.note(work, peer) or {"seconds": seconds, "ratio": seconds / found.ours[work].best}


def main() -> None:
    arguments = _arguments()
    console = introduced_console()
    problem = RingProblem(n_circuits=arguments.circuits, n_shots=arguments.shots)
    found = measured(problem, arguments.peers, rounds=arguments.rounds, limit=arguments.limit, console=console)
    made = tables(found, arguments.peers)
    for table in made:
        table.print(console)
    write_results(
        made,
        results(found, rounds=arguments.rounds, peers=arguments.peers),
        marker="ring",
        json_file=arguments.json,
        markdown_file=arguments.markdown,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ring", description=__doc__)
    parser.add_argument(
        "--peers", type=_peer_names, default=list(PEERS), help=f"comma-separated, of {', '.join(PEERS)}; '' for none"
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often all are timed in turn (default 5)")
    parser.add_argument("--circuits", type=int, default=2, help="circuits that peers are timed on (default 2)")
    parser.add_argument("--shots", type=int, default=8, help="noisy shots of a peer in a round (default 8)")
    parser.add_argument("--limit", type=float, default=300, help="seconds until a peer is abandoned (default 300)")
    add_output_arguments(parser)
    return parser.parse_args()


def _peer_names(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    if unknown := [name for name in names if name not in PEERS]:
        raise argparse.ArgumentTypeError(f"no peer {', '.join(unknown)}; there are {', '.join(PEERS)}")
    return names


if __name__ == "__main__":
    main()
