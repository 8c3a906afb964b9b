"""Scores of settings over the splits of a search, and which are best."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mcquack.bench.outcome import Metric, Outcome

Settings = dict[str, Any]
_DECIMALS = 8  # float noise in a mean must not break a tie


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Settings with their outcomes on the splits, in order; ``complete`` if they were tried on all of them."""

    settings: Settings
    outcomes: tuple[Outcome, ...]
    complete: bool = True

    @property
    def failed(self) -> bool:
        """Settings that fail on one split are no choice."""
        return any(outcome.failed for outcome in self.outcomes)

    def score(self, metric: Metric) -> float | None:
        """Mean over the splits; None if one failed or is missing, or does not have the metric."""
        scores = [outcome.score("validation", metric) for outcome in self.outcomes]
        known = [score for score in scores if score is not None]
        if not self.complete or not scores or len(known) < len(scores):
            return None
        return round(statistics.fmean(known), _DECIMALS)


def best_trial(trials: Sequence[Trial], metric: Metric) -> Trial | None:
    """The one with the highest score, the first of several; None if no settings have a score."""
    scored = [(score, trial) for trial in trials if (score := trial.score(metric)) is not None]
    return max(scored, key=lambda each: each[0])[1] if scored else None
