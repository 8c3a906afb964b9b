"""Measures what a ledger lacks, job by job, whatever happens in between."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import DeviceError, InvalidInputError
from mcquack.hardware.circuit.euler import n_angles
from mcquack.hardware.jobs.events import Event
from mcquack.hardware.jobs.ledger import Ledger
from mcquack.hardware.jobs.patience import Patience
from mcquack.hardware.jobs.records import Measurement, Part, canonical_json
from mcquack.hardware.jobs.run import Run
from mcquack.hardware.jobs.service import Service
from mcquack.hardware.jobs.splitting import split


def noted(ledger: Ledger, service: Service, circuits: OverlapCircuits, *, shots: int, label: str = "") -> Measurement:
    """The measurement, in the ledger and in parts that the service takes, but not sent; one that is known as it is."""
    measurement = Measurement(circuits=circuits, shots=shots, service=service.description, label=label)
    if measurement.id not in ledger:
        n_parameters = n_angles(circuits.n_qubits, circuits.n_layers)
        parts = split(measurement.n_circuits, shots=measurement.shots, n_parameters=n_parameters, limits=service.limits)
        ledger.add(measurement, parts)
    return measurement


def submit(
    ledger: Ledger, service: Service, measurement: Measurement, *, patience: Patience | None = None
) -> Iterator[Event]:
    """Sends whatever is neither measured nor on its way, as far as the service takes it, and does not wait."""
    with _run(ledger, service, measurement, patience) as run:
        for part in run.missing():
            if _is_unsent(part) and not (yield from run.send(part)):
                return


def refresh(
    ledger: Ledger, service: Service, measurement: Measurement, *, patience: Patience | None = None
) -> Iterator[Event]:
    """Asks once how far the jobs are, and keeps what is done."""
    with _run(ledger, service, measurement, patience) as run:
        for part in run.missing():
            if part.is_on_its_way:
                yield from run.ask(part)


def follow(
    ledger: Ledger, service: Service, measurement: Measurement, *, patience: Patience | None = None
) -> Iterator[Event]:
    """Goes on, from wherever it was left, until all is in the ledger; what fails or is lost is sent again.

    An interruption leaves the jobs to the service: the next call, in another process too, goes on from there.
    """
    with _run(ledger, service, measurement, patience) as run:
        began, pauses = run.patience.clock(), run.patience.polls()
        n_sent: Counter[int] = Counter()
        given_up: set[int] = set()  # the first circuits of parts that are not sent any more
        while True:
            for event in _round(run, n_sent=n_sent, given_up=given_up):
                pauses = run.patience.polls()
                if event.kind in ("cancelled", "unusable"):  # by somebody, while we waited for it; or not worth another
                    given_up.add(event.part.first)
                yield event
            missing = run.missing()
            if all(part.first in given_up for part in missing):
                break
            waited = run.patience.clock() - began
            if run.patience.wait_seconds is not None and waited >= run.patience.wait_seconds:
                raise DeviceError(f"after {waited:.0f} seconds the jobs are not done.")
            run.patience.sleep(next(pauses))
        if missing:
            raise _without_result(missing)


def cancel(
    ledger: Ledger, service: Service, measurement: Measurement, *, patience: Patience | None = None
) -> Iterator[Event]:
    """Ends the jobs that are on their way; what is done by then is kept."""
    with _run(ledger, service, measurement, patience) as run:
        for part in run.missing():
            yield from run.end(part)


def how_to_go_on(ledger: Ledger, measurement_id: str) -> str:
    """What is safe, and how the rest is had."""
    summary = ledger.summary(measurement_id)
    n_under_way = sum(part.is_on_its_way for part in summary.parts)
    left = f", {_jobs(n_under_way)} left to the service" if n_under_way else ""
    kept = f"{summary.n_measured} of {summary.n_circuits} circuits are kept{left}"
    if ledger.path is None:
        return f"{kept}; the same call in this process goes on from there, and with a ledger in a file any other would."
    return f"{kept}; the same call goes on from there, or resume measurement {measurement_id} of {ledger}."


def _round(run: Run, *, n_sent: Counter[int], given_up: set[int]) -> Iterator[Event]:
    """Sends what can be sent, then asks for all that was."""
    for part in run.missing():
        if not _is_unsent(part) or part.first in given_up:
            continue
        if n_sent[part.first] == run.patience.attempts:
            given_up.add(part.first)
            continue
        if not (yield from run.send(part)):
            break
        n_sent[part.first] += 1
    for part in run.missing():
        if part.is_on_its_way:
            yield from run.ask(part)


def _is_unsent(part: Part) -> bool:
    """Whether there is no job of it, or one that ended, or one that was about to be sent."""
    return part.job is None or part.job.has_ended or part.job.job_id is None


def _without_result(parts: tuple[Part, ...]) -> DeviceError:
    part = parts[0]
    why = "no reason was given" if part.job is None or not part.job.message else part.job.message
    state = "not sent" if part.job is None else part.job.state
    return DeviceError(
        f"{_jobs(len(parts))} ended without a result; that of the circuits {part.first} to {part.last - 1} is {state}: "
        f"{why.rstrip('.')}."
    )


def _jobs(number: int) -> str:
    return f"{number} job{'s' * (number != 1)}"


@contextmanager
def _run(ledger: Ledger, service: Service, measurement: Measurement, patience: Patience | None) -> Iterator[Run]:
    """Refuses another service than that of the measurement; whatever ends the run tells what is kept."""
    _require_the_same(service, measurement)
    try:
        yield Run(ledger=ledger, service=service, measurement=measurement, patience=patience or Patience())
    except DeviceError as error:
        raise type(error)(f"{error} {how_to_go_on(ledger, measurement.id)}") from error
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(how_to_go_on(ledger, measurement.id))
        raise


def _require_the_same(service: Service, measurement: Measurement) -> None:
    ours, theirs = dict(service.description), dict(measurement.service)
    if canonical_json(ours) == canonical_json(theirs):
        return
    names = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    differences = ", ".join(f"{name} is {ours.get(name)!r} and was {theirs.get(name)!r}" for name in names)
    raise InvalidInputError(
        f"measurement {measurement.id} was begun on another service: {differences}. Open that one to go on, or measure "
        "anew on this one."
    )
