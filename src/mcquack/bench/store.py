"""The results of a benchmark, in one file that survives whatever happens to its writer."""

import io
import json
import math
import sqlite3
import statistics
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from itertools import islice, product
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, get_args

from mcquack.bench.plan import Choice
from mcquack.bench.task import (
    METRICS,
    AucScores,
    Environment,
    Outcome,
    Part,
    Phase,
    Stage,
    Task,
    current_environment,
    frozen,
    model_and_label,
    now,
)
from mcquack.checks import require
from mcquack.database import Database, FileKind, executing, inflated, stored_fields
from mcquack.errors import InvalidInputError, StoreError
from mcquack.files import inert_cell, replace_file

HowEnded = Literal["done", "interrupted", "failed"]

_NORMALISED = json.dumps({"auc_scores": "normalised"})[1:-1]  # as it stands in a task
_LEVEL = 1  # digits shrink to less than half at any level of compression, and this is the fastest

# The tables of each version, made by those who run these statements in turn; what was released never changes.
_VERSIONS = ("store_1.sql", "store_2.sql")


def _statements(file: str) -> list[str]:
    text = files("mcquack.bench").joinpath(file).read_text(encoding="utf-8")
    return [statement for statement in text.split(";") if statement.strip()]


STORE = FileKind(
    application_id=0x6D63716B,  # "mcqk"
    migrations=tuple(executing(*_statements(file)) for file in _VERSIONS),
    synchronous="NORMAL",  # what a power cut takes is run again
    noun="store",
    maker="`mcquack bench run`",
    safe="What it holds already is safe",
    try_again="run the same command again",
)

# With or without details.
_SELECTED = {
    True: "SELECT outcomes.*, content AS details FROM outcomes LEFT JOIN details USING (id)",
    False: "SELECT outcomes.*, NULL AS details FROM outcomes",
}


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """One call of a runner: what was asked for, with what, and how it ended."""

    number: int = 0  # given by the store
    command: str
    suite: Mapping[str, Any]
    environment: Environment = field(default_factory=current_environment)
    started: str = field(default_factory=now)
    ended: str | None = None  # as ``how`` None while it runs, and still so if it was killed
    how: HowEnded | None = None

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        return asked_pairs(self.suite)


