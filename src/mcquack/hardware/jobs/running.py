"""Has a service measure what a ledger lacks: jobs are sent, followed, resumed and cancelled, whatever happens.

Each step is in the ledger before the service is called again, so that any process may go on from wherever another was
stopped. Whatever happens to a job is yielded as an event; who listens may stop at any time.
"""

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np

from mcquack.checks import require, require_positive, required_count
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import AccountError, DeviceError, InvalidInputError, LostJobError, McQuackError
from mcquack.hardware.jobs.ledger import BEING_CANCELLED, Job, JobPart, Ledger, Measurement, canonical_json
from mcquack.hardware.jobs.service import Angles, Bits, JobState, Service, job_ranges
from mcquack.hardware.native import angle_sets

EventKind = Literal[
    "sent",  # a first job for the part reached the service
    "resent",  # another one did, since the one before it ended without a result
    "found",  # a job that was sent before an interruption was there all the time
    "held",  # the service takes no more jobs while those before go on; the part is sent later
    "waiting",  # the job is in the queue
    "running",
    "done",  # its bits are in the ledger
    "failed",
    "unusable",  # its bits are not those that were asked for; another one's would not be either
    "lost",  # the service does not know it any more
    "cancelled",
    "offline",  # the service cannot be reached, and is tried again
]


@dataclass(frozen=True, kw_only=True)
class JobEvent:
    """One thing that happened to a part of a measurement; what it tells of is in the ledger already."""

    kind: EventKind
    part: JobPart
    job: Job
    message: str = ""


