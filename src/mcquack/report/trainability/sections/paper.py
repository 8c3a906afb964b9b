"""What the paper says of its study, beside what was measured here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mcquack.report.benchmark.tables import Table
from mcquack.report.style import counted
from mcquack.report.trainability.figures import (
    is_stepwise,
    number_text,
    setting_name,
    setting_text,
    setting_values,
    with_settings,
)
from mcquack.report.trainability.gradients import Decay
from mcquack.report.trainability.sections.gradients import Decays
from mcquack.report.trainability.sections.section import Section, columns, listed, span, with_interval
from mcquack.report.trainability.sections.shares import Importance
from mcquack.report.trainability.sections.training import means, trained_series
from mcquack.report.trainability.study import MAIN, Study
from mcquack.studies.trainability.analysis import GroupMean
from mcquack.studies.trainability.analysis.decay import GradientOf, Kind
from mcquack.studies.trainability.observation import Observation

DOMINANT, MINOR = 0.7, 0.2
"""Importance of init_small in the paper's fANOVA, and what all others stay below."""

LARGEST = 13
"""Qubits of the paper's study."""

SMOOTH = 0.02
"""Share of the way uphill below which a curve does not oscillate."""

MODEL = "mcquack"
"""What the paper's statements are about; other models of a study are passed over."""


NOTE = (
    "Verdicts follow from the numbers by fixed rules: intervals that do not overlap for oscillation, if either start "
    "goes uphill for 2 % of its way; the stated thresholds for importances; for plateaus, that no exponential decay "
    "of the weights’ gradients is favoured, or as likely, up to the paper’s 13 qubits. The paper’s statement is about "
    "the loss; gradients of single kernel entries stand beside it, for the alignment divides by the kernel’s norm, and "
    "so hides that all entries and their gradients get small together. The paper does not tell "
    "learning rate and epochs of this study, nor which result its importances are for, so its statement stands beside "
    "all that were measured."
)


PLATEAUS: Mapping[GradientOf, tuple[str, str, str]] = {
    "gradients": (f"No barren plateaus up to {LARGEST} qubits", "weight gradients of the loss", ""),
    "fidelity_gradients": (
        f"No barren plateaus up to {LARGEST} qubits, taken for what a device measures",
        "weight gradients of single kernel entries",
        "; the loss divides by the kernel’s norm and may hide how all entries get small, but a device has to see them",
    ),
}
"""Statement, what is differentiated, and what has to be known of it."""

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
    for of in PLATEAUS:
        yield from _plateaus(decays, of)
    yield from _oscillation(study)
    yield from _step_oscillation(study)
    yield from _importance(importances)


def _plateaus(decays: Decays, of: GradientOf) -> Iterator[Comparison]:
    """One for each initial magnitude, over all strategies and regularisations."""
    statement, what, why = PLATEAUS[of]
    by_start: dict[str, list[Decay]] = {}
    for decay in decays.get((MAIN, of), ()):
        known = decay.group == "weights" and decay.line.model == MODEL and decay.scaling is not None
        if known and decay.means.sizes[-1] <= LARGEST:
            start = decay.line.value("init_small")
            by_start.setdefault("" if start is None else setting_text("init_small", start), []).append(decay)
    for start, found in by_start.items():
        laws = [decay.scaling for decay in found if decay.scaling is not None]
        kinds = [each.kind for each in laws]
        counts = listed([f"{kinds.count(kind)} {KINDS[kind]}" for kind in KINDS if kind in kinds])
        # Few small sizes cannot tell a decay from scatter, so that only those of the paper speak for it.
        as_far = all(decay.means.sizes[-1] == LARGEST for decay in found)
        open_ = not as_far or {"exponential", "undecided"} & set(kinds)
        agrees = False if set(kinds) == {"exponential"} else None if open_ else True
        sizes = span(int(size) for decay in found for size in decay.means.sizes)
        ends = [each.fits["exponential"].halvings_interval for each in laws]
        low, high = min(each.low for each in ends), max(each.high for each in ends)
        halvings = f"{number_text(low, digits=2)} to {number_text(high, digits=2)}"
        yield Comparison(
            statement=statement,
            measured=f"{what}{f' of starts that are {start}' if start else ''}, {sizes}: of "
            f"{counted(len(kinds), 'setting')}, {counts}; exponential fits halve the mean square {halvings} times for "
            f"each qubit (ends of all {100 * ends[0].level:g} % intervals){why}",
            agrees=agrees,
        )


