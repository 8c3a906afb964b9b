"""One alignment-gradient step of any circuit: maps of the literature beside peers, the paper's beside its engine."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks import gates_peers, ours, peers
from benchmarks.gates_problem import HardwareEfficientProblem, IqpProblem
from benchmarks.libraries import Peer
from benchmarks.problem import StepProblem
from benchmarks.race import (
    Race,
    Row,
    introduced_console,
    milliseconds,
    race_parser,
    race_results,
    race_table,
    sgemm_scaling,
)
from benchmarks.tables import write_results
from benchmarks.worker import Build, peak_megabytes

SIZES = ((6, 10, 100, 4), (10, 10, 100, 4), (14, 10, 100, 4))
PAPER_SIZES = ((6, 131, 100, 10), (6, 42, 100, 2), (10, 25, 100, 2))
SPECIAL = "StatevectorEngine"


@dataclass(frozen=True, kw_only=True)
class Part:
    """A circuit, the sizes it is measured at, and who takes part."""

    title: str
    problem: type[StepProblem]
    sizes: Sequence[tuple[int, int, int, int]]
    peers: Mapping[str, Peer]
    own: Mapping[str, Build]

    def rows(self, arguments: argparse.Namespace, console: Console) -> list[Row]:
        """A row for each size, by default those of this part."""
        sizes = [asdict(size) for size in arguments.sizes] or [
            dict(zip(("n_qubits", "n_layers", "n_samples", "n_classes"), size, strict=True)) for size in self.sizes
        ]
        problems = [self.problem(**size) for size in sizes]
        return Race(own=self.own, peers=self.chosen(arguments)).rows(arguments, console, problems)

    def chosen(self, arguments: argparse.Namespace) -> dict[str, Peer]:
        """The peers of this part that were asked for."""
        wanted = self.peers if arguments.peers is None else arguments.peers
        return {name: peer for name, peer in self.peers.items() if name in wanted}


_map = partial(Part, sizes=SIZES, peers=gates_peers.PEERS, own={"ours": ours.gates_build})
PARTS = {
    "iqp": _map(title="the IQP map", problem=IqpProblem),
    "hardware-efficient": _map(title="the hardware-efficient map", problem=HardwareEfficientProblem),
    "paper": Part(
        title="the paper's circuit on the engine of any circuit",
        problem=StepProblem,
        sizes=PAPER_SIZES,
        peers={name: peers.PEERS[name] for name in ("jax", "torch-fused")},
        own={"ours": ours.gates_build, SPECIAL: ours.build},
    ),
}


def special_cells(row: Row) -> dict[str, str]:
    """Where the paper's circuit has run on its own engine: that time, and how many times as long ours took."""
    if SPECIAL not in row.timings:
        return {}
    ratio = row.timings["ours"].best / row.timings[SPECIAL].best
    return {f"{SPECIAL}, ms": milliseconds(row.timings[SPECIAL].best), f"ours / {SPECIAL}": f"{ratio:.2f}"}


def main() -> None:
    arguments = _arguments()
    console = introduced_console()
    for name in arguments.circuits:
        part = PARTS[name]
        rows = part.rows(arguments, console)
        peaks = [peak_megabytes(ours.gates_build, row.problem, limit=arguments.limit) for row in rows]
        cells = {row.problem: f"{peak:.1f}" for row, peak in zip(rows, peaks, strict=True)}
        table = race_table(
            rows,
            part.chosen(arguments),
            title=f"one step of {part.title}",
            more=lambda row, cells=cells: {"ours, peak MB": cells[row.problem], **special_cells(row)},
        )
        table.print(console)
        results = {**race_results(rows, arguments), "peak_megabytes": peaks}
        write_results(
            [table],
            {**_others(arguments.json), name: results},
            marker=f"gates-{name}",
            json_file=arguments.json,
            markdown_file=arguments.markdown,
            sgemm_scaling=sgemm_scaling(rows),
        )


def _others(file: Path | None) -> dict[str, object]:
    """What the file has of circuits so far, as a run may measure one of them alone."""
    found = json.loads(file.read_text()) if file and file.exists() else {}
    return {name: found[name] for name in PARTS if name in found}


def _arguments() -> argparse.Namespace:
    known = {name: peer for part in PARTS.values() for name, peer in part.peers.items()}
    parser = race_parser("gates", __doc__, problem=StepProblem, sizes=(), peers=known)
    parser.add_argument("--circuits", nargs="+", choices=PARTS, default=list(PARTS), help="which (default all)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
