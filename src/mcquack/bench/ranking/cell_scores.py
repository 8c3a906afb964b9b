"""The scores of one model on one dataset, ours or published: what rankings, tables and figures read."""

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field

from mcquack.bench.outcome import Metric, Part

Key = tuple[Part, Metric]


@dataclass(frozen=True, kw_only=True)
class CellScores:
    """Scores over the seeds of one cell of a benchmark.

    ``size`` is the number that distinguishes the datasets of a family, where there is one. ``source`` is empty for what
    was run here, and else names the publication: whatever shows it must say so. ``values`` has one score for each seed;
    ``reported`` has (mean, standard deviation) where a publication tells no more.
    """

    dataset: str
    family: str
    size: int | None = None
    model: str
    title: str  # of the model, for people
    source: str = ""
    values: Mapping[Key, tuple[float, ...]] = field(default_factory=dict)
    reported: Mapping[Key, tuple[float, float]] = field(default_factory=dict)
    n_parameters: int | None = None
    note: str = ""  # as "test scores corrected: the published ones are of the training part"

    @property
    def is_published(self) -> bool:
        """Whether others ran it."""
        return bool(self.source)

    def mean(self, part: Part, metric: Metric) -> float | None:
        """Over the seeds; None if there is no score."""
        values = self.values.get((part, metric))
        if values:
            return statistics.fmean(values)
        reported = self.reported.get((part, metric))
        return None if reported is None else reported[0]

    def spread(self, part: Part, metric: Metric) -> float | None:
        """The standard deviation over the seeds, as numpy's default has it (of the seeds themselves, divisor n)."""
        values = self.values.get((part, metric))
        if values:
            mean = statistics.fmean(values)
            return math.sqrt(statistics.fmean((value - mean) ** 2 for value in values))
        reported = self.reported.get((part, metric))
        return None if reported is None else reported[1]
