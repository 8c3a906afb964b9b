"""A part of the page as a value, before anybody knows how it is drawn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from mcquack.bench.ranking.ranks import Interval
from mcquack.report.benchmark.tables import Column, Table
from mcquack.report.trainability.figures import number_text
from mcquack.studies.trainability.observation import Observation


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


# Pieces of sentences that several sections use.


def capital(text: str) -> str:
    """With a large first letter; the others stay as they are."""
    return text[:1].upper() + text[1:]


def within(sentence: str) -> str:
    """A sentence as a part of another, after a colon."""
    return sentence[:1].lower() + sentence[1:]


def listed(words: Sequence[str]) -> str:
    """As "one, two and three"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def with_interval(value: float, interval: Interval | None, *, digits: int = 3) -> str:
    """A number that cannot be negative and, if it is known, where it lies."""
    told = number_text(value, digits=digits)
    if interval is None:
        return told
    # Student's interval knows no bounds, but a share has one.
    ends = f"{number_text(max(interval.low, 0.0), digits=digits)} to {number_text(interval.high, digits=digits)}"
    return f"{told} ({100 * interval.level:g} % interval {ends})"


def span(sizes: Iterable[int]) -> str:
    """As "2 to 13 qubits"."""
    known = sorted(set(sizes))
    if len(known) == 1:
        return f"{known[0]:,} qubit{'' if known[0] == 1 else 's'}"
    return f"{known[0]:,} to {known[-1]:,} qubits"


def series_title(name: str) -> str:
    """As it stands in titles, and so that no grid's name reads as a source; a store may have one without a name."""
    return f"grid {name.replace('_', ' ')}" if name else "study"


def sizes_of(observations: Iterable[Observation]) -> list[int]:
    """All numbers of qubits, the smallest first."""
    return sorted({int(each.settings["n_qubits"]) for each in observations})


def spent(observations: Sequence[Observation]) -> str:
    """What was spent on these measurements: samples in the first batch and training samples, if they are known."""
    parts = []
    for name, words in (("batch_size", "samples in the first batch"), ("n_train", "training samples")):
        values = sorted({int(each.settings[name]) for each in observations if each.settings.get(name)})
        if values:
            parts.append(f"{values[0]:,}{f' to {values[-1]:,}' if len(values) > 1 else ''} {words}")
    layers = sorted({int(each.settings["n_layers"]) for each in observations if each.settings.get("n_layers")})
    if layers:
        parts.append(f"{layers[0]}{f' to {layers[-1]}' if len(layers) > 1 else ''} layers")
    return ", ".join(parts)
