"""One fit of a benchmark as values: the task, which decides its scores, and the outcome, which is a row of a store."""

import hashlib
import json
import math
import os
import platform
import subprocess
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, Self, get_args, get_type_hints

from mcquack.checks import is_number, require
from mcquack.datasets.dataset import FrozenMapping
from mcquack.datasets.own import ColumnOptions
from mcquack.datasets.table.column import Missing
from mcquack.datasets.table.encoder import MissingTarget
from mcquack.datasets.table.value import Notation
from mcquack.errors import InvalidInputError
from mcquack.models import catalog
from mcquack.numerics import numerics_of

_CELL_OPTIONS = get_type_hints(ColumnOptions)

Phase = Literal["search", "final"]
AucScores = Literal["raw", "normalised"]


@dataclass(frozen=True, kw_only=True)
class Split:
    """What a model is trained on and what it is scored on.

    Parameters
    ----------
    kind : "test" trains on the training part and scores on the test part, "validation" scores on the validation part
        instead, and "fold" trains on all folds of the training part but one, on which it scores. Only "test" ever loads
        the test part.
    fold, n_folds : which fold is scored, counted from 0, and how many there are; for "fold" alone.
    n_train, n_validation : to how many samples either side of a fold is cut, None to keep all.

    Examples
    --------
    >>> Split(kind="fold", fold=0, n_folds=5).phase
    'search'
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
        """Whether scores choose settings ("search") or are reported ("final"); those on a test part choose nothing."""
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
    """A table of the user's as a dataset; ``digest`` is of its bytes, and ``path`` only says where they are.

    Parameters
    ----------
    path, digest, target : the file, the SHA-256 of its bytes, and the column with the labels.
    validation, test : shares of the rows for these parts.
    missing, missing_target, numeric, categorical, ignore, one_hot, decimal, thousands, date_format : what is made of
        its cells, as in ``mcquack.datasets.load_csv``. Columns may be named in any order.

    Examples
    --------
    >>> table = TableSource(path=Path("pets.csv"), digest="…", target="kind", ignore=("name", "id"))
    >>> table.options
    {'ignore': ('id', 'name')}
    """

    path: Path
    digest: str
    target: str
    validation: float = 0.0
    test: float = 0.2
    missing: Missing = "error"
    missing_target: MissingTarget = "drop"
    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    one_hot: bool | tuple[str, ...] = False
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None

    def __post_init__(self) -> None:
        for name, choices in (("missing", get_args(Missing)), ("missing_target", get_args(MissingTarget))):
            require(getattr(self, name) in choices, name, f"one of {', '.join(choices)}", getattr(self, name))
        for name in ("numeric", "categorical", "ignore", "one_hot"):
            columns = getattr(self, name)
            if name == "one_hot" and (isinstance(columns, bool) or not columns):
                object.__setattr__(self, name, columns is True)  # no column at all is False
                continue
            require(_are_texts(columns), name, f"names of columns{', or True or False' * (name == 'one_hot')}", columns)
            object.__setattr__(self, name, tuple(sorted(set(columns))))
        Notation(decimal=self.decimal, thousands=self.thousands, date_format=self.date_format)  # refuses what is none
        # As floats, for 0 and 0.0 have the same meaning but would give a task different ids.
        for name, share in (("validation", self.validation), ("test", self.test)):
            require(is_number(share) and 0 <= share < 1, name, "a share of at least 0 and below 1", share)
            object.__setattr__(self, name, float(share))
        require(self.test > 0, "test", "above 0, for there must be something to be judged on", self.test)
        require(self.validation + self.test < 1, "validation + test", "below 1", self.validation + self.test)

    @classmethod
    def of(cls, path: Path, *, target: str, **options: Any) -> Self:
        """The file as it is now; options are the other fields."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(path=path, digest=digest, target=target, **options)

    @property
    def options(self) -> dict[str, Any]:
        """What is made of its cells, where that is not the default."""
        known = {each.name: each.default for each in fields(self) if each.name in _CELL_OPTIONS}
        return {name: getattr(self, name) for name, default in known.items() if getattr(self, name) != default}

    def to_json(self) -> dict[str, Any]:
        """Its fields as JSON has them; options are there if they are not the default, for older tables had none."""
        kept = {name: value for name, value in vars(self).items() if name not in _CELL_OPTIONS}
        return {**kept, "path": str(self.path), **{name: _thawed(value) for name, value in self.options.items()}}


