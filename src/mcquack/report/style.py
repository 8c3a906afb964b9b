"""The look of all figures: quiet, legible in grey and for colour-blind readers, and without global state."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.legend import Legend

INK = "#1f2933"
MUTED = "#66727f"
FAINT = "#d5dbe1"
GRID = "#eef1f4"
PAPER = "#ffffff"

# Okabe and Ito without yellow and black, which fail on white and beside text, then Tol's indigo, olive and wine.
CLASS_COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#332288",
    "#999933",
    "#882255",
    "#7f7f7f",
)
# Ten colours and seven shapes share no factor, so 70 classes look different, in grey at least 7.
CLASS_MARKERS = ("o", "s", "^", "D", "v", "P", "X")

# Lightness falls steadily from white, so a grey print keeps the order of the values.
FIDELITIES = LinearSegmentedColormap.from_list("fidelities", ["#ffffff", "#b9d6ea", "#5a9bc8", "#1f5f99", "#0b2545"])

# An order of few, as of sizes: light to dark on white, and the other way round on a dark page.
RAMP = tuple(to_hex(FIDELITIES(0.36 + 0.056 * step)) for step in range(12))
DARK_RAMP = tuple(to_hex(FIDELITIES(0.72 - 0.056 * step)) for step in range(12))

# Without white, which is the paper's colour and would turn dark with it on a dark page.
SHARES = LinearSegmentedColormap.from_list("shares", FIDELITIES([0.06, 0.25, 0.5, 0.75, 1.0]))

FONT_SIZE = 9.0
SMALL = 8.0


def class_colour(index: int) -> str:
    """Colour of the class at this position."""
    return CLASS_COLOURS[index % len(CLASS_COLOURS)]


def class_marker(index: int) -> str:
    """Shape of the class's samples, so that colour is never the only difference."""
    return CLASS_MARKERS[index % len(CLASS_MARKERS)]


def new_axes(width: float, height: float) -> Axes:
    """Axes that fill a figure of this size in inches; pyplot does not know of it, so nothing has to be closed."""
    figure = Figure(figsize=(width, height), layout="constrained", facecolor=PAPER)
    return figure.add_subplot()


def figure_of(ax: Axes) -> Figure:
    """The whole figure, also when the axes stand in a part of it."""
    return ax.figure.figure


def quiet(ax: Axes) -> None:
    """Leaves of frame and ticks what is needed to read a value."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.tick_params(colors=MUTED, labelsize=SMALL, length=3, width=0.8)
    ax.xaxis.label.set(color=MUTED, size=FONT_SIZE)
    ax.yaxis.label.set(color=MUTED, size=FONT_SIZE)


def legend_below(figure: Figure, handles: Sequence[Any], *, n_columns: int, title: str | None) -> Legend:
    """Under all axes at the left, and above it in grey what else there is to know."""
    legend = figure.legend(
        handles=handles,
        loc="outside lower left",
        ncols=n_columns,
        frameon=False,
        fontsize=SMALL,
        labelcolor=INK,
        alignment="left",
        title=title,
        title_fontsize=SMALL,
    )
    legend.get_title().set_color(MUTED)
    return legend


def write_title(ax: Axes, title: str) -> None:
    """A plain title at the left."""
    ax.set_title(title, loc="left", size=FONT_SIZE + 1, color=INK, pad=8)
