"""The figures of all views as they stand in the page: what ``mcquack.report.ranking`` draws, as plain SVG.

A page has four figures for each metric and family, some hundred and fifty in all; matplotlib takes longer for them than
everything else in a report together. Letters are text and colours follow the page's theme. Lengths are in points.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from markupsafe import Markup, escape
from matplotlib.ticker import MaxNLocator

from mcquack.bench.ranking import Comparison, Contender, SizeCurve, Standing, WinMatrix
from mcquack.report import ranking
from mcquack.report.style import (
    FAINT,
    FONT_SIZE,
    GRID,
    INK,
    MUTED,
    SMALL,
    class_colour,
    class_marker,
    picture_head,
    shade,
    text_colour,
    themed,
)

_TITLE = 24.0  # height of the line with the title
_LINE = 12.0  # height of a line of small print
_GAP = 6.0  # between a name and what it names
_LETTER = 0.58  # width of a letter in units of its size, in a wide face

Point = tuple[float, float]


class _Picture:
    """Elements one above the other, from the top left; it grows to both sides where a text needs it."""

    def __init__(self, title: str, *, left: float = 1.0) -> None:
        self.elements: list[str] = []
        self.left, self.right = 0.0, 0.0
        self.text((left, 14.0), title, size=FONT_SIZE + 1)

    def text(
        self, at: Point, text: str, *, colour: str = INK, size: float = SMALL, anchor: str = "start", turned: float = 0
    ) -> None:
        """Text around ``at``: its middle in height, and its start, middle or end in width."""
        x, y = at
        if not turned:
            width = _LETTER * size * len(text)
            start = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * width
            self.left, self.right = min(self.left, start), max(self.right, start + width)
        turn = f' transform="rotate({turned:g} {x:.1f} {y:.1f})"' if turned else ""
        self.elements.append(
            f'<text x="{x:.1f}" y="{y + 0.35 * size:.1f}" text-anchor="{anchor}"{turn} '
            f'style="font-size: {size:g}px; fill: {themed(colour)}">{escape(text)}</text>'
        )

    def notes(self, at: Point, text: str, *, anchor: str = "middle") -> None:
        for number, line in enumerate(text.split("\n")):
            self.text((at[0], at[1] + _LINE * number), line, colour=MUTED, anchor=anchor)

    def line(self, points: Iterable[Point], *, colour: str, width: float, dashes: str = "") -> None:
        dashed = f"; stroke-dasharray: {dashes}" if dashes else ""
        look = f"fill: none; stroke: {themed(colour)}; stroke-width: {width:g}; stroke-linejoin: round{dashed}"
        self.elements.append(f'<path d="{_path(points)}" style="{look}"/>')

    def area(self, shapes: Iterable[Iterable[Point]], *, colour: str, opacity: float = 1.0) -> None:
        path = "".join(f"{_path(points)}z" for points in shapes)
        faint = f"; fill-opacity: {opacity:g}" if opacity < 1 else ""
        self.elements.append(f'<path d="{path}" style="fill: {themed(colour)}{faint}"/>')

    def field(self, corner: Point, width: float, height: float, *, colour: str) -> None:
        (left, top), right, bottom = corner, corner[0] + width, corner[1] + height
        self.area([[(left, top), (right, top), (right, bottom), (left, bottom)]], colour=colour)

    def markup(self, width: float, height: float, *, label: str) -> Markup:
        width = max(width, self.right) - self.left
        head = picture_head(f'viewBox="{self.left:.1f} 0 {width:.1f} {height:.1f}"', width, label=label)
        return Markup(f"{head}{''.join(self.elements)}</svg>")


def _path(points: Iterable[Point]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _width_of(contenders: Iterable[Contender]) -> float:
    return 72 * ranking.width_of(contenders)


def _ticks(low: float, high: float, *, most: int, whole: bool) -> list[tuple[float, str]]:
    """Round numbers from ``low`` to ``high``, as many digits behind the point as the one that needs most."""
    locator = MaxNLocator(integer=whole, nbins=most, min_n_ticks=1, steps=[1, 2, 2.5, 5, 10])
    found = [float(tick) for tick in locator.tick_values(low, high) if low - 1e-9 <= tick <= high + 1e-9]
    n_digits = max((len(f"{tick:.6f}".rstrip("0").partition(".")[2]) for tick in found), default=0)
    return [(tick, f"{tick:.{n_digits}f}") for tick in found]


_BAR_WIDTH, _BAR_STEP, _BAR_HEIGHT = 290.0, 21.6, 16.0


def ranking_picture(standings: Sequence[Standing], *, title: str, label: str) -> Markup:
    """How often each model has which rank, with its average."""
    picture = _Picture(title)
    contenders = [line.contender for line in standings]
    counts = np.array([line.rank_counts for line in standings])
    left, top, n_ranks = _width_of(contenders) + _GAP, _TITLE + 34.0, counts.shape[1]
    scale = _BAR_WIDTH / max(1, counts.sum(axis=1).max())
    at = left
    for rank, name in ranking.legend_ranks(n_ranks):
        picture.field((at, _TITLE + 2), 8.0, 8.0, colour=ranking.rank_colour(rank, n_ranks))
        picture.text((at + 10, _TITLE + 6), name, colour=MUTED)
        at += 16.0 + 5.0 * len(name)
    columns = [("average", [f"{line.average_rank:.2f}" for line in standings], INK)]
    if known := next((line.interval for line in standings if line.interval), None):
        ends = ["–" if (each := line.interval) is None else f"{each.low:.2f} – {each.high:.2f}" for line in standings]
        columns.append((f"{100 * known.level:g} % interval", ends, MUTED))
    for right, (head, texts, colour) in zip((46.0, 112.0), columns, strict=False):
        place = left + _BAR_WIDTH + right
        picture.text((place, top - 16), head, colour=MUTED, anchor="end")
        for number, text in enumerate(texts):
            picture.text((place, top + _BAR_STEP * number), text, colour=colour, anchor="end")
    for number, (contender, of_model) in enumerate(zip(contenders, counts.tolist(), strict=True)):
        y, start = top + _BAR_STEP * number, left
        picture.text((left - _GAP, y), contender.label, size=FONT_SIZE, anchor="end")
        for rank, count in enumerate(of_model):
            colour = ranking.rank_colour(rank, n_ranks)
            if count:
                picture.field((start, y - _BAR_HEIGHT / 2), scale * count, _BAR_HEIGHT, colour=colour)
            if count * scale >= ranking.LEAST_LABELLED_SHARE * _BAR_WIDTH:
                middle = start + scale * count / 2
                picture.text((middle, y), str(count), colour=text_colour(colour), size=SMALL - 1, anchor="middle")
            start += scale * count
    bottom = top + _BAR_STEP * len(standings) - 8.0
    picture.line([(left, bottom), (left + _BAR_WIDTH, bottom)], colour=FAINT, width=0.8)
    for tick, text in _ticks(0, _BAR_WIDTH / scale, most=8, whole=True):
        picture.line([(left + scale * tick, bottom), (left + scale * tick, bottom + 3)], colour=MUTED, width=0.8)
        picture.text((left + scale * tick, bottom + 9), text, colour=MUTED, anchor="middle")
    note = ranking.note("number of datasets", ranking.sources_note(contenders))
    picture.notes((left + _BAR_WIDTH / 2, bottom + 23), note)
    return picture.markup(left + _BAR_WIDTH + 116, bottom + 32 + _LINE * note.count("\n"), label=label)


_ROW = 17.0  # between the names of two models in the critical-difference diagram
_FIRST_BAR, _BAR_GAP = 0.55, 0.5  # rows of the bars that join models


def critical_difference_picture(comparison: Comparison, *, title: str, label: str) -> Markup:
    """Models on a line by average rank, best left; a bar joins those that Nemenyi's test does not tell apart."""
    picture = _Picture(title)
    contenders, n_models = comparison.contenders, len(comparison.contenders)
    n_left, width = (n_models + 1) // 2, max(230.0, 26.0 * n_models)
    first, top = _width_of(contenders[:n_left]) + 40.0, _TITLE + 2.5 * _ROW
    scale = width / max(1, n_models - 1)

    def x(rank: float) -> float:
        return first + scale * (rank - 1)

    picture.line([(x(1), top), (x(n_models), top)], colour=INK, width=1.0)
    for rank in range(1, n_models + 1):
        picture.line([(x(rank), top), (x(rank), top - 5)], colour=INK, width=1.0)
        picture.text((x(rank), top - 12), str(rank), colour=MUTED, anchor="middle")
    length, text = ranking.difference_bar(comparison)
    end, above = x(1 + length), top - 1.9 * _ROW
    picture.line([(x(1), above), (end, above)], colour=INK, width=1.4)
    picture.line([(x(1), above - 3.5), (x(1), above + 3.5)], colour=INK, width=1.4)
    back = 0.0 if length == comparison.critical_difference else 5.0  # an arrow, where the bar goes on
    picture.line([(end - back, above - 3.5), (end, above), (end - back, above + 3.5)], colour=INK, width=1.4)
    picture.text((end + _GAP, above), text)
    places = dict(zip(contenders, comparison.average_ranks, strict=True))
    for number, group in enumerate(comparison.groups):
        y = top + _ROW * (_FIRST_BAR + _BAR_GAP * number)
        ends = [(x(places[group[0]]) - 2, y), (x(places[group[-1]]) + 2, y)]
        picture.line(ends, colour=INK, width=3.6)
    names = top + _ROW * (_FIRST_BAR + _BAR_GAP * len(comparison.groups) + 0.6)
    for index, (contender, average) in enumerate(places.items()):
        is_left, y = index < n_left, names + _ROW * min(index, n_models - 1 - index)
        edge = first - 5 if is_left else first + width + 5
        picture.line([(x(average), top), (x(average), y), (edge, y)], colour=MUTED, width=0.9)
        name = contender.label
        text, at = (f"{name}  {average:.2f}", edge - 3) if is_left else (f"{average:.2f}  {name}", edge + 3)
        picture.text((at, y), text, size=FONT_SIZE, anchor="end" if is_left else "start")
    explained, bottom = ranking.explanation(comparison), names + _ROW * n_left
    picture.notes((first + width / 2, bottom + 4), explained)
    full = first + width + _width_of(contenders[n_left:]) + 40.0
    return picture.markup(full, bottom + 12 + _LINE * explained.count("\n"), label=label)


