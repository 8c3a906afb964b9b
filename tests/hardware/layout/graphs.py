"""Devices to search for rings, and all their rings the slow way."""

from collections.abc import Iterator, Mapping

from hypothesis import strategies as st

from mcquack.hardware.layout import Coupling


def heavy_hex(n_rows: int = 8, n_columns: int = 16) -> Coupling:
    """Numbered as IBM's Heron processors are: rows, and every fourth qubit of one joined to the next."""
    edges = []
    row = 0
    for index in range(n_rows):
        edges += [(row + column, row + column + 1) for column in range(n_columns - 1)]
        if index == n_rows - 1:
            break
        columns = range(3 if index % 2 == 0 else 1, n_columns, 4)
        below = row + n_columns + len(columns)
        for bridge, column in enumerate(columns, start=row + n_columns):
            edges += [(row + column, bridge), (bridge, below + column)]
        row = below
    return Coupling(name="heavy-hex", n_qubits=row + n_columns, edges=tuple(edges))


def square(n_rows: int, n_columns: int) -> Coupling:
    right = [(r * n_columns + c, r * n_columns + c + 1) for r in range(n_rows) for c in range(n_columns - 1)]
    down = [(r * n_columns + c, (r + 1) * n_columns + c) for r in range(n_rows - 1) for c in range(n_columns)]
    return Coupling(name="square", n_qubits=n_rows * n_columns, edges=tuple(right + down))


def complete(n_qubits: int) -> Coupling:
    edges = tuple((first, second) for first in range(n_qubits) for second in range(first + 1, n_qubits))
    return Coupling(name="complete", n_qubits=n_qubits, edges=edges)


@st.composite
def couplings(draw: st.DrawFn, *, max_qubits: int = 8) -> Coupling:
    """Any graph, with errors and times of which some are faults and some are not known."""
    n_qubits = draw(st.integers(3, max_qubits))
    pairs = [(first, second) for first in range(n_qubits) for second in range(first + 1, n_qubits)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=14))

    def known(values: st.SearchStrategy[float], size: int) -> tuple[float | None, ...]:
        return tuple(draw(st.lists(values | st.none(), min_size=size, max_size=size)))

    errors = st.floats(0, 0.2) | st.just(1.0)
    return Coupling(
        name="any",
        n_qubits=n_qubits,
        edges=tuple(edges),
        two_qubit_error=known(errors, len(edges)),
        sx_error=known(st.floats(0, 0.01), n_qubits),
        readout_error=known(errors, n_qubits),
        t1_us=known(st.floats(10, 300), n_qubits),
        t2_us=known(st.floats(10, 300), n_qubits),
        two_qubit_us=known(st.floats(0.05, 0.5), len(edges)),
    )


def all_cycles(neighbours: Mapping[int, Mapping[int, float]]) -> Iterator[list[int]]:
    """Every simple cycle once, from its smallest vertex towards the smaller neighbour of that."""

    def extended(path: list[int]) -> Iterator[list[int]]:
        for following in neighbours[path[-1]]:
            if following == path[0] and len(path) > 2 and path[1] < path[-1]:
                yield path
            elif following > path[0] and following not in path:
                yield from extended([*path, following])

    for start in neighbours:
        yield from extended([start])


def is_ring(coupling: Coupling, qubits: tuple[int, ...]) -> bool:
    neighbours = zip(qubits, [*qubits[1:], qubits[0]], strict=True)
    return len(set(qubits)) == len(qubits) and all(coupling.coupler(*pair) is not None for pair in neighbours)
