"""Which stores the paper's items are read from, what makes them, and what of that is still to be run."""

import json
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mcquack.bench.store import Store
from mcquack.bench.suite import Suite, read_suite
from mcquack.checks import require
from mcquack.studies.trainability import read_design
from mcquack.studies.trainability.design import Design
from studies.tables import rows_file, rows_files

COMMAND = "python -m studies.paper"
"""How the commands begin that runs of this study are recorded with."""

_OWN = (COMMAND, "mcquack paper")  # as it was called before


@dataclass(frozen=True, kw_only=True)
class RunStep:
    """One run into a store: a suite of benchmarks with what is taken of it, or designs of trainability studies."""

    suite: str = ""
    designs: tuple[str, ...] = ()
    datasets: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    search: str | None = None
    seeds: int | None = None

    def __post_init__(self) -> None:
        require(bool(self.suite) != bool(self.designs), "suite", "given if designs are not", self.suite)
        for name in ("designs", "datasets", "models"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, tuple(given))

    def command(self, store: Path) -> str:
        """What to type to run this step alone.

        >>> RunStep(suite="real-world", models=("svc", "nn"), seeds=2).command(Path("rows.sqlite"))
        'mcquack bench run real-world --models svc,nn --seeds 2 --store rows.sqlite'
        """
        words = (
            ["mcquack", "bench", "run", self.suite] if self.suite else ["mcquack", "trainability", "run", *self.designs]
        )
        for name in ("datasets", "models"):
            if given := getattr(self, name):
                words += [f"--{name}", ",".join(given)]
        for name in ("search", "seeds"):
            if (given := getattr(self, name)) is not None:
                words += [f"--{name}", str(given)]
        return shlex.join([*words, "--store", str(store)])

    def chosen(self) -> Suite | Design:
        """What is to be run: a suite, or all designs together."""
        if self.designs:
            return reduce(add, map(read_design, self.designs))
        return read_suite(self.suite).with_(
            datasets=self.datasets, models=self.models, search=self.search, seeds=self.seeds
        )


@dataclass(frozen=True, kw_only=True)
class StudyRuns:
    """The steps that make the rows of a study, and those of a quick pass."""

    steps: tuple[RunStep, ...]
    quick: tuple[RunStep, ...]


def _read_runs() -> dict[str, StudyRuns]:
    text = (Path(__file__).parent / "runs.toml").read_text(encoding="utf-8")
    found = {}
    for name, about in tomllib.loads(text).items():
        steps = {kind: tuple(RunStep(**each) for each in about[kind]) for kind in ("steps", "quick")}
        found[name] = StudyRuns(**steps)
    return found


RUNS: Mapping[str, StudyRuns] = MappingProxyType(_read_runs())
"""The studies that the paper's items are read from, by name."""


@dataclass(frozen=True, kw_only=True)
class Stores:
    """A folder with a folder for each study, in which the study's rows are.

    Parameters
    ----------
    folder : as ``studies`` of a checkout is: ``real_world/rows.sqlite`` and so on.
    quick : whether its rows are those of a quick pass.

    Examples
    --------
    >>> stores = Stores(folder=Path("studies"))
    >>> stores.path("real_world").as_posix()
    'studies/real_world/rows.sqlite'
    """

    folder: Path
    quick: bool = False

    def path(self, study: str) -> Path:
        """Where the rows of a study are, or would be."""
        return rows_file(self.folder / study / "rows.sqlite")

    def steps(self, study: str) -> tuple[RunStep, ...]:
        """What makes the rows of a study."""
        return RUNS[study].quick if self.quick else RUNS[study].steps

    def commands(self, study: str) -> tuple[str, ...]:
        """What to type to make the rows of a study, one command for each step."""
        return tuple(step.command(self.path(study)) for step in self.steps(study))

    def is_there(self, study: str) -> bool:
        """Whether a study has a store."""
        return self.path(study).is_file()

    def missing_steps(self, study: str) -> tuple[RunStep, ...]:
        """The steps still to be run: all without a store, and what an earlier run of ours has not come to the end of.

        A store that somebody else has made is taken as it is, however much it has.
        """
        steps = self.steps(study)
        if not self.is_there(study):
            return steps
        with Store.open(self.path(study)) as store:
            own = [run for run in store.runs() if run.command.startswith(_OWN)]
        if not own:
            return ()
        ended = {_plain(run.suite) for run in own if run.how == "done"}
        return tuple(step for step in steps if _plain(step.chosen().to_json()) not in ended)

    def further(self, study: str) -> tuple[Path, ...]:
        """Other stores in the folder of a study, by name: what was run beside the paper's experiment."""
        own = self.path(study)
        return tuple(path for path in rows_files(own.parent) if path != own)


def _plain(suite: Mapping[str, Any]) -> str:
    return json.dumps(suite, sort_keys=True, default=list)
