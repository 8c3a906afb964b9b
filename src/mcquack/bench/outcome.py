"""What came of a task: its row in the store."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mcquack.bench.environment import Environment
from mcquack.bench.task import Task
from mcquack.errors import InvalidInputError

Part = Literal["train", "validation", "test"]
Metric = Literal["auc", "precision", "recall", "f1", "accuracy", "balanced_accuracy"]
METRICS: tuple[Metric, ...] = ("auc", "precision", "recall", "f1", "accuracy", "balanced_accuracy")
Stage = Literal["load", "fit", "score"]
_FRAME = '  File "'  # how tracebacks begin to tell of a call


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Scores of a task that was done, or the error of one that failed.

    ``scores`` are by part, then by metric; a metric that is not defined there is left out. ``fingerprint`` tells on
    which numbers it was measured. ``details`` are what a report shows of a single task, as plain JSON values: "history"
    (columns by name), "confusion" (rows are true classes), "kernel", "class_names", "warnings", and "study", which is
    what the model itself has to tell (its ``details_``).
    """

    task: Task
    environment: Environment
    scores: Mapping[Part, Mapping[Metric, float]] = field(default_factory=dict)
    seconds: Mapping[Stage, float] = field(default_factory=dict)
    n_parameters: int | None = None
    fingerprint: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None  # the traceback; its last line says what went wrong
    finished_at: str = ""  # ISO 8601, UTC

    def __post_init__(self) -> None:
        if "test" in self.scores and self.task.phase == "search":
            raise InvalidInputError("a task of a search has no score on the test part; settings would be chosen by it.")
        # As a store keeps them: what is chosen must be the same before and after a restart.
        defined = {part: _finite(scores) for part, scores in self.scores.items()}
        object.__setattr__(self, "scores", defined)

    @property
    def failed(self) -> bool:
        """Whether there is an error in place of scores."""
        return self.error is not None

    @property
    def reason(self) -> str:
        """What went wrong in one line: that of the traceback which names the exception."""
        lines = (self.error or "").strip().splitlines()
        last_frame = max((number for number, line in enumerate(lines) if line.startswith(_FRAME)), default=0)
        return next((line for line in lines[last_frame:] if not line.startswith((" ", "Traceback"))), "")

    def score(self, part: Part, metric: Metric) -> float | None:
        """None where it failed or the metric is not defined."""
        return self.scores.get(part, {}).get(metric)


def _finite(scores: Mapping[Metric, float]) -> dict[Metric, float]:
    return {metric: score for metric, score in scores.items() if math.isfinite(score)}