_FIELD = (51.8, 25.9)  # width and height of a field
_SLANT = 35.0  # degrees by which the names of columns are turned


def wins_picture(matrix: WinMatrix, *, title: str, label: str) -> Markup:
    """On how many datasets the model of a row has a better, equal and worse score than that of a column."""
    picture = _Picture(title)
    contenders, (width, height) = matrix.contenders, _FIELD
    longest, n_models = _width_of(contenders), len(contenders)
    left, top = longest + _GAP, _TITLE
    losses = ranking.loss_shares(matrix)
    for row, contender in enumerate(contenders):
        y = top + height * (row + 0.5)
        picture.text((left - _GAP, y), contender.label, size=FONT_SIZE, anchor="end")
        for column in np.flatnonzero(~np.isnan(losses[row])).tolist():
            colour, x = shade(losses[row, column]), left + width * column
            picture.field((x + 0.75, y - height / 2 + 0.75), width - 1.5, height - 1.5, colour=colour)
            text = "–".join(map(str, matrix.record(row, column)))
            picture.text((x + width / 2, y), text, colour=text_colour(colour), anchor="middle")
        below = left + width * (row + 0.5), top + height * n_models + 8
        picture.text(below, contender.label, size=FONT_SIZE, anchor="end", turned=-_SLANT)
    bottom = top + height * n_models + 26 + longest * math.sin(math.radians(_SLANT))
    note = ranking.note("datasets, the row against the column", ranking.sources_note(contenders))
    picture.notes((left + width * n_models / 2, bottom), note)
    return picture.markup(left + width * n_models + 4, bottom + 10 + _LINE * note.count("\n"), label=label)


