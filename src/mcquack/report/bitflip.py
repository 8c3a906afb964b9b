"""How the bit-flip tolerance was calibrated."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mcquack.kernels.bitflip import Calibration
from mcquack.report.style import CLASS_COLOURS, FAINT, GRID, INK, SMALL, figure_of, new_axes, quiet, write_title

BLUE, GREEN, RED = CLASS_COLOURS[0], CLASS_COLOURS[2], CLASS_COLOURS[5]


def plot_bitflip_calibration(calibration: Calibration, *, ax: Axes | None = None) -> Figure:
    """Mean k^b between class means on and off the diagonal, and their difference, which is largest at b*.

    Counted weights also have a band around the difference and a span of b*, both as wide as the shots leave open.
    """
    ax = ax or new_axes(4.8, 3.2)
    tolerances = np.arange(len(calibration.diagonal))
    _draw_uncertainty(ax, calibration, tolerances)
    # Dashes too, as a grey print shows no colours.
    for values, label, colour, dashes in (
        (calibration.diagonal, "diagonal", BLUE, "-"),
        (calibration.off_diagonal, "off-diagonal", GREEN, "--"),
        (calibration.difference, "difference", RED, "-."),
    ):
        ax.plot(tolerances, values, color=colour, linestyle=dashes, linewidth=1.6, label=label)
    ax.axvline(calibration.tolerance, color=INK, linewidth=0.9, linestyle=":", label=_best_label(calibration))
    quiet(ax)
    ax.set(xlabel="tolerance b", ylabel="mean kernel", xlim=(0, tolerances[-1]), ylim=(min(0, *ax.get_ylim()), 1.02))
    ax.grid(axis="y", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    write_title(ax, "Bit-flip tolerance")
    ax.legend(frameon=False, fontsize=SMALL, labelcolor=INK, handlelength=2.2)
    return figure_of(ax)


def _draw_uncertainty(ax: Axes, calibration: Calibration, tolerances: np.ndarray) -> None:
    if calibration.band is not None:
        ax.fill_between(tolerances, *calibration.band, color=RED, alpha=0.18, linewidth=0)
    if calibration.interval is not None:
        ax.axvspan(*calibration.interval, color=FAINT, alpha=0.5, linewidth=0, zorder=0)


def _best_label(calibration: Calibration) -> str:
    if calibration.interval is None:
        return f"b* = {calibration.tolerance}"
    low, high = calibration.interval
    return f"b* = {calibration.tolerance} ({calibration.confidence:.0%}: {low} to {high})"
