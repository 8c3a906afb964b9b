"""What the models of a report cost: parameters and time."""

import statistics
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from mcquack.bench.ranking import Contender
from mcquack.report.benchmark.contents import Contents
from mcquack.report.benchmark.views import ALL


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Medians, of parameters over datasets and of times over all seeds of all datasets; None where nobody tells."""

    n_parameters: int | None
    fit_seconds: float | None


Key = tuple[Contender, str]
"""A contender and a family, or ``ALL``."""


Efforts = Mapping[Key, Effort]


def efforts(contents: Contents) -> Efforts:
    """Of every contender in every family; the time is that of a fit with the settings that were chosen."""
    counts, seconds = _parameter_counts(contents), _fit_seconds(contents)
    return {
        key: Effort(
            n_parameters=statistics.median_low(counts[key]) if key in counts else None,
            fit_seconds=statistics.median(seconds[key]) if key in seconds else None,
        )
        for key in counts.keys() | seconds.keys()
    }


def _parameter_counts(contents: Contents) -> Mapping[Key, list[int]]:
    found: defaultdict[Key, list[int]] = defaultdict(list)
    for cell in contents.scores:
        if cell.n_parameters is not None:
            for group in (ALL, cell.family):
                found[Contender.of(cell), group].append(cell.n_parameters)
    return found


def _fit_seconds(contents: Contents) -> Mapping[Key, list[float]]:
    families = {dataset.name: dataset.family for dataset in contents.datasets}
    found: defaultdict[Key, list[float]] = defaultdict(list)
    for cell in contents.cells:
        done = [outcome.seconds["fit"] for outcome in cell.finals if not outcome.failed and "fit" in outcome.seconds]
        for group in (ALL, families[cell.dataset]):
            if done:
                found[cell.contender, group] += done
    return found
