"""What can be done about one part of a measurement; each step is in the ledger before the service is called again."""

from dataclasses import dataclass, replace

from mcquack.errors import DeviceError, LostJobError
from mcquack.hardware.jobs.calling import Told, checked_bits, delivered, reached
from mcquack.hardware.jobs.events import Event, EventKind
from mcquack.hardware.jobs.ledger import Ledger
from mcquack.hardware.jobs.patience import Patience
from mcquack.hardware.jobs.records import Job, JobState, Measurement, Part
from mcquack.hardware.jobs.service import Bits, Service, State

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
