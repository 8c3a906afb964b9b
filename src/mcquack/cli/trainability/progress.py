"""How far a study is: its largest circuits come first, so that the mean over what is done would mislead."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from mcquack.bench.outcome import Outcome
from mcquack.cli.bench.progress import Progress


@dataclass(frozen=True, kw_only=True)
class StudyProgress(Progress):
    """``expected`` has the seconds that the tasks to come should take, ``expected_so_far`` those of what was timed."""

    expected: Mapping[str, float] = field(default_factory=dict)
    expected_so_far: float = 0.0

    def _after_outcome(self, outcome: Outcome, *, is_known: bool) -> Self:
        ended = self.expected.get(outcome.task.id, 0.0) if outcome.seconds else 0.0
        rest = {name: seconds for name, seconds in self.expected.items() if name != outcome.task.id}
        after = super()._after_outcome(outcome, is_known=is_known)
        return replace(after, expected=rest, expected_so_far=self.expected_so_far + ended)

    @property
    def seconds_left(self) -> float | None:
        """As long as was expected, on a machine that is as fast as it was so far; None before the first task."""
        if not self.n_workers or not self.expected_so_far:
            return None
        slowness = sum(cell.seconds for cell in self.cells.values()) / self.expected_so_far
        return slowness * sum(self.expected.values()) / self.n_workers
