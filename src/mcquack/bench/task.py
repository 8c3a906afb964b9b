"""One cell of a benchmark as a value: all that decides its result, and nothing else."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from mcquack.checks import is_number, is_whole_number, require
from mcquack.errors import InvalidInputError

Phase = Literal["search", "final"]


@dataclass(frozen=True, kw_only=True)
class Split:
    """What a model is trained on and what it is scored on.

    "test": trained on the training part, scored on the test part. "validation": the same with the validation part.
    "fold": trained on all but one of the folds of the training part and scored on that one; ``n_train`` and
    ``n_validation`` say to how many samples each side is cut, if at all. Only "test" ever loads the test part.
    """

    kind: Literal["test", "validation", "fold"]
    fold: int | None = None
    n_folds: int | None = None
    n_train: int | None = None
    n_validation: int | None = None

    def __post_init__(self) -> None:
        require(self.kind in ("test", "validation", "fold"), "kind", "test, validation or fold", self.kind)
        if self.kind != "fold":
            given = [self.fold, self.n_folds, self.n_train, self.n_validation]
            require(given == [None] * 4, "fold, n_folds, n_train and n_validation", f"None for {self.kind!r}", given)
            return
        n_folds, fold = self.n_folds, self.fold
        require(n_folds is not None and n_folds >= 2, "n_folds", "at least 2", n_folds)
        require(fold is not None and 0 <= fold < (n_folds or 0), "fold", "0 to n_folds - 1", fold)

    @property
    def phase(self) -> Phase:
        """A model that was scored on the test part can no longer be chosen by that score."""
        return "final" if self.kind == "test" else "search"

    def __str__(self) -> str:
        if self.kind != "fold":
            return self.kind
        cut = f" ({self.n_train} + {self.n_validation})" if self.n_train is not None else ""
        return f"fold {self.fold} of {self.n_folds}{cut}"


TEST = Split(kind="test")
VALIDATION = Split(kind="validation")


@dataclass(frozen=True, kw_only=True)
class TableSource:
    """A table of the user's as a dataset; ``digest`` is of its bytes, and ``path`` only says where they are."""

    path: Path
    digest: str
    target: str
    validation: float = 0.0
    test: float = 0.2

    def __post_init__(self) -> None:
        # As floats, for 0 and 0.0 have the same meaning but would give a task different ids.
        for name, share in (("validation", self.validation), ("test", self.test)):
            require(is_number(share) and 0 <= share < 1, name, "a share of at least 0 and below 1", share)
            object.__setattr__(self, name, float(share))
        require(self.test > 0, "test", "above 0, for there must be something to be judged on", self.test)
        require(self.validation + self.test < 1, "validation + test", "below 1", self.validation + self.test)

    @classmethod
    def of(cls, path: Path, *, target: str, validation: float = 0.0, test: float = 0.2) -> Self:
        """Reads the file once, for its digest."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(path=path, digest=digest, target=target, validation=validation, test=test)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One model with its settings, trained once on one split of one dataset.

    ``model`` is a name of the catalogue or "module:Class" of any scikit-learn classifier. ``settings`` are sorted by
    name. ``data_seed`` chooses the samples of the dataset, ``seed`` is the model's random_state.
    """

    dataset: str
    data_seed: int = 0
    table: TableSource | None = None
    model: str
    settings: tuple[tuple[str, Any], ...] = ()
    split: Split = TEST
    seed: int = 0

    def __post_init__(self) -> None:
        # Lists become tuples, so that a task read from JSON equals the one that was written.
        settings = tuple(sorted((name, _frozen(value)) for name, value in self.settings))
        object.__setattr__(self, "settings", settings)

    @classmethod
    def of(cls, dataset: str, model: str, settings: Mapping[str, Any], **fields: Any) -> Self:
        """With settings as a mapping, as searches have them."""
        return cls(dataset=dataset, model=model, settings=tuple(settings.items()), **fields)

    @property
    def phase(self) -> Phase:
        """Whether its score chooses settings, or is what is reported."""
        return self.split.phase

    @cached_property
    def id(self) -> str:
        """Derived from the content alone: the same on every machine and after every restart."""
        content = self.to_json()
        if self.table is not None:
            del content["table"]["path"]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """All fields as plain values."""
        table = self.table
        return {
            "dataset": self.dataset,
            "data_seed": self.data_seed,
            "table": None if table is None else {**vars(table), "path": str(table.path)},
            "model": self.model,
            "settings": {name: _thawed(value) for name, value in self.settings},
            "split": {name: value for name, value in vars(self.split).items() if value is not None},
            "seed": self.seed,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """The task that ``to_json`` wrote."""
        table = fields["table"]
        try:
            return cls(
                dataset=fields["dataset"],
                data_seed=fields["data_seed"],
                table=None if table is None else TableSource(**{**table, "path": Path(table["path"])}),
                model=fields["model"],
                settings=tuple(fields["settings"].items()),
                split=Split(**fields["split"]),
                seed=fields["seed"],
            )
        except (KeyError, TypeError) as error:
            raise InvalidInputError(f"not a task: {error}; it was written by another version.") from error

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings)
        return f"{self.model} on {self.dataset} ({self.split}, seed {self.seed}; {settings or 'defaults'})"


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _thawed(value: Any) -> Any:
    return list(map(_thawed, value)) if isinstance(value, tuple) else value


# Small pictures of one fit, as plain JSON values: its training and its kernel.

_MOST_EPOCHS = 200
_MOST_ROWS = 60
_DIGITS = 5
_NOT_OF_THE_TASK = ("seconds",)  # they differ from run to run, and the outcome of a task does not


def history_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[float | None]]:
    """The numbers of each epoch by name; of a long training some epochs, the first and the last among them."""
    if not rows:
        return {}
    kept = [rows[index] for index in _spread(len(rows), _MOST_EPOCHS)]
    names = [name for name, value in rows[-1].items() if is_number(value) and name not in _NOT_OF_THE_TASK]
    return {name: [_rounded(row.get(name)) for row in kept] for name in names}


def kernel_sample(model: Any, X: NDArray[Any], truth: NDArray[np.intp]) -> dict[str, Any]:
    """Some rows of the kernel between samples and centroids, sorted by class; empty for a model without centroids."""
    if not (hasattr(model, "transform") and hasattr(model, "centroids_")):
        return {}
    order = np.argsort(truth, kind="stable")
    rows = order[_spread(len(order), _MOST_ROWS)]
    values = np.asarray(model.transform(X[rows]), dtype=np.float64)
    return {"classes": truth[rows].tolist(), "values": [[_rounded(value) for value in row] for row in values]}


def _spread(length: int, most: int) -> NDArray[np.intp]:
    """At most so many positions, evenly from the first to the last."""
    return np.unique(np.linspace(0, length - 1, min(length, most)).round().astype(np.intp))


def _rounded(value: Any) -> float | None:
    """To the digits that a picture shows; None for what is no finite number."""
    if is_whole_number(value):
        return int(value)
    return float(f"{value:.{_DIGITS}g}") if is_number(value) and np.isfinite(value) else None
