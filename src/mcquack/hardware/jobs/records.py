"""What a ledger tells: what was asked for, the parts that it is measured in, and the jobs that were sent for them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from mcquack.checks import require, required_count
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import InvalidInputError

JobState = Literal[
    "noted",  # about to be sent; whether it was, only the service knows
    "queued",
    "running",
    "done",  # and its bits are in the ledger
    "failed",
    "cancelled",
    "lost",  # the service does not know it any more
]
_ENDED = ("done", "failed", "cancelled", "lost")


def now() -> str:
    """ISO 8601, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def canonical_json(description: Mapping[str, Any]) -> str:
    """One text for equal descriptions of a service, whatever the order of their names."""
    try:
        return json.dumps(dict(description), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"the description of a service must be plain, finite JSON: {error}") from error


@dataclass(frozen=True, eq=False, kw_only=True)
class Measurement:
    """Circuits to be run ``shots`` times each on what ``service`` describes; another ``label`` measures them anew."""

    circuits: OverlapCircuits
    shots: int
    service: Mapping[str, Any]
    label: str = ""
    created_at: str = field(default_factory=now)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shots", required_count("shots", self.shots))
        object.__setattr__(self, "service", json.loads(canonical_json(self.service)))
        require(isinstance(self.label, str) and self.label.isprintable(), "label", "a line of text", self.label)

    @property
    def id(self) -> str:
        """Of all that decides what is measured, so that the same call finds it again."""
        parts = [self.circuits.digest, self.shots, canonical_json(self.service), self.label]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    @property
    def n_circuits(self) -> int:
        """N · M."""
        n_samples, n_centroids = self.circuits.shape
        return n_samples * n_centroids


@dataclass(frozen=True, kw_only=True)
class Job:
    """One attempt to have a part measured. The service finds it by ``tag`` even if its id never came back."""

    tag: str
    attempt: int
    job_id: str | None = None
    state: JobState = "noted"
    message: str = ""
    submitted_at: str | None = None
    ended_at: str | None = None

    @property
    def has_ended(self) -> bool:
        """Nothing more will come of it."""
        return self.state in _ENDED


@dataclass(frozen=True, kw_only=True)
class Part:
    """The circuits ``first`` to ``last`` (without it) of a measurement, counted row by row, and their latest job."""

    first: int
    last: int
    is_measured: bool = False
    job: Job | None = None

    @property
    def n_circuits(self) -> int:
        """As many as one job holds."""
        return self.last - self.first

    @property
    def is_on_its_way(self) -> bool:
        """Whether the service has, or may have, a job of it that has not ended."""
        return not self.is_measured and self.job is not None and not self.job.has_ended


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A measurement without its circuits: what a list of them shows."""

    id: str
    label: str
    service: Mapping[str, Any]
    shots: int
    shape: tuple[int, int]
    n_qubits: int
    n_layers: int
    created_at: str
    parts: tuple[Part, ...]

    @property
    def n_circuits(self) -> int:
        """All that were asked for."""
        return self.shape[0] * self.shape[1]

    @property
    def n_measured(self) -> int:
        """The circuits whose bits are kept."""
        return sum(part.n_circuits for part in self.parts if part.is_measured)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing."""
        return self.n_measured == self.n_circuits


# What measuring tells while it goes on.

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
