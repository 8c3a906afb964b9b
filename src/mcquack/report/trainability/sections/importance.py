"""Which setting decides how well a model trains."""

from collections.abc import Iterator, Sequence

from mcquack.report.benchmark.tables import Table
from mcquack.report.trainability.importance import plot_importances
from mcquack.report.trainability.sections.section import Picture, Section, columns, file_name
from mcquack.report.trainability.sections.shares import Importance
from mcquack.report.trainability.sections.words import capital, series_title
from mcquack.report.words import chance, counted

HEADS = ("setting", "with", "exact share", "without scatter", "low", "high", "F", "p", "fANOVA", "fANOVA normalised")
NOTE = (
    "The grid is complete, so shares of variance are exact: single settings, pairs beyond them, higher orders and the "
    "scatter of seeds sum to 1. Scatter looks like a small effect, too: dark lines are 95 % bootstrap intervals of the "
    "share without what it adds. fANOVA (Optuna) fits a forest to the same runs and knows single settings only; its "
    "usual convention divides them by their sum, which makes each larger."
)


def importance_section(found: Sequence[Importance], faults: Sequence[str]) -> Section | None:
    """Exact shares with pairs beside fANOVA’s; None if no series varies two settings."""
    if not found and not faults:
        return None
    return Section(
        id="importance",
        title="What decides",
        short="Importance",
        lead=tuple(_lead(found)),
        notes=(
            NOTE,
            *dict.fromkeys(each.why_not for each in found if each.why_not),
            *faults,
        ),
        pictures=tuple(_picture(each, folded=index > 0) for index, each in enumerate(found)),
        tables=tuple(_tables(found)),
    )


def _lead(found: Sequence[Importance]) -> Iterator[str]:
    for each in found:
        name, share = each.dominant, each.anova.share(each.dominant)
        pair = max(each.anova.pairs.items(), key=lambda item: item[1], default=None)
        effect = each.anova.effect(name)
        told = f" ({chance(effect.p)})" if effect.p is not None else ""
        forest = (
            ""
            if each.forest is None
            else (
                f"; fANOVA gives it {each.forest.unnormalised.get(name, 0.0):.2f}, "
                f"or {each.forest.normalised.get(name, 0.0):.2f} normalised"
            )
        )
        most = "" if pair is None else (f" The largest pair is {pair[0][0]} with {pair[0][1]}: {pair[1]:.2f}.")
        yield (
            f"{capital(each.target)} ({series_title(each.series)}, {counted(each.n_rows, 'run')}): "
            f"{name} explains {share:.2f} of the variance{told}{forest}; {each.direction(name)}.{most} "
            f"Seeds explain {each.anova.noise:.2f}."
        )


def _picture(each: Importance, *, folded: bool) -> Picture:
    return Picture(
        name=file_name("importance", each.series, each.target),
        title=f"Importance for {each.target}, {series_title(each.series)}",
        caption=f"Shares of the variance of the {each.target} over {counted(each.n_rows, 'run')}: single settings by "
        "three measures, and all pairs.",
        figure=plot_importances(each.anova, each.forest, target=each.target),
        folded=folded,
    )


def _tables(found: Sequence[Importance]) -> Iterator[Table]:
    for each in found:
        forest = each.forest
        yield Table(
            kind=f"Importance, {series_title(each.series)}, {each.target}",
            title=f"Shares of the variance of the {each.target}",
            columns=columns(*HEADS),
            rows=(
                *(
                    (
                        effect.names[0],
                        effect.names[1] if len(effect.names) > 1 else "",
                        effect.share,
                        effect.unbiased,
                        None if effect.interval is None else effect.interval.low,
                        None if effect.interval is None else effect.interval.high,
                        effect.f,
                        effect.p,
                        *(
                            shares.get(effect.names[0]) if len(effect.names) == 1 else None
                            for shares in ((forest.unnormalised, forest.normalised) if forest else ({}, {}))
                        ),
                    )
                    for effect in each.anova.effects
                ),
                ("higher orders", "", each.anova.higher, *(None,) * 7),
                ("seeds", "", each.anova.noise, *(None,) * 7),
            ),
        )
