"""The paper's feature map as a circuit diagram."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch

from mcquack.circuits.drawing import Gate, circuit_layout, shown_layers, shown_qubits
from mcquack.circuits.feature_map import FeatureMap
from mcquack.report.style import CLASS_COLOURS, INK, MUTED, PAPER, SMALL, counted, figure_of, new_axes, write_title

BLUE, GREEN = CLASS_COLOURS[0], CLASS_COLOURS[2]
BOX = "#e3f1ec"
WIRE = "#aab4be"

INCHES = 0.42  # distance of two wires, the unit of all lengths below
LEAST_WIDTH = 4.4  # inches, for the title of a circuit that is narrower
BOX_HEIGHT = 0.64
CHARACTER = 0.16
CNOT_WIDTH = 0.48
ELLIPSIS_WIDTH = 1.9
MARGIN = 0.28


def plot_circuit(feature_map: FeatureMap, *, max_layers: int = 3, ax: Axes | None = None) -> Figure:
    """Draw a feature map as a circuit, with its first layers and the last; of more than 16 qubits only the outer ones.

    Parameters
    ----------
    feature_map : what is drawn, for instance the ``feature_map_`` of a fitted classifier.
    max_layers : the most layers that are drawn.
    ax : axes to draw into, instead of a new figure.

    Examples
    --------
    >>> from mcquack.circuits.feature_map import FeatureMap
    >>> plot_circuit(FeatureMap(n_qubits=3, n_features=4, n_layers=2)).axes[0].get_title(loc="left")
    '3 qubits, 2 layers, 4 features, 36 parameters'
    """
    wires = shown_qubits(feature_map.n_qubits)
    gates = [
        gate for gate in circuit_layout(feature_map, max_layers=max_layers) if not set(gate.qubits).isdisjoint(wires)
    ]
    grid = _grid(gates, wires, n_qubits=feature_map.n_qubits)
    if ax is None:
        ax = new_axes(max(LEAST_WIDTH, INCHES * (grid.right + 1.6)), INCHES * (grid.bottom + 2.7))
    ax.set_xlim(-1, grid.right + 0.1)
    ax.set_ylim(grid.bottom + 0.6, -1.1)
    ax.set_aspect("equal", anchor="W")
    ax.axis("off")
    rotations = sorted({gate.column for gate in gates if gate.kind == "rot"})
    _draw_wires(ax, grid, wires)
    _draw_gap(ax, grid, [-0.45, *(grid.centres[column] for column in rotations)], wires)
    for gate in gates:
        _draw_gate(ax, gate, grid, wires)
    for layer, column in zip(shown_layers(feature_map.n_layers, max_layers), rotations, strict=True):
        left = grid.centres[column] - grid.widths[column] / 2
        ax.text(left + MARGIN, -0.85, f"layer {layer + 1:,}", va="center", color=MUTED, size=SMALL)
    counts = {
        "qubit": feature_map.n_qubits,
        "layer": feature_map.n_layers,
        "feature": feature_map.n_features,
        "parameter": feature_map.n_embedding_parameters,
    }
    write_title(ax, ", ".join(counted(count, noun) for noun, count in counts.items()))
    return figure_of(ax)


@dataclass(frozen=True, kw_only=True)
class _Grid:
    """Where things stand: y by qubit (downwards), x and width by column, and the right and lower ends of all."""

    rows: Mapping[int, float]
    centres: Mapping[int, float]
    widths: Mapping[int, float]
    right: float
    bottom: float


def _grid(gates: Sequence[Gate], wires: Sequence[int], *, n_qubits: int) -> _Grid:
    rows, row = {0: 0.0}, 0.0
    for qubit in range(1, n_qubits):
        row += qubit in wires or qubit - 1 in wires  # the qubits that are not drawn share the row in the gap
        rows[qubit] = row
    widths: dict[int, float] = {}
    for gate in gates:
        widths[gate.column] = max(widths.get(gate.column, 0), _width(gate))
    centres, right = {}, 0.0
    for column, width in sorted(widths.items()):
        centres[column] = right + width / 2
        right += width
    return _Grid(rows=rows, centres=centres, widths=widths, right=right + MARGIN, bottom=row)


def _width(gate: Gate) -> float:
    if gate.kind == "rot":
        return CHARACTER * len(gate.label) + 3 * MARGIN
    return CNOT_WIDTH if gate.kind == "cnot" else ELLIPSIS_WIDTH


def _draw_wires(ax: Axes, grid: _Grid, wires: Sequence[int]) -> None:
    for qubit in wires:
        y = grid.rows[qubit]
        ax.plot([-0.1, grid.right], [y, y], color=WIRE, linewidth=0.9, zorder=1)
        ax.text(-0.25, y, f"$q_{{{qubit}}}$", ha="right", va="center", color=INK, size=SMALL)


def _draw_gap(ax: Axes, grid: _Grid, places: Sequence[float], wires: Sequence[int]) -> None:
    for y in {row for qubit, row in grid.rows.items() if qubit not in wires}:
        for x in places:
            ax.text(x, y, "⋮", ha="center", va="center", color=MUTED, size=11)


def _draw_gate(ax: Axes, gate: Gate, grid: _Grid, wires: Sequence[int]) -> None:
    x = grid.centres[gate.column]
    if gate.kind == "rot":
        _draw_box(ax, x, grid.rows[gate.qubits[0]], width=grid.widths[gate.column] - 2 * MARGIN, label=gate.label)
    elif gate.kind == "cnot":
        _draw_cnot(ax, x, gate, grid, wires)
    else:
        for qubit in wires:
            ax.text(x, grid.rows[qubit], "···", ha="center", va="center", color=MUTED, size=11, backgroundcolor=PAPER)
        ax.text(x, -0.85, f"+ {gate.label}", ha="center", va="center", color=MUTED, size=SMALL)


def _draw_box(ax: Axes, x: float, y: float, *, width: float, label: str) -> None:
    corner = x - width / 2, y - BOX_HEIGHT / 2
    look: dict[str, Any] = {"boxstyle": "round,pad=0,rounding_size=0.1", "facecolor": BOX, "edgecolor": GREEN}
    ax.add_patch(FancyBboxPatch(corner, width, BOX_HEIGHT, linewidth=0.9, zorder=3, **look))
    subscripted = re.sub(r"x(\d+)", r"$x_{\1}$", label)
    ax.text(x, y, subscripted, ha="center", va="center", color=INK, size=SMALL, zorder=4)


def _draw_cnot(ax: Axes, x: float, gate: Gate, grid: _Grid, wires: Sequence[int]) -> None:
    control, target = (grid.rows[qubit] for qubit in gate.qubits)
    ax.plot([x, x], [control, target], color=BLUE, linewidth=1, zorder=2, solid_capstyle="butt")
    if gate.qubits[0] in wires:
        ax.add_patch(Circle((x, control), 0.1, facecolor=BLUE, edgecolor=BLUE, zorder=3))
    if gate.qubits[1] in wires:
        ax.add_patch(Circle((x, target), 0.19, facecolor=PAPER, edgecolor=BLUE, linewidth=1, zorder=3))
        for dx, dy in ((0.19, 0), (0, 0.19)):
            ax.plot([x - dx, x + dx], [target - dy, target + dy], color=BLUE, linewidth=1, zorder=4)
