"""What a run tells while it goes on."""

from dataclasses import dataclass
from typing import Literal

from mcquack.bench.choice import Choice
from mcquack.bench.outcome import Outcome
from mcquack.bench.plan import Cell
from mcquack.bench.task import Task

EventKind = Literal[
    "planned",  # a cell asks for ``tasks``; some of them may be known already
    "known",  # ``outcome`` was in the store, or another cell asked for it too
    "chosen",  # the search of a cell ended in ``choice``, and the store has it
    "not_chosen",  # the search of a cell ended without a choice, for this ``reason``
    "started",  # ``task`` was handed to the workers, who begin it as soon as one is free
    "finished",  # ``outcome`` is in the store, be it a success or a failure
    "lost",  # the worker of ``task`` died; it will be tried again, alone
    "cell_done",  # all that ``cell`` asks for is in the store, be it that nothing could be chosen
    "stopping",  # nothing more is begun, and ``tasks`` are waited for
]


@dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that happened, with the values that belong to it."""

    kind: EventKind
    cell: Cell | None = None
    task: Task | None = None
    tasks: tuple[Task, ...] = ()
    outcome: Outcome | None = None
    choice: Choice | None = None
    reason: str = ""
