"""Tasks that failed, together with those that failed in the same way."""

from collections.abc import Sequence
from dataclasses import dataclass

from mcquack.bench.outcome import Outcome

MOST_FAILURES = 200
"""Different tracebacks on the page; there are more only if something is wrong with all tasks."""


@dataclass(frozen=True, kw_only=True)
class FailureGroup:
    """Tasks that failed in the same way."""

    error: str
    outcomes: tuple[Outcome, ...]

    @property
    def reason(self) -> str:
        """The last line of the traceback."""
        return self.outcomes[0].reason


def failure_groups(failures: Sequence[Outcome]) -> tuple[FailureGroup, ...]:
    """Those with the same traceback together, the most frequent first."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in failures:
        groups.setdefault((outcome.error or "").strip(), []).append(outcome)
    found = [FailureGroup(error=error, outcomes=tuple(outcomes)) for error, outcomes in groups.items()]
    return tuple(sorted(found, key=lambda group: -len(group.outcomes)))
