"""What all figures and pages share: their colours, their axes, how they become SVG, and numbers as words.

The look is quiet and legible in grey and for colour-blind readers. Nothing here changes matplotlib's global state, so
figures can be drawn in threads and beside those of the user.
"""

import re
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from typing import Any

import matplotlib as mpl
import numpy as np
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from numpy.typing import NDArray

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

# The same in steps, from little to much: light to dark on white, and the other way round on a dark page.
HEAT = tuple(to_hex(SHARES(step / 20)) for step in range(21))
_DARK_HEAT = LinearSegmentedColormap.from_list("heat", ["#1d2b38", "#24577f", "#3f8fc4", "#9bd3f7", "#e4f3fd"])
DARK_HEAT = tuple(to_hex(_DARK_HEAT(step / 20)) for step in range(21))

# Blue for good and red for bad, as in the paper's figure. In grey both ends are dark: the order has to tell them apart.
# A step in lightness leaves out what neither ink nor paper can be read on, in the same places on a dark page.
_N_SHADES = 41
_LIGHT_SHADES = ["#1c4f8c", "#35699f", "#6a9fcc", "#b4d0e4", "#e9e6df", "#f0b79c", "#e0836a", "#b8453f", "#9c2530"]
_DARK_SHADES = ["#74b4ec", "#5596d0", "#35607f", "#3f5161", "#47494b", "#5c4a45", "#81443a", "#dd7063", "#f08d80"]
_PLACES = [0.0, 0.13, 0.13, 0.33, 0.5, 0.67, 0.87, 0.87, 1.0]


def _shades(colours: Sequence[str]) -> tuple[str, ...]:
    ramp = LinearSegmentedColormap.from_list("shades", list(zip(_PLACES, colours, strict=True)), N=1024)
    return tuple(to_hex(ramp(step / (_N_SHADES - 1))) for step in range(_N_SHADES))


SHADES, DARK_SHADES = _shades(_LIGHT_SHADES), _shades(_DARK_SHADES)
"""From the best to the worst, on white and on a dark page."""

BOX, DARK_BOX = "#e3f1ec", "#1d3a30"
"""The ground of a gate in a circuit, on white and on a dark page: letters in ink stand out from both."""

_PRINT = 200  # dots per inch
_PAGE = 100  # where pages have pixels at all

FONT_SIZE = 9.0
SMALL = 8.0


def class_colour(index: int) -> str:
    """The colour of the class at this position."""
    return CLASS_COLOURS[index % len(CLASS_COLOURS)]


def class_marker(index: int) -> str:
    """The shape of the samples of the class at this position, so that colour is never the only difference."""
    return CLASS_MARKERS[index % len(CLASS_MARKERS)]


def class_look(index: int) -> dict[str, Any]:
    """Colour and shape of the class at this position, as matplotlib's lines take them."""
    return {"color": class_colour(index), "marker": class_marker(index), "markersize": 3.8}


def shade(place: float) -> str:
    """The colour of a place from 0, the best, to 1, the worst."""
    return SHADES[round(place * (_N_SHADES - 1))]


@cache  # the same few colours stand in thousands of fields
def text_colour(background: Any) -> str:
    """Ink or paper, whichever is easier to read on a background."""
    return max(INK, PAPER, key=lambda colour: contrast(colour, background))


def contrast(one: Any, other: Any) -> float:
    """Return the contrast of two colours, from 1 to 21, as the guidelines for accessible web content define it."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Any) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches; pyplot does not know of it, so nothing has to be closed.

    Saved as pixels it is good enough for print.
    """
    return Figure(figsize=(width, height), dpi=_PRINT, layout="constrained", facecolor=PAPER)


def new_axes(width: float, height: float) -> Axes:
    """Axes that fill a new figure of this size in inches."""
    return new_figure(width, height).add_subplot()


def figure_of(ax: Axes) -> Figure:
    """The whole figure that axes belong to, also when they stand in a part of it."""
    return ax.figure.figure


