"""Measures what a ledger lacks, job by job, whatever happens in between."""

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from mcquack.checks import require, require_positive, required_count
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import AccountError, DeviceError, InvalidInputError, LostJobError, McQuackError
from mcquack.hardware.jobs.ledger import Ledger
from mcquack.hardware.jobs.records import Event, EventKind, Job, JobState, Measurement, Part, canonical_json
from mcquack.hardware.jobs.service import Angles, Bits, Service, State, split
from mcquack.hardware.native import angle_sets, n_angles

# How long a device is waited for, and how often it is asked.

_SHORTEST_OF_POLLS = 1 / 50
_GROWTH = 1.5
_FIRST_RETRY_SECONDS = 1.0
_LONGEST_RETRY_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Patience:
    """``attempts`` are the jobs sent for a part within one call before it is given up.

    States are asked for every ``poll_seconds``, and more often after something has happened. ``wait_seconds`` is for
    all jobs together, None to wait as long as it takes; ``offline_seconds`` for a service that cannot be reached.
    """

    poll_seconds: float = 5.0
    wait_seconds: float | None = None
    offline_seconds: float = 600.0
    attempts: int = 3
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        require_positive("poll_seconds", self.poll_seconds)
        require_positive("offline_seconds", self.offline_seconds)
        required_count("attempts", self.attempts)
        if self.wait_seconds is not None:
            require(self.wait_seconds >= 0, "wait_seconds", "None or a number of at least 0", self.wait_seconds)

    def polls(self) -> Iterator[float]:
        """Growing pauses, so that what is done at once is not waited for."""
        pause = self.poll_seconds * _SHORTEST_OF_POLLS
        while True:
            yield pause
            pause = min(pause * _GROWTH, self.poll_seconds)

    def retries(self) -> Iterator[float]:
        """Doubling pauses, until the service was out of reach for too long."""
        pause, left = _FIRST_RETRY_SECONDS, self.offline_seconds
        while left > 0:
            yield min(pause, left)
            left -= pause
            pause = min(2 * pause, _LONGEST_RETRY_SECONDS)


# The calls of a service, made again while it cannot be reached.

T = TypeVar("T")
# What a call tells while it is made again and again, and what it gives in the end.
Told = Generator[Event, None, T]


def reached(call: Callable[[], T], part: Part, job: Job, *, patience: Patience) -> Told[T]:
    """What the call gives, as soon as the service can be reached."""
    retries = patience.retries()
    while True:
        try:
            return call()
        except OSError as error:
            if isinstance(error, McQuackError):  # it says itself what to do, and that is not to wait
                raise
            pause = next(retries, None)
            if pause is None:
                raise DeviceError(
                    f"the service could not be reached for {patience.offline_seconds:g} seconds ({error})."
                ) from error
            yield Event(kind="offline", part=part, job=job, message=str(error))
            patience.sleep(pause)


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """The id of a job and whether the service had it already, or why the service takes it not."""

    job_id: str = ""
    was_there: bool = False
    refusal: DeviceError | None = None


def delivered(
    service: Service, measurement: Measurement, part: Part, job: Job, *, patience: Patience, may_be_there: bool
) -> Told[Delivery]:
    """How sending the job ended; it is sent only if the service does not know its tag."""
    angles = part_angles(measurement, part)

    def find_or_submit() -> Delivery:
        nonlocal may_be_there
        if may_be_there and (found := service.find(job.tag)) is not None:
            return Delivery(job_id=found, was_there=True)
        may_be_there = True  # from here on nobody knows, until an id comes back
        try:
            return Delivery(job_id=service.submit(angles, shots=measurement.shots, tag=job.tag))
        except AccountError:
            raise
        except DeviceError as error:
            return Delivery(refusal=error)

    return (yield from reached(find_or_submit, part, job, patience=patience))


