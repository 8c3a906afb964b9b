"""Values to the columns of a store and back."""

import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from sqlite3 import Row
from typing import Any, Literal

from mcquack.bench.outcome import Environment, Outcome, current_environment
from mcquack.bench.plan import Choice
from mcquack.bench.task import Phase, Task
from mcquack.database import FileKind, executing
from mcquack.errors import InvalidInputError

# The tables of a store, how those of an older version become those of this one, and what errors call it.

_FIRST_TABLES = (
    "CREATE TABLE environments (id TEXT PRIMARY KEY, facts TEXT NOT NULL)",
    # What filters and counts has a column; the rest of a task is in its JSON, the one place it is read from.
    """
    CREATE TABLE outcomes (
        id TEXT PRIMARY KEY,
        dataset TEXT NOT NULL,
        model TEXT NOT NULL,
        phase TEXT NOT NULL CHECK (phase IN ('search', 'final')),
        failed INTEGER NOT NULL CHECK (failed = (error IS NOT NULL)),
        task TEXT NOT NULL,
        environment TEXT NOT NULL REFERENCES environments (id),
        scores TEXT NOT NULL,
        seconds TEXT NOT NULL,
        n_parameters INTEGER,
        fingerprint TEXT NOT NULL,
        error TEXT,
        finished_at TEXT NOT NULL
    )
    """,
    # Counting and listing ids read this index alone.
    "CREATE INDEX outcomes_by_phase ON outcomes (phase, failed, id)",
    # Apart, so that whoever reads scores only does not pass over curves and kernels.
    """
    CREATE TABLE details (
        id TEXT PRIMARY KEY REFERENCES outcomes (id) ON DELETE CASCADE,
        content BLOB NOT NULL
    )
    """,
    """
    CREATE TABLE choices (
        dataset TEXT NOT NULL,
        model TEXT NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (dataset, model)
    )
    """,
    """
    CREATE TABLE runs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        command TEXT NOT NULL,
        suite TEXT NOT NULL,
        environment TEXT NOT NULL REFERENCES environments (id),
        started TEXT NOT NULL,
        ended TEXT,
        how TEXT CHECK (how IN ('done', 'interrupted', 'failed'))
    )
    """,
)

STORE = FileKind(
    application_id=0x6D63716B,  # "mcqk"
    migrations=(executing(*_FIRST_TABLES),),
    synchronous="NORMAL",  # what a power cut takes is run again
    noun="store",
    maker="`mcquack bench run`",
    safe="What it holds already is safe",
    try_again="run the same command again",
)


# What a store tells besides outcomes and choices.

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


# Digits shrink to less than half at any level, and this is the fastest.
_LEVEL = 1


def storable(text: str) -> str:
    """The text, or one that stands for it where SQLite cannot hold it."""
    # File names that are not Unicode reach tracebacks as lone surrogates, which no encoding has.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def outcome_columns(outcome: Outcome) -> dict[str, Any]:
    """The row of an outcome, without its details."""
    task = outcome.task
    return {
        "id": task.id,
        "dataset": storable(task.dataset),
        "model": storable(task.model),
        "phase": task.phase,
        "failed": outcome.failed,
        "task": _json(task.to_json(), of="the task"),
        "environment": outcome.environment.id,
        "scores": _json({part: dict(scores) for part, scores in outcome.scores.items()}, of="scores"),
        "seconds": _json(_finite(outcome.seconds), of="seconds"),
        "n_parameters": outcome.n_parameters,
        "fingerprint": storable(outcome.fingerprint),
        "error": None if outcome.error is None else storable(outcome.error),
        "finished_at": storable(outcome.finished_at),
    }


def outcome_of(row: Row, environment: Environment) -> Outcome:
    """The outcome that was written; without details where they were not read."""
    return Outcome(
        task=Task.from_json(json.loads(row["task"])),
        environment=environment,
        scores=json.loads(row["scores"]),
        seconds=json.loads(row["seconds"]),
        n_parameters=row["n_parameters"],
        fingerprint=row["fingerprint"],
        details={} if row["details"] is None else json.loads(zlib.decompress(row["details"])),
        error=row["error"],
        finished_at=row["finished_at"],
    )


def details_column(outcome: Outcome) -> bytes | None:
    """What only a look at a single task needs, compressed; None if there is nothing."""
    if not outcome.details:
        return None
    try:
        text = _json(outcome.details, of="details")
    except InvalidInputError:
        text = _json(_without_infinities(outcome.details), of="details")
    return zlib.compress(text.encode(), _LEVEL)


def environment_columns(environment: Environment) -> dict[str, Any]:
    """The row of an environment."""
    return {"id": environment.id, "facts": _json(dict(environment.facts), of="the environment")}


def environment_of(row: Row) -> Environment:
    """The environment that was written."""
    return Environment.from_json(json.loads(row["facts"]))


def choice_columns(choice: Choice) -> dict[str, Any]:
    """The row of a choice."""
    content = {**vars(choice), "settings": dict(choice.settings)}
    return {
        "dataset": storable(choice.dataset),
        "model": storable(choice.model),
        "content": _json(content, of="the choice"),
    }


def choice_of(row: Row) -> Choice:
    """The choice that was written; sequences among its settings are tuples, as in the settings of a task."""
    content = json.loads(row["content"])
    sequences = {name: tuple(content[name]) for name in ("task_ids", "final_ids")}
    settings = {name: _tuples(value) for name, value in content["settings"].items()}
    return Choice(**{**content, **sequences, "settings": settings})


def run_columns(run: RunRecord) -> dict[str, Any]:
    """The row of a run that begins, without the number that it will get."""
    return {
        "command": storable(run.command),
        "suite": _json(dict(run.suite), of="the suite"),
        "environment": run.environment.id,
        "started": run.started,
        "ended": run.ended,
        "how": run.how,
    }


def run_of(row: Row, environment: Environment) -> RunRecord:
    """The run that was written."""
    return RunRecord(**{**dict(row), "suite": json.loads(row["suite"]), "environment": environment})


def _json(value: Any, *, of: str) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"{of} must be plain JSON values with finite numbers: {error}") from error


def _finite(values: Mapping[Any, float]) -> dict[Any, float]:
    """Without those that are no number."""
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _without_infinities(value: Any) -> Any:
    """None for NaN and infinities, as in the loss of a training that diverged: JSON knows neither."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _without_infinities(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_infinities(item) for item in value]
    return value


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