def asked_pairs(suite: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The pairs of a dataset and a model that a suite asks for; with published settings only those that have any."""
    pairs = product(suite.get("datasets", ()), suite.get("models", ()))
    if suite.get("search") != "published":
        return tuple(pairs)
    known = suite.get("published", {})
    return tuple((dataset, model) for dataset, model in pairs if dataset in known.get(model_and_label(model)[0], {}))


class Tally(NamedTuple):
    """How many tasks were done and how many failed."""

    done: int
    failed: int

    @property
    def total(self) -> int:
        return self.done + self.failed


class Store(Database):
    """Outcomes by the ids of their tasks, what was chosen, and which runs all came from; safe as any ``Database``.

    >>> from tempfile import TemporaryDirectory
    >>> from mcquack.bench import Environment, Outcome, Store, Task
    >>> given = Outcome(task=Task(dataset="iris3", model="svc"), environment=Environment({}))
    >>> with TemporaryDirectory() as folder, Store.open(f"{folder}/rows.sqlite", create=True) as store:
    ...     store.add(given)
    ...     store.counts().done, [outcome.task.model for outcome in store.outcomes()]
    (1, ['svc'])
    """

    rows_at_once = 500  # that a query reads, or that a table is made of
    most_details = 1 << 28  # bytes of one row, far beyond what curves and small pictures take
    path: Path
    _kind = STORE

    @cached_property
    def _environments(self) -> dict[str, Environment]:
        return {}

    @classmethod
    def open(cls, path: str | PathLike[str], *, write: bool = False, create: bool = False) -> Self:
        """The store at ``path``, to read or to write; ``create`` is to write, and to make it if there is none.

        One that gzip has compressed can only be read.
        """
        return cls._opened(path, write=write, create=create)

    def add(self, outcome: Outcome) -> None:
        """Keeps the outcome, in place of a failure if there was one; what was done once stays as it is."""
        task, details = outcome.task, _compressed(outcome.details)
        seconds = {stage: value for stage, value in outcome.seconds.items() if math.isfinite(value)}
        columns = {
            "id": task.id,
            "dataset": _storable(task.dataset),
            "model": _storable(task.model),
            "phase": task.phase,
            "failed": outcome.failed,
            "task": _json(task.to_json(), of="the task"),
            "environment": outcome.environment.id,
            "scores": _json({part: dict(scores) for part, scores in outcome.scores.items()}, of="scores"),
            "seconds": _json(seconds, of="seconds"),
            "n_parameters": outcome.n_parameters,
            "fingerprint": _storable(outcome.fingerprint),
            "error": None if outcome.error is None else _storable(outcome.error),
            "finished_at": _storable(outcome.finished_at),
            "numerics": task.numerics,
        }
        with self._transaction() as connection:
            _keep_environment(connection, outcome.environment)
            replaced = ", ".join(f"{name} = excluded.{name}" for name in columns)
            end = f"ON CONFLICT (id) DO UPDATE SET {replaced} WHERE failed"
            if _insert(connection, "outcomes", columns, end=end).rowcount:
                connection.execute("DELETE FROM details WHERE id = ?", [task.id])
                if details is not None:
                    connection.execute("INSERT INTO details VALUES (?, ?)", [task.id, details])

    def outcome(self, task_id: str, *, details: bool = True) -> Outcome | None:
        found = self._rows(f"{_SELECTED[details]} WHERE outcomes.id = ?", [task_id])
        return self._outcome_of(found[0]) if found else None

    def outcomes(
        self, *, phase: Phase | None = None, failed: bool | None = None, details: bool = True, superseded: bool = False
    ) -> Iterator[Outcome]:
        """All, or those of a phase, or the failed or the done ones, in the order of their ids.

        Without ``details`` it is many times faster. Rows whose task was done again under a newer numerics version, or
        with areas under the curve of normalised scores, are left out, unless ``superseded`` or asked for by a choice.
        Meanwhile the store may be written.
        """
        left_out = set() if superseded else self._superseded_ids()
        # A plus keeps SQLite from an index that has another order. No query stays open between two pages, as that would
        # hold up the writer.
        query = f"""{_SELECTED[details]} WHERE outcomes.id > :last
            AND (:phase IS NULL OR +phase = :phase) AND (:failed IS NULL OR +failed = :failed)
            ORDER BY outcomes.id LIMIT {self.rows_at_once}"""
        last = ""
        while page := self._rows(query, {"last": last, "phase": phase, "failed": failed}):
            yield from (self._outcome_of(row) for row in page if row["id"] not in left_out)
            last = page[-1]["id"]

    def final_outcomes(self, *, details: bool = True) -> Iterator[Outcome]:
        """Those that the choices asked for, choice by choice; what earlier choices asked for is left out."""
        ids = list(dict.fromkeys(task_id for choice in self.choices().values() for task_id in choice.final_ids))
        for start in range(0, len(ids), self.rows_at_once):
            wanted = ids[start : start + self.rows_at_once]
            query = f"{_SELECTED[details]} WHERE outcomes.id IN ({', '.join('?' * len(wanted))})"
            found = {row["id"]: row for row in self._rows(query, wanted)}
            yield from (self._outcome_of(found[task_id]) for task_id in wanted if task_id in found)

    def finished_ids(self) -> set[str]:
        return self._ids(failed=False)

    def failed_ids(self) -> set[str]:
        return self._ids(failed=True)

    def counts(self, *, phase: Phase | None = None) -> Tally:
        query = "SELECT failed, count(*) FROM outcomes WHERE :phase IS NULL OR phase = :phase GROUP BY failed"
        found = dict(map(tuple, self._rows(query, {"phase": phase})))
        return Tally(found.get(0, 0), found.get(1, 0))

    def numerics(self) -> dict[int, int]:
        """How many tasks each version of mcquack's arithmetic made; scores of a new run may differ from older ones."""
        query = "SELECT numerics, count(*) AS n FROM outcomes WHERE numerics IS NOT NULL GROUP BY numerics"
        return {row["numerics"]: row["n"] for row in self._rows(query)}

    def choose(self, choice: Choice) -> None:
        """Keeps the choice for its dataset and model, in place of an older one."""
        content = _json({**vars(choice), "settings": dict(choice.settings)}, of="the choice")
        columns = {"dataset": _storable(choice.dataset), "model": _storable(choice.model), "content": content}
        with self._transaction() as connection:
            _insert(connection, "choices", columns, verb="REPLACE")

    def choices(self) -> dict[tuple[str, str], Choice]:
        found: dict[tuple[str, str], Choice] = {}
        for row in self._rows("SELECT content FROM choices ORDER BY dataset, model"):
            with self._readable_content():
                content = stored_fields(row["content"])
                # Sequences among the settings are tuples, as in the settings of a task.
                content["settings"] = {name: frozen(value) for name, value in content["settings"].items()}
                content |= {name: tuple(_of_type(content[name], list)) for name in ("task_ids", "final_ids")}
                choice = Choice(**_checked(content, _CHOICE_KINDS))
                for task_id in (*choice.task_ids, *choice.final_ids):
                    _of_type(task_id, str)
                found[choice.dataset, choice.model] = choice
        return found

    def begin_run(self, run: RunRecord) -> int:
        columns = {
            "command": _storable(run.command),
            "suite": _json(dict(run.suite), of="the suite"),
            "environment": run.environment.id,
            "started": run.started,
            "ended": run.ended,
            "how": run.how,
        }
        with self._transaction() as connection:
            _keep_environment(connection, run.environment)
            return int(_insert(connection, "runs", columns).lastrowid or 0)

    def end_run(self, number: int, how: HowEnded) -> None:
        query = "UPDATE runs SET ended = ?, how = ? WHERE number = ?"
        with self._transaction() as connection:
            n_changed = connection.execute(query, [now(), how, number]).rowcount
        require(n_changed, "number", "that of a run that began", number)

    @contextmanager
    def recorded(self, run: RunRecord) -> Iterator[None]:
        """Notes that a run begins, and at the end of the ``with`` block how it ended."""
        number = self.begin_run(run)
        try:
            yield
        except (KeyboardInterrupt, GeneratorExit):
            self.end_run(number, "interrupted")
            raise
        except BaseException:
            with suppress(StoreError):  # the disk that is full now was so before, and that is what should be told
                self.end_run(number, "failed")
            raise
        self.end_run(number, "done")

    def runs(self) -> tuple[RunRecord, ...]:
        found = self._rows("SELECT * FROM runs ORDER BY number")
        with self._readable_content():
            return tuple(
                RunRecord(
                    **_checked(row, _RUN_KINDS)
                    | {"suite": _suite_fields(row["suite"]), "environment": self._environment(row)}
                )
                for row in map(dict, found)
            )

    def _ids(self, *, failed: bool) -> set[str]:
        return {row["id"] for row in self._rows("SELECT id FROM outcomes WHERE failed = ?", [failed])}

    def _superseded_ids(self) -> set[str]:
        versions = sorted(self.numerics())
        normalises = bool(self._rows("SELECT 1 FROM outcomes WHERE instr(task, ?) LIMIT 1", [_NORMALISED]))
        if len(versions) < 2 and not normalises:
            return set()
        known = self.finished_ids() | self.failed_ids()
        # What a choice asks for is what was last wanted, whatever else there is.
        asked = {task_id for choice in self.choices().values() for task_id in choice.final_ids}
        found: set[str] = set()
        query = "SELECT id, task FROM outcomes WHERE numerics < ? OR (? AND NOT instr(task, ?))"
        for row in self._rows(query, [versions[-1] if versions else 0, normalises, _NORMALISED]):
            with self._readable_content():
                task = Task.from_json(stored_fields(row["task"]))
            if row["id"] not in asked and any(each.id in known for each in _newer_forms(task, versions)):
                found.add(row["id"])
        return found

    def _outcome_of(self, row: sqlite3.Row) -> Outcome:
        with self._readable_content():
            content = b"{}" if row["details"] is None else inflated(row["details"], limit=self.most_details)
            return Outcome(
                task=Task.from_json(stored_fields(row["task"])),
                environment=self._environment(row),
                scores={part: _numbers(scores) for part, scores in stored_fields(row["scores"]).items()},  # type: ignore[misc]
                seconds=_numbers(stored_fields(row["seconds"])),  # type: ignore[arg-type]
                details=stored_fields(content.decode("utf-8")),
                **_checked({name: row[name] for name in _OUTCOME_KINDS}, _OUTCOME_KINDS),
            )

    def _environment(self, row: Mapping[str, Any] | sqlite3.Row) -> Environment:
        key = row["environment"]
        if key not in self._environments:
            (found,) = self._rows("SELECT facts FROM environments WHERE id = ?", [key])
            facts = stored_fields(found["facts"])
            self._environments[key] = Environment({name: _of_type(fact, str) for name, fact in facts.items()})
        return self._environments[key]


# What rows say is checked before it is used: SQLite keeps whatever it is given in any column.

_LISTS = ("datasets", "models", "unscaled")
_TABLES = ("cut", "spaces", "settings", "published", "tables")
_OUTCOME_KINDS = {"n_parameters": int | None, "fingerprint": str, "error": str | None, "finished_at": str}
_RUN_KINDS = {"command": str, "started": str, "ended": str | None, "how": str | None}
_CHOICE_KINDS = {
    **dict.fromkeys(("dataset", "model", "metric", "search"), str),
    "score": float | int | None,
    **dict.fromkeys(("n_settings", "n_failed"), int),
}


def _of_type(value: Any, kind: Any) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"it holds {str(value)[:40]!r} where {getattr(kind, '__name__', kind)} was expected")
    return value


