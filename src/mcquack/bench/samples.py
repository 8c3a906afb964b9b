"""What the names in a task stand for: a model, and the samples it may see; what chooses settings sees no test part."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import import_module
from inspect import Parameter, isfunction, signature
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold

from mcquack import datasets
from mcquack.bench.task import Part as PartName
from mcquack.bench.task import Split, TableSource, Task, model_and_label
from mcquack.checks import did_you_mean
from mcquack.datasets import Dataset, Description, Part
from mcquack.datasets.own import table_dataset
from mcquack.datasets.table import read_table
from mcquack.errors import InvalidInputError
from mcquack.models import catalog
from mcquack.models.preparation import fitted_scaler
from mcquack.randomness import stream

_KEPT_DATASETS = 2  # tasks of one dataset follow each other, so more would only hold memory
_IMPORT_HINT = "the module must be one that Python can import, as from a folder in PYTHONPATH"


def title(name: str) -> str:
    """What people call a model, for its name in a task."""
    model, label = model_and_label(name)
    called = model.rpartition(":")[2] if ":" in model else catalog.entry(model).title
    return f"{called} {label}".rstrip()


def check_model(name: str) -> None:
    """Refuses a name that means no model; those of the catalogue are not imported for it, which takes seconds."""
    model, _ = model_and_label(name)
    if ":" in model:
        estimator_class(model)
    else:
        catalog.entry(model)


@cache
def estimator_class(name: str) -> type[Any]:
    """The class of a name in the catalogue, or of "module:Class", whatever its label.

    What is no classifier is refused before it is called: a name must not be a way to call whatever can be imported. In
    the place of a class there may be a function, if its annotation says that it returns a classifier.
    """
    model, _ = model_and_label(name)
    module, _, class_name = model.rpartition(":")
    if not module:
        return catalog.entry(model).estimator_class()
    try:
        found: type[Any] = getattr(import_module(module), class_name)
    except Exception as error:  # whatever the module does when it is imported
        raise InvalidInputError(
            f"no model {name!r}: {_cause(error)}; write module:Class, and {_IMPORT_HINT}."
        ) from error
    if not (_is_classifier(found) or (isfunction(found) and _is_classifier(_returned(found)))):
        raise InvalidInputError(
            f"no model {name!r}: it is no classifier, but {_told(found)}; name a class with fit, predict and "
            "get_params that is a classifier for scikit-learn (ClassifierMixin), or a function annotated to return one."
        )
    return found


def _cause(error: Exception) -> str:
    return str(error) if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: {error}"


def _is_classifier(found: object) -> bool:
    if not isinstance(found, type):
        return False
    has_verbs = all(callable(getattr(found, verb, None)) for verb in ("fit", "predict", "get_params"))
    # Some libraries, as CatBoost, inherit nothing from scikit-learn; what predicts probabilities is a classifier there.
    apart = not issubclass(found, BaseEstimator) and hasattr(found, "predict_proba")
    return has_verbs and (apart or issubclass(found, ClassifierMixin))


def _returned(function: Any) -> object:
    try:
        return get_type_hints(function).get("return")
    except Exception:  # annotations are code of whoever wrote them
        return None


def _told(found: object) -> str:
    return f"the class {found.__qualname__}" if isinstance(found, type) else f"of the type {type(found).__name__}"


def new_model(name: str, settings: Mapping[str, Any], *, seed: int) -> Any:
    """An estimator that is not fitted yet, on one thread and with the seed as its random_state, if it has any."""
    made, (model, _) = estimator_class(name), model_and_label(name)
    given = {"random_state": seed, "n_threads": 1, "n_jobs": 1}
    known = signature(made).parameters
    chosen = {**{setting: value for setting, value in given.items() if setting in known}, **settings}
    return made(**chosen) if ":" in model else catalog.entry(model).new(**chosen)


def check_settings(name: str, settings: Iterable[str]) -> None:
    """Refuses settings that the model does not have, before a search stumbles over them."""
    known = signature(estimator_class(name)).parameters
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in known.values()):
        return
    for setting in settings:
        if setting not in known:
            hint = did_you_mean(setting, known, otherwise=f"it has {', '.join(known)}.")
            raise InvalidInputError(f"{name} has no setting {setting!r}; {hint}")


def describe(name: str) -> Description:
    """A dataset of the registry; "module:name" is one that the module registers when it is imported."""
    module, _, own = name.rpartition(":")
    try:
        if module:
            import_module(module)
    except Exception as error:
        raise InvalidInputError(f"no dataset {name!r}: {_cause(error)}; {_IMPORT_HINT}.") from error
    return datasets.describe(own)


@dataclass(frozen=True, kw_only=True)
class Samples:
    """What a model is trained on, what may stop its training, and what it is scored on."""

    train: Part
    stopping: Part | None
    scored: Mapping[PartName, Part]
    dataset: Dataset  # the one they are from, without its test part
    fingerprint: str  # of all that the task may see


def samples(task: Task, *, data_dir: str | None = None) -> Samples:
    """The samples of a task's split, scaled if it asks for that; ``data_dir`` has the files of published datasets."""
    source = (task.dataset, task.data_seed, task.table, data_dir)
    dataset, fingerprint = _development(*source)
    train, stopping = dataset.train, dataset.validation
    judged_on: PartName = "validation"
    if task.split.kind == "fold":
        train, judge = _fold(dataset, task.split, seed=task.data_seed)
        stopping = None
    elif task.split.kind == "test":
        judged_on = "test"
        judge, fingerprint = _test(*source)
    elif stopping is not None:
        judge = stopping
    else:
        raise InvalidInputError(f"{dataset.name} has no validation part apart from its test part; search on folds.")
    if task.scaled:
        scale = fitted_scaler(train.X, (0.0, 1.0)).transform
        train, judge = (Part(scale(part.X), part.y) for part in (train, judge))
        stopping = None if stopping is None else Part(scale(stopping.X), stopping.y)
    scored = {"train": train, judged_on: judge}
    return Samples(train=train, stopping=stopping, scored=scored, dataset=dataset, fingerprint=fingerprint)


