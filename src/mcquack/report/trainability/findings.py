"""What a reader should know first: at most five findings with one figure each, which a phone shows whole.

A finding follows from numbers: other numbers give other words. Everything behind it stands in a section of the page.
"""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mcquack.report.document import Picture, Section
from mcquack.report.style import capital, listed, number_text, within
from mcquack.report.trainability import figures
from mcquack.report.trainability.figures import KERNEL, SHOTS, Decay, Measure
from mcquack.report.trainability.sections import (
    GRADIENTS,
    Series,
    about,
    means,
    shots_text,
    span,
)
from mcquack.report.trainability.study import (
    Line,
    Study,
    lines,
    paper_slice,
    setting_text,
    sizes_of,
    slice_text,
)
from mcquack.studies.trainability import Observation
from mcquack.studies.trainability.analysis.decay import GradientOf
from mcquack.studies.trainability.design import VARIATIONAL

MOST_FINDINGS = 5

ACCURACY = Measure(title="Test accuracy", of=lambda seen: seen.scores.get("test_accuracy"))

_CHANGES = {
    "none": "do not change beyond scatter",
    "growth": "grow",
    "exponential": "fall exponentially",
    "power": "fall as a power",
    "undecided": "fall, by a law that the sizes do not tell,",
}
"""Verdicts of ``Scaling.kind`` as what gradients do."""


@dataclass(frozen=True, eq=False)
class Finding:
    """A sentence, what it rests on in ``details``, and its figure; ``section`` is the id of the one with the rest."""

    section: str
    headline: str
    details: tuple[str, ...]
    picture: Picture


def top_findings(study: Study, sections: Sequence[Section]) -> tuple[Finding, ...]:
    """The findings of the first series; what was not measured leaves its place to the next."""
    by_id = {section.id: section for section in sections}
    found = list(_decay_findings(study)) if "scaling" in by_id else []
    if "training" in by_id:
        found += _training_finding(study.trained, by_id["training"])
    if "importance" in by_id and by_id["importance"].headline:
        shown = by_id["importance"]
        found.append(Finding(shown.id, shown.headline, shown.lead, shown.pictures[0]))
    if "shots" in by_id:
        reversed_shots = [replace(each, unit="shots per circuit") for each in SHOTS[::-1]]
        found += _measure_finding(study, by_id["shots"], reversed_shots, shots_text, "takes")
    if "kernel" in by_id:
        found += _measure_finding(study, by_id["kernel"], KERNEL[1::-1], _power_text, "is")
    return tuple(found[:MOST_FINDINGS])


def _power_text(logarithm: float) -> str:
    return number_text(10**logarithm, digits=2)


def _decay_findings(study: Study) -> Iterator[Finding]:
    """Whether gradients of the loss, and those of what a device measures, fall with the size."""
    series = {name: seen for name, seen in study.starts.items() if len(sizes_of(seen)) > 1}
    main = paper_slice(next(iter(series.values())))
    for of in GRADIENTS:
        shown = figures.decays(lines(main), of=of, groups=("weights",))
        fitted = [(each, law) for each in shown if (law := each.scaling) is not None]
        if not fitted:
            continue
        what = _differentiated(of, main)
        changes = [f"{_CHANGES[law.kind]} for {each.line.label}" for each, law in fitted]
        caption = (
            f"Mean squares of the weight gradients of {what}{slice_text(main)}; dashed: exponential fit, dotted: power "
            f"law, shaded: 95 % band of the better one, bars: one standard error; {about(main)}."
        )
        yield Finding(
            section="scaling",
            headline=f"From {_sizes(shown)}, gradients of {what} {listed(changes)}.",
            details=tuple(f"{capital(each.line.label)}: {within(law.sentence)}" for each, law in fitted),
            picture=Picture(f"finding_{of}", f"Gradients of {what}", caption, figures.plot_decays(shown, compact=True)),
        )


def _sizes(shown: Sequence[Decay]) -> str:
    return span(int(size) for each in shown for size in each.means.sizes)


def _differentiated(of: GradientOf, found: Sequence[Observation]) -> str:
    if of == "gradients":
        return "the loss"
    return "an expectation value" if all(each.model in VARIATIONAL for each in found) else "a single kernel entry"


def _training_finding(series: Series, section: Section) -> Iterator[Finding]:
    """What training came to, for either start."""
    main = next(iter(series.values()))
    names = ("init_small",) if all("init_small" in each.settings for each in main) else ()
    accuracies = means(main, names, "test accuracy")
    if not accuracies:
        return

    def text_by_start(measure: str, digits: int = 2) -> str:
        told = []
        for each in means(main, names, measure):
            start = "".join(f" for {setting_text(*setting)}" for setting in each.settings.items())
            told.append(f"{number_text(each.mean, digits=digits)}{start}")
        return listed(told)

    ends = [f"{measure} {text_by_start(measure)}" for measure in ("training accuracy", "final loss")]
    shown = paper_slice(main)
    yield Finding(
        section=section.id,
        headline=f"The test accuracy after training is {text_by_start('test accuracy')}.",
        details=(f"Means over {span(sizes_of(main))} and all settings: {'; '.join(ends)}.", *section.lead),
        picture=Picture(
            "finding_training",
            "Test accuracy",
            "Test accuracy after training, medians over seeds, shaded from the lowest to the highest"
            f"{slice_text(main)}; {about(shown)}.",
            figures.plot_measures(lines(shown), [ACCURACY], compact=True),
        ),
    )


def _measure_finding(
    study: Study, section: Section, measures: Sequence[Measure], as_text: Callable[[float], str], verb: str
) -> Iterator[Finding]:
    """The first of these measures that is known, at the largest size of every line."""
    for found in study.starts.values():
        shown = lines(paper_slice(found))
        for measure in measures:
            ends = [end for line in shown if (end := _largest(line, measure)) is not None]
            if not ends:
                continue
            same = all(one[0] == other[0] for one, other in pairwise(ends))
            parts = []
            for n_qubits, value, label in ends:
                where = "" if same else f" at {span([n_qubits])}"
                parts.append(f"{as_text(value)}{where} for {label}")
            size = f" at {span([ends[0][0]])}" if same else ""
            caption = f"{measure.title}: medians over seeds, shaded from the lowest to the highest"
            yield Finding(
                section=section.id,
                headline=f"{measure.title}{size} {verb} {listed(parts)}.",
                details=section.lead,
                picture=Picture(
                    f"finding_{section.id}",
                    measure.title,
                    f"{caption}{slice_text(found)}; {about(paper_slice(found))}.",
                    figures.plot_measures(shown, [measure], compact=True),
                ),
            )
            return


def _largest(line: Line, measure: Measure) -> tuple[int, float, str] | None:
    values = figures.measured(line, measure)
    return (max(values), statistics.median(values[max(values)]), line.label) if values else None
