"""Figures as SVG: for files as they are, for pages in the page's own colours and type."""

import re
from io import BytesIO

import matplotlib as mpl
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from mcquack.report.style import CLASS_COLOURS, DARK_RAMP, FAINT, GRID, INK, MUTED, PAPER, RAMP

_TOKENS = {
    INK: "ink",
    MUTED: "muted",
    FAINT: "line",
    GRID: "hair",
    PAPER: "paper",
    **{colour: f"model-{index}" for index, colour in enumerate(CLASS_COLOURS)},
}
"""The colours of figures by the names that pages have for them, light and dark."""

_DARK = dict(zip(RAMP, DARK_RAMP, strict=True))

_COLOUR = re.compile(r"(fill|stroke): (#[0-9a-f]{6})\b")
# Versions of matplotlib differ in whether size and family are one property.
_FONT = re.compile(r"(font: [^;\"]*?[0-9.]+px|font-family:)[^;\"]*")
_ID = re.compile(r'\bid="([^"]*)"')
_REFERENCE = re.compile(r'(url\(#|href="#)([^)"]*)')
_NOT_DRAWN = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
_HEAD = re.compile(r'<svg [^>]*?(viewBox="0 0 ([\d.]+) [\d.]+")[^>]*>')


def svg_bytes(figure: Figure) -> bytes:
    """The same bytes for the same figure: ids come from a fixed salt, and no date is written."""
    return _written(figure, letters="path")


def inline_svg(figure: Figure, *, name: str, label: str) -> Markup:
    """An element of a page: letters are text, colours follow the page's theme, and ids begin with ``name``."""
    text = _written(figure, letters="none").decode()
    text = _NOT_DRAWN.sub("", text[text.index("<svg") :])
    text = _COLOUR.sub(lambda found: f"{found[1]}: {_themed(found[2])}", text)
    text = _FONT.sub(r"\1 var(--sans)", text)
    text = _ID.sub(lambda found: f'id="{name}-{found[1]}"', text)
    text = _REFERENCE.sub(lambda found: f"{found[1]}{name}-{found[2]}", text)
    return Markup(_HEAD.sub(lambda found: _head(found[1], float(found[2]), label), text, count=1))


def _head(box: str, points: float, label: str) -> str:
    """Letters are never larger than the page's, nor on a phone so small that they cannot be read."""
    width = f"max-width: {1.42 * points / 16:.1f}rem; min-width: {0.95 * points / 16:.1f}rem"
    return f'<svg class="picture" {box} role="img" aria-label="{escape(label)}" style="{width}">'


def _themed(colour: str) -> str:
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
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()