def without_test(dataset: Dataset) -> Dataset:
    """All of a dataset that a search can reach; its validation part goes too where it is the test part renamed."""
    return replace(dataset, test=None, validation=None if dataset.validation_is_test else dataset.validation)


@lru_cache(maxsize=_KEPT_DATASETS)
def _development(name: str, seed: int, table: TableSource | None, data_dir: str | None) -> tuple[Dataset, str]:
    kept = without_test(_loaded(name, seed, table, data_dir))
    return kept, kept.fingerprint


@lru_cache(maxsize=_KEPT_DATASETS)
def _test(name: str, seed: int, table: TableSource | None, data_dir: str | None) -> tuple[Part, str]:
    dataset = _loaded(name, seed, table, data_dir)
    if dataset.test is None:
        raise InvalidInputError(f"{name} has no test part to be judged on; give it one, as test = 0.2 for a table.")
    return dataset.test, dataset.fingerprint


def _loaded(name: str, seed: int, table: TableSource | None, data_dir: str | None) -> Dataset:
    if table is None:
        known = describe(name)
        # What is published as one fixed dataset takes no seed.
        return datasets.load(known.name, seed=seed if known.is_seeded else 0, data_dir=data_dir)
    if not table.path.is_file():
        raise InvalidInputError(f"there is no file {table.path} for {name}; every worker needs it at this path.")
    if TableSource.of(table.path, target=table.target).digest != table.digest:
        raise InvalidInputError(f"{table.path} has changed since this benchmark was begun; begin another store.")
    options = {"validation": table.validation, "test": table.test, **table.options}
    return table_dataset(read_table(table.path), target=table.target, seed=seed, name=name, **options)


def _fold(dataset: Dataset, split: Split, *, seed: int) -> tuple[Part, Part]:
    """Folds in the order of the samples, as the QML suite has them, with a share of each class in every one."""
    X, y = dataset.train
    inner, outer = list(StratifiedKFold(n_splits=split.n_folds or 0).split(X, y))[split.fold or 0]
    draws = stream(seed, "fold", dataset.name, str(split.fold))
    inner, outer = _cut(inner, split.n_train, draws), _cut(outer, split.n_validation, draws)
    return Part(X[inner], y[inner]), Part(X[outer], y[outer])


def _cut(rows: NDArray[np.intp], size: int | None, draws: np.random.Generator) -> NDArray[np.intp]:
    if size is None or size >= len(rows):
        return rows
    return np.sort(draws.choice(rows, size=size, replace=False))
