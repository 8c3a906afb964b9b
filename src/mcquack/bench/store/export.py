"""A store as a table for other programs: one line for each task."""

import io
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, get_args

from mcquack.bench.outcome import METRICS, Outcome, Part, Stage
from mcquack.bench.store.store import Store
from mcquack.files import replace_file

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