def part_angles(measurement: Measurement, part: Part) -> Angles:
    """The angles of the circuits of a part, (K, P); only its samples are looked at."""
    n_centroids = measurement.circuits.shape[1]
    row = part.first // n_centroids
    angles = angle_sets(measurement.circuits[row : -(-part.last // n_centroids)])
    skipped = part.first - row * n_centroids
    return angles.reshape(-1, angles.shape[-1])[skipped : skipped + part.n_circuits]


def checked_bits(bits: Bits, measurement: Measurement, part: Part) -> Bits:
    """The bits, refused unless there are as many as were asked for."""
    n_qubits = measurement.circuits.n_qubits
    expected = (part.n_circuits, measurement.shots, -(-n_qubits // 8))
    found = np.asarray(bits)
    if found.shape != expected or found.dtype != np.uint8:
        raise DeviceError(
            f"the service gave bits of the shape {found.shape} and type {found.dtype} where {expected} and uint8 were "
            "asked for: circuits, shots and bytes. Nothing was sent again, as it would come back the same; check its "
            "options, twirling for one."
        )
    if n_qubits % 8 and np.any(found[..., 0] >> (n_qubits % 8)):
        raise DeviceError(
            f"the service gave ones beyond the {n_qubits} qubits that were measured; nothing was sent again, as it "
            "would come back the same."
        )
    return found


# What can be done about one part of a measurement; each step is in the ledger before the service is called again.

_KINDS: dict[State, EventKind] = {
    "queued": "waiting",
    "running": "running",
    "failed": "failed",
    "cancelled": "cancelled",
}


@dataclass(frozen=True, kw_only=True)
class Run:
    """One measurement on one service, and the ledger that keeps it."""

    ledger: Ledger
    service: Service
    measurement: Measurement
    patience: Patience

    def missing(self) -> tuple[Part, ...]:
        """The parts that are not measured."""
        return tuple(part for part in self.ledger.parts(self.measurement.id) if not part.is_measured)

    def send(self, part: Part) -> Told[bool]:
        """Whether the service took a job for the part; a part whose job may have been sent is looked for first."""
        if (yield from self._done_in_spite_of_cancelling(part)):
            return True
        is_new = part.job is None or part.job.has_ended
        job = self.ledger.note_attempt(self.measurement.id, part) if is_new or part.job is None else part.job
        delivery = yield from delivered(
            self.service, self.measurement, part, job, patience=self.patience, may_be_there=not is_new
        )
        if delivery.refusal is not None:
            yield from self._hold(part, job, delivery.refusal)
            return False
        self.ledger.note_sent(job.tag, delivery.job_id)
        kind: EventKind = "found" if delivery.was_there else "sent" if job.attempt == 1 else "resent"
        yield _event(kind, part, replace(job, job_id=delivery.job_id, state="queued"))
        return True

    def ask(self, part: Part) -> Told[None]:
        """Keeps how far the job of the part is, and its bits if it is done."""
        job = part.job
        if job is None or job.job_id is None:
            return
        job_id = job.job_id
        try:
            status = yield from reached(lambda: self.service.status(job_id), part, job, patience=self.patience)
            if status.state == "done":
                bits = yield from reached(lambda: self.service.outcomes(job_id), part, job, patience=self.patience)
                yield self._received(part, job, bits)
            elif (status.state, status.message) != (job.state, job.message):
                yield self._changed(part, job, status.state, _KINDS[status.state], status.message)
        except LostJobError as error:
            yield self._changed(part, job, "lost", "lost", str(error))

    def end(self, part: Part) -> Told[None]:
        """Cancels the job of the part, unless it is done by then; one that was never sent will not be."""
        job = part.job
        if job is None or job.has_ended:
            return
        tag = job.tag
        job_id = job.job_id or (yield from reached(lambda: self.service.find(tag), part, job, patience=self.patience))
        if job_id is None:
            yield self._changed(part, job, "cancelled", "cancelled", "it was not sent")
            return
        if job.job_id is None:
            self.ledger.note_sent(tag, job_id)
            job = replace(job, job_id=job_id, state="queued")
        try:
            yield from reached(lambda: self.service.cancel(job_id), part, job, patience=self.patience)
        except LostJobError as error:
            yield self._changed(part, job, "lost", "lost", str(error))
            return
        # Its end may take the service a while, but it was asked for: whoever resumes wants a new job.
        ended = False
        for event in self.ask(replace(part, job=job)):
            ended = ended or event.kind in ("done", "failed", "unusable", "lost", "cancelled")
            if ended or event.kind == "offline":
                yield event
        if not ended:
            yield self._changed(part, job, "cancelled", "cancelled", "")

    def _done_in_spite_of_cancelling(self, part: Part) -> Told[bool]:
        """Whether the job came to its end although it was to be cancelled: its bits are paid for, and now kept."""
        if part.job is None or part.job.state != "cancelled" or part.job.job_id is None:
            return False
        job, job_id = part.job, part.job.job_id
        try:
            status = yield from reached(lambda: self.service.status(job_id), part, job, patience=self.patience)
        except LostJobError:
            return False
        if status.state != "done":
            return False
        yield from self.ask(part)
        return True

    def _received(self, part: Part, job: Job, bits: Bits) -> Event:
        """Keeps the bits, or why they are not what was asked for."""
        try:
            checked = checked_bits(bits, self.measurement, part)
        except DeviceError as error:
            return self._changed(part, job, "failed", "unusable", str(error))
        self.ledger.keep_bits(job.tag, checked)
        return _event("done", replace(part, is_measured=True), replace(job, state="done", message=""))

    def _hold(self, part: Part, job: Job, refusal: Exception) -> Told[None]:
        # A service may take only so many jobs at a time, so that a refusal is final only if it has none of them.
        if not any(other.job is not None and other.job.job_id and other.is_on_its_way for other in self.missing()):
            raise refusal
        if job.message != str(refusal):
            yield self._changed(part, job, "noted", "held", str(refusal))

    def _changed(self, part: Part, job: Job, state: JobState, kind: EventKind, message: str) -> Event:
        self.ledger.note_state(job.tag, state, message)
        return _event(kind, part, replace(job, state=state, message=message))


def _event(kind: EventKind, part: Part, job: Job) -> Event:
    return Event(kind=kind, part=replace(part, job=job), job=job, message=job.message)


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
