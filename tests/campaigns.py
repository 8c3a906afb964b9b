"""How long the tests with the marker ``campaign`` go on, and what they have counted, told at the end of a run."""

import os
from collections import Counter

import pytest

SIZE = os.environ.get("MCQUACK_CAMPAIGN", "full")
if SIZE not in ("short", "full"):
    raise pytest.UsageError(f"MCQUACK_CAMPAIGN is short or full, got {SIZE!r}.")

KILLS = "kills of "
_PROPERTY = "tally"


def rounds(usual, *, short, full):
    """Parameters for a test: ``usual`` rounds every time, and in a campaign as many as its size says."""
    return [usual, pytest.param(full if SIZE == "full" else short, marks=pytest.mark.campaign)]


def examples(*, short, full):
    """How many examples a campaign asks Hypothesis for."""
    return full if SIZE == "full" else short


class Tally:
    """Counts of one test, which reach the end of the run also from another process."""

    def __init__(self, properties):
        self._properties = properties

    def __call__(self, what, n, **outcomes):
        """``tally("mutated model files", 10, refused=9, read=1)``; what begins with "kills of" also counts as kills."""
        self._properties.append((_PROPERTY, [what, int(n), {name: int(count) for name, count in outcomes.items()}]))


def told(reports):
    """A line for everything that the tests of these reports have counted, the kills last and in all."""
    totals: Counter[str] = Counter()
    outcomes: dict[str, Counter[str]] = {}
    for report in reports:
        for name, value in report.user_properties:
            if name == _PROPERTY:
                what, n, found = value
                totals[what] += n
                outcomes.setdefault(what, Counter()).update(found)
    for what in sorted(totals, key=lambda what: (what.startswith(KILLS), what)):
        found = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in outcomes[what].items())
        yield f"{totals[what]:,} {what}" + (f": {found}" if found else "")
    n_kills = sum(n for what, n in totals.items() if what.startswith(KILLS))
    if n_kills:
        yield f"{n_kills:,} kills in all"
