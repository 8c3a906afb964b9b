"""Which samples a task may see: whatever chooses settings never holds a test part."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from mcquack import datasets
from mcquack.bench.outcome import Part as PartName
from mcquack.bench.task import Split, TableSource, Task
from mcquack.checks import did_you_mean
from mcquack.datasets import Dataset, Description, Part
from mcquack.datasets.own import table_dataset
from mcquack.datasets.table import read_table
from mcquack.errors import InvalidInputError
from mcquack.models import catalog
from mcquack.randomness import stream

# From the name of a model in a task to an estimator: one of the catalogue, or any class that can be imported.

IMPORT_HINT = "the module must be one that Python can import, as from a folder in PYTHONPATH"


def title(name: str) -> str:
    """What people call it."""
    return name.rpartition(":")[2] if ":" in name else catalog.entry(name).title


def check_model(name: str) -> None:
    """Refuses a name that means nothing; those of the catalogue are not imported for it, which takes seconds."""
    if ":" in name:
        estimator_class(name)
    else:
        catalog.entry(name)


@cache
def estimator_class(name: str) -> type[Any]:
    """The class of a name in the catalogue, or of "module:Class"."""
    module, _, class_name = name.rpartition(":")
    if not module:
        return catalog.entry(name).estimator_class()
    try:
        found: type[Any] = getattr(import_module(module), class_name)
    except (ImportError, AttributeError) as error:
        raise InvalidInputError(f"no model {name!r}: {error}; write module:Class, and {IMPORT_HINT}.") from error
    return found


def new_model(name: str, settings: Mapping[str, Any], *, seed: int) -> Any:
    """An estimator that is not fitted yet, on one thread and with the seed as its random_state, if it has any."""
    made = estimator_class(name)
    given = {"random_state": seed, "n_threads": 1, "n_jobs": 1}
    known = signature(made).parameters
    chosen = {**{setting: value for setting, value in given.items() if setting in known}, **settings}
    return made(**chosen) if ":" in name else catalog.entry(name).new(**chosen)


def fit_takes_validation(model: Any) -> bool:
    """Whether its training can be stopped by a validation part."""
    return "validation_data" in signature(model.fit).parameters


def check_settings(name: str, settings: Iterable[str]) -> None:
    """Refuses settings that the model does not have, before a search stumbles over them."""
    known = signature(estimator_class(name)).parameters
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in known.values()):
        return
    for setting in settings:
        if setting not in known:
            hint = did_you_mean(setting, known, otherwise=f"it has {', '.join(known)}.")
            raise InvalidInputError(f"{name} has no setting {setting!r}; {hint}")


_KEPT_DATASETS = 2  # tasks of one dataset follow each other, so more would only hold memory


@dataclass(frozen=True, kw_only=True)
class Samples:
    """What a model is trained on, what may stop its training, and what it is scored on."""

    train: Part
    stopping: Part | None
    scored: Mapping[PartName, Part]
    class_names: tuple[str, ...]
    labels: NDArray[np.generic]
    fingerprint: str


@dataclass(frozen=True, kw_only=True)
class Development:
    """A dataset without its test part: all that a search can reach.

    ``validation`` is None also where it would be the test part under another name.
    """

    name: str
    train: Part
    validation: Part | None
    class_names: tuple[str, ...]
    labels: tuple[object, ...]
    fingerprint: str

    @classmethod
    def of(cls, dataset: Dataset) -> "Development":
        """What is left when the test part is taken away."""
        kept = replace(dataset, test=None, validation=None if dataset.validation_is_test else dataset.validation)
        return cls(
            name=kept.name,
            train=kept.train,
            validation=kept.validation,
            class_names=kept.class_names,
            labels=kept.labels,
            fingerprint=kept.fingerprint,
        )


def samples(task: Task, *, data_dir: str | None = None) -> Samples:
    """Those of the task's split."""
    source = (task.dataset, task.data_seed, task.table, data_dir)
    development = _development(*source)
    if task.split.kind == "test":
        return _final(development, *_test(*source))
    if task.split.kind == "validation":
        return _validated(development)
    return _folded(development, task.split, seed=task.data_seed)