@dataclass(frozen=True, kw_only=True)
class Task:
    """One model with its settings, trained once on one split of one dataset.

    Parameters
    ----------
    dataset, data_seed : a name of the registry, "module:name" or the name of ``table``, and which of its samples are
        drawn.
    table : the table of the user's that the dataset is, if it is one.
    model : a name of the catalogue, or "module:Class" of any scikit-learn classifier; what follows a slash, as in
        "mcquack/iqp", tells models of the same class with different settings apart.
    settings : names and values for the model, in any order; those that are not named have their defaults.
    split : what the model is trained and scored on.
    seed : the model's random_state.
    numerics : the version of mcquack's arithmetic that makes the result, by default the present one. It is None for
        models whose arithmetic is another library's.
    scaled : whether the laboratory scales every feature to [0, 1], fitted on what the task trains on, before the model
        gets it. Suites ask for it for classifiers of other libraries; those of mcquack do it themselves.
    auc_scores : from what the area under the curve is taken where there are more than two classes: "raw" takes the
        decision function, as rows from before this field did, and "normalised" ``predict_proba``, whose scores of each
        sample sum to one, where the model has it. Suites ask for "normalised".

    Examples
    --------
    >>> task = Task.of("iris3", "mcquack", {"n_qubits": 3}, seed=1)
    >>> str(task)
    'mcquack on iris3 (test, seed 1; n_qubits=3)'
    >>> task == Task.from_json(task.to_json())
    True
    """

    dataset: str
    data_seed: int = 0
    table: TableSource | None = None
    model: str
    settings: tuple[tuple[str, Any], ...] = ()
    split: Split = TEST
    seed: int = 0
    numerics: int | None = None
    scaled: bool = False
    auc_scores: AucScores = "raw"

    def __post_init__(self) -> None:
        require(self.auc_scores in get_args(AucScores), "auc_scores", "raw or normalised", self.auc_scores)
        # Lists become tuples, so that a task read from JSON equals the one that was written.
        settings = tuple(sorted((name, frozen(value)) for name, value in self.settings))
        object.__setattr__(self, "settings", settings)
        numerics = (self.numerics or numerics_of(dict(settings))) if is_computed_here(self.model) else None
        object.__setattr__(self, "numerics", numerics)

    @classmethod
    def of(cls, dataset: str, model: str, settings: Mapping[str, Any], **fields: Any) -> Self:
        return cls(dataset=dataset, model=model, settings=tuple(settings.items()), **fields)

    @property
    def phase(self) -> Phase:
        return self.split.phase

    @cached_property
    def id(self) -> str:
        """A digest of the content, the same on every machine and after every restart."""
        content = self.to_json()
        if self.table is not None:
            del content["table"]["path"]
        if self.numerics == 1:  # ids of that version are older than the field
            del content["numerics"]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        table = self.table
        return {
            "dataset": self.dataset,
            "data_seed": self.data_seed,
            "table": None if table is None else table.to_json(),
            "model": self.model,
            "settings": {name: _thawed(value) for name, value in self.settings},
            "split": {name: value for name, value in vars(self.split).items() if value is not None},
            "seed": self.seed,
            **({} if self.numerics is None else {"numerics": self.numerics}),
            # Older tasks, and those for which they make no difference, do not name them.
            **({"scaled": True} if self.scaled else {}),
            **({} if self.auc_scores == "raw" else {"auc_scores": self.auc_scores}),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """The task that ``to_json`` wrote; without a version it is one of version 1."""
        try:
            for name, kind in (("dataset", str), ("model", str), ("data_seed", int), ("seed", int)):
                if not isinstance(content[name], kind) or isinstance(content[name], bool):
                    raise TypeError(f"{name} must be {kind.__name__}, got {str(content[name])[:40]!r}")
            table = content["table"]
            found = cls(
                **{name: content[name] for name in ("dataset", "data_seed", "model", "seed")},
                table=None if table is None else TableSource(**{**table, "path": Path(table["path"])}),
                settings=tuple(content["settings"].items()),
                split=Split(**content["split"]),
                numerics=content.get("numerics", 1),
                scaled=content.get("scaled", False),
                auc_scores=content.get("auc_scores", "raw"),
            )
            hash(found)  # settings that hold something else than plain values would stop whoever compares tasks
            return found
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidInputError(f"not a task: {error}; it was written by another version.") from error

    def __str__(self) -> str:
        return self.text({})

    def text(self, names: Mapping[str, str]) -> str:
        """Return the task in one line, with these names for its model and its dataset if they have one."""
        model, dataset = (names.get(name, name) for name in (self.model, self.dataset))
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings)
        return f"{model} on {dataset} ({self.split}, seed {self.seed}; {settings or 'defaults'})"


