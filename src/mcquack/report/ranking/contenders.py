"""How contenders are named and coloured in all figures of a ranking."""

from collections.abc import Iterable
from functools import lru_cache
from textwrap import fill

from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.textpath import TextPath

from mcquack.bench.ranking import Contender
from mcquack.report.style import FONT_SIZE, INK, PAPER

# Blue for good and red for bad, as in the paper's figure. In grey both ends are dark: the order has to tell them apart.
FROM_BEST_TO_WORST = LinearSegmentedColormap.from_list(
    "ranks", ["#1c4f8c", "#5a93c4", "#b4d0e4", "#e9e6df", "#f0b79c", "#d86f55", "#9c2530"]
)

Colour = tuple[float, float, float]
"""Red, green and blue from 0 to 1."""


def shade(place: float) -> Colour:
    """Colour from 0, the best, to 1, the worst."""
    red, green, blue, _ = FROM_BEST_TO_WORST(float(place))  # of an integer it would take the entry
    return red, green, blue


def text_colour(background: Colour) -> str:
    """Ink or paper, whichever is easier to read on it."""
    luminance = _luminance(background)
    return max(INK, PAPER, key=lambda colour: _contrast(luminance, _luminance(to_rgb(colour))))


def _contrast(one: float, other: float) -> float:
    """From 1 to 21, as the guidelines for accessible web content measure it."""
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def _luminance(colour: Colour) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def plain(text: str) -> str:
    """For matplotlib, to which a dollar sign begins a formula."""
    return text.replace("$", r"\$")


def width_of(contenders: Iterable[Contender]) -> float:
    """Inches of the longest name."""
    texts = (plain(contender.label).strip() for contender in contenders)
    return max((_points(text) for text in texts if text), default=0.0) / 72


@lru_cache(maxsize=1024)  # the same names stand in all figures of a report
def _points(text: str) -> float:
    return float(TextPath((0, 0), text, size=FONT_SIZE).get_extents().width)


def note(*lines: str, n_letters: int = 84) -> str:
    """Small print of the lines that are not empty, long ones broken, as text for matplotlib."""
    # A dagger stays with its name.
    broken = [fill(line.replace(" †", "\u00a0†"), n_letters).replace("\u00a0", " ") for line in lines if line]
    return plain("\n".join(broken))


def sources_note(contenders: Iterable[Contender]) -> str:
    """What the dagger means, or nothing if no contender has one."""
    sources = dict.fromkeys(each.source for each in contenders if each.is_published)
    return f"† published: {'; '.join(sources)}" if sources else ""
