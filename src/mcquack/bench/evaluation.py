"""From a task to its outcome: load, fit, score."""

import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from mcquack.bench.details import history_columns, kernel_sample
from mcquack.bench.environment import current_environment
from mcquack.bench.metrics import Counts, area_under_curves, confusion, label_scores
from mcquack.bench.models import fit_takes_validation, new_model
from mcquack.bench.outcome import Metric, Outcome, Stage
from mcquack.bench.samples import Samples, samples
from mcquack.bench.task import Task
from mcquack.datasets import Part

_MOST_WARNINGS = 5


class _Stopwatch:
    """Seconds of each stage, also of one that fails."""

    def __init__(self) -> None:
        self.seconds: dict[Stage, float] = {}

    @contextmanager
    def __call__(self, stage: Stage) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = time.perf_counter() - started


def outcome(task: Task, *, data_dir: str | None = None) -> Outcome:
    """Trains and scores the model of a task on one thread; an exception becomes a failed outcome with its traceback."""
    watch = _Stopwatch()
    found: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as caught, _threads().limit(limits=1):
        warnings.simplefilter("always")
        try:
            found = _measured(task, watch, data_dir=data_dir)
        except Exception:
            found["error"] = traceback.format_exc()
    details = dict(found.pop("details", {}))
    messages = list(dict.fromkeys(f"{each.category.__name__}: {each.message}" for each in caught))
    if messages:
        details["warnings"] = messages[:_MOST_WARNINGS]
    return Outcome(
        task=task,
        environment=current_environment(),
        seconds=watch.seconds,
        details=details,
        finished_at=datetime.now(UTC).isoformat(timespec="seconds"),
        **found,
    )


def _measured(task: Task, watch: _Stopwatch, *, data_dir: str | None) -> dict[str, Any]:
    with watch("load"):
        given = samples(task, data_dir=data_dir)
        model = new_model(task.model, dict(task.settings), seed=task.seed)
    with watch("fit"):
        _fit(model, given)
    with watch("score"):
        judged = {name: _judged(model, part) for name, part in given.scored.items()}
    n_parameters = getattr(model, "n_parameters_", None)
    return {
        "scores": {name: scores for name, (scores, _) in judged.items()},
        "n_parameters": None if n_parameters is None else int(n_parameters),
        "fingerprint": given.fingerprint,
        "details": _details(model, given, judged["test"][1]) if task.phase == "final" else {},
    }


def _fit(model: Any, given: Samples) -> None:
    if given.stopping is not None and fit_takes_validation(model):
        model.fit(*given.train, validation_data=given.stopping)
    else:
        model.fit(*given.train)


def _judged(model: Any, part: Part) -> tuple[dict[Metric, float], Counts]:
    """All metrics, and which classes were taken for which."""
    truth, predicted = _positions(model, part.y), _positions(model, model.predict(part.X))
    counts = confusion(truth, predicted, n_classes=len(model.classes_))
    scores = label_scores(counts)
    class_scores = _class_scores(model, part.X)
    area = None if class_scores is None else area_under_curves(truth, class_scores)
    return scores if area is None else {"auc": area, **scores}, counts


def _positions(model: Any, labels: NDArray[Any]) -> NDArray[np.intp]:
    """Of the labels among the model's classes, which are sorted."""
    return np.searchsorted(model.classes_, labels)


def _class_scores(model: Any, X: NDArray[Any]) -> NDArray[np.floating] | None:
    """(N, M), larger for likelier classes; None for a model that only predicts."""
    for name in ("decision_function", "predict_proba"):
        if hasattr(model, name):
            scores: NDArray[np.floating] = np.asarray(getattr(model, name)(X), dtype=np.float64)
            return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    return None


def _details(model: Any, given: Samples, counts: Counts) -> dict[str, Any]:
    """What a report shows of this fit alone."""
    X, y = given.scored["test"]
    found = {
        "class_names": list(given.class_names),
        "confusion": counts.tolist(),
        "history": history_columns(getattr(model, "history_", ())),
        "kernel": kernel_sample(model, X, _positions(model, y)),
    }
    return {name: value for name, value in found.items() if value}


@cache
def _threads() -> ThreadpoolController:
    """Finding the thread pools of all libraries takes longer than a small fit, so it is done once."""
    return ThreadpoolController()