def check_target(table: TableSource) -> None:
    """Refuses a table that cannot be read or lacks the column of labels."""
    read_table(table.path).column(table.target)


def describe(name: str) -> Description:
    """A dataset of the registry; "module:name" is one that the module registers when it is imported."""
    return datasets.describe(_registered(name))


@lru_cache(maxsize=_KEPT_DATASETS)
def _development(name: str, seed: int, table: TableSource | None, data_dir: str | None) -> Development:
    return Development.of(_loaded(name, seed, table, data_dir))


@lru_cache(maxsize=_KEPT_DATASETS)
def _test(name: str, seed: int, table: TableSource | None, data_dir: str | None) -> tuple[Part, str]:
    """The test part, with the fingerprint of the whole dataset."""
    dataset = _loaded(name, seed, table, data_dir)
    if dataset.test is None:
        raise InvalidInputError(f"{name} has no test part to be judged on; give it one, as test = 0.2 for a table.")
    return dataset.test, dataset.fingerprint


def _loaded(name: str, seed: int, table: TableSource | None, data_dir: str | None) -> Dataset:
    if table is not None:
        return _from_table(name, table, seed=seed)
    known = describe(name)
    # What is published as one fixed dataset takes no seed.
    return datasets.load(known.name, seed=seed if known.is_seeded else 0, data_dir=data_dir)


def _from_table(name: str, table: TableSource, *, seed: int) -> Dataset:
    if not table.path.is_file():
        raise InvalidInputError(f"there is no file {table.path} for {name}; every worker needs it at this path.")
    if TableSource.of(table.path, target=table.target).digest != table.digest:
        raise InvalidInputError(f"{table.path} has changed since this benchmark was begun; begin another store.")
    return table_dataset(
        read_table(table.path),
        target=table.target,
        validation=table.validation,
        test=table.test,
        seed=seed,
        name=name,
    )


def _registered(name: str) -> str:
    module, _, own = name.rpartition(":")
    try:
        if module:
            import_module(module)
    except ImportError as error:
        raise InvalidInputError(f"no dataset {name!r}: {error}; {IMPORT_HINT}.") from error
    return own


def _final(development: Development, test: Part, fingerprint: str) -> Samples:
    return Samples(
        train=development.train,
        stopping=development.validation,
        scored={"train": development.train, "test": test},
        class_names=development.class_names,
        labels=np.asarray(development.labels),
        fingerprint=fingerprint,
    )


def _validated(development: Development) -> Samples:
    validation = development.validation
    if validation is None:
        raise InvalidInputError(
            f"{development.name} has no validation part apart from its test part; search on folds instead."
        )
    return Samples(
        train=development.train,
        stopping=validation,
        scored={"train": development.train, "validation": validation},
        class_names=development.class_names,
        labels=np.asarray(development.labels),
        fingerprint=development.fingerprint,
    )


def _folded(development: Development, split: Split, *, seed: int) -> Samples:
    """In the order of the samples, as the QML suite does it, with a share of each class in every fold."""
    X, y = development.train
    folds = StratifiedKFold(n_splits=split.n_folds or 0).split(X, y)
    inner, outer = list(folds)[split.fold or 0]
    draws = stream(seed, "fold", development.name, str(split.fold))
    inner, outer = _cut(inner, split.n_train, draws), _cut(outer, split.n_validation, draws)
    train, held_out = Part(X[inner], y[inner]), Part(X[outer], y[outer])
    return Samples(
        train=train,
        stopping=None,
        scored={"train": train, "validation": held_out},
        class_names=development.class_names,
        labels=np.asarray(development.labels),
        fingerprint=development.fingerprint,
    )


def _cut(rows: NDArray[np.intp], size: int | None, draws: np.random.Generator) -> NDArray[np.intp]:
    """At most so many of the rows, drawn by chance, in their order."""
    if size is None or size >= len(rows):
        return rows
    return np.sort(draws.choice(rows, size=size, replace=False))
