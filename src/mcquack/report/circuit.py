"""Circuits as diagrams: the paper's feature map layer by layer, any other gate by gate."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch

from mcquack.circuits.circuit import Circuit
from mcquack.circuits.drawing import (
    Symbol,
    circuit_layout,
    gates_layout,
    shown_layers,
    shown_qubits,
    sizes_text,
)
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.gates import CONTROL, SWAPPED, TARGET
from mcquack.report.style import BOX, CLASS_COLOURS, INK, MUTED, PAPER, SMALL, figure_of, new_axes, write_title

BLUE, GREEN = CLASS_COLOURS[0], CLASS_COLOURS[2]
WIRE = "#aab4be"

INCHES = 0.42  # distance of two wires, the unit of all lengths below
LEAST_WIDTH = 4.4  # inches, for the title of a circuit that is narrower
BOX_HEIGHT = 0.64
CHARACTER = 0.16
CNOT_WIDTH = 0.48
ELLIPSIS_WIDTH = 1.9
MARGIN = 0.28
WIDEST = 27.0  # of a strip; about a page of 11 inches
BETWEEN_STRIPS = 1.7


def plot_circuit(circuit: Circuit, *, max_layers: int = 3, max_gates: int = 60, ax: Axes | None = None) -> Figure:
    """Draw a circuit; of more than 16 qubits only the outer ones.

    Parameters
    ----------
    circuit : what is drawn, for instance the ``feature_map_`` of a fitted classifier.
    max_layers : the most layers of the paper's feature map that are drawn, the first ones and the last.
    max_gates : the most gates of any other circuit that are drawn, the first ones. A wide picture goes on below.
    ax : axes to draw into, instead of a new figure.

    Examples
    --------
    >>> from mcquack.circuits import Circuit, FeatureMap, x
    >>> plot_circuit(FeatureMap(n_qubits=3, n_features=4, n_layers=2)).axes[0].get_title(loc="left")
    '3 qubits, 2 layers, 4 features, 36 parameters'
    >>> plot_circuit(Circuit(2, 1).rx([0, 1], x[0]).cz(0, 1)).axes[0].get_title(loc="left")
    '2 qubits, 1 feature, 3 gates, depth 2, 0 parameters'
    """
    if isinstance(circuit, FeatureMap):
        symbols, widest = circuit_layout(circuit, max_layers), math.inf
    else:
        symbols, widest = gates_layout(circuit, max_gates), WIDEST
    wires = shown_qubits(circuit.n_qubits)
    symbols = [symbol for symbol in symbols if not set(symbol.qubits).isdisjoint(wires)]
    grid = _grid(symbols, wires, n_qubits=circuit.n_qubits, widest=widest)
    if ax is None:
        ax = new_axes(max(LEAST_WIDTH, INCHES * (grid.right + 1.6)), INCHES * (grid.bottom + 2.7))
    ax.set_xlim(-1, grid.right + 0.1)
    ax.set_ylim(grid.bottom + 0.6, -1.1)
    ax.set_aspect("equal", anchor="W")
    ax.axis("off")
    boxes = sorted({symbol.column for symbol in symbols if symbol.is_box})
    for top, right in grid.strips.items():
        _draw_wires(ax, grid, wires, top=top, right=right)
        places = [-0.45, *(grid.centres[column] for column in boxes if grid.tops[column] == top)]
        _draw_gap(ax, grid, places, wires, top=top)
    for symbol in symbols:
        _draw_symbol(ax, symbol, grid, wires)
    if isinstance(circuit, FeatureMap):
        for layer, column in zip(shown_layers(circuit.n_layers, max_layers), boxes, strict=True):
            left = grid.centres[column] - grid.widths[column] / 2
            ax.text(left + MARGIN, -0.85, f"layer {layer + 1:,}", va="center", color=MUTED, size=SMALL)
    write_title(ax, sizes_text(circuit))
    return figure_of(ax)


@dataclass(frozen=True, kw_only=True)
class _Grid:
    """Where things stand: y by qubit (downwards) below the top of a strip; x, width and top by column; and the ends.

    A picture that is too wide is cut into strips, one below the other.
    """

    rows: Mapping[int, float]
    centres: Mapping[int, float]
    widths: Mapping[int, float]
    tops: Mapping[int, float]
    strips: Mapping[float, float]  # the right end of each, by its top

    @property
    def right(self) -> float:
        return max(self.strips.values())

    @property
    def bottom(self) -> float:
        return max(self.strips) + max(self.rows.values())


def _grid(symbols: Sequence[Symbol], wires: Sequence[int], *, n_qubits: int, widest: float) -> _Grid:
    rows, row = {0: 0.0}, 0.0
    for qubit in range(1, n_qubits):
        row += qubit in wires or qubit - 1 in wires  # the qubits that are not drawn share the row in the gap
        rows[qubit] = row
    widths: dict[int, float] = {}
    for symbol in symbols:
        widths[symbol.column] = max(widths.get(symbol.column, 0), _width(symbol))
    centres, tops, top = {}, {}, 0.0
    strips = {top: MARGIN}
    for column, width in sorted(widths.items()):
        if strips[top] > MARGIN and strips[top] + width > widest:
            top += row + BETWEEN_STRIPS
            strips[top] = MARGIN
        tops[column] = top
        centres[column] = strips[top] - MARGIN + width / 2
        strips[top] += width
    return _Grid(rows=rows, centres=centres, widths=widths, tops=tops, strips=strips)


def _width(symbol: Symbol) -> float:
    if symbol.boxes:
        return CHARACTER * max(map(len, symbol.boxes)) + 3 * MARGIN
    return ELLIPSIS_WIDTH if symbol.is_ellipsis else CNOT_WIDTH


def _draw_wires(ax: Axes, grid: _Grid, wires: Sequence[int], *, top: float, right: float) -> None:
    for qubit in wires:
        y = top + grid.rows[qubit]
        ax.plot([-0.1, right], [y, y], color=WIRE, linewidth=0.9, zorder=1)
        ax.text(-0.25, y, f"$q_{{{qubit}}}$", ha="right", va="center", color=INK, size=SMALL)


def _draw_gap(ax: Axes, grid: _Grid, places: Sequence[float], wires: Sequence[int], *, top: float) -> None:
    for y in {top + row for qubit, row in grid.rows.items() if qubit not in wires}:
        for x in places:
            ax.text(x, y, "⋮", ha="center", va="center", color=MUTED, size=11)


def _draw_symbol(ax: Axes, symbol: Symbol, grid: _Grid, wires: Sequence[int]) -> None:
    x, top = grid.centres[symbol.column], grid.tops[symbol.column]
    heights = [top + grid.rows[qubit] for qubit in symbol.qubits]
    if symbol.is_ellipsis:
        for qubit in wires:
            y = top + grid.rows[qubit]
            ax.text(x, y, "···", ha="center", va="center", color=MUTED, size=11, backgroundcolor=PAPER)
        ax.text(x, top - 0.85, f"+ {symbol.label}", ha="center", va="center", color=MUTED, size=SMALL)
        return
    if len(heights) > 1:
        ax.plot([x, x], [min(heights), max(heights)], color=BLUE, linewidth=1, zorder=2, solid_capstyle="butt")
    for qubit, y, mark in zip(symbol.qubits, heights, symbol.marks, strict=True):
        if qubit not in wires:
            continue
        if mark == CONTROL:
            ax.add_patch(Circle((x, y), 0.1, facecolor=BLUE, edgecolor=BLUE, zorder=3))
        elif mark == TARGET:
            _draw_target(ax, x, y)
        elif mark == SWAPPED:
            for tilt in (1, -1):
                ax.plot([x - 0.14, x + 0.14], [y - 0.14 * tilt, y + 0.14 * tilt], color=BLUE, linewidth=1.2, zorder=4)
        else:
            own, column = _width(symbol), grid.widths[symbol.column]
            # Boxes that differ by a digit or two are of one width.
            _draw_box(ax, x, y, width=(column if own > 0.8 * column else own) - 2 * MARGIN, label=mark)


def _draw_box(ax: Axes, x: float, y: float, *, width: float, label: str) -> None:
    corner = x - width / 2, y - BOX_HEIGHT / 2
    look: dict[str, Any] = {"boxstyle": "round,pad=0,rounding_size=0.1", "facecolor": BOX, "edgecolor": GREEN}
    ax.add_patch(FancyBboxPatch(corner, width, BOX_HEIGHT, linewidth=0.9, zorder=3, **look))
    subscripted = re.sub(r"x(\d+)", r"$x_{\1}$", label)
    ax.text(x, y, subscripted, ha="center", va="center", color=INK, size=SMALL, zorder=4)


def _draw_target(ax: Axes, x: float, y: float) -> None:
    ax.add_patch(Circle((x, y), 0.19, facecolor=PAPER, edgecolor=BLUE, linewidth=1, zorder=3))
    for dx, dy in ((0.19, 0), (0, 0.19)):
        ax.plot([x - dx, x + dx], [y - dy, y + dy], color=BLUE, linewidth=1, zorder=4)
