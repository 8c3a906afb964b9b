"""Whether our numbers are the paper's: single comparisons by a rule, and what follows from all of an item."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from mcquack.bench.ranking import Interval

MANY, SAME_FROM = 100, 0.95
"""Of so many comparisons and more, some fail by chance alone: this share of them must hold for "the same"."""

PARTLY_FROM = 0.5
"""The share from which on it is "partly the same"."""

_NAMED = 3  # comparisons that fail are named in a sentence, so many of them
_HALF_DIGIT = 0.005  # the paper prints two digits

Kind = Literal["same", "partly", "different", "open"]
RULE = (
    f"The same: all comparisons hold, or at least {100 * SAME_FROM:.0f} % of {MANY} and more; partly the same: at "
    f"least {100 * PARTLY_FROM:.0f} % hold; otherwise it is not the same."
)
"""How the sentence of an item follows from its comparisons."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One comparison: what is compared, what the paper has, what we have, and whether it holds.

    ``holds`` is None where our side is not known, or where the two are shown beside each other only.
    """

    what: str
    paper: str
    ours: str
    holds: bool | None


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What follows from the checks of an item: a kind, and the sentence that a page shows."""

    kind: Kind
    sentence: str
    n_held: int
    n_checks: int


def verdict_of(checks: Iterable[Check]) -> Verdict:
    """The verdict that follows from checks; those that were not decided do not count.

    >>> good = Check(what="b", paper="45", ours="45", holds=True)
    >>> bad = Check(what="shots", paper="100", ours="90", holds=False)
    >>> verdict_of([good, good]).sentence
    'The same: all 2 comparisons hold.'
    >>> verdict_of([good, bad]).sentence
    'Partly the same: 1 of 2 comparisons holds; not that of shots.'
    """
    decided = [check for check in checks if check.holds is not None]
    failed = [check.what for check in decided if not check.holds]
    n_held, n_checks = len(decided) - len(failed), len(decided)
    if not decided:
        return Verdict(kind="open", sentence="Open: there is nothing to compare yet.", n_held=0, n_checks=0)
    share = n_held / n_checks
    is_same = share >= (SAME_FROM if n_checks >= MANY else 1.0)
    kind: Kind = "same" if is_same else "partly" if share >= PARTLY_FROM else "different"
    opening = {"same": "The same", "partly": "Partly the same", "different": "Not the same"}[kind]
    return Verdict(
        kind=kind, sentence=f"{opening}: {_counted(n_held, n_checks, failed)}.", n_held=n_held, n_checks=n_checks
    )


def _counted(n_held: int, n_checks: int, failed: Sequence[str]) -> str:
    if not failed:
        return "the one comparison holds" if n_checks == 1 else f"all {n_checks:,} comparisons hold"
    more = f" and {len(failed) - _NAMED:,} more" if len(failed) > _NAMED else ""
    named = f"not {'that' if len(failed) == 1 else 'those'} of {'; '.join(failed[:_NAMED])}{more}"
    if not n_held:
        return (
            f"no comparison of {n_checks:,} holds"
            if n_checks > 1
            else f"the one comparison, of {failed[0]}, does not hold"
        )
    return f"{n_held:,} of {n_checks:,} comparisons {'holds' if n_held == 1 else 'hold'}; {named}"


# Rules


def signed(text: str) -> str:
    """A number with a true minus sign."""
    return text.replace("-", "−")


def equal_check(what: str, paper: object, ours: object) -> Check:
    """Both must be equal; our side may be None, for what is not known.

    >>> equal_check("CZ gates", 248, 248).holds
    True
    """
    return Check(what=what, paper=_told(paper), ours=_told(ours), holds=None if ours is None else paper == ours)


def claim_check(what: str, *, paper: str, ours: str, holds: bool | None) -> Check:
    """What the paper says in words, beside what our numbers say."""
    return Check(what=what, paper=paper, ours=ours, holds=holds)


def score_tolerance(paper: tuple[float, float], ours: tuple[float, float], *, n_test: int, n_parts: int = 2) -> float:
    """By how much two scores may differ: 2·√(n_parts·p(1 − p)/n + s² + s'²) + 0.005, with p the mean of both.

    Parameters
    ----------
    paper, ours : mean and standard deviation of each.
    n_test : the samples of a test part.
    n_parts : 2 if each side has a test part of its own, 1 if the spread of ours has its part in it already.

    Examples
    --------
    >>> round(score_tolerance((0.85, 0.01), (0.85, 0.01), n_test=400), 3)
    0.063
    """
    p = min(max((paper[0] + ours[0]) / 2, 0.0), 1.0)
    variance = n_parts * p * (1 - p) / n_test + paper[1] ** 2 + ours[1] ** 2
    return 2 * math.sqrt(variance) + _HALF_DIGIT


def score_check(
    what: str, paper: tuple[float, float], ours: tuple[float, float] | None, *, n_test: int, n_parts: int = 2
) -> Check:
    """Two scores, each a mean and a standard deviation, must differ by no more than ``score_tolerance``."""
    holds = None
    if ours is not None:
        tolerance = score_tolerance(paper, ours, n_test=n_test, n_parts=n_parts)
        holds = abs(paper[0] - ours[0]) <= tolerance + 1e-9  # what is printed with two digits is no exact number
    return Check(
        what=what, paper=_score_text(paper, 2), ours="–" if ours is None else _score_text(ours, 3), holds=holds
    )


def rank_check(what: str, paper: float, ours: float | None, interval: Interval | None) -> Check:
    """The paper's average rank must lie in the interval of ours, or within 0.1 of ours where there is none.

    >>> rank_check("McQuack", 0.33, 0.25, Interval(low=0.2, high=0.34)).holds
    True
    """
    if ours is None:
        return Check(what=what, paper=f"{paper:.2f}", ours="–", holds=None)
    if interval is None:
        return Check(what=what, paper=f"{paper:.2f}", ours=f"{ours:.2f}", holds=abs(paper - ours) <= 0.1 + 1e-9)
    # To the two digits that the paper has.
    holds = round(interval.low, 2) <= paper <= round(interval.high, 2)
    told = f"{ours:.2f} ({interval.low:.2f} to {interval.high:.2f})"
    return Check(what=what, paper=f"{paper:.2f}", ours=told, holds=holds)


def _score_text(score: tuple[float, float], digits: int) -> str:
    return f"{score[0]:.{digits}f} ± {score[1]:.{digits}f}"


def _told(value: object) -> str:
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case int():
            return signed(f"{value:,}")
        case float():
            return signed(f"{value:,.6g}")
        case tuple() | list():
            return ", ".join(map(_told, value))
        case _:
            return str(value)
