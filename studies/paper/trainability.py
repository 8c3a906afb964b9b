"""The paper's trainability study: what decides, gradients before training, and losses."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from mcquack.bench.store import Store
from mcquack.report.document import Picture
from mcquack.report.style import capital
from mcquack.report.trainability import figures
from mcquack.report.trainability.sections import Importance, importances, means, span
from mcquack.report.trainability.study import (
    MAIN,
    Study,
    lines,
    paper_slice,
    read_study,
    setting_text,
    sizes_of,
    slice_text,
)
from mcquack.studies.trainability import Observation
from mcquack.studies.trainability.analysis.importance import normalised
from studies.paper.checks import Check, claim_check
from studies.paper.exhibit import Exhibit, table
from studies.paper.items import ITEMS, values
from studies.paper.sources import Sources


def exhibits(sources: Sources) -> Iterator[Exhibit]:
    """All items about training, in the order of the page."""

    @cache  # of one store for all three
    def study_at(path: Path) -> Study:
        with Store.open(path) as store:
            return read_study(store)

    yield sources.exhibit("importance", lambda store: importance_exhibit(study_at(store.path)))
    yield sources.exhibit("gradients", lambda store: gradient_exhibit(study_at(store.path)))
    yield sources.exhibit("losses", lambda store: loss_exhibit(study_at(store.path)))


def main_series(study: Study) -> Sequence[Observation]:
    """The observations of the paper's grid, or of the first one if there is none of that name."""
    return study.series.get(MAIN) or next(iter(study.series.values()), ())


def importance_exhibit(study: Study) -> Exhibit:
    """fANOVA's shares of every setting for both results."""
    item, told = ITEMS["importance"], values()["trainability"]["importance"]
    series = {MAIN: main_series(study)} if study.trained else {}
    found, faults = importances(series) if series else ((), ())
    checks: list[Check] = []
    pictures: list[Picture] = []
    rows: list[tuple[Any, ...]] = []
    for each in found:
        shares = normalised(each.forest) if each.forest is not None else each.anova.main
        checks += _importance_checks(each, shares, told)
        rows += [
            (each.target, name, each.anova.share(name), None if each.forest is None else shares[name])
            for name in shares
        ]
        sizes = span(sizes_of(series[MAIN]))
        caption = f"Ours: shares of the variance of the {each.target} over {len(each.rows):,} runs, {sizes}."
        figure = figures.plot_importances(each.anova, each.forest, target=each.target)
        name = f"importance_{each.target.replace(' ', '_')}"
        pictures.append(Picture(name, f"Importance for the {each.target}", caption, figure, folded=bool(pictures)))
    heads = ("result", "setting", "exact share", "fANOVA, normalised")
    sheet = table("importance", "Shares of every setting", heads, rows)
    return Exhibit(
        item=item, checks=tuple(checks), pictures=tuple(pictures), tables=(sheet,) if rows else (), notes=faults
    )


def _importance_checks(each: Importance, shares: Mapping[str, float], told: Mapping[str, Any]) -> Iterator[Check]:
    for name, share in shares.items():
        is_main = name == told["setting"]
        limit = told["at_least"] if is_main else told["others_below"]
        holds = share > limit if is_main else share < limit
        paper = f"{'above' if is_main else 'below'} {limit}"
        yield claim_check(f"{name} for the {each.target}", paper=paper, ours=f"{share:.3f}", holds=holds)


def gradient_exhibit(study: Study) -> Exhibit:
    """Mean and standard deviation of the first weight gradients, and by which law their mean square changes."""
    kept = paper_slice([each for each in main_series(study) if "weights" in each.gradients])
    if not kept:
        return Exhibit(item=ITEMS["gradients"])
    checks: list[Check] = []
    findings: list[str] = []
    for decay in figures.decays(lines(kept)):
        if decay.group != "weights":
            continue
        what = f"law of the weight gradients, {decay.line.label}"
        if decay.scaling is None:
            checks.append(claim_check(what, paper="not exponential", ours="too few sizes", holds=None))
            continue
        ours = decay.scaling.kind
        checks.append(claim_check(what, paper="not exponential", ours=ours, holds=ours != "exponential"))
        sentence = re.sub(r"(?<!\w)-(?=\d)", "−", decay.scaling.sentence)  # which is plain text elsewhere
        findings.append(f"{capital(decay.line.label)}: {sentence}")
    rows = tuple(
        (line.label, point.n_qubits, point.mean, point.std, point.n_seeds)
        for line in lines(kept)
        for point in figures.gradient_points(line, "weights")
    )
    heads = ("start", "qubits", "mean", "standard deviation", "seeds")
    sheet = table("gradients", "First weight gradients", heads, rows, folded=True)
    caption = (
        f"Ours: mean and standard deviation of the weight gradients of the first batch"
        f"{slice_text(main_series(study))}, {span(sizes_of(kept))}; scales differ."
    )
    picture = Picture("gradients", "Weight gradients against qubits", caption, figures.plot_gradients(kept))
    return Exhibit(
        item=ITEMS["gradients"], checks=tuple(checks), findings=tuple(findings), pictures=(picture,), tables=(sheet,)
    )


def loss_exhibit(study: Study) -> Exhibit:
    """Loss curves of every size, and what came of small starts and of starts with ones."""
    trained = [each for each in main_series(study) if len(each.trace.get("loss", ())) > 1]
    if not trained:
        return Exhibit(item=ITEMS["losses"])
    found = {
        measure: {bool(each.settings["init_small"]): each.mean for each in means(trained, ("init_small",), measure)}
        for measure in ("test accuracy", "final loss", "way uphill")
    }
    claims: dict[str, tuple[str, Callable[[float, float], bool]]] = {
        "test accuracy": ("small starts have the higher test accuracy", lambda small, ones: small > ones),
        "final loss": ("small starts have the lower final loss", lambda small, ones: small < ones),
        "way uphill": ("ones go a larger share of the way uphill", lambda small, ones: small < ones),
    }
    checks = []
    for measure, (what, holds) in claims.items():
        by_start = found[measure]
        known = True in by_start and False in by_start
        ours = f"small {by_start[True]:.3f}, ones {by_start[False]:.3f}" if known else "–"
        checks.append(
            claim_check(what, paper="yes", ours=ours, holds=holds(by_start[True], by_start[False]) if known else None)
        )
    rows = tuple(
        (setting_text("init_small", small), *(found[measure].get(small) for measure in found))
        for small in (True, False)
        if any(small in by_start for by_start in found.values())
    )
    sheet = table("losses", "Means over sizes, seeds and the other settings", ("start", *found), rows)
    steps = study.trained.get("steps", ())
    findings = tuple(
        f"Step by step, {', '.join(setting_text(*each_one) for each_one in each.settings.items())}: {each.mean:.3f} of "
        "the way leads uphill."
        for each in (means(steps, ("lr", "init_small"), "way uphill") if steps else ())
    )
    kept = paper_slice(trained)
    caption = f"Ours: mean loss after each epoch{slice_text(trained)}, {span(sizes_of(kept))}."
    picture = Picture("losses", "Training losses", caption, figures.plot_losses(kept))
    return Exhibit(item=ITEMS["losses"], checks=tuple(checks), findings=findings, pictures=(picture,), tables=(sheet,))