def _numbers(fields: Any) -> dict[str, float]:
    return {name: _of_type(value, float | int) for name, value in _of_type(fields, dict).items()}


def _checked(fields: dict[str, Any], kinds: Mapping[str, Any]) -> dict[str, Any]:
    """The fields, if those that have a kind are of it."""
    for name, kind in kinds.items():
        if name in fields:
            _of_type(fields[name], kind)
    return fields


def _suite_fields(text: Any) -> dict[str, Any]:
    """A suite, or a design of a study, as far as this file and reports look at it."""
    fields = stored_fields(text)
    for name, value in fields.items():
        if name in _LISTS:
            fields[name] = [_of_type(each, str) for each in _of_type(value, list)]
        elif name in _TABLES:
            for table in _of_type(value, dict).values():
                _of_type(table, dict)
        elif name in ("name", "title"):
            _of_type(value, str)
    return fields


def merge(sources: Iterable[Store], into: Store, *, only_final: bool = False) -> None:
    """Adds all that some stores hold to another one, as if one run had made it; what it has done already stays.

    Parameters
    ----------
    sources : The stores to read, as those that several machines have filled.
    into : The store to write.
    only_final : Leave out the tasks of searches, and the training curves: what remains is what was chosen and how well
        it does, in a small part of the room.
    """
    for source in sources:
        known = {(run.command, run.started, run.environment.id) for run in into.runs()}
        for run in source.runs():
            if (run.command, run.started, run.environment.id) not in known:
                into.begin_run(run)
        for outcome in source.outcomes(phase="final" if only_final else None):
            details = {name: each for name, each in outcome.details.items() if not (only_final and name == "history")}
            into.add(replace(outcome, details=details))
        chosen = into.choices()
        for pair, choice in source.choices().items():
            if pair not in chosen:
                into.choose(choice)


