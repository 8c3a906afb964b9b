"""The loop of a benchmark: what the store lacks is done, and stored as soon as it is."""

from collections.abc import Callable, Generator, Iterable, Iterator

from mcquack.bench.outcome import Outcome
from mcquack.bench.plan import Cell, Plan, plan
from mcquack.bench.running.agenda import Agenda
from mcquack.bench.running.event import Event
from mcquack.bench.running.executor import Executor
from mcquack.bench.running.flight import Flight
from mcquack.bench.running.interrupts import Interrupts
from mcquack.bench.store import Store


def run(
    cells: Iterable[Cell],
    store: Store,
    executor: Executor,
    *,
    retry_failed: bool = False,
    plan_of: Callable[[Cell], Plan] = plan,
) -> Generator[Event, None, None]:
    """Does all tasks of the cells that the store lacks; run it again after any break, and none is done twice.

    To stop, close it, press Ctrl-C or throw KeyboardInterrupt: the tasks that workers have begun are still waited for
    and stored, unless Ctrl-C comes again. Unless closed, it goes on to yield until then, and KeyboardInterrupt comes
    last. Failures of an earlier run stand, unless ``retry_failed``.
    """
    agenda = Agenda(cells, store, retry_failed=retry_failed, plan=plan_of)
    flight = Flight(executor)
    with Interrupts(flight.wake) as interrupts:
        try:
            try:
                for event in _worked_off(agenda, flight, store):
                    yield event
                    if interrupts.noted:
                        raise KeyboardInterrupt
            except KeyboardInterrupt:
                yield from _brought_home(agenda, flight, store)
                raise
        except GeneratorExit:  # nobody listens any more, but what was begun is worth its wait
            for _ in _brought_home(agenda, flight, store):
                pass
            raise


def _worked_off(agenda: Agenda, flight: Flight, store: Store) -> Iterator[Event]:
    """All tasks of all cells."""
    while True:
        yield from agenda.opened(flight.n_free)
        yield from _sent(agenda, flight)
        if not flight.tasks:
            return
        landing = flight.landing()
        if landing is None:
            raise KeyboardInterrupt
        if landing.outcome is not None:
            yield _stored(landing.outcome, agenda, store)
            yield from agenda.settled(landing.outcome)
        else:
            yield Event(kind="lost", cell=agenda.cell_of(landing.task), task=landing.task)


def _sent(agenda: Agenda, flight: Flight) -> Iterator[Event]:
    """As many tasks as the workers can do with."""
    while flight.n_free and (task := agenda.next_task()) is not None:
        flight.send(task)
        yield Event(kind="started", cell=agenda.cell_of(task), task=task)


def _brought_home(agenda: Agenda, flight: Flight, store: Store) -> Iterator[Event]:
    """Only what workers have begun."""
    flight.stop()
    yield Event(kind="stopping", tasks=flight.tasks)
    while flight.tasks:
        landing = flight.landing()
        if landing is not None and landing.outcome is not None:
            yield _stored(landing.outcome, agenda, store)


def _stored(outcome: Outcome, agenda: Agenda, store: Store) -> Event:
    store.add(outcome)
    return Event(kind="finished", cell=agenda.cell_of(outcome.task), outcome=outcome)