def model_and_label(name: str) -> tuple[str, str]:
    """The model that a name stands for, and what tells it apart from others of its class, which may be empty.

    >>> model_and_label("mcquack/iqp"), model_and_label("svc")
    (('mcquack', 'iqp'), ('svc', ''))
    """
    model, _, label = name.partition("/")
    return model, label


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Names of models or datasets without their modules, unless two of them would then be the same.

    >>> short_names(["svc", "mine.models:Tree", "mine.models:Tree/deep", "mine:svc"])
    {'svc': 'svc', 'mine.models:Tree': 'Tree', 'mine.models:Tree/deep': 'Tree/deep', 'mine:svc': 'mine:svc'}
    """
    short = {}
    for name in names:
        model, slash, label = name.partition("/")
        short[name] = f"{model.rpartition(':')[2]}{slash}{label}"
    counts = Counter(short.values())
    return {name: called if counts[called] == 1 else name for name, called in short.items()}


def is_computed_here(name: str) -> bool:
    """Whether mcquack itself computes what the model learns, as it does for the quantum models and those of studies."""
    model, _ = model_and_label(name)
    return model in catalog.names("quantum") or (model.startswith("mcquack.") and ":" in model)


def _are_texts(values: object) -> bool:
    return isinstance(values, Collection) and not isinstance(values, str) and all(isinstance(e, str) for e in values)


def frozen(value: Any) -> Any:
    """The value with tuples in place of lists, however deep."""
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value


def _thawed(value: Any) -> Any:
    return list(map(_thawed, value)) if isinstance(value, tuple) else value


# What a task gave, and what it was computed with.

Part = Literal["train", "validation", "test"]
Metric = Literal["auc", "precision", "recall", "f1", "accuracy", "balanced_accuracy"]
METRICS: tuple[Metric, ...] = ("auc", "precision", "recall", "f1", "accuracy", "balanced_accuracy")
Stage = Literal["load", "fit", "score"]
_PACKAGES = ("mcquack", "numpy", "scipy", "scikit-learn", "numba", "joblib", "loky", "distributed", "optuna")
_SECONDS_FOR_GIT = 5.0
_FRAME = '  File "'  # how tracebacks begin to tell of a call


def now() -> str:
    """The time in UTC to the second, as ISO 8601 writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Environment:
    """Versions and machine, as far as they can matter to a number; nothing that names a person or a host.

    >>> Environment({"python": "3.11.7"}).facts["python"]
    '3.11.7'
    """

    facts: Mapping[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", FrozenMapping(dict(sorted(self.facts.items()))))

    @property
    def id(self) -> str:
        return hashlib.sha256(json.dumps(dict(self.facts)).encode()).hexdigest()[:12]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The scores of a task that was done, or the error of one that failed.

    Parameters
    ----------
    task, environment : what was done, and with which versions on which machine.
    scores : by part, then by metric; a metric that is not defined, or is no finite number, is left out.
    seconds : how long each stage took, also one that failed.
    n_parameters : how many numbers the model has learned, if it tells.
    fingerprint : tells on which numbers the scores were measured.
    details : what a report shows of a single task, as plain JSON values: "history" (columns by name), "confusion" (rows
        are true classes), "kernel", "class_names", "warnings", and "study", which is the ``details_`` of the model.
    error : the traceback of a failure; its last line says what went wrong.
    finished_at : the time of its end, as ``now`` tells it.

    Examples
    --------
    >>> task = Task(dataset="iris3", model="svc")
    >>> given = Outcome(task=task, environment=Environment({}), scores={"test": {"accuracy": 0.9}})
    >>> given.score("test", "accuracy"), given.failed
    (0.9, False)
    """

    task: Task
    environment: Environment
    scores: Mapping[Part, Mapping[Metric, float]] = field(default_factory=dict)
    seconds: Mapping[Stage, float] = field(default_factory=dict)
    n_parameters: int | None = None
    fingerprint: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    finished_at: str = ""

    def __post_init__(self) -> None:
        if "test" in self.scores and self.task.phase == "search":
            raise InvalidInputError("a task of a search has no score on the test part; settings would be chosen by it.")
        # As a store keeps them: what is chosen must be the same before and after a restart.
        defined = {
            part: {metric: score for metric, score in scores.items() if math.isfinite(score)}
            for part, scores in self.scores.items()
        }
        object.__setattr__(self, "scores", defined)

    @property
    def failed(self) -> bool:
        return self.error is not None

    @property
    def reason(self) -> str:
        """What went wrong, as the line of the traceback that names the exception."""
        lines = (self.error or "").strip().splitlines()
        last_frame = max((number for number, line in enumerate(lines) if line.startswith(_FRAME)), default=0)
        return next((line for line in lines[last_frame:] if not line.startswith((" ", "Traceback"))), "")

    def score(self, part: Part, metric: Metric) -> float | None:
        return self.scores.get(part, {}).get(metric)


@cache
def current_environment() -> Environment:
    """The environment of this process."""
    facts = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": str(os.cpu_count()),
    }
    for package in _PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:  # extras may be absent
            continue
    return Environment({**facts, **({"commit": commit} if (commit := _commit()) else {})})


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _commit() -> str:
    """Of the source tree that this package runs from, or empty; + is after one with changes, ? where git fails."""
    home = Path(__file__).parents[3]
    commit = _git(home, "rev-parse", "--short=12", "HEAD") if (home / ".git").exists() else None
    if not commit:
        return ""
    changes = _git(home, "status", "--porcelain", "--untracked-files=no", "--", "src")
    return f"{commit}{'?' if changes is None else '+' if changes else ''}"


def _git(home: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(home), *arguments]
    try:
        return subprocess.check_output(command, stderr=subprocess.DEVNULL, text=True, timeout=_SECONDS_FOR_GIT).strip()
    except (OSError, subprocess.SubprocessError):
        return None
