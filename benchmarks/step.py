"""One alignment-gradient step: ours, the machine's sgemm rate and the peers, interleaved in one run."""

import argparse
from collections.abc import Mapping, Sequence

from benchmarks import ours
from benchmarks.peers import PEERS
from benchmarks.problem import StepProblem
from benchmarks.race import Race, introduced_console, race_parser, race_results, race_table
from benchmarks.tables import Table, write_results
from benchmarks.worker import AbandonedError, Build, peak_megabytes

SIZES = ((6, 131, 100, 10), (6, 42, 100, 2), (6, 3, 32, 2), (6, 3, 100, 2), (10, 25, 100, 2), (13, 20, 100, 2))
DEPTHS = (10, 100, 1000)


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
    console = introduced_console()
    if arguments.memory:
        peaks = memory_peaks(arguments.peers or [], limit=arguments.limit)
        table, marker, results = memory_table(peaks), "memory", {"depths": DEPTHS, "megabytes": peaks}
    else:
        peers = PEERS if arguments.peers is None else {name: PEERS[name] for name in arguments.peers}
        rows = Race(own={"ours": ours.build}, peers=peers).rows(arguments, console)
        table, marker = race_table(rows, peers, title="one alignment-gradient step"), "step"
        results = race_results(rows, arguments)
    table.print(console)
    write_results([table], results, marker=marker, json_file=arguments.json, markdown_file=arguments.markdown)


def _arguments() -> argparse.Namespace:
    parser = race_parser("step", __doc__, problem=StepProblem, sizes=SIZES, peers=PEERS)
    parser.add_argument("--memory", action="store_true", help="peak memory over depth; peers only if named")
    return parser.parse_args()


if __name__ == "__main__":
    main()
