"""The feature map as a picture: a layout of plain values, and the text drawn from it.

``circuit_layout`` decides which gates are shown and in which column; the text here and the figure of
``mcquack.report.plot_circuit`` both draw what it gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Literal

from mcquack.checks import required_count

if TYPE_CHECKING:  # the feature map draws itself, so it imports this module
    from mcquack.circuits.circuit import Circuit
    from mcquack.circuits.feature_map import FeatureMap

_MOST_WIRES = 16
_WIRES_ABOVE_GAP = 5
_WIRES_BELOW_GAP = 3


@dataclass(frozen=True, kw_only=True)
class Gate:
    """One symbol of the picture; gates of one column stand below each other.

    A "rot" is a rotation on ``qubits[0]``, a "cnot" goes from ``qubits[0]`` (control) to ``qubits[1]`` (target), and an
    "ellipsis" stands on all qubits for the layers that ``label`` counts.
    """

    kind: Literal["rot", "cnot", "ellipsis"]
    column: int
    qubits: tuple[int, ...]
    label: str


def circuit_layout(feature_map: FeatureMap, max_layers: int = 3) -> list[Gate]:
    """The gates to draw, on all qubits: of more than ``max_layers`` layers the first ones and the last."""
    shown = shown_layers(feature_map.n_layers, max_layers)
    gates: list[Gate] = []
    for layer, previous in zip(shown, (-1, *shown), strict=False):
        gates += _skipped(feature_map, layer - previous - 1, column=_next_column(gates))
        gates += _rotations(feature_map, layer, column=_next_column(gates))
        gates += _ring(feature_map, layer, column=_next_column(gates))
    gates += _skipped(feature_map, feature_map.n_layers - shown[-1] - 1, column=_next_column(gates))
    return gates


def circuit_text(feature_map: FeatureMap, *, max_layers: int = 3) -> str:
    """The circuit in Unicode, a wire for each qubit, with ● for a control and ⊕ for a target.

    Above the picture are its sizes and what is not drawn: of more than ``max_layers`` layers only the first ones and
    the last are, and of more than 16 qubits the first five and the last three.

    >>> from mcquack.circuits import FeatureMap
    >>> print(circuit_text(FeatureMap(n_qubits=1, n_features=2, n_layers=9), max_layers=2))
    1 qubit, 9 layers, 2 features, 54 parameters
    not drawn: … 7 layers
    q0: ─┤ Rot(x0) ├─…─┤ Rot(x0) ├─
    """
    wires = shown_qubits(feature_map.n_qubits)
    gates = circuit_layout(feature_map, max_layers)
    return "\n".join([*_captions(feature_map, gates, wires), *_picture(gates, wires, feature_map.n_qubits)])


def gates_text(circuit: Circuit, *, max_gates: int = 60) -> str:
    """A circuit of any gates in Unicode."""
    return "\n".join(map(str, circuit.gates[:max_gates]))


def shown_layers(n_layers: int, max_layers: int) -> list[int]:
    """The layers of an abridged picture: the first ones and the last, or with ``max_layers=1`` the first alone."""
    required_count("max_layers", max_layers)
    if n_layers <= max_layers:
        return list(range(n_layers))
    return [0] if max_layers == 1 else [*range(max_layers - 1), n_layers - 1]


def shown_qubits(n_qubits: int) -> list[int]:
    """The wires of a picture: all of up to 16 qubits, and of more only the outer ones."""
    if n_qubits <= _MOST_WIRES:
        return list(range(n_qubits))
    return [*range(_WIRES_ABOVE_GAP), *range(n_qubits - _WIRES_BELOW_GAP, n_qubits)]


def _next_column(gates: Sequence[Gate]) -> int:
    return gates[-1].column + 1 if gates else 0


def _skipped(feature_map: FeatureMap, n_layers: int, *, column: int) -> Iterator[Gate]:
    if n_layers:
        qubits = tuple(range(feature_map.n_qubits))
        yield Gate(kind="ellipsis", column=column, qubits=qubits, label=_counted(n_layers, "layer"))


def _rotations(feature_map: FeatureMap, layer: int, *, column: int) -> Iterator[Gate]:
    for qubit, features in enumerate(feature_map.feature_index[layer, :, : feature_map.features_per_gate]):
        label = f"Rot({','.join(f'x{feature}' for feature in features)})"
        yield Gate(kind="rot", column=column, qubits=(qubit,), label=label)


def _ring(feature_map: FeatureMap, layer: int, *, column: int) -> Iterator[Gate]:
    n_qubits = feature_map.n_qubits
    is_left_out = layer == feature_map.n_layers - 1 and not feature_map.final_entangler
    if n_qubits == 1 or is_left_out:
        return
    # Neighbouring CNOTs share a qubit, so no two of them fit into one column.
    for qubit in range(n_qubits):
        yield Gate(kind="cnot", column=column + qubit, qubits=(qubit, (qubit + 1) % n_qubits), label="CNOT")


def _captions(feature_map: FeatureMap, gates: Sequence[Gate], wires: Sequence[int]) -> list[str]:
    sizes = {name: getattr(feature_map, f"n_{name}s") for name in ("qubit", "layer", "feature")}
    sizes["parameter"] = feature_map.n_embedding_parameters
    left_out = [f"… {gate.label}" for gate in gates if gate.kind == "ellipsis"]
    if len(wires) < feature_map.n_qubits:
        left_out.append(f"⋮ {_counted(feature_map.n_qubits - len(wires), 'qubit')}")
    return [
        ", ".join(_counted(number, noun) for noun, number in sizes.items()),
        *([f"not drawn: {', '.join(left_out)}"] if left_out else []),
    ]


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def _picture(gates: Sequence[Gate], wires: Sequence[int], n_qubits: int) -> list[str]:
    """The lines of the picture: two for each wire, of which the second one has room for vertical lines."""
    rows = _text_rows(wires, n_qubits)
    names = {row: f"q{qubit}:" for qubit, row in rows.items() if qubit in wires}
    margin = max(map(len, names.values()))
    n_rows = max(rows.values()) + 1
    gap = [row for qubit, row in rows.items() if qubit not in wires][:1]
    lines = [names.get(row, "⋮" if row in gap else "").ljust(margin) + " " for row in range(n_rows)]
    fillers = ["─" if row in names else " " for row in range(n_rows)]
    visible = [gate for gate in gates if not set(gate.qubits).isdisjoint(wires)]
    for column in sorted({gate.column for gate in visible}):
        symbols = dict(chain.from_iterable(_symbols(gate, rows, gap) for gate in visible if gate.column == column))
        width = max(map(len, symbols.values()))
        lines = [
            line + filler + _padded(symbols.get(row, ""), width, filler)
            for row, (line, filler) in enumerate(zip(lines, fillers, strict=True))
        ]
    return [(line + filler).rstrip() for line, filler in zip(lines, fillers, strict=True)]


def _padded(symbol: str, width: int, filler: str) -> str:
    # Boxes on wires begin together; the dots between wires stand below the middle of a box.
    return symbol.ljust(width, filler) if filler == "─" else symbol.center(width)


def _text_rows(wires: Sequence[int], n_qubits: int) -> dict[int, int]:
    """The line of each qubit; the qubits that are not drawn share one in the gap between the wires."""
    begins = (2 * (qubit > 0 and not {qubit, qubit - 1}.isdisjoint(wires)) for qubit in range(n_qubits))
    return dict(enumerate(accumulate(begins)))


def _symbols(gate: Gate, rows: dict[int, int], gap: Sequence[int]) -> Iterator[tuple[int, str]]:
    """The lines on which a gate leaves something, and what stands there."""
    if gate.kind == "ellipsis":
        yield from ((rows[qubit], "…") for qubit in gate.qubits)
    elif gate.kind == "rot":
        yield rows[gate.qubits[0]], f"┤ {gate.label} ├"
        yield from ((row, "⋮") for row in gap)
    else:
        control, target = (rows[qubit] for qubit in gate.qubits)
        yield from ((row, "│") for row in range(min(control, target) + 1, max(control, target)))
        # A CNOT into or out of the gap ends in dots that hint at the staircase of its undrawn neighbours.
        yield control, "⋱" if control in gap else "●"
        yield target, "⋱" if target in gap else "⊕"
