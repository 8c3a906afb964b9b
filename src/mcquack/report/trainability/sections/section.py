"""A part of the page as a value, before anybody knows how it is drawn."""

from dataclasses import dataclass

from matplotlib.figure import Figure

from mcquack.report.benchmark.tables import Column, Table


@dataclass(frozen=True, kw_only=True, eq=False)
class Picture:
    """A figure with its name, which is that of its file, and what has to be said below it."""

    name: str
    title: str
    caption: str
    figure: Figure
    folded: bool = False  # shown on request


@dataclass(frozen=True, kw_only=True, eq=False)
class Section:
    """``lead`` is what was found, in sentences; ``notes`` are how it was measured."""

    id: str
    title: str
    short: str  # in the bar
    lead: tuple[str, ...]
    notes: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()  # written as files; the first one also stands on the page


def columns(*titles: str) -> tuple[Column, ...]:
    """Heads of a table."""
    return tuple(Column(title=title) for title in titles)


def file_name(*parts: str) -> str:
    """Of a picture: letters, digits and underscores alone, for it also begins the ids on the page."""
    joined = "_".join(filter(None, parts)).lower()
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in joined)