def _oscillation(study: Study) -> Iterator[Comparison]:
    """Of what the steps minimise, as the paper seems to draw it, and of the alignment alone."""
    found = tuple(each for each in trained_series(study).get(MAIN, ()) if each.model == MODEL)
    losses = {"way uphill": "1 − A after each epoch", "way uphill, minimised": "the minimised loss"}
    yield from _smoothness(found, losses)


def _step_oscillation(study: Study) -> Iterator[Comparison]:
    """Of other series whose batch is the whole sample, for each learning rate: nothing moves with the batches there."""
    losses = {"way uphill": "1 − A after each step", "way uphill, minimised": "the loss that each step minimises"}
    for name, group in trained_series(study).items():
        found = tuple(each for each in group if each.model == MODEL)
        if name != MAIN and is_stepwise(found):
            for rate in setting_values(found, "lr"):
                yield from _smoothness(with_settings(found, lr=rate), losses, batch="the whole sample as one batch, ")


def _smoothness(found: Sequence[Observation], losses: Mapping[str, str], *, batch: str = "") -> Iterator[Comparison]:
    if not found or any("init_small" not in each.settings for each in found):
        return
    for measure, loss in losses.items():
        by_start = {each.settings["init_small"]: each for each in means(found, ("init_small",), measure)}
        if by_start.keys() == {True, False}:
            yield _smoother(by_start[True], by_start[False], loss=loss, how=_trained(found, batch))


def _smoother(small: GroupMean, ones: GroupMean, *, loss: str, how: str) -> Comparison:
    agrees = None
    if small.interval is not None and ones.interval is not None:
        apart = small.interval.high < ones.interval.low or ones.interval.high < small.interval.low
        agrees = small.mean < ones.mean if apart else None
    # Two thousandths and one of the way may be well told apart, and still neither is an oscillation.
    smooth = max(small.mean, ones.mean) < SMOOTH
    return Comparison(
        statement="Small starts converge smoothly, large ones oscillate",
        measured=f"share of the way of {loss} that leads uphill: "
        f"{with_interval(small.mean, small.interval, digits=2)} for small starts, "
        f"{with_interval(ones.mean, ones.interval, digits=2)} for ones{'; neither oscillates' if smooth else ''}{how}",
        agrees=None if smooth else agrees,
    )


def _trained(found: Sequence[Observation], batch: str) -> str:
    """How, as far as it is known: another learning rate may tell something else."""
    parts = []
    for name in ("lr", "epochs"):
        values = sorted({each.settings[name] for each in found if name in each.settings})
        if values:
            parts.append(f"{setting_name(name)} {listed([f'{value:g}' for value in values])}")
    return f" ({batch}{', '.join(parts)})" if parts else ""


def _importance(importances: Sequence[Importance]) -> Iterator[Comparison]:
    for each in importances:
        of_the_paper = each.series == MAIN and "model" not in each.anova.names
        if not of_the_paper or each.forest is None or "init_small" not in each.forest.normalised:
            continue
        shares = dict(each.forest.normalised)
        dominant = shares.pop("init_small")
        other = max(shares, key=lambda name: shares[name], default=None)
        decided = dominant > DOMINANT and max(shares.values(), default=0.0) < MINOR
        rest = "" if other is None else f"; the largest other is {other} with {shares[other]:.2f}"
        yield Comparison(
            statement=f"fANOVA: init_small above {DOMINANT}, all others below {MINOR}",
            measured=f"for the {each.target}, normalised: {dominant:.2f}{rest} (exact share of all variance "
            f"{each.anova.share('init_small'):.2f}); {each.direction('init_small')}",
            # Where seeds explain more than all settings together, shares of the rest say little.
            agrees=None if each.anova.noise > 0.5 else decided,
        )
