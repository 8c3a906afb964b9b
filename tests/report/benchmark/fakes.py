"""A benchmark that nobody ran: plausible outcomes by formula, in a real store."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mcquack.bench.plan import Choice
from mcquack.bench.ranking import CellScores
from mcquack.bench.store import RunRecord, Store
from mcquack.bench.task import METRICS, VALIDATION, Environment, Outcome, Task

ENVIRONMENT = Environment(
    {"python": "3.12.1", "mcquack": "0.1.0", "numpy": "2.1.0", "commit": "0123456789ab", "cores": "2"}
)
DATASETS = tuple(f"{family}_{size}" for family in ("two_curves", "linearly_separable") for size in (2, 8, 14, 20))
MODELS = ("mcquack", "vc", "svc", "nystroem_svm", "nn")
SKILLS = {"mcquack": 0.9, "vc": 0.7, "svc": 0.88, "nystroem_svm": 0.78, "nn": 0.93}
NAMES = ("minus", "plus")


def fake_store(
    path: Path,
    *,
    datasets: Sequence[str] = DATASETS,
    models: Sequence[str] = MODELS,
    n_seeds: int = 5,
    n_settings: int = 6,
    class_names: Sequence[str] = NAMES,
    failing: Mapping[tuple[str, str], Sequence[int]] | None = None,
    **suite: Any,
) -> Path:
    """``failing`` are the seeds that failed, by dataset and model."""
    given = {"name": "fake", "title": "A fake benchmark", "datasets": list(datasets), "models": list(models)}
    with Store.open(path, create=True) as store:
        store.begin_run(
            RunRecord(
                command="mcquack bench run fake.toml --search grid",
                suite={**given, **suite},
                environment=ENVIRONMENT,
                started="2025-01-02T03:04:05+00:00",
                ended="2025-01-02T04:04:05+00:00",
                how="done",
            )
        )
        for dataset in datasets:
            for model in models:
                failed = (failing or {}).get((dataset, model), ())
                for step in _cell(dataset, model, n_seeds, n_settings, class_names, failed):
                    store.choose(step) if isinstance(step, Choice) else store.add(step)
    return path


def reversed_copy(source: Path, target: Path) -> Path:
    """A store with the same content, of which whatever was last came first."""
    with Store.open(source) as old, Store.open(target, create=True) as new:
        for run in old.runs():
            new.begin_run(run)
        for choice in reversed(old.choices().values()):
            new.choose(choice)
        for outcome in reversed([*old.outcomes()]):
            new.add(outcome)
    return target


def published_cells(
    datasets: Sequence[str] = DATASETS, *, models: Sequence[str] = ("MLPClassifier", "DressedQuantumCircuit")
) -> tuple[CellScores, ...]:
    """Of others, who told accuracies only; the last model lacks every other dataset."""
    return tuple(
        CellScores(
            dataset=dataset,
            family=dataset.rpartition("_")[0],
            size=int(dataset.rpartition("_")[2]),
            model=model,
            title=model,
            source="Bowles et al. 2024",
            values={("test", "accuracy"): tuple(_score(0.86, dataset, model, seed) for seed in range(5))},
            note="test scores corrected" if index == 0 and model == models[0] else "",
        )
        for model in models
        for index, dataset in enumerate(datasets)
        if model != models[-1] or index % 2 == 0
    )


def _cell(
    dataset: str, model: str, n_seeds: int, n_settings: int, class_names: Sequence[str], failed: Sequence[int]
) -> Iterator[Outcome | Choice]:
    tried = [{"lr": 10.0 ** -(1 + index % 3), "n_layers": 1 + index // 3} for index in range(n_settings)]
    searches = [_searched(Task.of(dataset, model, settings, split=VALIDATION)) for settings in tried]
    yield from searches
    best = max(searches, key=lambda outcome: outcome.scores["validation"]["accuracy"]) if searches else None
    settings = dict(best.task.settings) if best else {}
    finals = [Task.of(dataset, model, settings, seed=seed) for seed in range(n_seeds)]
    yield Choice(
        dataset=dataset,
        model=model,
        settings=settings,
        metric="accuracy",
        score=best.scores["validation"]["accuracy"] if best else None,
        search="grid" if searches else "none",
        n_settings=n_settings,
        task_ids=tuple(outcome.task.id for outcome in searches),
        final_ids=tuple(task.id for task in finals),
    )
    for task in finals:
        yield _failure(task) if task.seed in failed else _final(task, class_names)


def _searched(task: Task) -> Outcome:
    scores = _metrics(task, 0.0)
    return Outcome(task=task, scores={"train": scores, "validation": scores}, **_common(task))


def _final(task: Task, class_names: Sequence[str]) -> Outcome:
    return Outcome(
        task=task,
        scores={"train": _metrics(task, 0.03), "test": _metrics(task, 0.0)},
        n_parameters=12 * len(task.model),
        details=_details(task, class_names),
        **_common(task),
    )


def _failure(task: Task) -> Outcome:
    error = (
        f"Traceback (most recent call last):\n  in fit\nFloatingPointError: loss of seed {task.seed} is <nan> & more"
    )
    return Outcome(task=task, error=error, **_common(task))


def _common(task: Task) -> dict[str, Any]:
    seconds = {"load": 0.002, "fit": 0.05 + 0.01 * len(task.model), "score": 0.004}
    print_ = f"{zlib.crc32(task.dataset.encode()):08x}"
    return {
        "environment": ENVIRONMENT,
        "seconds": seconds,
        "fingerprint": print_,
        "finished_at": "2025-01-02T03:30:00+00:00",
    }


def _metrics(task: Task, bonus: float) -> dict[Any, float]:
    skill = SKILLS.get(task.model, 0.8) + bonus
    purpose = (task.model, task.split, task.seed, task.settings)
    return {metric: _score(skill, task.dataset, metric, *purpose) for metric in METRICS}


def _score(skill: float, dataset: str, *purpose: object) -> float:
    """Worse on larger datasets, a little different for every purpose, and always the same."""
    rng = np.random.default_rng(zlib.crc32(repr((dataset, purpose)).encode()))
    charm = np.random.default_rng(zlib.crc32(repr((dataset, purpose[:2])).encode()))  # a model may suit a dataset
    size = int(dataset.rpartition("_")[2]) if dataset.rpartition("_")[2].isdigit() else 10
    return round(float(np.clip(skill - 0.004 * size + rng.normal(0, 0.02) + charm.normal(0, 0.05), 0, 1)), 6)


def _details(task: Task, class_names: Sequence[str]) -> dict[str, Any]:
    rng = np.random.default_rng(zlib.crc32(task.id.encode()))
    n_classes = len(class_names)
    epochs = np.arange(1, 41)
    fall = np.exp(-epochs / 12)
    noise = rng.normal(0, 0.01, (3, len(epochs)))
    truth = np.repeat(np.arange(n_classes), 48 // n_classes)
    kernel = np.clip(rng.normal(0.2, 0.08, (len(truth), n_classes)), 0, 1)
    kernel[np.arange(len(truth)), truth] += 0.5
    confusion = rng.integers(0, 4, (n_classes, n_classes)) + np.diag(rng.integers(18, 30, n_classes))
    return {
        "class_names": list(class_names),
        "history": {
            "epoch": epochs.tolist(),
            "loss_kao": (0.2 + 0.7 * fall + noise[0]).round(4).tolist(),
            "loss_co": (0.25 + 0.6 * fall).round(4).tolist(),
            "validation_loss": (0.3 + 0.6 * fall + noise[1]).round(4).tolist(),
            "accuracy": (0.95 - 0.4 * fall).round(4).tolist(),
            "validation_accuracy": (0.9 - 0.4 * fall + noise[2]).round(4).tolist(),
        },
        "confusion": confusion.tolist(),
        "kernel": {"classes": truth.tolist(), "values": kernel.clip(0, 1).round(4).tolist()},
    }
