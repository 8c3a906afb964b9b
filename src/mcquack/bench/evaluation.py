"""From a task to its outcome: load the samples, fit the model, score its predictions, and keep small pictures of it."""

import time
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from threadpoolctl import ThreadpoolController

from mcquack.bench.samples import Samples, new_model, samples
from mcquack.bench.task import AucScores, Metric, Outcome, Stage, Task, current_environment, now
from mcquack.checks import is_number, is_whole_number
from mcquack.datasets import Part
from mcquack.errors import CompiledCodeWarning, TimeBudgetError
from mcquack.simulators.compiled.team import limited_threads

Confusion = NDArray[np.int64]
Labels = NDArray[np.generic]

_MOST_WARNINGS = 5
_MOST_EPOCHS = 200
_MOST_ROWS = 60
_DIGITS = 5
_NOT_OF_THE_TASK = ("seconds",)  # they differ from run to run, and the outcome of a task does not


def outcome(task: Task, *, data_dir: str | None = None, budget: float | None = None) -> Outcome:
    """Trains and scores the model of a task on one thread; an exception becomes a failed outcome with its traceback.

    A fit that takes longer than ``budget``, in seconds, is one too, if the model trains in epochs after which it can be
    ended. One that takes less is not changed by it.

    >>> given = outcome(Task.of("two_curves_4", "svc", {"C": 10.0}))
    >>> sorted(given.scores), given.failed
    (['test', 'train'], False)
    """
    seconds: dict[Stage, float] = {}
    found: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as caught, _threads().limit(limits=1), limited_threads(1):
        warnings.simplefilter("always")
        try:
            found = _measured(task, seconds, data_dir=data_dir, budget=budget)
        except Exception:
            found["error"] = traceback.format_exc()
    of_machine = [each for each in caught if issubclass(each.category, CompiledCodeWarning)]
    for each in of_machine:  # one of the process, in which other tasks run too: the row of a task does not depend on it
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    of_task = (each for each in caught if each not in of_machine)
    messages = list(dict.fromkeys(f"{each.category.__name__}: {each.message}" for each in of_task))
    if messages:
        found["details"] = {**found.get("details", {}), "warnings": messages[:_MOST_WARNINGS]}
    return Outcome(task=task, environment=current_environment(), seconds=seconds, finished_at=now(), **found)


@contextmanager
def _timed(stage: Stage, seconds: dict[Stage, float]) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        seconds[stage] = time.perf_counter() - started


def _measured(task: Task, seconds: dict[Stage, float], *, data_dir: str | None, budget: float | None) -> dict[str, Any]:
    with _timed("load", seconds):
        given = samples(task, data_dir=data_dir)
        model = new_model(task.model, dict(task.settings), seed=task.seed)
    with _timed("fit", seconds):
        _fit(model, given, budget=budget)
    with _timed("score", seconds):
        labels = np.asarray(given.dataset.labels)
        judged = {name: _judged(model, part, labels, auc_scores=task.auc_scores) for name, part in given.scored.items()}
    n_parameters = getattr(model, "n_parameters_", None)
    return {
        "scores": {name: scores for name, (scores, _) in judged.items()},
        "n_parameters": None if n_parameters is None else int(n_parameters),
        "fingerprint": given.fingerprint,
        "details": _details(model, given, judged["test"][1]) if task.phase == "final" else {},
    }


def _fit(model: Any, given: Samples, *, budget: float | None) -> None:
    stops = given.stopping is not None and "validation_data" in signature(model.fit).parameters
    options = {"validation_data": given.stopping} if stops else {}
    if budget is None or not _fits_in_epochs(model):
        model.fit(*given.train, **options)
        return
    started = time.perf_counter()
    with closing(model.fit_iter(*given.train, **options)) as epochs:
        for _ in epochs:
            if time.perf_counter() - started > budget:
                raise TimeBudgetError(f"the fit took longer than {budget:g} s, its budget; retry it with a larger one.")


def _fits_in_epochs(model: Any) -> bool:
    """Whether its ``fit`` is ``fit_iter`` to the end; a class that has a ``fit`` of its own may do more there."""
    owners = (vars(kind).keys() for kind in type(model).__mro__)
    return next(("fit_iter" in names for names in owners if names & {"fit", "fit_iter"}), False)