def _newer_forms(task: Task, versions: Iterable[int]) -> Iterator[Task]:
    """The same task by newer arithmetic, with an area under the curve of normalised scores, or both."""
    numerics = [None] if task.numerics is None else [each for each in versions if each >= task.numerics]
    kinds: tuple[AucScores, ...] = ("raw", "normalised") if task.auc_scores == "raw" else ("normalised",)
    for version, kind in product(numerics, kinds):
        if (version, kind) != (task.numerics, task.auc_scores):
            yield replace(task, numerics=version, auc_scores=kind)


def _insert(
    connection: sqlite3.Connection, table: str, columns: Mapping[str, Any], *, verb: str = "INSERT", end: str = ""
) -> sqlite3.Cursor:
    values = ", ".join(f":{name}" for name in columns)
    return connection.execute(f"{verb} INTO {table} ({', '.join(columns)}) VALUES ({values}) {end}", columns)


def _keep_environment(connection: sqlite3.Connection, environment: Environment) -> None:
    columns = {"id": environment.id, "facts": _json(dict(environment.facts), of="the environment")}
    _insert(connection, "environments", columns, verb="INSERT OR IGNORE")


def _storable(text: str) -> str:
    """The text, or one that stands for it where SQLite cannot hold it."""
    # File names that are not Unicode reach tracebacks as lone surrogates, which no encoding has.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _json(value: Any, *, of: str) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"{of} must be plain JSON values with finite numbers: {error}") from error


