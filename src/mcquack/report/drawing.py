"""A chart as a list of marks, drawn as plain SVG into a page, and by matplotlib into axes.

A benchmark's page has four charts for each metric and family, about a hundred and fifty in all, and matplotlib takes
longer to draw them than everything else in a report together. So the page writes the marks itself: letters are text
and colours follow the page's theme.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal, Self

import numpy as np
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.markers import MarkerStyle

from mcquack.report import style
from mcquack.report.style import FONT_SIZE, INK, MUTED, SMALL

Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]

TITLE = 24.0  # height of the line with the title, in points
LINE = 12.0  # height of a line of small print
_MARGIN = 5.0  # around a drawing that fills a figure
_LETTER = 0.58  # width of a letter in units of its size, in a wide face
_MARKER_SIZE = 3.5
_ALIGNMENTS = {"start": "left", "middle": "center", "end": "right"}


@dataclass(frozen=True, kw_only=True)
class Text:
    """Text around a point: its middle in height, and its start, middle or end in width."""

    at: Point
    text: str
    colour: str
    size: float
    anchor: Anchor
    turned: float = 0.0  # degrees clockwise
    name: str = ""

    @property
    def ends(self) -> Point:
        """Where the text begins and ends in width, as far as its number of letters says."""
        width = _LETTER * self.size * len(self.text)
        start = self.at[0] - {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor] * width
        return start, start + width

    def svg(self) -> str:
        x, y = self.at
        turn = f' transform="rotate({self.turned:g} {x:.1f} {y:.1f})"' if self.turned else ""
        return (
            f'<text x="{x:.1f}" y="{y + 0.35 * self.size:.1f}" text-anchor="{self.anchor}"{turn} '
            f'style="font-size: {self.size:g}px; fill: {style.themed(self.colour)}">{escape(self.text)}</text>'
        )

    def draw(self, ax: Axes) -> None:
        ax.text(
            *self.at,
            self.text,
            color=self.colour,
            size=self.size,
            ha=_ALIGNMENTS[self.anchor],
            va="center_baseline",
            rotation=-self.turned,
            rotation_mode="anchor",
            parse_math=False,
        )


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line through points, with a marker at each of them if it has one; ``name`` finds it in an SVG."""

    points: tuple[Point, ...]
    colour: str
    width: float
    dashes: tuple[float, ...] = ()
    marker: str = ""
    label: str = ""
    name: str = ""

    def mapped(self, place: Callable[[Point], Point]) -> Self:
        return replace(self, points=tuple(map(place, self.points)))

    def svg(self) -> str:
        dashed = f"; stroke-dasharray: {' '.join(map(str, self.dashes))}" if self.dashes else ""
        colour = style.themed(self.colour)
        look = f"fill: none; stroke: {colour}; stroke-width: {self.width:g}; stroke-linejoin: round{dashed}"
        line = f'<path d="{_path(self.points)}" style="{look}"/>'
        if not self.marker:
            return line
        corners = _corners(self.marker)
        shapes = tuple(tuple((x + i, y + j) for i, j in corners) for x, y in self.points)
        return line + Area(shapes=shapes, colour=self.colour).svg()

    def draw(self, ax: Axes) -> None:
        (drawn,) = ax.plot(
            *zip(*self.points, strict=True),
            color=self.colour,
            linewidth=self.width,
            linestyle=(0, self.dashes) if self.dashes else "-",
            solid_joinstyle="round",
            solid_capstyle="butt",
            marker=self.marker or None,
            markersize=_MARKER_SIZE,
            markeredgewidth=0,
            gid=self.name or None,
        )
        if self.label:
            drawn.set_label(self.label)


@dataclass(frozen=True, kw_only=True)
class Area:
    """Polygons filled with one colour; ``name`` finds them in an SVG."""

    shapes: tuple[tuple[Point, ...], ...]
    colour: str
    opacity: float = 1.0
    name: str = ""

    def mapped(self, place: Callable[[Point], Point]) -> Self:
        return replace(self, shapes=tuple(tuple(map(place, shape)) for shape in self.shapes))

    def svg(self) -> str:
        if not self.shapes:
            return ""
        path = "".join(f"{_path(points)}z" for points in self.shapes)
        faint = f"; fill-opacity: {self.opacity:g}" if self.opacity < 1 else ""
        return f'<path d="{path}" style="fill: {style.themed(self.colour)}{faint}"/>'

    def draw(self, ax: Axes) -> None:
        gid = self.name or None
        filled = PolyCollection(self.shapes, facecolors=self.colour, alpha=self.opacity, linewidths=0, gid=gid)
        ax.add_collection(filled)
        ax.autoscale_view()