class _Scale:
    """A straight scale from numbers to places, with a little room at both ends."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        low, high = min(values), max(values)
        room = 0.05 * (high - low) or 0.05
        self.low, self.high, self.first, self.last = low - room, high + room, first, last

    def __call__(self, value: float) -> float:
        return self.first + (self.last - self.first) * (value - self.low) / (self.high - self.low)


def _draw_axes(picture: _Picture, across: _Scale, up: _Scale, *, metric: str) -> None:
    """Numbers and faint lines behind the curves, and what the numbers are."""
    for tick, text in _ticks(up.low, up.high, most=6, whole=False):
        picture.line([(across.first, up(tick)), (across.last, up(tick))], colour=GRID, width=0.8)
        picture.text((across.first - 4, up(tick)), text, colour=MUTED, anchor="end")
    for tick, text in _ticks(across.low, across.high, most=6, whole=True):
        picture.line([(across(tick), up.first), (across(tick), up.first + 3)], colour=MUTED, width=0.8)
        picture.text((across(tick), up.first + 9), text, colour=MUTED, anchor="middle")
    corners = [(across.first, up.last), (across.first, up.first), (across.last, up.first)]
    picture.line(corners, colour=FAINT, width=0.8)
    picture.text(((across.first + across.last) / 2, up.first + 23), "n", colour=MUTED, size=FONT_SIZE, anchor="middle")
    middle = (up.first + up.last) / 2
    picture.text((7.0, middle), metric, colour=MUTED, size=FONT_SIZE, anchor="middle", turned=-90)


_PANEL = (230.0, 194.0)
_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 8.0, 26.0, 36.0
_DASHES = {"test": "", "validation": "5 2 1 2", "train": "3 2"}
_CORNERS: dict[str, list[Point]] = {
    "s": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
    "^": [(0, -1.1), (1.1, 1), (-1.1, 1)],
    "v": [(0, 1.1), (1.1, -1), (-1.1, -1)],
    "D": [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
    "P": [(-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4), (0.4, 1.2), (-0.4, 1.2),
          (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)],
    "X": [(0, -0.6), (0.7, -1.2), (1.2, -0.7), (0.6, 0), (1.2, 0.7), (0.7, 1.2), (0, 0.6), (-0.7, 1.2), (-1.2, 0.7),
          (-0.6, 0), (-1.2, -0.7), (-0.7, -1.2)],
    "o": [(1.1 * math.cos(turn * math.pi / 8), 1.1 * math.sin(turn * math.pi / 8)) for turn in range(16)],
}  # fmt: skip


def sizes_picture(
    curves: Sequence[SizeCurve], *, contenders: Sequence[Contender], metric: str, name: str, label: str
) -> Markup:
    """Mean scores with their bands against the size of the datasets of one family.

    The ids of a curve and its band end in ``curve-3-test`` and ``band-3-test``, 3 being the place in ``contenders``.
    """
    picture = _Picture(curves[0].family.replace("_", " "), left=_LEFT)
    points = [point for curve in curves for point in curve.points]
    bands = [point.band for point in points if point.band is not None]
    across = _Scale([point.size for point in points], _LEFT, _PANEL[0] - _RIGHT)
    scores = [*(point.mean for point in points), *(end for band in bands for end in (band.low, band.high))]
    up = _Scale(scores, _PANEL[1] - _BOTTOM, _TOP)
    _draw_axes(picture, across, up, metric=metric)
    looks = {contender: index for index, contender in enumerate(contenders)}
    # What was run here is seen first: it is drawn last.
    ordered = sorted(curves, key=lambda curve: not curve.contender.is_published)
    for draw, kind in ((_draw_band, "band"), (_draw_curve, "curve")):
        for curve in ordered:
            look = looks[curve.contender]
            picture.elements.append(f'<g id="{name}-{kind}-{look}-{curve.part}">')
            draw(picture, curve, look, across, up)
            picture.elements.append("</g>")
    return picture.markup(*_PANEL, label=label)


def _draw_band(picture: _Picture, curve: SizeCurve, look: int, across: _Scale, up: _Scale) -> None:
    banded = [(across(each.size), each.band) for each in curve.points if each.band is not None]
    edge = [(x, up(band.low)) for x, band in banded] + [(x, up(band.high)) for x, band in reversed(banded)]
    if banded:
        picture.area([edge], colour=class_colour(look), opacity=0.15 if curve.part == "test" else 0.06)


def _draw_curve(picture: _Picture, curve: SizeCurve, look: int, across: _Scale, up: _Scale) -> None:
    colour, is_test = class_colour(look), curve.part == "test"
    places = [(across(each.size), up(each.mean)) for each in curve.points]
    width = (1.3 if is_test else 0.9) * (1 if curve.contender.is_published else 1.5)
    picture.line(places, colour=colour, width=width, dashes=_DASHES[curve.part])
    if is_test:
        corners = _CORNERS[class_marker(look)]
        picture.area([[(x + 1.75 * i, y + 1.75 * j) for i, j in corners] for x, y in places], colour=colour)
