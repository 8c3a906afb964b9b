"""The results of a benchmark, in one file that survives whatever happens to its writer."""

import io
import json
import sqlite3
from collections.abc import Iterator, Mapping
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from mcquack.bench import rows
from mcquack.bench.outcome import METRICS, Environment, Outcome, Part, Stage
from mcquack.bench.plan import Choice
from mcquack.bench.rows import STORE, Counts, HowEnded, RunRecord, Tally, now
from mcquack.bench.task import Phase
from mcquack.checks import require
from mcquack.database import Database
from mcquack.files import replace_file

if TYPE_CHECKING:
    from filelock import BaseFileLock

_ROWS_AT_ONCE = 500
# With or without details.
_SELECTED = {
    True: "SELECT outcomes.*, content AS details FROM outcomes LEFT JOIN details USING (id)",
    False: "SELECT outcomes.*, NULL AS details FROM outcomes",
}


class Store(Database):
    """Outcomes by the ids of their tasks, what was chosen, and which runs all came from.

    Whatever a call has written is there when it returns, even if the process is killed right after. One process writes
    at a time, and any number read meanwhile. A store is used by the thread that opened it.
    """

    _kind = STORE
    path: Path

    def __init__(self, path: Path, connection: sqlite3.Connection, *, lock: "BaseFileLock | None" = None) -> None:
        super().__init__(path, connection, lock=lock)
        self._environments: dict[str, Environment] = {}

    @classmethod
    def open(cls, path: str | PathLike[str], *, write: bool = False, create: bool = False) -> Self:
        """The store at ``path``, to read or to write; ``create`` is to write, and to make it if there is none."""
        return cls._opened(path, write=write, create=create)

    def add(self, outcome: Outcome) -> None:
        """Keeps the outcome, in place of a failure if there was one; what was done once stays as it is."""
        columns, details = rows.outcome_columns(outcome), rows.details_column(outcome)
        with self._transaction() as connection:
            _keep_environment(connection, outcome.environment)
            replaced = ", ".join(f"{name} = excluded.{name}" for name in columns)
            changed = connection.execute(
                f"{_insertion('outcomes', columns)} ON CONFLICT (id) DO UPDATE SET {replaced} WHERE failed", columns
            ).rowcount
            if changed:
                connection.execute("DELETE FROM details WHERE id = ?", [columns["id"]])
            if changed and details is not None:
                connection.execute("INSERT INTO details VALUES (?, ?)", [columns["id"], details])

    def outcome(self, task_id: str, *, details: bool = True) -> Outcome | None:
        """None if the task was not run."""
        found = self._rows(f"{_SELECTED[details]} WHERE outcomes.id = ?", [task_id])
        return self._outcome_of(found[0]) if found else None

    def outcomes(
        self, *, phase: Phase | None = None, failed: bool | None = None, details: bool = True
    ) -> Iterator[Outcome]:
        """All, or those of a phase, or the failed or the done ones, in the order of their ids.

        Without ``details`` it is many times faster. Meanwhile the store may be written.
        """
        # A plus keeps SQLite from an index that has another order. No query stays open between two pages, as that would
        # hold up the writer.
        query = f"""{_SELECTED[details]} WHERE outcomes.id > :last
            AND (:phase IS NULL OR +phase = :phase) AND (:failed IS NULL OR +failed = :failed)
            ORDER BY outcomes.id LIMIT {_ROWS_AT_ONCE}"""
        last = ""
        while page := self._rows(query, {"last": last, "phase": phase, "failed": failed}):
            yield from map(self._outcome_of, page)
            last = page[-1]["id"]

    def final_outcomes(self, *, details: bool = True) -> Iterator[Outcome]:
        """Those that the choices asked for, choice by choice; what earlier choices asked for is left out."""
        ids = list(dict.fromkeys(task_id for choice in self.choices().values() for task_id in choice.final_ids))
        for start in range(0, len(ids), _ROWS_AT_ONCE):
            wanted = ids[start : start + _ROWS_AT_ONCE]
            places = ", ".join("?" * len(wanted))
            found = {
                row["id"]: row for row in self._rows(f"{_SELECTED[details]} WHERE outcomes.id IN ({places})", wanted)
            }
            yield from (self._outcome_of(found[task_id]) for task_id in wanted if task_id in found)

    def finished_ids(self) -> set[str]:
        """Of the tasks that were done."""
        return self._ids(failed=False)

    def failed_ids(self) -> set[str]:
        """Of the tasks that failed."""
        return self._ids(failed=True)

    def counts(self) -> Counts:
        """How many tasks were done and failed."""
        found = self._rows("SELECT phase, sum(NOT failed) AS done, sum(failed) AS failed FROM outcomes GROUP BY phase")
        phases: dict[Phase, Tally] = {"search": Tally(), "final": Tally()}
        phases |= {row["phase"]: Tally(done=row["done"], failed=row["failed"]) for row in found}
        done, failed = (sum(getattr(tally, name) for tally in phases.values()) for name in ("done", "failed"))
        return Counts(done=done, failed=failed, by_phase=phases)

    def choose(self, choice: Choice) -> None:
        """Keeps the choice for its dataset and model, in place of an older one."""
        columns = rows.choice_columns(choice)
        with self._transaction() as connection:
            connection.execute(_insertion("choices", columns, verb="REPLACE"), columns)

    def choices(self) -> dict[tuple[str, str], Choice]:
        """The current one for each dataset and model, in their order."""
        with self._readable_content():
            chosen = [rows.choice_of(row) for row in self._rows("SELECT content FROM choices ORDER BY dataset, model")]
        return {(choice.dataset, choice.model): choice for choice in chosen}

    def begin_run(self, run: RunRecord) -> int:
        """Keeps the record, and gives it its number."""
        columns = rows.run_columns(run)
        with self._transaction() as connection:
            _keep_environment(connection, run.environment)
            connection.execute(_insertion("runs", columns), columns)
            return int(connection.execute("SELECT last_insert_rowid()").fetchone()[0])

    def end_run(self, number: int, how: HowEnded) -> None:
        """Adds to the record of a run that it ended now."""
        with self._transaction() as connection:
            changes = [now(), how, number]
            n_changed = connection.execute("UPDATE runs SET ended = ?, how = ? WHERE number = ?", changes).rowcount
        require(n_changed, "number", "that of a run that began", number)

    def runs(self) -> tuple[RunRecord, ...]:
        """All, from the first to the last."""
        found = self._rows("SELECT * FROM runs ORDER BY number")
        with self._readable_content():
            return tuple(rows.run_of(row, self._environment(row["environment"])) for row in found)

    def _ids(self, *, failed: bool) -> set[str]:
        return {row["id"] for row in self._rows("SELECT id FROM outcomes WHERE failed = ?", [failed])}

    def _outcome_of(self, row: sqlite3.Row) -> Outcome:
        with self._readable_content():
            return rows.outcome_of(row, self._environment(row["environment"]))

    def _environment(self, environment_id: str) -> Environment:
        """One object for all outcomes that share it."""
        if environment_id not in self._environments:
            (row,) = self._rows("SELECT facts FROM environments WHERE id = ?", [environment_id])
            self._environments[environment_id] = rows.environment_of(row)
        return self._environments[environment_id]


