"""What the report of a study tells, read from a store once: everything else is computed from this value alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from mcquack.bench.outcome import Environment, Outcome
from mcquack.bench.store import RunRecord, Store
from mcquack.report.trainability.figures import varied_settings
from mcquack.studies.trainability import PROBE
from mcquack.studies.trainability import observations as stored_observations
from mcquack.studies.trainability.observation import Observation

TRAINING_ONLY = frozenset({"lr", "decay_rate"})
"""Settings that decide nothing before the first step."""

MAIN = "paper"
"""The series that is told first, if there is one of this name."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """All observations of a store, in an order that does not depend on which task ended first."""

    title: str
    runs: tuple[RunRecord, ...]
    observations: tuple[Observation, ...]
    failures: tuple[Outcome, ...]
    environments: tuple[Environment, ...]
    prints: Mapping[str, tuple[str, ...]]
    n_done: int
    seconds: float  # of all stages of all tasks

    @cached_property
    def series(self) -> Mapping[str, tuple[Observation, ...]]:
        """Observations by the name of their grid: that of the paper first, then those of larger and larger systems.

        Those with slices of their losses only show some points of another grid again, and stand for themselves.
        """
        found: dict[str, list[Observation]] = {}
        for each in [each for each in self.observations if not each.landscapes] or self.observations:
            found.setdefault(str(each.settings.get("series", "")), []).append(each)
        order = sorted(found, key=lambda name: (name != MAIN, _largest(found[name]), name))
        return {name: tuple(found[name]) for name in order}

    @cached_property
    def starts(self) -> Mapping[str, tuple[Observation, ...]]:
        """The series that tell of the start: several sizes, and no learning rates, which would only repeat it."""
        found = {
            name: group
            for name, group in self.series.items()
            if "n_qubits" in varied_settings(group) and not TRAINING_ONLY & set(varied_settings(group))
        }
        return found or self.series

    @property
    def sizes(self) -> tuple[int, ...]:
        """All numbers of qubits."""
        return tuple(sorted({each.settings["n_qubits"] for each in self.observations}))

    @property
    def n_seeds(self) -> int:
        """The most runs that differ in nothing but their seed."""
        counts: dict[str, int] = {}
        for each in self.observations:
            settings = {name: value for name, value in each.settings.items() if name != "data_seed"}
            key = repr((each.model, sorted(settings.items(), key=lambda item: item[0])))
            counts[key] = counts.get(key, 0) + 1
        return max(counts.values(), default=0)


def read_study(store: Store, *, title: str | None = None) -> Study:
    """All that the store has."""
    runs = store.runs()
    suite = runs[-1].suite if runs else {}
    # Of the study alone: a store may also hold a benchmark.
    own = (each for each in store.outcomes(details=False) if each.task.model == PROBE)
    outcomes = sorted(own, key=lambda each: str(each.task))
    return Study(
        title=title or suite.get("title") or suite.get("name") or store.path.stem,
        runs=runs,
        observations=tuple(sorted(stored_observations(store), key=_place)),
        failures=tuple(each for each in outcomes if each.failed),
        environments=tuple(dict.fromkeys(each.environment for each in outcomes)),
        prints=_prints(outcomes),
        n_done=sum(not each.failed for each in outcomes),
        seconds=sum(sum(each.seconds.values()) for each in outcomes),
    )


def _largest(observations: list[Observation]) -> int:
    return max(int(each.settings["n_qubits"]) for each in observations)


def _place(observation: Observation) -> tuple[str, int, str, int]:
    settings = sorted(observation.settings.items(), key=lambda item: item[0])
    return observation.model, int(observation.settings["n_qubits"]), repr(settings), observation.seed


def _prints(outcomes: list[Outcome]) -> dict[str, tuple[str, ...]]:
    """Fingerprints of each dataset's samples."""
    found: dict[str, dict[str, None]] = {}
    for each in outcomes:
        if each.fingerprint:
            found.setdefault(each.task.dataset, {})[each.fingerprint] = None
    return {dataset: tuple(prints) for dataset, prints in found.items()}