def quiet(ax: Axes) -> None:
    """Leaves of the frame and the ticks of axes what is needed to read a value."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.tick_params(colors=MUTED, labelsize=SMALL, length=3, width=0.8)
    ax.xaxis.label.set(color=MUTED, size=FONT_SIZE)
    ax.yaxis.label.set(color=MUTED, size=FONT_SIZE)


def grid_lines(ax: Axes) -> None:
    """Faint horizontal lines behind the curves."""
    ax.grid(axis="y", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)


def legend_of(owner: Axes | Figure, **options: Any) -> Legend:
    """A legend in small print without a frame; options are matplotlib's."""
    return owner.legend(**{"frameon": False, "fontsize": SMALL, "labelcolor": INK, **options})


def legend_below(figure: Figure, handles: Sequence[Any], *, n_columns: int, title: str | None) -> Legend:
    """A legend under all axes at the left, with a note in grey as its title."""
    place: dict[str, Any] = {"loc": "outside lower left", "ncols": n_columns, "alignment": "left"}
    legend = legend_of(figure, handles=handles, title=title, title_fontsize=SMALL, **place)
    legend.get_title().set_color(MUTED)
    return legend


def colour_bar(ax: Axes, colours: Any, **options: Any) -> Axes:
    """A quiet scale of colours beside axes; options are matplotlib's."""
    bar = figure_of(ax).colorbar(colours, ax=ax, **options)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=MUTED, labelsize=SMALL, length=0)
    bar.ax.yaxis.label.set(color=MUTED, size=SMALL)
    return bar.ax


def write_title(ax: Axes, title: str) -> None:
    """Writes a plain title at the left."""
    ax.set_title(title, loc="left", size=FONT_SIZE + 1, color=INK, pad=8, parse_math=False)


# Figures as SVG: for files as they are, for pages in the page's own colours and type.

_TOKENS = {
    INK: "ink",
    MUTED: "muted",
    FAINT: "line",
    GRID: "hair",
    PAPER: "paper",
    **{colour: f"model-{index}" for index, colour in enumerate(CLASS_COLOURS)},
}
"""The colours of figures by the names that pages have for them, light and dark."""

_DARK = dict(zip((BOX, *RAMP, *SHADES, *HEAT), (DARK_BOX, *DARK_RAMP, *DARK_SHADES, *DARK_HEAT), strict=True))

_COLOUR = re.compile(r"(fill|stroke): (#[0-9a-f]{6})\b")
# Versions of matplotlib differ in whether size and family are one property.
_FONT = re.compile(r"(font: [^;\"]*?[0-9.]+px|font-family:)[^;\"]*")
_ID = re.compile(r'\bid="([^"]*)"')
_REFERENCE = re.compile(r'(url\(#|href="#)([^)"]*)')
_NOT_DRAWN = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
_HEAD = re.compile(r'<svg [^>]*?(viewBox="0 0 ([\d.]+) [\d.]+")[^>]*>')


def svg_bytes(figure: Figure) -> bytes:
    """A figure as a file, the same for the same figure: ids come from a fixed salt, and no date is written."""
    return _written(figure, letters="path")


def inline_svg(figure: Figure, *, name: str, label: str) -> Markup:
    """A figure as an element of a page: letters are text, colours follow the page's theme, ids begin with ``name``."""
    text = _written(figure, letters="none").decode()
    text = _NOT_DRAWN.sub("", text[text.index("<svg") :])
    text = _COLOUR.sub(lambda found: f"{found[1]}: {themed(found[2])}", text)
    text = _FONT.sub(r"\1 var(--sans)", text)
    text = _ID.sub(lambda found: f'id="{name}-{found[1]}"', text)
    text = _REFERENCE.sub(lambda found: f"{found[1]}{name}-{found[2]}", text)
    box, points = _HEAD.search(text).groups()  # type: ignore[union-attr]  # an SVG has a head
    return Markup(_HEAD.sub(lambda _: picture_head(box, float(points), label=label), text, count=1))


def picture_head(box: str, width: float, *, label: str) -> str:
    """The opening of an SVG in a page, of this view box and this width in points."""
    # Letters are never larger than the page's, nor on a phone so small that they cannot be read.
    look = f"max-width: {1.42 * width / 16:.1f}rem; min-width: {0.95 * width / 16:.1f}rem"
    return f'<svg class="picture" {box} role="img" aria-label="{escape(label)}" style="{look}">'