def _judged(model: Any, part: Part, labels: Labels, *, auc_scores: AucScores) -> tuple[dict[Metric, float], Confusion]:
    """All metrics, and which classes were taken for which.

    Classes are those of the dataset: a fold may lack one that the model then does not know, but is judged by.
    """
    truth, predicted = np.searchsorted(labels, part.y), np.searchsorted(labels, model.predict(part.X))
    counts = confusion(truth, predicted, n_classes=len(labels))
    class_scores = _class_scores(model, part.X, labels, auc_scores=auc_scores)
    area = None if class_scores is None else area_under_curves(truth, class_scores)
    return label_scores(counts) if area is None else {"auc": area, **label_scores(counts)}, counts


def _class_scores(model: Any, X: NDArray[Any], labels: Labels, *, auc_scores: AucScores) -> NDArray[np.floating] | None:
    """(N, M), larger for likelier classes, lowest for those the model does not know; None if it only predicts."""
    names = ("decision_function", "predict_proba")
    # An area compares the scores of different samples for one class, and all fidelities of a sample may be larger than
    # those of another. What a model has for two classes is a comparison within each sample already.
    normalises = auc_scores == "normalised" and len(labels) > 2
    for name in reversed(names) if normalises else names:
        if not hasattr(model, name):
            continue
        scores = np.asarray(getattr(model, name)(X), dtype=np.float64)
        known = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        # Some have a score for each pair of classes.
        if known.shape[1] == len(model.classes_):
            found = np.full((len(known), len(labels)), -np.inf)
            found[:, np.searchsorted(labels, model.classes_)] = known
            return found
    return None


def confusion(truth: NDArray[np.intp], predicted: NDArray[np.intp], *, n_classes: int) -> Confusion:
    """C[i, j]: how many samples of class i were taken for class j."""
    pairs = np.bincount(truth * n_classes + predicted, minlength=n_classes * n_classes)
    return pairs.reshape(n_classes, n_classes)


def label_scores(counts: Confusion) -> dict[Metric, float]:
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


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


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


def _details(model: Any, given: Samples, counts: Confusion) -> dict[str, Any]:
    X, y = given.scored["test"]
    found = {
        "class_names": list(given.dataset.class_names),
        "confusion": counts.tolist(),
        "history": _history_columns(getattr(model, "history_", ())),
        "kernel": _kernel_sample(model, X, np.searchsorted(np.asarray(given.dataset.labels), y)),
        # What a model of a study has seen, as plain JSON values.
        "study": getattr(model, "details_", None),
    }
    return {name: value for name, value in found.items() if value}


def _history_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[float | None]]:
    if not rows:
        return {}
    kept = [rows[index] for index in _spread(len(rows), _MOST_EPOCHS)]
    names = [name for name, value in rows[-1].items() if is_number(value) and name not in _NOT_OF_THE_TASK]
    return {name: [_rounded(row.get(name)) for row in kept] for name in names}


def _kernel_sample(model: Any, X: NDArray[Any], truth: NDArray[np.intp]) -> dict[str, Any]:
    """Some rows of the kernel between samples and centroids, sorted by class; empty for a model without centroids."""
    if not (hasattr(model, "transform") and hasattr(model, "centroids_")):
        return {}
    order = np.argsort(truth, kind="stable")
    rows = order[_spread(len(order), _MOST_ROWS)]
    values = np.asarray(model.transform(X[rows]), dtype=np.float64)
    return {"classes": truth[rows].tolist(), "values": [[_rounded(value) for value in row] for row in values]}


def _spread(length: int, most: int) -> NDArray[np.intp]:
    return np.unique(np.linspace(0, length - 1, min(length, most)).round().astype(np.intp))


def _rounded(value: Any) -> float | None:
    if is_whole_number(value):
        return int(value)
    return float(f"{value:.{_DIGITS}g}") if is_number(value) and np.isfinite(value) else None


@cache
def _threads() -> ThreadpoolController:
    """Finding the thread pools of all libraries takes longer than a small fit, so it is done once."""
    return ThreadpoolController()
