"""How far a benchmark is, as a value: every event of the runner turns it into the next one."""

import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from mcquack.bench.outcome import Metric, Outcome, Part
from mcquack.bench.task import Task

if TYPE_CHECKING:
    from mcquack.bench.plan import Cell
    from mcquack.bench.running.event import Event

CellKey = tuple[str, str]  # dataset and model


@dataclass(frozen=True, kw_only=True)
class CellProgress:
    """How far one model on one dataset is.

    ``n_most`` bounds its tasks from above: a search may stop early. ``validation`` is the score that its settings were
    chosen by, ``test`` has a score for each seed that was done, ``why_no_choice`` tells why a search ended without one.
    """

    n_most: int
    metric: Metric
    n_done: int = 0
    n_failed: int = 0
    n_timed: int = 0
    seconds: float = 0.0
    validation: float | None = None
    test: tuple[float, ...] = ()
    why_no_choice: str = ""
    is_over: bool = False

    @property
    def n_ended(self) -> int:
        """Done or failed."""
        return self.n_done + self.n_failed

    @property
    def n_left(self) -> int:
        """At most so many tasks are still to be run."""
        return 0 if self.is_over else max(self.n_most - self.n_ended, 0)

    def after(self, outcome: Outcome) -> Self:
        """With one more task ended."""
        score = outcome.score("test", self.metric)
        return replace(
            self,
            n_done=self.n_done + (not outcome.failed),
            n_failed=self.n_failed + outcome.failed,
            n_timed=self.n_timed + bool(outcome.seconds),
            seconds=self.seconds + sum(outcome.seconds.values()),
            test=self.test if score is None else (*self.test, score),
        )


class Best(NamedTuple):
    """The model that leads on a dataset, by the mean over seeds on the test part, or before that by its search."""

    model: str
    part: Part
    metric: Metric
    score: float
    n_seeds: int


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far all of it is.

    ``in_flight`` has the tasks that the workers were given, the oldest first; they are more than run at once.
    Of the tasks that had ended before this run, ``n_known_done`` have scores and ``n_known_failed`` an error.
    """

    cells: Mapping[CellKey, CellProgress]
    in_flight: Mapping[str, Task] = field(default_factory=dict)
    n_known_done: int = 0
    n_known_failed: int = 0
    n_workers: int = 1

    @classmethod
    def before(cls, cells: Iterable["Cell"]) -> Self:
        """Nothing is done yet."""
        from mcquack.bench.plan import most_tasks  # not above: it would delay every --help

        return cls(cells={_key(cell): CellProgress(n_most=most_tasks(cell), metric=cell.metric) for cell in cells})

    def after(self, event: "Event") -> Self:
        """What the event makes of it."""
        match event.kind:
            case "started" if event.task is not None:
                return replace(self, in_flight={**self.in_flight, event.task.id: event.task})
            case "stopping":
                return replace(self, in_flight={task.id: task for task in event.tasks})
            case "finished" | "known" if event.outcome is not None:
                return self._after_outcome(event.outcome, is_known=event.kind == "known")
            case "chosen" if event.cell is not None and event.choice is not None:
                return self._with_cell(_key(event.cell), validation=event.choice.score)
            case "not_chosen" if event.cell is not None:
                return self._with_cell(_key(event.cell), why_no_choice=event.reason)
            case "cell_done" if event.cell is not None:
                return self._with_cell(_key(event.cell), is_over=True)
        return self

    def _after_outcome(self, outcome: Outcome, *, is_known: bool) -> Self:
        key = (outcome.task.dataset, outcome.task.model)
        in_flight = {name: task for name, task in self.in_flight.items() if name != outcome.task.id}
        cells = {**self.cells, key: self.cells[key].after(outcome)}
        return replace(
            self,
            cells=cells,
            in_flight=in_flight,
            n_known_done=self.n_known_done + (is_known and not outcome.failed),
            n_known_failed=self.n_known_failed + (is_known and outcome.failed),
        )

    def _with_cell(self, key: CellKey, **changes: Any) -> Self:
        return replace(self, cells={**self.cells, key: replace(self.cells[key], **changes)})

    @cached_property
    def n_done(self) -> int:
        """Tasks that have scores."""
        return sum(cell.n_done for cell in self.cells.values())

    @cached_property
    def n_failed(self) -> int:
        """Tasks that have an error in place of scores."""
        return sum(cell.n_failed for cell in self.cells.values())

    @property
    def n_ended(self) -> int:
        """Done or failed, in this run or before."""
        return self.n_done + self.n_failed

    @property
    def n_run(self) -> int:
        """Ended in this run."""
        return self.n_ended - self.n_known_done - self.n_known_failed

    @property
    def n_without_choice(self) -> int:
        """Models on datasets for which no settings could be chosen."""
        return sum(bool(cell.why_no_choice) for cell in self.cells.values())

    @property
    def n_most(self) -> int:
        """The tasks there are, at most; it shrinks where a search stops early."""
        return self.n_ended + sum(cell.n_left for cell in self.cells.values())

    @property
    def running(self) -> tuple[Task, ...]:
        """What the workers are at now: each takes the oldest task that it finds."""
        return tuple(self.in_flight.values())[: self.n_workers]

    @property
    def seconds_left(self) -> float | None:
        """At most so long, by what tasks took so far; None while a model that is to run has not been timed at all."""
        if not self.n_workers:  # a cluster may have lost them all
            return None
        of_models = self._seconds_by_model
        total = 0.0
        for (_, model), cell in self.cells.items():
            if not cell.n_left:
                continue
            each = cell.seconds / cell.n_timed if cell.n_timed else of_models.get(model)
            if each is None:
                return None
            total += cell.n_left * each
        return total / self.n_workers

    @property
    def _seconds_by_model(self) -> dict[str, float]:
        """The mean over datasets of the mean over tasks: a dataset with many tasks says no more than others."""
        means: dict[str, list[float]] = {}
        for (_, model), cell in self.cells.items():
            if cell.n_timed:
                means.setdefault(model, []).append(cell.seconds / cell.n_timed)
        return {model: statistics.fmean(each) for model, each in means.items()}

    def best(self) -> dict[str, Best]:
        """The leader on each dataset that has any score."""
        leaders: dict[str, Best] = {}
        for dataset, candidate in self._candidates():
            leader = leaders.get(dataset)
            # A score on the test part is what counts; one of a search only stands in for it.
            if leader is None or _weight(candidate) > _weight(leader):
                leaders[dataset] = candidate
        return leaders

    def _candidates(self) -> Iterator[tuple[str, Best]]:
        for (dataset, model), cell in self.cells.items():
            if cell.test:
                yield dataset, Best(model, "test", cell.metric, statistics.fmean(cell.test), len(cell.test))
            elif cell.validation is not None:
                yield dataset, Best(model, "validation", cell.metric, cell.validation, 0)


def _key(cell: "Cell") -> CellKey:
    return cell.dataset, cell.model


def _weight(best: Best) -> tuple[bool, float]:
    return best.part == "test", best.score
