"""Pictures of a device: the map of its qubits with the ring of a circuit, and how its tolerance was calibrated."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.ticker import LogLocator, NullLocator

from mcquack.arrays import FloatArray
from mcquack.checks import require
from mcquack.hardware.layout import FAULTY, Coupling, Ring
from mcquack.hardware.layout.coordinates import qubit_positions
from mcquack.hardware.layout.coupling import Known
from mcquack.kernels.bitflip import Calibration
from mcquack.report import style
from mcquack.report.style import CLASS_COLOURS, FAINT, FIDELITIES, INK, MUTED, PAPER

BLUE, GREEN, RED = CLASS_COLOURS[0], CLASS_COLOURS[2], CLASS_COLOURS[5]
ERRORS = LinearSegmentedColormap.from_list("errors", FIDELITIES(np.linspace(0.12, 1, 64)))
"""Not from white, for the best coupler is a line as well."""

INCHES = 0.42  # distance of two coupled qubits, the unit of all lengths below
RADIUS = 0.31
MARGIN = 0.7
LEAST_WIDTH = 4.4  # inches, for the title and the legend of a small device
SCALE_WIDTH = 0.85  # inches, for a scale of colours beside the map


def plot_device_ring(
    coupling: Coupling,
    ring: Ring | Sequence[int] | None = None,
    *,
    errors: bool = False,
    max_error: float = FAULTY,
    ax: Axes | None = None,
) -> Figure:
    """Draw all qubits and couplers of a device, those of the ring in black, with an arrow from its first qubit.

    Parameters
    ----------
    coupling : the device: its qubits, which of them are coupled, and their errors.
    ring : the qubits that a circuit lies on, in their order.
    errors : whether qubits and couplers are the darker, the larger their readout error or two-qubit error is; the ring
        is then a border around its own.
    max_error : qubits and couplers with at least this error are crossed out.
    ax : axes to draw into, instead of a new figure.

    Examples
    --------
    >>> from mcquack.hardware.layout import Coupling
    >>> square = Coupling(name="square", n_qubits=4, edges=((0, 1), (1, 2), (2, 3), (0, 3)))
    >>> plot_device_ring(square, [0, 1, 2, 3]).axes[0].get_title(loc="left")
    'square, 4 of 4 qubits'
    """
    qubits = list(ring.qubits if isinstance(ring, Ring) else ring or [])
    require(set(qubits) <= set(range(coupling.n_qubits)), "ring", f"qubits of {coupling.name}", qubits)
    positions = qubit_positions(coupling)
    coupler_colours = _colours(coupling.two_qubit_error, max_error) if errors else None
    qubit_colours = _colours(coupling.readout_error, max_error) if errors else None
    scales = {"readout error": qubit_colours, "two-qubit error": coupler_colours}
    if ax is None:
        width, height = INCHES * (np.ptp(positions, axis=0) + 2 * MARGIN)
        n_scales = sum(scale is not None for scale in scales.values())
        ax = style.new_axes(max(LEAST_WIDTH, width) + SCALE_WIDTH * n_scales, height + 0.75)
    left, top = positions.min(axis=0) - MARGIN
    right, bottom = positions.max(axis=0) + MARGIN
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    ax.set_aspect("equal", anchor="W")
    ax.axis("off")
    _draw_couplers(ax, positions, coupling, qubits, coupler_colours)
    _draw_qubits(ax, positions, coupling, qubits, qubit_colours)
    _cross_out(ax, positions, coupling, max_error)
    _draw_start(ax, positions, qubits)
    _draw_legend(ax, coupling, qubits, max_error)
    for label, colours in scales.items():
        if colours is not None:
            _draw_scale(ax, label, colours)
    part = f"{len(qubits)} of " if qubits else ""
    style.write_title(ax, f"{coupling.name}, {part}{coupling.n_qubits} qubits")
    return style.figure_of(ax)


def _colours(errors: Known, max_error: float) -> ScalarMappable | None:
    known = [error for error in errors if error is not None and 0 < error < max_error]
    if not known:
        return None
    low, high = min(known), max(known)
    # A logarithmic scale needs two ends.
    return ScalarMappable(LogNorm(low, high if high > low else 1.01 * low), ERRORS)


def _colour(error: float | None, colours: ScalarMappable | None, otherwise: str) -> str:
    if colours is None or error is None:
        return otherwise
    # Errors of zero have the colour of the smallest.
    return to_hex(colours.to_rgba(np.array([max(error, colours.norm.vmin or 0.0)]))[0])


def _draw_couplers(
    ax: Axes, positions: FloatArray, coupling: Coupling, qubits: Sequence[int], colours: ScalarMappable | None
) -> None:
    lines = positions[np.array(coupling.edges, dtype=np.intp).reshape(-1, 2)]
    neighbours = zip(qubits, [*qubits[1:], *qubits[:1]], strict=True)
    places = {coupling.coupler(*pair) for pair in neighbours}
    in_ring = [place for place in range(len(lines)) if place in places]
    # Where all are coupled to all, lines of the usual width would leave no white between them.
    width = 1.6 if len(lines) < 4 * coupling.n_qubits else 0.3
    every = LineCollection(list(lines), colors=FAINT, linewidths=width, zorder=1)
    ring = LineCollection(list(lines[in_ring]), colors=INK, linewidths=2.6, zorder=2)
    if colours is not None:
        every.set(color=[_colour(error, colours, FAINT) for error in coupling.two_qubit_error], linewidth=2.6, zorder=3)
        ring.set_linewidth(5.5)
    ax.add_collection(every)
    ax.add_collection(ring)


def _draw_qubits(
    ax: Axes, positions: FloatArray, coupling: Coupling, qubits: Sequence[int], colours: ScalarMappable | None
) -> None:
    size = 6.0 if coupling.n_qubits > 100 else 7.0
    for qubit, place in enumerate(positions):
        in_ring = qubit in qubits
        face = _colour(coupling.readout_error[qubit], colours, INK if in_ring and colours is None else PAPER)
        edge, width = (INK, 1.8) if in_ring else (FAINT, 1.0)
        ax.add_patch(Circle(place, RADIUS, facecolor=face, edgecolor=edge, linewidth=width, zorder=4))
        ink = PAPER if style.text_colour(face) == PAPER else (INK if in_ring or colours else MUTED)
        ax.text(place[0], place[1], str(qubit), ha="center", va="center_baseline", color=ink, size=size, zorder=5)


def _cross_out(ax: Axes, positions: FloatArray, coupling: Coupling, max_error: float) -> None:
    couplers = [positions[list(edge)].mean(axis=0) for edge in coupling.faulty_couplers(max_error)]
    if couplers:
        x, y = np.array(couplers).T
        ax.plot(x, y, linestyle="", marker="X", markersize=9, color=RED, markeredgecolor=PAPER, zorder=6)
    for qubit in coupling.faulty_qubits(max_error):
        ax.add_patch(Circle(positions[qubit], RADIUS + 0.06, fill=False, edgecolor=RED, linewidth=2.0, zorder=6))


def _draw_start(ax: Axes, positions: FloatArray, qubits: Sequence[int]) -> None:
    if not qubits:
        return
    first = positions[qubits[0]]
    ax.add_patch(Circle(first, RADIUS + 0.06, fill=False, edgecolor=GREEN, linewidth=2.2, zorder=7))
    if len(qubits) > 1:
        second = positions[qubits[1]]
        step = (second - first) / np.linalg.norm(second - first)
        ends = tuple(first + (RADIUS + 0.06) * step), tuple(second - (RADIUS - 0.02) * step)
        look: dict[str, Any] = {"arrowstyle": "-|>,head_width=2.6,head_length=4", "color": GREEN, "linewidth": 2.2}
        ax.add_patch(FancyArrowPatch(*ends, shrinkA=0, shrinkB=0, zorder=7, **look))


def _draw_legend(ax: Axes, coupling: Coupling, qubits: Sequence[int], max_error: float) -> None:
    handles = []
    if qubits:
        handles.append(Line2D([], [], color=INK, linewidth=2.6, marker="o", markersize=7, label="ring"))
        handles.append(_ringed(GREEN, "its first qubit"))
    if coupling.faulty_couplers(max_error):
        handles.append(Line2D([], [], linestyle="", marker="X", markersize=9, color=RED, label="faulty coupler"))
    if coupling.faulty_qubits(max_error):
        handles.append(_ringed(RED, "faulty qubit"))
    if handles:
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0, 0), "ncols": len(handles)}
        style.legend_of(ax, handles=handles, borderaxespad=0, columnspacing=1.4, handletextpad=0.5, **place)


def _ringed(colour: str, label: str) -> Line2D:
    return Line2D([], [], linestyle="", marker="o", markersize=8, mfc=PAPER, mec=colour, mew=2, label=label)


def _draw_scale(ax: Axes, label: str, colours: ScalarMappable) -> None:
    scale = style.colour_bar(ax, colours, shrink=0.6, aspect=22, pad=0.02, label=label).yaxis
    scale.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    scale.set_minor_locator(NullLocator())
    scale.set_major_formatter(lambda value, _: f"{100 * value:.2g}%")


def plot_bitflip_calibration(calibration: Calibration, *, ax: Axes | None = None) -> Figure:
    """Draw the mean k^b between class means on and off the diagonal, and their difference, which is largest at b*.

    Parameters
    ----------
    calibration : as ``mcquack.kernels.bitflip.calibrate`` returns it. One of counts also has a band around the
        difference and a span of b*, both as wide as the shots leave open.
    ax : axes to draw into, instead of a new figure.

    Examples
    --------
    >>> from mcquack.kernels.bitflip import calibrate
    >>> calibration = calibrate([[[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], [[0.2, 0.3, 0.5], [0.8, 0.1, 0.1]]])
    >>> [line.get_label() for line in plot_bitflip_calibration(calibration).axes[0].lines]
    ['diagonal', 'off-diagonal', 'difference', 'b* = 0']
    """
    ax = ax or style.new_axes(4.8, 3.2)
    tolerances = np.arange(len(calibration.diagonal))
    best = f"b* = {calibration.tolerance}"
    if calibration.band is not None:
        ax.fill_between(tolerances, *calibration.band, color=RED, alpha=0.18, linewidth=0)
    if calibration.interval is not None:
        low, high = calibration.interval
        best += f" ({calibration.confidence:.0%}: {low} to {high})"
        ax.axvspan(low, high, color=FAINT, alpha=0.5, linewidth=0, zorder=0)
    # Dashes too, as a grey print shows no colours.
    for values, label, colour, dashes in (
        (calibration.diagonal, "diagonal", BLUE, "-"),
        (calibration.off_diagonal, "off-diagonal", GREEN, "--"),
        (calibration.difference, "difference", RED, "-."),
    ):
        ax.plot(tolerances, values, color=colour, linestyle=dashes, linewidth=1.6, label=label)
    ax.axvline(calibration.tolerance, color=INK, linewidth=0.9, linestyle=":", label=best)
    style.quiet(ax)
    ax.set(xlabel="tolerance b", ylabel="mean kernel", xlim=(0, tolerances[-1]), ylim=(min(0, *ax.get_ylim()), 1.02))
    style.grid_lines(ax)
    style.write_title(ax, "Bit-flip tolerance")
    style.legend_of(ax, handlelength=2.2)
    return style.figure_of(ax)
