"""What the paper says of its study, beside what was measured here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mcquack.report.benchmark.tables import Table
from mcquack.report.trainability.decays import Decay
from mcquack.report.trainability.names import setting_text
from mcquack.report.trainability.sections.scaling import Decays
from mcquack.report.trainability.sections.section import Section, columns
from mcquack.report.trainability.sections.shares import Importance
from mcquack.report.trainability.sections.training import means, trained_series
from mcquack.report.trainability.sections.words import listed, span, with_interval
from mcquack.report.trainability.study import MAIN, Study
from mcquack.report.words import counted
from mcquack.studies.trainability.analysis.scaling import Kind

DOMINANT, MINOR = 0.7, 0.2
"""Importance of init_small in the paper's fANOVA, and what all others stay below."""

LARGEST = 13
"""Qubits of the paper's study."""


NOTE = (
    "Verdicts follow from the numbers by fixed rules: intervals that do not overlap for oscillation; the stated "
    "thresholds for importances; for plateaus, that no exponential decay of the weights’ gradients is favoured up to "
    "the paper’s 13 qubits."
)


KINDS: Mapping[Kind, str] = {
    "exponential": "decaying exponentially",
    "power": "decaying as a power",
    "undecided": "decaying by either law",
    "none": "without a change that can be told from scatter",
    "growth": "growing",
}


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """``agrees`` is None where the numbers do not decide."""

    statement: str
    measured: str
    agrees: bool | None

    @property
    def verdict(self) -> str:
        """In a word."""
        return {True: "agrees", False: "differs", None: "open"}[self.agrees]


def paper_section(study: Study, decays: Decays, importances: Sequence[Importance]) -> Section | None:
    """Statement by statement; None if the store has nothing that the paper tells of."""
    found = tuple(comparisons(study, decays, importances))
    if not found:
        return None
    verdicts = [each.agrees for each in found]
    said = ", ".join(
        f"{verdicts.count(value)} {word}"
        for value, word in ((True, "agree"), (False, "differ"), (None, "stay open"))
        if value in verdicts
    )
    return Section(
        id="paper",
        title="Beside the paper",
        short="Paper",
        lead=(f"Of {counted(len(found), 'comparison')} with what the paper says, {said}.",),
        notes=(NOTE,),
        tables=(
            Table(
                kind="Beside the paper",
                title="Statements of the paper and what was measured here",
                columns=columns("the paper says", "measured here", "verdict"),
                rows=tuple((each.statement, each.measured, each.verdict) for each in found),
            ),
        ),
    )


def comparisons(study: Study, decays: Decays, importances: Sequence[Importance]) -> Iterator[Comparison]:
    """Those that there are numbers for."""
    yield from _plateaus(decays)
    yield from _oscillation(study)
    yield from _importance(importances)


def _plateaus(decays: Decays) -> Iterator[Comparison]:
    """One for each initial magnitude, over all strategies and regularisations."""
    by_start: dict[str, list[Decay]] = {}
    for decay in decays.get((MAIN, "gradients"), ()):
        if decay.group == "weights" and decay.scaling is not None and decay.means.sizes[-1] <= LARGEST:
            start = decay.line.value("init_small")
            by_start.setdefault("" if start is None else setting_text("init_small", start), []).append(decay)
    for start, found in by_start.items():
        kinds = [decay.scaling.kind for decay in found if decay.scaling is not None]
        counts = listed([f"{kinds.count(kind)} {KINDS[kind]}" for kind in KINDS if kind in kinds])
        agrees = False if set(kinds) == {"exponential"} else None if {"exponential", "undecided"} & set(kinds) else True
        sizes = span(int(size) for decay in found for size in decay.means.sizes)
        yield Comparison(
            statement=f"No barren plateaus up to {LARGEST} qubits",
            measured=f"weight gradients{f' of starts that are {start}' if start else ''}, {sizes}: of "
            f"{counted(len(kinds), 'setting')}, {counts}",
            agrees=agrees,
        )


def _oscillation(study: Study) -> Iterator[Comparison]:
    found = trained_series(study).get(MAIN, ())
    if not found or any("init_small" not in each.settings for each in found):
        return
    by_start = {each.settings["init_small"]: each for each in means(found, ("init_small",), "way uphill")}
    if by_start.keys() != {True, False}:
        return
    small, ones = by_start[True], by_start[False]
    agrees = None
    if small.interval is not None and ones.interval is not None:
        apart = small.interval.high < ones.interval.low or ones.interval.high < small.interval.low
        agrees = small.mean < ones.mean if apart else None
    yield Comparison(
        statement="Small starts converge smoothly, large ones oscillate",
        measured=f"share of the way that leads uphill: {with_interval(small.mean, small.interval, digits=2)} for small "
        f"starts, {with_interval(ones.mean, ones.interval, digits=2)} for ones",
        agrees=agrees,
    )


def _importance(importances: Sequence[Importance]) -> Iterator[Comparison]:
    for each in importances:
        if each.series != MAIN or each.forest is None or "init_small" not in each.forest.normalised:
            continue
        shares = dict(each.forest.normalised)
        dominant = shares.pop("init_small")
        other = max(shares, key=lambda name: shares[name], default=None)
        rest = "" if other is None else f"; the largest other is {other} with {shares[other]:.2f}"
        yield Comparison(
            statement=f"fANOVA: init_small above {DOMINANT}, all others below {MINOR}",
            measured=f"for the {each.target}, normalised: {dominant:.2f}{rest} (exact share of all variance "
            f"{each.anova.share('init_small'):.2f})",
            agrees=dominant > DOMINANT and max(shares.values(), default=0.0) < MINOR,
        )
