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
from scipy.stats import rankdata
from threadpoolctl import ThreadpoolController

from mcquack.bench.outcome import Metric, Outcome, Stage, current_environment
from mcquack.bench.samples import Samples, fit_takes_validation, new_model, samples
from mcquack.bench.task import Task, history_columns, kernel_sample
from mcquack.datasets import Part

# How well predictions fit the labels; the averages over classes give every class the same weight.

Counts = NDArray[np.int64]


def confusion(truth: NDArray[np.intp], predicted: NDArray[np.intp], *, n_classes: int) -> Counts:
    """C[i, j]: how many samples of class i were taken for class j."""
    pairs = np.bincount(truth * n_classes + predicted, minlength=n_classes * n_classes)
    return pairs.reshape(n_classes, n_classes)


def label_scores(counts: Counts) -> dict[Metric, float]:
    """All that can be told from a confusion matrix, as scikit-learn defines it with average="macro".

    Precision, recall and F1 average over the classes that occur or are predicted, and are 0 where nothing is predicted;
    balanced accuracy averages the recalls of those that occur.
    """
    hits, n_true, n_predicted = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    precision, recall = _share(hits, n_predicted), _share(hits, n_true)
    f1 = _share(2 * hits, n_true + n_predicted)
    met = (n_true + n_predicted) > 0
    return {
        "precision": float(precision[met].mean()),
        "recall": float(recall[met].mean()),
        "f1": float(f1[met].mean()),
        "accuracy": float(hits.sum() / counts.sum()),
        "balanced_accuracy": float(recall[n_true > 0].mean()),
    }


def area_under_curves(truth: NDArray[np.intp], class_scores: NDArray[np.floating]) -> float | None:
    """Mean over classes of the chance that a sample of the class scores higher for it than a sample of another.

    Classes without samples here have no such chance and are left out; None if that leaves none.
    """
    n_samples, n_classes = class_scores.shape
    members = truth[:, None] == np.arange(n_classes)
    n_members = members.sum(axis=0)
    defined = (n_members > 0) & (n_members < n_samples)
    if not defined.any():
        return None
    # The ranks of a class among all samples give the area (Mann and Whitney), ties counting half.
    rank_sums = np.where(members, rankdata(class_scores, axis=0), 0.0).sum(axis=0)[defined]
    of_class = n_members[defined]
    areas = (rank_sums - of_class * (of_class + 1) / 2) / (of_class * (n_samples - of_class))
    return float(areas.mean())


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


Labels = NDArray[np.generic]
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
        judged = {name: _judged(model, part, given.labels) for name, part in given.scored.items()}
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


def _judged(model: Any, part: Part, labels: Labels) -> tuple[dict[Metric, float], Counts]:
    """All metrics, and which classes were taken for which.

    Classes are those of the dataset: a fold may lack one that the model then does not know, but is judged by.
    """
    truth, predicted = _positions(part.y, labels), _positions(model.predict(part.X), labels)
    counts = confusion(truth, predicted, n_classes=len(labels))
    scores = label_scores(counts)
    class_scores = _class_scores(model, part.X, labels)
    area = None if class_scores is None else area_under_curves(truth, class_scores)
    return scores if area is None else {"auc": area, **scores}, counts


def _positions(values: NDArray[Any], labels: Labels) -> NDArray[np.intp]:
    """Of the values among the labels, which are sorted."""
    return np.searchsorted(labels, values)


def _class_scores(model: Any, X: NDArray[Any], labels: Labels) -> NDArray[np.floating] | None:
    """(N, M), larger for likelier classes, lowest for those the model does not know; None if it only predicts."""
    for name in ("decision_function", "predict_proba"):
        if not hasattr(model, name):
            continue
        scores = np.asarray(getattr(model, name)(X), dtype=np.float64)
        known = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        # Some have a score for each pair of classes.
        if known.shape[1] == len(model.classes_):
            found = np.full((len(known), len(labels)), -np.inf)
            found[:, _positions(model.classes_, labels)] = known
            return found
    return None


def _details(model: Any, given: Samples, counts: Counts) -> dict[str, Any]:
    """What a report shows of this fit alone."""
    X, y = given.scored["test"]
    found = {
        "class_names": list(given.class_names),
        "confusion": counts.tolist(),
        "history": history_columns(getattr(model, "history_", ())),
        "kernel": kernel_sample(model, X, _positions(y, given.labels)),
        # What a model of a study has seen, as plain JSON values.
        "study": getattr(model, "details_", None),
    }
    return {name: value for name, value in found.items() if value}


@cache
def _threads() -> ThreadpoolController:
    """Finding the thread pools of all libraries takes longer than a small fit, so it is done once."""
    return ThreadpoolController()
