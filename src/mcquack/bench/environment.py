"""What a result was computed with."""

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Self

from mcquack.datasets.frozen import FrozenMapping

_PACKAGES = ("mcquack", "numpy", "scipy", "scikit-learn", "numba", "joblib", "distributed", "optuna")
_SECONDS_FOR_GIT = 5.0


@dataclass(frozen=True)
class Environment:
    """Versions and machine, as far as they can matter to a number; nothing that names a person or a host."""

    facts: Mapping[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", FrozenMapping(dict(sorted(self.facts.items()))))

    @property
    def id(self) -> str:
        """Derived from the facts alone."""
        return hashlib.sha256(json.dumps(dict(self.facts)).encode()).hexdigest()[:12]

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Self:
        """From what ``dict(environment.facts)`` became."""
        return cls({str(name): str(value) for name, value in facts.items()})


@cache
def current_environment() -> Environment:
    """That of this process."""
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
    commit = _commit()
    if commit:
        facts["commit"] = commit
    return Environment(facts)


def _processor() -> str:
    """As the system calls it: Linux tells in a file what ``platform`` does not."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _commit() -> str:
    """Of the source tree this package runs from; empty if it is installed, or git cannot tell.

    A plus sign follows if it was changed since, a question mark if that is not known.
    """
    home = Path(__file__).parents[3]
    if not (home / ".git").exists():
        return ""
    commit = _git(home, "rev-parse", "--short=12", "HEAD")
    if not commit:
        return ""
    changes = _git(home, "status", "--porcelain", "--untracked-files=no", "--", "src")
    return f"{commit}{'?' if changes is None else '+' if changes else ''}"


def _git(home: Path, *arguments: str) -> str | None:
    """What git says; None if it fails or takes too long."""
    try:
        done = subprocess.run(
            ["git", "-C", str(home), *arguments], capture_output=True, text=True, check=True, timeout=_SECONDS_FOR_GIT
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
