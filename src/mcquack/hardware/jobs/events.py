"""What measuring tells while it goes on."""

from dataclasses import dataclass
from typing import Literal

from mcquack.hardware.jobs.records import Job, Part

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
class Event:
    """One thing that happened to a part of a measurement; what it tells of is in the ledger already."""

    kind: EventKind
    part: Part
    job: Job
    message: str = ""
