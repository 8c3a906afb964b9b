"""One alignment-gradient step: ours, the machine's sgemm rate and the peers, interleaved in one run."""

import argparse
from collections.abc import Mapping, Sequence

from benchmarks import ours
from benchmarks.libraries import LIBRARIES, Peer
from benchmarks.peers import PEERS
from benchmarks.problem import StepProblem
from benchmarks.race import Race, introduced_console, problem_of, race_parser, race_results, race_table, sgemm_scaling
from benchmarks.registers import restart_without_avx512
from benchmarks.tables import Table, write_results
from benchmarks.worker import AbandonedError, Build, peak_megabytes

SIZES = ((6, 131, 100, 10), (6, 42, 100, 2), (6, 3, 32, 2), (6, 3, 100, 2), (10, 25, 100, 2), (13, 20, 100, 2))
LARGE_SIZES = ((16, 10, 32, 2), (20, 4, 8, 2))
LARGE_PEERS = ("torch-fused", "jax", "lightning", "lightning-kokkos", "qulacs", "aer")
DEPTHS = (10, 100, 1000)

Peaks = Mapping[str, Sequence[float | str]]
"""Peak memory in MB at each size, or why there is none, by implementation."""


def memory_peaks(peers: Mapping[str, Peer], problems: Sequence[StepProblem], *, limit: float) -> Peaks:
    """Of ours and of the peers."""
    builds = {"ours": ours.build, **{peer.title: peer.build for peer in peers.values()}}
    return {title: [_peak(build, problem, limit=limit) for problem in problems] for title, build in builds.items()}


def _peak(build: Build, problem: StepProblem, *, limit: float) -> float | str:
    try:
        return round(peak_megabytes(build, problem, limit=limit), 1)
    except AbandonedError as reason:
        return str(reason)


def depth_problem(depth: int) -> StepProblem:
    """As many features as qubits, so that the data do not grow with the depth."""
    return StepProblem(n_qubits=8, n_layers=depth, n_samples=100, n_classes=2, n_features=8)


def depth_table(peaks: Peaks) -> Table:
    """A line for each implementation, a column for each depth."""
    return Table(
        title="peak memory of a step, MB",
        header=["n = 8, B = 100, M = 2", *(f"L = {depth:,}" for depth in DEPTHS)],
        lines=[[title, *map(_megabytes, cells)] for title, cells in peaks.items()],
    )


def large_table(peaks: Peaks, problems: Sequence[StepProblem]) -> Table:
    """Peak memory beside what the final states of all samples and centroids take."""
    one = [8 * 2**problem.n_qubits / 2**20 for problem in problems]
    states = [megabytes * problem.n_circuits for megabytes, problem in zip(one, problems, strict=True)]
    lines = {"one state": one, "states of the batch": states, **peaks}
    return Table(
        title="peak memory of a step, MB",
        header=["n, L, B, M", *map(str, problems)],
        lines=[[title, *map(_megabytes, cells)] for title, cells in lines.items()],
    )


def _megabytes(peak: float | str) -> str:
    return peak if isinstance(peak, str) else f"{peak:,.1f}"


def main() -> None:
    arguments = _arguments()
    console = introduced_console()
    peers = {name: PEERS[name] for name in arguments.peers}
    if arguments.memory:
        peaks = memory_peaks(peers, [depth_problem(depth) for depth in DEPTHS], limit=arguments.limit)
        tables, results, scaling = [depth_table(peaks)], {"depths": DEPTHS, "megabytes": peaks}, None
    else:
        rows = Race(own={"ours": ours.build}, peers=peers).rows(arguments, console)
        tables = [race_table(rows, peers, title="one alignment-gradient step")]
        results, scaling = race_results(rows, arguments), sgemm_scaling(rows)
    if arguments.large:
        peaks = memory_peaks(peers, arguments.sizes, limit=arguments.limit)
        tables, results = [*tables, large_table(peaks, arguments.sizes)], {**results, "megabytes": peaks}
    for table in tables:
        table.print(console)
    kind = "memory" if arguments.memory else "step-large" if arguments.large else "step"
    write_results(
        tables,
        results,
        marker=f"{kind}-avx2" if arguments.avx2 else kind,
        json_file=arguments.json,
        markdown_file=arguments.markdown,
        sgemm_scaling=scaling,
    )


def _arguments() -> argparse.Namespace:
    parser = race_parser("step", __doc__, problem=StepProblem, sizes=(), peers=PEERS)
    parser.add_argument("--avx2", action="store_true", help="do without AVX-512: ours, sgemm and peers alike")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--large", action="store_true", help="16 and 20 qubits instead, with peak memory")
    kinds.add_argument("--memory", action="store_true", help="peak memory over depth; peers only if named")
    arguments = parser.parse_args()
    if arguments.avx2:
        restart_without_avx512()
    usual_peers = () if arguments.memory else LARGE_PEERS if arguments.large else (*LIBRARIES, "qulacs")
    arguments.peers = usual_peers if arguments.peers is None else arguments.peers
    sizes = LARGE_SIZES if arguments.large else SIZES
    arguments.sizes = arguments.sizes or [problem_of(size, StepProblem) for size in sizes]
    return arguments


if __name__ == "__main__":
    main()
