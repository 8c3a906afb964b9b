"""How numbers and dates are written in the text of a table, and how those look that are written in another way."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc

from mcquack.checks import require
from mcquack.errors import Setting

DECIMALS = (".", ",")
THOUSANDS = (",", ".", " ", "'", "_")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PLAIN_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity|nan)$"
_DECIMAL_COMMA = r"^([+-]?\d*),(\d+([eE][+-]?\d+)?)$"
_CURRENCY = r"^([+-]?)\s*[$€£¥]?\s*([+-]?)(.*?)\s*[$€£¥]?$"
_SPACES = r"[\x{00a0}\x{2009}\x{202f}]"
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LOOKED_AT = 1_000
_DATE_FORMATS = (
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
)


@dataclass(frozen=True, kw_only=True)
class Notation:
    """How numbers and dates are written where they are text.

    Parameters
    ----------
    decimal : "." or ",", before the fraction of a number. None is a point, or in a CSV with semicolons also a comma.
    thousands : what stands between groups of three digits: one of , . ' _ or a space. None is nothing.
    date_format : as ``datetime.strptime`` takes it, such as "%d.%m.%Y". Dates as 2024-12-31 are always read.

    Where ``decimal`` or ``thousands`` is given, a sign of a currency before or after a number is left out.

    Examples
    --------
    >>> import pyarrow as pa
    >>> Notation(decimal=",", thousands=".").numbers(pa.array(["38.249,59", "€ 7", "1.5"])).to_pylist()
    [38249.59, 7.0, None]
    """

    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None

    def __post_init__(self) -> None:
        for name, known in (("decimal", DECIMALS), ("thousands", THOUSANDS)):
            value = getattr(self, name)
            require(value is None or value in known, name, f"one of {', '.join(map(repr, known))}", value)
        differs = self.thousands != (self.decimal or ".")
        require(differs, "thousands", f"another sign than the decimal {self.decimal or '.'!r}", self.thousands)
        is_format = self.date_format is None or (isinstance(self.date_format, str) and "%" in self.date_format)
        require(is_format, "date_format", "a format such as '%d.%m.%Y'", self.date_format)

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as Python writes them, or with a comma where semicolons part the cells."""
        return self.decimal is None and self.thousands is None

    def numbers(self, column: pa.Array, *, decimal_comma: bool = False) -> pa.Array:
        """The texts as numbers, cell by cell, null where there is none."""
        if self.is_plain:
            text = pc.replace_substring_regex(column, _DECIMAL_COMMA, r"\1.\2") if decimal_comma else column
        else:
            text = self._plain_text(column)
        readable = pc.match_substring_regex(text, PLAIN_NUMBER)
        return pc.if_else(readable, text, pa.scalar(None, pa.string())).cast(pa.float64())

    def _plain_text(self, column: pa.Array) -> pa.Array:
        """Numbers as Python writes them, and null in the place of what is none in this notation."""
        decimal = re.escape(self.decimal or ".")
        whole = r"\d+"
        text = pc.replace_substring_regex(column, _CURRENCY, r"\1\2\3")
        if self.thousands is not None:
            text = pc.replace_substring_regex(text, _SPACES, " ")
            whole = rf"(\d{{1,3}}({re.escape(self.thousands)}\d{{3}})+|\d+)"
        pattern = rf"^[+-]?({whole}({decimal}\d*)?|{decimal}\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity|nan)$"
        text = pc.if_else(pc.match_substring_regex(text, pattern), text, pa.scalar(None, pa.string()))
        if self.thousands is not None:
            text = pc.replace_substring(text, self.thousands, "")
        return pc.replace_substring(text, ",", ".") if self.decimal == "," else text

    def days(self, text: str) -> float | None:
        """A date as days since 1970 (UTC); None if it is none."""
        moment = None
        if self.date_format is not None:
            moment = _parsed(text, self.date_format)
        if moment is None:
            try:
                moment = datetime.fromisoformat(text)
            except ValueError:
                return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (moment - _EPOCH) / timedelta(days=1)

    def looks_like_date(self, text: str) -> bool:
        """Whether it is written as a date; ``fromisoformat`` also takes 20241231 and 2024-W52, which may be codes."""
        is_iso = _ISO_DATE.match(text) is not None
        is_ours = self.date_format is not None and _parsed(text, self.date_format) is not None
        return (is_iso or is_ours) and self.days(text) is not None


def _parsed(text: str, date_format: str) -> datetime | None:
    try:
        return datetime.strptime(text, date_format)  # what has no time zone becomes UTC
    except ValueError:
        return None


def matching_options(texts: Iterable[str]) -> tuple[str | Setting, ...]:
    """Return how all of these texts would be numbers or dates, as parts of a message; empty if they would not.

    >>> print(*matching_options(["38.249,59", "7,5"]), sep="")
    numbers, with decimal=',' and thousands='.'
    >>> print(*matching_options(["31.12.2020"]), sep="")
    dates, with date_format='%d.%m.%Y'
    >>> matching_options(["red", "7,5"])
    ()
    """
    seen = list(islice(dict.fromkeys(texts), _LOOKED_AT))
    if not seen or not any(character.isdigit() for character in seen[0]):
        return ()
    column = pa.array(seen, pa.string())
    noun, found = "numbers", [how for each, how in _number_notations() if not each.numbers(column).null_count]
    if not found:
        dated = [each for each in _DATE_FORMATS if all(_parsed(text, each) is not None for text in seen)]
        noun, found = "dates", [(Setting("date_format", each),) for each in dated]
    if not found:
        return ()
    first, *others = found[:2]
    return (f"{noun}, with ", *first, *(part for each in others for part in (" or ", *each)))


def _number_notations() -> Iterator[tuple[Notation, tuple[str | Setting, ...]]]:
    """From the simplest on: what reads all texts with fewer options is told first."""
    for decimal in (",", "."):
        yield Notation(decimal=decimal), (Setting("decimal", decimal),)
    for thousands in THOUSANDS:
        if thousands != ".":
            yield Notation(thousands=thousands), (Setting("thousands", thousands),)
    for thousands in THOUSANDS:
        if thousands != ",":
            how = (Setting("decimal", ","), " and ", Setting("thousands", thousands))
            yield Notation(decimal=",", thousands=thousands), how