def themed(colour: str) -> str:
    """A colour of a figure as the page has it, light and dark."""
    if colour in _TOKENS:
        return f"var(--{_TOKENS[colour]})"
    return f"light-dark({colour}, {_DARK[colour]})" if colour in _DARK else colour


def _written(figure: Figure, *, letters: str) -> bytes:
    stream = BytesIO()
    # Laid out once: matplotlib would draw everything a second time only to lay it out again.
    if (engine := figure.get_layout_engine()) is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)
    with mpl.rc_context({"svg.hashsalt": "mcquack", "svg.fonttype": letters}):
        figure.savefig(stream, format="svg", metadata={"Date": None}, dpi=_PAGE)
    return stream.getvalue()


def chance(p_value: float) -> str:
    """A p value as it is usually written."""
    return "p\u00a0<\u00a00.001" if p_value < 0.001 else f"p\u00a0=\u00a0{p_value:.3f}"


def counted(count: int, noun: str) -> str:
    """As "1 model" and "2 models"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """A time in the largest unit that leaves a number above one, or nearly so."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 1.5 * length:
            count = seconds / length
            return f"{count:.{1 if count < 10 else 0}f} {unit}"
    if seconds < 0.995:
        return f"{1000 * seconds:.{1 if seconds < 0.0095 else 0}f} ms"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def moment(iso: str | None) -> str:
    """A time of the store as people read it."""
    return (iso or "").replace("T", " ").replace("+00:00", " UTC")


def capital(text: str) -> str:
    """A text with a large first letter; the others stay as they are."""
    return text[:1].upper() + text[1:]


def number_text(value: float, *, digits: int = 3) -> str:
    """A number with these significant digits; very large and very small ones as powers of ten."""
    if value == 0:
        return "0"
    text = f"{value:.{digits - 1}e}"
    mantissa, _, exponent = text.partition("e")
    if -4 <= int(exponent) < 6:
        return f"{float(text):,.{max(digits - 1 - int(exponent), 0)}f}".replace("-", "−")
    return f"{mantissa.replace('-', '−')} · {power_of_ten(int(exponent))}"


def plain_number(text: str) -> str:
    """A number as Python writes it, with a true minus sign and powers of ten; any other text stays as it is.

    >>> plain_number("1e-05"), plain_number("-2.5"), plain_number("wide-5")
    ('10⁻⁵', '−2.5', 'wide-5')
    """
    found = re.fullmatch(r"(-?[0-9.]+)(?:e([-+]?[0-9]+))?", text)
    if found is None:
        return text
    mantissa = found[1].replace("-", "−")
    if found[2] is None:
        return mantissa
    power = power_of_ten(int(found[2]))
    return power if mantissa == "1" else f"{mantissa} · {power}"


def power_of_ten(exponent: int) -> str:
    """A power as 10⁻³."""
    return f"10{str(exponent).translate(_SUPERSCRIPTS)}"


_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def within(sentence: str) -> str:
    """A sentence as a part of another, after a colon."""
    return sentence[:1].lower() + sentence[1:]


def listed(words: Sequence[str]) -> str:
    """Words as "one, two and three"."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


MOST_SAMPLES = 1000  # points that are drawn; more would hide each other


def draw_samples(ax: Axes, points: NDArray[np.floating], index: int) -> None:
    """Points (N, 2) in the colour and shape of the class at this position."""
    look: dict[str, Any] = {"color": class_colour(index), "marker": class_marker(index), "edgecolor": PAPER}
    ax.scatter(points[:, 0], points[:, 1], s=18, linewidth=0.4, alpha=0.8, **look)


def draw_class_legend(ax: Axes, names: Sequence[str], *, others: Sequence[Line2D] = ()) -> None:
    """The name of every class beside the axes, and below them ``others``."""
    handles = [
        Line2D([], [], linestyle="", marker=class_marker(index), color=class_colour(index), markersize=5, label=name)
        for index, name in enumerate(names)
    ]
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "ncols": 1 + len(names) // 16}
    legend_of(ax, handles=[*handles, *others], handletextpad=0.3, **place)
