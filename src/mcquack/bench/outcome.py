"""What a task gave, which is a row of a store, and what it was computed with."""

import hashlib
import json
import math
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from mcquack.bench.task import Task
from mcquack.datasets.dataset import FrozenMapping
from mcquack.errors import InvalidInputError

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