def _compressed(details: Mapping[str, Any]) -> bytes | None:
    text = _json(_without_infinities(details), of="details")
    return zlib.compress(text.encode(), _LEVEL) if details else None


def _without_infinities(value: Any) -> Any:
    """None for NaN and infinities, as in the loss of a training that diverged: JSON knows neither."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _without_infinities(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_infinities(item) for item in value]
    return value


# A store as a table for other programs.

_SCORES = {f"{part}_{metric}": (part, metric) for part in get_args(Part) for metric in METRICS}
_SECONDS = {f"seconds_{stage}": stage for stage in get_args(Stage)}
# So that the order in which tasks ended does not show.
_ORDER = ("dataset", "data_seed", "model", "phase", "settings", "split", "seed", "id")


def write_parquet(store: Store, path: Path) -> None:
    """Writes one line for each task; whatever happens, ``path`` has the old file or the whole new one."""
    from pyarrow import parquet

    _write(parquet.write_table, store, path)


def write_csv(store: Store, path: Path) -> None:
    """Writes the lines of ``write_parquet`` as text; what is not known is empty, and no text is taken for a formula."""
    import pyarrow as pa
    from pyarrow import csv

    def write_inert(table: pa.Table, content: io.BytesIO) -> None:
        for number, column in enumerate(table.schema):
            if pa.types.is_string(column.type):
                cells = pa.array(map(inert_cell, table[number].to_pylist()), pa.string())
                table = table.set_column(number, column, cells)
        csv.write_csv(table, content)

    _write(write_inert, store, path)


def _write(write_table: Callable[[Any, io.BytesIO], None], store: Store, path: Path) -> None:
    content = io.BytesIO()
    write_table(_table(store), content)
    replace_file(path, content.getvalue())


def _table(store: Store) -> Any:
    import pyarrow as pa

    schema = pa.schema(
        {
            **dict.fromkeys(("id", "dataset"), pa.string()),
            "data_seed": pa.int64(),
            **dict.fromkeys(("model", "settings", "phase", "split"), pa.string()),
            "seed": pa.int64(),
            **dict.fromkeys(("failed", "chosen"), pa.bool_()),
            **dict.fromkeys((*_SCORES, *_SECONDS), pa.float64()),
            "n_parameters": pa.int64(),
            **dict.fromkeys(("fingerprint", "error", "finished_at", "versions"), pa.string()),
            "numerics": pa.int64(),
            "auc_scores": pa.string(),
            "scaled": pa.bool_(),
        }.items()
    )
    lines, batches = _lines(store), []
    while some := list(islice(lines, store.rows_at_once)):
        batches.append(pa.RecordBatch.from_pylist(some, schema=schema))
    return pa.Table.from_batches(batches, schema=schema).sort_by([(name, "ascending") for name in _ORDER])


def _lines(store: Store) -> Iterator[dict[str, Any]]:
    """All that tasks and outcomes know, of which the table takes the columns that it names."""
    chosen = {task_id for choice in store.choices().values() for task_id in choice.final_ids}
    for outcome in store.outcomes(details=False, superseded=True):
        task = outcome.task
        yield {
            **vars(task),
            **vars(outcome),
            "id": task.id,
            "settings": json.dumps(task.to_json()["settings"]),
            "phase": task.phase,
            "split": str(task.split),
            "failed": outcome.failed,
            "chosen": task.id in chosen,
            **{column: outcome.score(part, metric) for column, (part, metric) in _SCORES.items()},
            **{column: outcome.seconds.get(stage) for column, stage in _SECONDS.items()},
            "error": outcome.reason or None,
            "versions": json.dumps(dict(outcome.environment.facts)),
        }


def store_facts(store: Store) -> dict[str, Any]:
    """Return a summary of a store as plain JSON values, without the details of single tasks.

    Its keys are "store", "n_done", "n_failed", "phases", "numerics" (tasks by version of mcquack's arithmetic), "cells"
    (each model on each dataset, those of the last run first), "failures" and "runs".
    """
    phases = {phase: store.counts(phase=phase) for phase in get_args(Phase)}
    runs = store.runs()
    return {
        "store": str(store.path),
        "n_done": sum(each.done for each in phases.values()),
        "n_failed": sum(each.failed for each in phases.values()),
        "phases": {phase: {"n_done": each.done, "n_failed": each.failed} for phase, each in phases.items()},
        "numerics": {str(version): n_tasks for version, n_tasks in store.numerics().items()},
        "cells": list(_cell_facts(store, runs[-1].pairs if runs else ())),
        "failures": [
            {"id": outcome.task.id, **outcome.task.to_json(), "reason": " ".join(outcome.reason.split())}
            for outcome in store.outcomes(failed=True, details=False)
        ],
        "runs": [
            {
                **{name: getattr(run, name) for name in ("command", "suite", "started", "ended", "how")},
                "environment": dict(run.environment.facts),
            }
            for run in runs
        ],
    }


def _cell_facts(store: Store, asked: Iterable[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Yield the cells of the last run in their order, begun or not, then others that the store has."""
    ended: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    kinds: dict[tuple[str, str], set[str]] = defaultdict(set)
    for outcome in store.outcomes(details=False):
        key = outcome.task.dataset, outcome.task.model
        ended[key][outcome.failed] += 1
        kinds[key].add(outcome.task.auc_scores)
    choices = store.choices()
    final = {outcome.task.id: outcome for outcome in store.final_outcomes(details=False)}
    for key in dict.fromkeys((*asked, *sorted(ended))):
        found = {"dataset": key[0], "model": key[1], "n_done": ended[key][False], "n_failed": ended[key][True]}
        yield {**found, "auc_scores": sorted(kinds[key]), **_score_facts(choices.get(key), final)}


def _score_facts(choice: Choice | None, final: Mapping[str, Outcome]) -> dict[str, Any]:
    if choice is None:
        unknown = ("search", "settings", "metric", "validation", "n_seeds", "n_seeds_done", "test", "spread")
        return {**dict.fromkeys(unknown), "n_seeds_done": 0}
    outcomes = [final[task_id] for task_id in choice.final_ids if task_id in final]
    scores = [score for outcome in outcomes if (score := outcome.score("test", choice.metric)) is not None]
    return {
        "search": choice.search,
        "settings": dict(choice.settings),
        "metric": choice.metric,
        "validation": choice.score,
        "n_seeds": len(choice.final_ids),
        "n_seeds_done": sum(not outcome.failed for outcome in outcomes),
        "test": statistics.fmean(scores) if scores else None,
        "spread": statistics.pstdev(scores) if scores else None,
    }
