"""Circuits as pictures: a layout of plain values, and the text drawn from it.

``circuit_layout`` and, for circuits of any gates, ``gates_layout`` decide what is shown and in which column; the texts
here and the figure of ``mcquack.report.plot_circuit`` draw what they give.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from mcquack.checks import required_count
from mcquack.circuits.angles import Angle, Parameter
from mcquack.circuits.gates import CONTROL, GATES, SWAPPED, TARGET, Gate

if TYPE_CHECKING:  # circuits draw themselves, so they import this module
    from mcquack.circuits.circuit import Circuit
    from mcquack.circuits.feature_map import FeatureMap

_MOST_WIRES = 16
_WIRES_ABOVE_GAP = 5
_WIRES_BELOW_GAP = 3
_LINE = 110
_LONGEST_LABEL = 40

ELLIPSIS = "…"
MARKS = (CONTROL, TARGET, SWAPPED, ELLIPSIS)
"""What is drawn as it is; any other mark of a symbol is the text of a box."""


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """One gate of the picture; those of one column stand below each other.

    ``marks[i]`` stands on ``qubits[i]``: one of :data:`MARKS`, or the text of a box. An ellipsis stands on all qubits
    for what ``label`` counts.
    """

    column: int
    qubits: tuple[int, ...]
    marks: tuple[str, ...]
    label: str = ""

    @property
    def is_ellipsis(self) -> bool:
        return self.marks[0] == ELLIPSIS

    @property
    def is_box(self) -> bool:
        """Whether it is a box on one qubit, joined to nothing."""
        return len(self.qubits) == len(self.boxes) == 1

    @property
    def boxes(self) -> list[str]:
        """The texts of its boxes."""
        return [mark for mark in self.marks if mark not in MARKS]


def circuit_layout(feature_map: FeatureMap, max_layers: int = 3) -> list[Symbol]:
    """The symbols to draw, on all qubits: of more than ``max_layers`` layers the first ones and the last."""
    shown = shown_layers(feature_map.n_layers, max_layers)
    symbols: list[Symbol] = []
    for layer, previous in zip(shown, (-1, *shown), strict=False):
        symbols += _skipped(feature_map, layer - previous - 1, column=_next_column(symbols))
        symbols += _rotations(feature_map, layer, column=_next_column(symbols))
        symbols += _ring(feature_map, layer, column=_next_column(symbols))
    symbols += _skipped(feature_map, feature_map.n_layers - shown[-1] - 1, column=_next_column(symbols))
    return symbols


def gates_layout(circuit: Circuit, max_gates: int = 60) -> list[Symbol]:
    """The symbols to draw, each as far to the left as those before it allow: the first ``max_gates`` on shown wires."""
    required_count("max_gates", max_gates)
    wires = shown_qubits(circuit.n_qubits)
    rows = {qubit: row // 2 for qubit, row in _text_rows(wires, circuit.n_qubits).items()}
    free = [0] * (1 + max(rows.values()))  # the first column that is free in each row
    labels = _Labels(circuit)
    symbols: list[Symbol] = []
    for number, gate in enumerate(circuit.gates):
        if set(gate.qubits).isdisjoint(wires):
            continue
        if len(symbols) == max_gates:
            label = _counted(circuit.n_gates - number, "gate")
            symbols.append(_ellipsis(circuit.n_qubits, column=max(free), label=label))
            break
        places = [rows[qubit] for qubit in gate.qubits]
        span = slice(min(places), max(places) + 1)  # the line between two qubits crosses the wires between them
        column = max(free[span])
        free[span] = [column + 1] * len(free[span])
        symbols.append(Symbol(column=column, qubits=gate.qubits, marks=labels.marks(gate)))
    return sorted(symbols, key=lambda symbol: symbol.column)


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
    return _text(feature_map, circuit_layout(feature_map, max_layers), line=None)


def gates_text(circuit: Circuit, *, max_gates: int = 60) -> str:
    """A circuit of any gates in Unicode, with ● for a control, ⊕ for the target of a CNOT and × for the ends of a SWAP.

    A weight or bias that one angle has alone is written w or b, others by their name; equal angles of a Rot are written
    once. Above the picture are the circuit's sizes and what is not drawn: of the gates on the wires that are shown only
    the first ``max_gates`` are, and of more than 16 qubits the first five and the last three. Pictures that are wider
    than a page go on below.

    >>> from mcquack.circuits import Circuit, b, w, x
    >>> print(gates_text(Circuit(3, 2).h([0, 1]).rx(2, w * x[1] + b).cnot(0, 2).crz((1, 0), 2 * b("turn")).swap(1, 2)))
    3 qubits, 2 features, 6 gates, depth 4, 3 parameters
    q0: ─┤ H ├──────────●─┤ RZ(2·turn) ├───
                        │       │
    q1: ─┤ H ├──────────│───────●────────×─
                        │                │
    q2: ─┤ RX(w·x1+b) ├─⊕────────────────×─
    """
    return _text(circuit, gates_layout(circuit, max_gates), line=_LINE)


def sizes_text(circuit: Circuit) -> str:
    """How large a circuit is, as pictures say it above themselves.

    >>> from mcquack.circuits import Circuit
    >>> sizes_text(Circuit(2, 4, start="amplitudes").h(0))
    '2 qubits, 4 features as amplitudes, 1 gate, depth 1, 0 parameters'
    """
    features = _counted(circuit.n_features, "feature")
    if layers := getattr(circuit, "n_layers", None):
        sizes = [_counted(layers, "layer"), features]
    else:
        how = " as amplitudes" if circuit.start == "amplitudes" else ""
        sizes = [features + how, _counted(circuit.n_gates, "gate"), f"depth {circuit.depth:,}"]
    parameters = _counted(circuit.n_embedding_parameters, "parameter")
    return ", ".join([_counted(circuit.n_qubits, "qubit"), *sizes, parameters])


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


def _next_column(symbols: Sequence[Symbol]) -> int:
    return symbols[-1].column + 1 if symbols else 0


def _ellipsis(n_qubits: int, *, column: int, label: str) -> Symbol:
    return Symbol(column=column, qubits=tuple(range(n_qubits)), marks=(ELLIPSIS,) * n_qubits, label=label)


def _skipped(feature_map: FeatureMap, n_layers: int, *, column: int) -> Iterator[Symbol]:
    if n_layers:
        yield _ellipsis(feature_map.n_qubits, column=column, label=_counted(n_layers, "layer"))


def _rotations(feature_map: FeatureMap, layer: int, *, column: int) -> Iterator[Symbol]:
    for qubit, features in enumerate(feature_map.feature_index[layer, :, : feature_map.features_per_gate]):
        label = f"Rot({','.join(f'x{feature}' for feature in features)})"
        yield Symbol(column=column, qubits=(qubit,), marks=(label,))


def _ring(feature_map: FeatureMap, layer: int, *, column: int) -> Iterator[Symbol]:
    n_qubits = feature_map.n_qubits
    is_left_out = layer == feature_map.n_layers - 1 and not feature_map.final_entangler
    if n_qubits == 1 or is_left_out:
        return
    # Neighbouring CNOTs share a qubit, so no two of them fit into one column.
    for qubit in range(n_qubits):
        yield Symbol(column=column + qubit, qubits=(qubit, (qubit + 1) % n_qubits), marks=(CONTROL, TARGET))


class _Labels:
    """What is written on the gates of a circuit."""

    def __init__(self, circuit: Circuit) -> None:
        table = circuit.angle_table
        self._names = {"w": circuit.weight_names, "b": circuit.bias_names}
        self._uses = {kind: _uses(places) for kind, places in (("w", table.weight), ("b", table.bias))}

    def marks(self, gate: Gate) -> tuple[str, ...]:
        """A mark for each qubit of a gate."""
        if gate.name == "unitary":
            return ("U",) if len(gate.qubits) == 1 else ("U₀", "U₁")  # the first qubit is the higher bit
        marks = list(GATES[gate.name].marks or [gate.name.upper()] * len(gate.qubits))
        box = next((place for place, mark in enumerate(marks) if mark not in MARKS), None)
        if box is not None:
            marks[box] += self._arguments(gate.angles)
        return tuple(marks)

    def _arguments(self, angles: Sequence[Angle]) -> str:
        texts = [self._written(angle) for angle in angles]
        inside = ",".join(texts if len(set(texts)) > 1 else texts[:1])
        if len(inside) > _LONGEST_LABEL:
            inside = f"{inside[: _LONGEST_LABEL - 1]}…"
        return f"({inside})" if angles else ""

    def _written(self, angle: Angle) -> str:
        weight, bias = self._named("w", angle.weight), self._named("b", angle.bias)
        return str(angle.changed(weight=weight, bias=bias)).replace(" ", "")

    def _named(self, kind: str, place: Any) -> Parameter | None:
        if place is None:
            return None
        name = self._names[kind][place]
        alone = name == f"{kind}{place}" and self._uses[kind][place] == 1
        return Parameter(None if alone else name)


def _uses(places: Any) -> Any:
    return np.bincount(places[places >= 0])


def _text(circuit: Circuit, symbols: Sequence[Symbol], *, line: int | None) -> str:
    wires = shown_qubits(circuit.n_qubits)
    left_out = [f"… {symbol.label}" for symbol in symbols if symbol.is_ellipsis]
    if len(wires) < circuit.n_qubits:
        left_out.append(f"⋮ {_counted(circuit.n_qubits - len(wires), 'qubit')}")
    captions = [sizes_text(circuit), *([f"not drawn: {', '.join(left_out)}"] if left_out else [])]
    return "\n".join([*captions, *_picture(symbols, wires, circuit.n_qubits, line=line)])


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def _picture(symbols: Sequence[Symbol], wires: Sequence[int], n_qubits: int, *, line: int | None) -> list[str]:
    """The lines of the picture: two for each wire, of which the second one has room for vertical lines."""
    rows = _text_rows(wires, n_qubits)
    names = {row: f"q{qubit}:" for qubit, row in rows.items() if qubit in wires}
    margin = max(map(len, names.values()))
    gap = [row for qubit, row in rows.items() if qubit not in wires][:1]
    heads = [names.get(row, "⋮" if row in gap else "").ljust(margin) + " " for row in range(max(rows.values()) + 1)]
    fillers = ["─" if row in names else " " for row in range(len(heads))]
    columns: dict[int, list[Symbol]] = {}
    for symbol in symbols:
        if not set(symbol.qubits).isdisjoint(wires):
            columns.setdefault(symbol.column, []).append(symbol)
    blocks = [heads]
    for _, column in sorted(columns.items()):
        pieces = _column_text(column, rows, gap, fillers)
        if line is not None and blocks[-1] is not heads and len(blocks[-1][0]) + len(pieces[0]) >= line:
            blocks.append(heads)
        blocks[-1] = [done + piece for done, piece in zip(blocks[-1], pieces, strict=True)]
    ended = [[(done + filler).rstrip() for done, filler in zip(block, fillers, strict=True)] for block in blocks]
    return [text for number, block in enumerate(ended) for text in ([""] if number else []) + block]


def _column_text(
    symbols: Sequence[Symbol], rows: Mapping[int, int], gap: Sequence[int], fillers: Sequence[str]
) -> list[str]:
    """What one column adds to each line."""
    marks = dict.fromkeys(gap, "⋮") if any(symbol.is_box for symbol in symbols) else {}
    for symbol in symbols:
        marks.update(_row_marks(symbol, rows, gap))
    width = max(map(len, marks.values()))
    # Boxes that are joined to nothing begin together. Else all have their middle where the lines between wires run.
    left = not any(len(symbol.qubits) == 2 for symbol in symbols)
    return [
        filler + (mark.ljust(width, filler) if left and filler == "─" else mark.center(width, filler))
        for filler, mark in ((filler, marks.get(row, "")) for row, filler in enumerate(fillers))
    ]


def _text_rows(wires: Sequence[int], n_qubits: int) -> dict[int, int]:
    """The line of each qubit; the qubits that are not drawn share one in the gap between the wires."""
    begins = (2 * (qubit > 0 and not {qubit, qubit - 1}.isdisjoint(wires)) for qubit in range(n_qubits))
    return dict(enumerate(accumulate(begins)))


def _row_marks(symbol: Symbol, rows: Mapping[int, int], gap: Sequence[int]) -> Iterator[tuple[int, str]]:
    """The lines on which a gate leaves something, and what stands there."""
    places = [rows[qubit] for qubit in symbol.qubits]
    if not symbol.is_ellipsis:
        yield from ((row, "│") for row in range(min(places) + 1, max(places)))
    for row, mark in zip(places, symbol.marks, strict=True):
        # A gate into or out of the gap ends in dots that hint at the staircase of its undrawn neighbours.
        hidden = row in gap and not symbol.is_ellipsis
        yield row, "⋱" if hidden else mark if mark in MARKS else f"┤ {mark} ├"