def _insertion(
    table: str, columns: Mapping[str, Any], *, verb: Literal["INSERT", "INSERT OR IGNORE", "REPLACE"] = "INSERT"
) -> str:
    names = ", ".join(columns)
    return f"{verb} INTO {table} ({names}) VALUES ({', '.join(f':{name}' for name in columns)})"


def _keep_environment(connection: sqlite3.Connection, environment: Environment) -> None:
    columns = rows.environment_columns(environment)
    connection.execute(_insertion("environments", columns, verb="INSERT OR IGNORE"), columns)


# A store as a table for other programs: one line for each task.

_TEXTS = ("fingerprint", "error", "finished_at", "versions")
_SCORES = {f"{part}_{metric}": (part, metric) for part in get_args(Part) for metric in METRICS}
_SECONDS = {f"seconds_{stage}": stage for stage in get_args(Stage)}
# So that the order in which tasks ended does not show.
_ORDER = ("dataset", "data_seed", "model", "phase", "settings", "split", "seed", "id")
_LINES_AT_ONCE = 5_000


def write_parquet(store: Store, path: Path) -> None:
    """Writes one line for each task; whatever happens, ``path`` has the old file or the whole new one."""
    from pyarrow import parquet

    content = io.BytesIO()
    parquet.write_table(_table(store), content)
    replace_file(path, content.getvalue())


def write_csv(store: Store, path: Path) -> None:
    """The same lines as text; what is not known is empty."""
    from pyarrow import csv

    content = io.BytesIO()
    csv.write_csv(_table(store), content)
    replace_file(path, content.getvalue())


def _table(store: Store) -> Any:
    """A pyarrow.Table of all tasks."""
    import pyarrow as pa

    schema, lines = _schema(), _lines(store)
    batches = []
    while some := list(islice(lines, _LINES_AT_ONCE)):
        batches.append(pa.RecordBatch.from_pylist(some, schema=schema))
    return pa.Table.from_batches(batches, schema=schema).sort_by([(name, "ascending") for name in _ORDER])


def _schema() -> Any:
    import pyarrow as pa

    return pa.schema(
        {
            **dict.fromkeys(("id", "dataset"), pa.string()),
            "data_seed": pa.int64(),
            **dict.fromkeys(("model", "settings", "phase", "split"), pa.string()),
            "seed": pa.int64(),
            **dict.fromkeys(("failed", "chosen"), pa.bool_()),
            **dict.fromkeys((*_SCORES, *_SECONDS), pa.float64()),
            "n_parameters": pa.int64(),
            **dict.fromkeys(_TEXTS, pa.string()),
        }.items()
    )


def _lines(store: Store) -> Iterator[dict[str, Any]]:
    chosen = {task_id for choice in store.choices().values() for task_id in choice.final_ids}
    for outcome in store.outcomes(details=False):
        yield {**_task_cells(outcome), "chosen": outcome.task.id in chosen, **_result_cells(outcome)}


def _task_cells(outcome: Outcome) -> dict[str, Any]:
    task = outcome.task
    return {
        "id": task.id,
        "dataset": task.dataset,
        "data_seed": task.data_seed,
        "model": task.model,
        "settings": json.dumps(task.to_json()["settings"]),
        "phase": task.phase,
        "split": str(task.split),
        "seed": task.seed,
    }


def _result_cells(outcome: Outcome) -> dict[str, Any]:
    return {
        "failed": outcome.failed,
        **{column: outcome.score(part, metric) for column, (part, metric) in _SCORES.items()},
        **{column: outcome.seconds.get(stage) for column, stage in _SECONDS.items()},
        "n_parameters": outcome.n_parameters,
        "fingerprint": outcome.fingerprint,
        "error": outcome.reason or None,
        "finished_at": outcome.finished_at,
        "versions": json.dumps(dict(outcome.environment.facts)),
    }