@cache
def _corners(marker: str) -> list[Point]:
    """The corners of a shape of matplotlib around the origin, with y downwards."""
    shape = MarkerStyle(marker)
    (outline,) = shape.get_path().transformed(shape.get_transform()).to_polygons()
    corners = np.asarray(outline, dtype=np.float64)[:-1] * (_MARKER_SIZE, -_MARKER_SIZE)
    return [(x, y) for x, y in corners.tolist()]


def _path(points: Iterable[Point]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


@dataclass(kw_only=True)
class Drawing:
    """Marks below a title, with y downwards and lengths in points; it grows to both sides where a text needs it."""

    title: str
    title_left: float = 1.0
    marks: list[Text | Line | Area] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0

    def text(
        self,
        at: Point,
        text: str,
        *,
        colour: str = INK,
        size: float = SMALL,
        anchor: Anchor = "start",
        turned: float = 0.0,
    ) -> None:
        self.marks.append(Text(at=at, text=text, colour=colour, size=size, anchor=anchor, turned=turned))

    def notes(self, at: Point, text: str) -> None:
        """Add small print of several lines, the first around this point."""
        for number, line in enumerate(text.split("\n")):
            self.text((at[0], at[1] + LINE * number), line, colour=MUTED, anchor="middle")

    def line(self, *points: Point, colour: str, width: float) -> None:
        self.marks.append(Line(points=points, colour=colour, width=width))

    def field(self, corner: Point, width: float, height: float, *, colour: str) -> None:
        """Add a filled rectangle by its upper left corner."""
        (left, top), right, bottom = corner, corner[0] + width, corner[1] + height
        self.marks.append(Area(shapes=(((left, top), (right, top), (right, bottom), (left, bottom)),), colour=colour))

    def end_at(self, width: float, height: float) -> Self:
        """Set the size that the drawing has at least, and return it."""
        self.width, self.height = width, height
        return self

    @property
    def _heading(self) -> Text:
        at = (self.title_left, 14.0)
        return Text(at=at, text=self.title, colour=INK, size=FONT_SIZE + 1, anchor="start")

    def _sides(self) -> Point:
        level = [mark.ends for mark in (self._heading, *self.marks) if isinstance(mark, Text) and not mark.turned]
        return min(0.0, *(left for left, _ in level)), max(self.width, *(right for _, right in level))

    def svg(self, *, label: str, name: str = "") -> Markup:
        """The drawing as an element of a page; ids of marks that have a name begin with ``name``."""
        left, right = self._sides()
        head = style.picture_head(
            f'viewBox="{left:.1f} 0 {right - left:.1f} {self.height:.1f}"', right - left, label=label
        )
        elements = (
            f'<g id="{name}-{mark.name}">{mark.svg()}</g>' if mark.name else mark.svg()
            for mark in (self._heading, *self.marks)
        )
        return Markup(f"{head}{''.join(elements)}</svg>")

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw into axes, of which all is shown in points, or into a new figure of the drawing's size."""
        left, right = self._sides()
        if ax is None:
            width, height = right - left + 2 * _MARGIN, self.height + 2 * _MARGIN
            figure = style.new_figure(width / 72, height / 72)
            figure.set_layout_engine(None)
            top, share = height - _MARGIN - TITLE, (right - left) / width
            ax = figure.add_axes((_MARGIN / width, _MARGIN / height, share, (top - _MARGIN) / height))
        ax.set_axis_off()
        for mark in self.marks:
            mark.draw(ax)
        ax.set_xlim(left, right)
        ax.set_ylim(self.height, TITLE)
        style.write_title(ax, self.title)
        return style.figure_of(ax)


class Scale:
    """A straight scale from numbers to places, with a little room at both ends."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        low, high = min(values), max(values)
        room = 0.05 * (high - low) or 0.05
        self.low, self.high, self.first, self.last = low - room, high + room, first, last

    def __call__(self, value: float) -> float:
        return self.first + (self.last - self.first) * (value - self.low) / (self.high - self.low)
