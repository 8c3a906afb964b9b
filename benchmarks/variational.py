"""One step of a variational ensemble: ours, the machine's sgemm rate and the peers, interleaved in one run."""

from benchmarks import ours
from benchmarks.problem import Step
from benchmarks.race import Race, Row, introduced_console, race_parser, race_results, race_table, sgemm_scaling
from benchmarks.tables import write_results
from benchmarks.variational_peers import PEERS
from benchmarks.variational_problem import VariationalProblem

SIZES = ((6, 131, 100, 10), (6, 42, 100, 2), (6, 3, 100, 2), (10, 25, 100, 2))
MCQUACK = "McQuack"


def mcquack_build(problem: VariationalProblem) -> Step:
    """McQuack's step of the same size, to compare what a circuit costs."""
    return ours.build(problem.mcquack)


def seconds_per_circuit(row: Row) -> dict[str, float]:
    """Of the ensemble's step and of McQuack's."""
    assert isinstance(row.problem, VariationalProblem)
    n_circuits = {"ours": row.problem.n_circuits, MCQUACK: row.problem.mcquack.n_circuits}
    return {name: row.timings[name].best / count for name, count in n_circuits.items()}


def circuit_cells(row: Row) -> dict[str, str]:
    """What a circuit costs in the ensemble and in McQuack, and the first over the second."""
    seconds = seconds_per_circuit(row)
    return {
        "ours, µs per circuit": f"{1e6 * seconds['ours']:.2f}",
        "McQuack, µs per circuit": f"{1e6 * seconds[MCQUACK]:.2f}",
        "ours / McQuack, per circuit": f"{seconds['ours'] / seconds[MCQUACK]:.2f}",
    }


def main() -> None:
    arguments = race_parser("variational", __doc__, problem=VariationalProblem, sizes=SIZES, peers=PEERS).parse_args()
    console = introduced_console()
    peers = PEERS if arguments.peers is None else {name: PEERS[name] for name in arguments.peers}
    own = {"ours": ours.variational_build, MCQUACK: mcquack_build}
    rows = Race(own=own, peers=peers).rows(arguments, console)
    table = race_table(rows, peers, title="one step of a variational ensemble", more=circuit_cells)
    table.print(console)
    results = race_results(rows, arguments)
    results["seconds_per_circuit"] = [seconds_per_circuit(row) for row in rows]
    write_results(
        [table],
        results,
        marker="variational",
        json_file=arguments.json,
        markdown_file=arguments.markdown,
        sgemm_scaling=sgemm_scaling(rows),
    )


if __name__ == "__main__":
    main()
