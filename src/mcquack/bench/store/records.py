"""What a store tells besides outcomes and choices."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from mcquack.bench.environment import Environment, current_environment
from mcquack.bench.task import Phase

HowEnded = Literal["done", "interrupted", "failed"]


def now() -> str:
    """ISO 8601, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """One call of a runner: what was asked for, with what, and how it ended.

    ``number`` is given by the store. ``ended`` and ``how`` are None while it runs, and stay so if it is killed.
    """

    number: int = 0
    command: str
    suite: Mapping[str, Any]
    environment: Environment = field(default_factory=current_environment)
    started: str = field(default_factory=now)
    ended: str | None = None
    how: HowEnded | None = None


@dataclass(frozen=True, kw_only=True)
class Tally:
    """How many tasks were done and how many failed."""

    done: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.done + self.failed


@dataclass(frozen=True, kw_only=True)
class Counts(Tally):
    """Over all tasks of a store, and for each phase."""

    by_phase: Mapping[Phase, Tally]