T = TypeVar("T")
Told = Generator[JobEvent, None, T]
"""The events of a step, and what it gives in the end."""
Events = Told[None]


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """How long a device is waited for, and how often it is asked.

    Parameters
    ----------
    poll_seconds : pause between two questions for the states of jobs; shorter ones follow whenever something has
        happened.
    wait_seconds, offline_seconds : how long to wait for all jobs together (None: as long as it takes), and to try again
        an unreachable service.
    attempts : the jobs that one call sends for a part before it gives the part up.
    sleep, clock : what waits, and what tells the time.
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
        pause = self.poll_seconds / 50
        while True:
            yield pause
            pause = min(1.5 * pause, self.poll_seconds)

    def retries(self) -> Iterator[float]:
        """Doubling pauses of up to a minute, until the service was out of reach for too long."""
        pause, left = 1.0, self.offline_seconds
        while left > 0:
            yield min(pause, left)
            left -= pause
            pause = min(2 * pause, 60.0)


def noted(ledger: Ledger, service: Service, circuits: OverlapCircuits, *, shots: int, label: str = "") -> Measurement:
    """Keeps what is to be measured, in parts that the service takes, without sending it; what is known stays."""
    measurement = Measurement(circuits=circuits, shots=shots, service=service.description, label=label)
    if measurement.id not in ledger:
        ledger.add(measurement, parts_of(measurement, service))
    return measurement


def parts_of(measurement: Measurement, service: Service) -> tuple[range, ...]:
    """The circuits of a measurement in jobs that the service takes."""
    circuit, limits = measurement.circuits.circuit, service.limits
    return job_ranges(measurement.n_circuits, shots=measurement.shots, circuit=circuit, limits=limits)


def submit(ledger: Ledger, service: Service, measurement: Measurement, *, waiting: Waiting | None = None) -> Events:
    """Sends whatever is neither measured nor on its way, as far as the service takes it, and does not wait."""
    with _run(ledger, service, measurement, waiting) as run:
        for part in run.missing():
            if _is_unsent(part) and not (yield from run.send(part)):
                return


def refresh(ledger: Ledger, service: Service, measurement: Measurement, *, waiting: Waiting | None = None) -> Events:
    """Asks once how far the jobs are, and keeps what is done; what somebody began to cancel is cancelled."""
    with _run(ledger, service, measurement, waiting) as run:
        yield from run.ask_for_all()


def follow(ledger: Ledger, service: Service, measurement: Measurement, *, waiting: Waiting | None = None) -> Events:
    """Goes on, in any process, from wherever it was left until all is in the ledger; sends again what fails."""
    with _run(ledger, service, measurement, waiting) as run:
        began, pauses = run.waiting.clock(), run.waiting.polls()
        n_sent: Counter[int] = Counter()
        given_up: set[int] = set()  # the first circuits of parts that are not sent any more
        while True:
            # Their end was asked for before anybody waited for them, so that they are sent again as all cancelled ones.
            ending = {part.first for part in run.missing() if part.is_being_cancelled}
            for event in _round(run, n_sent=n_sent, given_up=given_up):
                pauses = run.waiting.polls()
                first = event.part.first
                if event.kind == "cancelled" and first in ending:
                    ending.remove(first)
                elif event.kind in ("cancelled", "unusable"):  # by somebody, while we waited; or not worth another
                    given_up.add(first)
                yield event
            missing = run.missing()
            if all(part.first in given_up for part in missing):
                break
            waited = run.waiting.clock() - began
            if run.waiting.wait_seconds is not None and waited >= run.waiting.wait_seconds:
                raise DeviceError(f"after {waited:.0f} seconds the jobs are not done.")
            run.waiting.sleep(next(pauses))
        if missing:
            raise _without_result(missing)


def cancel(ledger: Ledger, service: Service, measurement: Measurement, *, waiting: Waiting | None = None) -> Events:
    """Ends the jobs that are on their way; what is done by then is kept."""
    with _run(ledger, service, measurement, waiting) as run:
        for part in run.missing():
            yield from run.end(part)


def how_to_go_on(ledger: Ledger, measurement_id: str) -> str:
    """What of a measurement is safe, and how the rest is had, in words."""
    summary = ledger.summary(measurement_id)
    n_under_way = sum(part.is_on_its_way for part in summary.parts)
    left = f", {_jobs(n_under_way)} left to the service" if n_under_way else ""
    kept = f"{summary.n_measured} of {summary.n_circuits} circuits are kept{left}"
    if ledger.path is None:
        return f"{kept}; the same call in this process goes on from there, and with a ledger in a file any other would."
    return f"{kept}; the same call goes on from there, or resume measurement {measurement_id} of {ledger}."


@dataclass(frozen=True, kw_only=True)
class _Run:
    """One measurement on one service, and what can be done about a part of it."""

    ledger: Ledger
    service: Service
    measurement: Measurement
    waiting: Waiting

    def missing(self) -> tuple[JobPart, ...]:
        return tuple(part for part in self.ledger.parts(self.measurement.id) if not part.is_measured)

    def send(self, part: JobPart) -> Told[bool]:
        """Whether the service took a job for the part; a part whose job may have been sent is looked for first."""
        if (yield from self._done_in_spite_of_cancelling(part)):
            return True
        may_be_there = part.job is not None and not part.job.has_ended
        job = part.job if part.job and may_be_there else self.ledger.note_attempt(self.measurement.id, part)
        angles = _part_angles(self.measurement, part)

        def find_or_submit() -> tuple[str, bool] | DeviceError:
            nonlocal may_be_there
            if may_be_there and (found := self.service.find(job.tag)) is not None:
                return found, True
            may_be_there = True  # from here on nobody knows, until an id comes back
            try:
                return self.service.submit(angles, shots=self.measurement.shots, tag=job.tag), False
            except AccountError:
                raise
            except DeviceError as refusal:
                return refusal

        delivery = yield from self._reached(find_or_submit, part, job)
        if isinstance(delivery, DeviceError):
            # A service may take only so many jobs at a time, so that a refusal is final only if it has none of them.
            if not any(other.job and other.job.job_id and other.is_on_its_way for other in self.missing()):
                raise delivery
            if job.message != str(delivery):
                yield self._changed(part, job, "noted", "held", str(delivery))
            return False
        job_id, was_there = delivery
        self.ledger.note_sent(job.tag, job_id)
        kind: EventKind = "found" if was_there else "sent" if job.attempt == 1 else "resent"
        yield _event(kind, part, replace(job, job_id=job_id, state="queued"))
        return True

    def ask(self, part: JobPart) -> Told[None]:
        job = part.job
        if job is None or job.job_id is None:
            return
        job_id = job.job_id
        try:
            status = yield from self._reached(lambda: self.service.status(job_id), part, job)
            if status.state == "done":
                bits = yield from self._reached(lambda: self.service.outcomes(job_id), part, job)
                if problem := _problem_of(bits, self.measurement, part):
                    yield self._changed(part, job, "failed", "unusable", problem)
                else:
                    self.ledger.keep_bits(job.tag, bits)
                    yield _event("done", replace(part, is_measured=True), replace(job, state="done", message=""))
            elif (status.state, status.message) != (job.state, job.message):
                kind: Any = "waiting" if status.state == "queued" else status.state
                yield self._changed(part, job, status.state, kind, status.message)
        except LostJobError as error:
            yield self._changed(part, job, "lost", "lost", str(error))

    def ask_for_all(self) -> Told[None]:
        for part in self.missing():
            if part.is_being_cancelled:
                yield from self.end(part)
            elif part.is_on_its_way:
                yield from self.ask(part)

    def end(self, part: JobPart) -> Told[None]:
        """Cancels the job of the part, unless it is done by then; one that was never sent will not be."""
        job = part.job
        if job is None or (job.has_ended and not job.is_being_cancelled):
            return
        tag = job.tag
        job_id = job.job_id or (yield from self._reached(lambda: self.service.find(tag), part, job))
        if job_id is None:
            yield self._changed(part, job, "cancelled", "cancelled", "it was not sent")
            return
        if job.job_id is None:
            self.ledger.note_sent(tag, job_id)
        # Noted first, for if this process dies now, the service alone would seem to have ended the job.
        self.ledger.note_state(tag, "cancelled", BEING_CANCELLED)
        job = replace(job, job_id=job_id, state="cancelled", message=BEING_CANCELLED)
        try:
            yield from self._reached(lambda: self.service.cancel(job_id), part, job)
            status = yield from self._reached(lambda: self.service.status(job_id), part, job)
        except LostJobError as error:
            yield self._changed(part, job, "lost", "lost", str(error))
            return
        if replace(job, state=status.state).has_ended:
            yield from self.ask(replace(part, job=job))
        else:  # it may take the service a while, but it was asked for: whoever resumes wants a new job
            yield self._changed(part, job, "cancelled", "cancelled", "")

    def _done_in_spite_of_cancelling(self, part: JobPart) -> Told[bool]:
        """Whether the job came to its end although it was to be cancelled: its bits are paid for, and now kept."""
        if part.job is None or part.job.state != "cancelled" or part.job.job_id is None:
            return False
        if part.job.is_being_cancelled:
            kinds: set[EventKind] = set()
            for event in self.end(part):
                kinds.add(event.kind)
                yield event
            return not kinds.isdisjoint({"done", "unusable"})
        job_id = part.job.job_id
        try:
            status = yield from self._reached(lambda: self.service.status(job_id), part, part.job)
        except LostJobError:
            return False
        if status.state == "done":
            yield from self.ask(part)
        return status.state == "done"

    def _reached(self, call: Callable[[], T], part: JobPart, job: Job) -> Told[T]:
        """What a call of the service gives, made again while it cannot be reached."""
        retries = self.waiting.retries()
        while True:
            try:
                return call()
            except OSError as error:
                if isinstance(error, McQuackError):  # it says itself what to do, and that is not to wait
                    raise
                pause = next(retries, None)
                if pause is None:
                    waited = f"{self.waiting.offline_seconds:g} seconds"
                    raise DeviceError(f"the service could not be reached for {waited} ({error}).") from error
                yield JobEvent(kind="offline", part=part, job=job, message=str(error))
                self.waiting.sleep(pause)

    def _changed(self, part: JobPart, job: Job, state: JobState, kind: EventKind, message: str) -> JobEvent:
        self.ledger.note_state(job.tag, state, message)
        return _event(kind, part, replace(job, state=state, message=message))


@contextmanager
def _run(ledger: Ledger, service: Service, measurement: Measurement, waiting: Waiting | None) -> Iterator[_Run]:
    """Refuses another service than that of the measurement; whatever ends the run tells what is kept."""
    ours, theirs = dict(service.description), dict(measurement.service)
    if canonical_json(ours) != canonical_json(theirs):
        names = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
        differences = ", ".join(f"{name} is {ours.get(name)!r} and was {theirs.get(name)!r}" for name in names)
        raise InvalidInputError(
            f"measurement {measurement.id} was begun on another service: {differences}. Open that one to go on, or "
            "measure anew on this one."
        )
    try:
        yield _Run(ledger=ledger, service=service, measurement=measurement, waiting=waiting or Waiting())
    except DeviceError as error:
        raise type(error)(f"{error} {how_to_go_on(ledger, measurement.id)}") from error
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(how_to_go_on(ledger, measurement.id))
        raise


def _round(run: _Run, *, n_sent: Counter[int], given_up: set[int]) -> Iterator[JobEvent]:
    for part in run.missing():
        if not _is_unsent(part) or part.first in given_up:
            continue
        if n_sent[part.first] == run.waiting.attempts:
            given_up.add(part.first)
            continue
        if not (yield from run.send(part)):
            break
        n_sent[part.first] += 1
    yield from run.ask_for_all()


def _is_unsent(part: JobPart) -> bool:
    return part.job is None or part.job.has_ended or part.job.job_id is None


def _part_angles(measurement: Measurement, part: JobPart) -> Angles:
    n_centroids = measurement.circuits.shape[1]
    row = part.first // n_centroids
    angles = angle_sets(measurement.circuits[row : -(-part.last // n_centroids)])
    skipped = part.first - row * n_centroids
    return angles.reshape(-1, angles.shape[-1])[skipped : skipped + part.n_circuits]


def _problem_of(bits: Bits, measurement: Measurement, part: JobPart) -> str:
    """Why the bits are not those that were asked for; "" if they are."""
    n_qubits, found = measurement.circuits.n_qubits, np.asarray(bits)
    expected = (part.n_circuits, measurement.shots, -(-n_qubits // 8))
    if found.shape != expected or found.dtype != np.uint8:
        return (
            f"the service gave bits of the shape {found.shape} and type {found.dtype} where {expected} and uint8 were "
            "asked for: circuits, shots and bytes. Nothing was sent again, as it would come back the same; check its "
            "options, twirling for one."
        )
    if n_qubits % 8 and np.any(found[..., 0] >> (n_qubits % 8)):
        return (
            f"the service gave ones beyond the {n_qubits} qubits that were measured; nothing was sent again, as it "
            "would come back the same."
        )
    return ""


def _event(kind: EventKind, part: JobPart, job: Job) -> JobEvent:
    return JobEvent(kind=kind, part=replace(part, job=job), job=job, message=job.message)


def _without_result(parts: tuple[JobPart, ...]) -> DeviceError:
    part = parts[0]
    why = "no reason was given" if part.job is None or not part.job.message else part.job.message
    state = "not sent" if part.job is None else part.job.state
    return DeviceError(
        f"{_jobs(len(parts))} ended without a result; that of the circuits {part.first} to {part.last - 1} is {state}: "
        f"{why.rstrip('.')}."
    )


def _jobs(number: int) -> str:
    return f"{number} job{'s' * (number != 1)}"
