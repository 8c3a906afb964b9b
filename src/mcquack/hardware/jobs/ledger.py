"""All that was measured on devices, and every job that was sent for it, in one SQLite file that survives its writer.

A measurement is divided into parts of as many circuits as one job holds; a part may take several jobs until its bits
are there. The bits of every shot are kept as they came, before anything is read from them.
"""

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib.resources import files
from os import PathLike
from typing import Any, Self

import numpy as np

from mcquack.arrays import IntArray
from mcquack.checks import require, required_count
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.overlap import OverlapCircuits, circuit_json
from mcquack.database import Database, FileKind, executing
from mcquack.errors import InvalidInputError, StoreError
from mcquack.hardware.jobs.service import Bits, JobState, described_circuit

_ENDED = ("done", "failed", "cancelled", "lost")
# The message of a job whose end is asked for next: a process that dies meanwhile leaves it to others to ask again.
BEING_CANCELLED = "its end was asked for, and the service has not confirmed it yet"
# Bits of a device hardly shrink more at any other level.
_COMPRESSION_LEVEL = 1


def _make_tables(connection: sqlite3.Connection) -> None:
    statements = files("mcquack.hardware.jobs").joinpath("ledger.sql").read_text(encoding="utf-8").split(";\n")[:-1]
    executing(*statements)(connection)


LEDGER = FileKind(
    application_id=0x6D63716A,  # "mcqj"
    migrations=(_make_tables,),
    synchronous="FULL",  # jobs cost money, and a ledger changes rarely
    noun="ledger",
    maker="a measurement with a device",
    safe="What it holds is safe, and jobs that were sent go on",
    writing="measuring with",
    stopping="stop it (its jobs go on)",
    meanings={"TOOBIG": ("a measurement is too large for it", "measure fewer samples at a time")},
)

# Each part with its latest job.
_PARTS = """
    SELECT parts.first, parts.last, parts.bits IS NOT NULL AS is_measured,
        tag, attempt, job_id, state, message, submitted_at, ended_at
    FROM parts LEFT JOIN jobs ON jobs.measurement = parts.measurement AND jobs.first = parts.first
        AND attempt = (SELECT max(attempt) FROM jobs AS others
            WHERE others.measurement = parts.measurement AND others.first = parts.first)
    WHERE parts.measurement = ? ORDER BY parts.first
"""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def canonical_json(description: Mapping[str, Any]) -> str:
    """One text for equal descriptions of a service, whatever the order of their names."""
    try:
        return json.dumps(dict(description), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"the description of a service must be plain, finite JSON: {error}") from error


@dataclass(frozen=True, eq=False, kw_only=True)
class Measurement:
    """Circuits that are to be run on a device, whether or not they were yet.

    Parameters
    ----------
    circuits, shots : the overlap circuits of N samples with M centroids, and how often each is run.
    service : how the service that runs them describes itself: device, ring and options.
    label : the name of a run; the same circuits under another one are measured anew.
    created_at : when it was first asked for, ISO 8601.
    """

    circuits: OverlapCircuits
    shots: int
    service: Mapping[str, Any]
    label: str = ""
    created_at: str = field(default_factory=_now)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shots", required_count("shots", self.shots))
        object.__setattr__(self, "service", json.loads(canonical_json(self.service)))
        require(isinstance(self.label, str) and self.label.isprintable(), "label", "a line of text", self.label)
        if self.service.get("circuit") != circuit_json(self.circuits.circuit):
            raise InvalidInputError(
                "the service runs another circuit than the one that is to be measured; open one for this circuit."
            )

    @cached_property
    def id(self) -> str:
        """Derived from all that decides what is measured, so that the same call finds it again."""
        parts = [self.circuits.digest, self.shots, canonical_json(self.service), self.label]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    @property
    def n_circuits(self) -> int:
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
        return self.state in _ENDED

    @property
    def is_being_cancelled(self) -> bool:
        """Whether its end was asked for, and nobody has noted yet what the service made of that."""
        return self.state == "cancelled" and self.message == BEING_CANCELLED


@dataclass(frozen=True, kw_only=True)
class JobPart:
    """The circuits ``first`` to ``last`` (without it) of a measurement, counted row by row, and their latest job."""

    first: int
    last: int
    is_measured: bool = False
    job: Job | None = None

    @property
    def n_circuits(self) -> int:
        return self.last - self.first

    @property
    def is_being_cancelled(self) -> bool:
        return not self.is_measured and self.job is not None and self.job.is_being_cancelled

    @property
    def is_on_its_way(self) -> bool:
        return not self.is_measured and self.job is not None and not self.job.has_ended


@dataclass(frozen=True, kw_only=True)
class MeasurementSummary:
    """A measurement without its circuits, and how far it is: what a list of them shows."""

    id: str
    label: str
    service: Mapping[str, Any]
    shots: int
    shape: tuple[int, int]
    n_qubits: int
    n_layers: int
    created_at: str
    parts: tuple[JobPart, ...]

    @property
    def circuit(self) -> Circuit:
        """The circuit whose overlaps it measures."""
        return described_circuit(self.service, n_qubits=self.n_qubits, n_layers=self.n_layers)

    @property
    def n_circuits(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def n_measured(self) -> int:
        return sum(part.n_circuits for part in self.parts if part.is_measured)

    @property
    def is_complete(self) -> bool:
        return self.n_measured == self.n_circuits

    @property
    def unsent(self) -> tuple[JobPart, ...]:
        """The parts that are neither measured nor on their way: what it will cost to go on."""
        return tuple(part for part in self.parts if not part.is_measured and not part.is_on_its_way)


class Ledger(Database):
    """A file of measurements by their ids, with their jobs and the bits of every shot.

    Whatever a call has written is there when it returns, even if the process is killed. One process writes at a time,
    and any number read meanwhile. A ledger in a file is used by the thread that opened it.

    >>> import numpy as np
    >>> from mcquack.circuits import FeatureMap
    >>> angles = np.zeros((1, 1, 2, 3))
    >>> circuit = FeatureMap(n_qubits=2, n_features=1, n_layers=1)
    >>> circuits = OverlapCircuits(samples=angles, centroids=angles, circuit=circuit)
    >>> measurement = Measurement(circuits=circuits, shots=10, service={"backend": "aer"})
    >>> with Ledger.in_memory() as ledger:
    ...     ledger.add(measurement, [range(1)])
    ...     ledger.summary(measurement.id).is_complete
    False
    """

    _kind = LEDGER

    @classmethod
    def open(cls, path: str | PathLike[str], *, write: bool = False) -> Self:
        return cls._opened(path, write=write, create=write)

    @classmethod
    def in_memory(cls) -> Self:
        """A ledger that ends with the process; threads may share it if they take turns."""
        return cls._opened_in_memory()

    def add(self, measurement: Measurement, parts: Sequence[range]) -> None:
        """Keeps what is to be measured, and in which parts; one that is known stays as it is."""
        circuits = measurement.circuits
        columns = {
            "id": measurement.id,
            "label": measurement.label,
            "service": canonical_json(measurement.service),
            "shots": measurement.shots,
            "n_samples": circuits.shape[0],
            "n_centroids": circuits.shape[1],
            "n_layers": circuits.n_layers,
            "n_qubits": circuits.n_qubits,
            "samples": circuits.samples.astype("<f8").tobytes(),
            "centroids": circuits.centroids.astype("<f8").tobytes(),
            "digest": circuits.digest,
            "created_at": measurement.created_at,
        }
        names, values = ", ".join(columns), ", ".join(f":{name}" for name in columns)
        with self._transaction() as connection:
            if connection.execute(f"INSERT OR IGNORE INTO measurements ({names}) VALUES ({values})", columns).rowcount:
                connection.executemany(
                    "INSERT INTO parts (measurement, first, last) VALUES (?, ?, ?)",
                    [(measurement.id, part.start, part.stop) for part in parts],
                )

    def ids(self) -> tuple[str, ...]:
        return tuple(row["id"] for row in self._rows("SELECT id FROM measurements ORDER BY rowid"))

    def __contains__(self, measurement_id: str) -> bool:
        return bool(self._rows("SELECT 1 FROM measurements WHERE id = ?", [measurement_id]))

    def measurement(self, measurement_id: str) -> Measurement:
        row = self._row(measurement_id, columns="*")
        with self._readable_content():
            service = json.loads(row["service"])
            circuit = described_circuit(service, n_qubits=row["n_qubits"], n_layers=row["n_layers"])
            samples, centroids = (
                np.frombuffer(row[name], dtype="<f8").reshape(row[f"n_{name}"], *circuit.angles_shape)
                for name in ("samples", "centroids")
            )
            found = Measurement(
                circuits=OverlapCircuits(samples=samples, centroids=centroids, circuit=circuit),
                shots=row["shots"],
                service=service,
                label=row["label"],
                created_at=row["created_at"],
            )
            if found.circuits.digest != row["digest"] or found.id != row["id"]:
                raise ValueError(f"measurement {row['id']} is not what its checksum says")
            return found

    def summary(self, measurement_id: str) -> MeasurementSummary:
        plain = ("id", "label", "shots", "n_layers", "n_qubits", "created_at")
        row = self._row(measurement_id, columns=", ".join((*plain, "service", "n_samples", "n_centroids")))
        with self._readable_content():
            return MeasurementSummary(
                **{name: row[name] for name in plain},
                service=json.loads(row["service"]),
                shape=(row["n_samples"], row["n_centroids"]),
                parts=self.parts(measurement_id),
            )

    def parts(self, measurement_id: str) -> tuple[JobPart, ...]:
        found = []
        for row in self._rows(_PARTS, [measurement_id]):
            job, is_measured = None if row["tag"] is None else _job_of(row), bool(row["is_measured"])
            found.append(JobPart(first=row["first"], last=row["last"], is_measured=is_measured, job=job))
        return tuple(found)

    def jobs(self, measurement_id: str) -> tuple[Job, ...]:
        """All jobs that were ever sent for it, in the order in which they were noted, to hold a bill against."""
        query = "SELECT * FROM jobs WHERE measurement = ? ORDER BY rowid"
        return tuple(map(_job_of, self._rows(query, [measurement_id])))

    def note_attempt(self, measurement_id: str, part: JobPart) -> Job:
        attempt = 1 if part.job is None else part.job.attempt + 1
        job = Job(tag=f"mcquack-{measurement_id}-{part.first}-{attempt}", attempt=attempt)
        columns = [job.tag, measurement_id, part.first, attempt, job.state, _now()]
        names = "tag, measurement, first, attempt, state, noted_at"
        self._change(f"INSERT INTO jobs ({names}, message) VALUES (?, ?, ?, ?, ?, ?, '')", columns)
        return job

    def note_sent(self, tag: str, job_id: str) -> None:
        values = [job_id, _now(), tag]
        self._change("UPDATE jobs SET job_id = ?, state = 'queued', submitted_at = ? WHERE tag = ?", values)

    def note_state(self, tag: str, state: JobState, message: str = "") -> None:
        # Messages may hold lone surrogates, which no encoding has.
        storable = message.encode("utf-8", "backslashreplace").decode("utf-8")
        values = [state, storable, _now() if state in _ENDED else None, tag]
        self._change("UPDATE jobs SET state = ?, message = ?, ended_at = ? WHERE tag = ?", values)

    def keep_bits(self, tag: str, bits: Bits) -> None:
        """Keeps what was measured, as it came; the circuits of a part have one result, and the first one stays."""
        content = zlib.compress(np.ascontiguousarray(bits).tobytes(), _COMPRESSION_LEVEL)
        with self._transaction() as connection:
            connection.execute(
                "UPDATE parts SET bits = ? WHERE bits IS NULL AND (measurement, first) = "
                "(SELECT measurement, first FROM jobs WHERE tag = ?)",
                [content, tag],
            )
            values = [_now(), tag]
            connection.execute("UPDATE jobs SET state = 'done', message = '', ended_at = ? WHERE tag = ?", values)

    def bits(self, measurement_id: str) -> Iterator[tuple[range, Bits]]:
        """What was measured, part by part: the circuits, and the bits of their shots (K, shots, bytes)."""
        shots = self._row(measurement_id, columns="shots")["shots"]
        query = "SELECT bits FROM parts WHERE measurement = ? AND first = ?"
        for part in self.parts(measurement_id):
            if part.is_measured:
                ((content,),) = self._rows(query, [measurement_id, part.first])
                with self._readable_content():
                    flat = np.frombuffer(zlib.decompress(content), dtype=np.uint8)
                    found = flat.reshape(part.n_circuits, shots, -1)
                yield range(part.first, part.last), found

    def _change(self, statement: str, values: Sequence[Any]) -> None:
        with self._transaction() as connection:
            connection.execute(statement, values)

    def _row(self, measurement_id: str, *, columns: str) -> sqlite3.Row:
        found = self._rows(f"SELECT {columns} FROM measurements WHERE id = ?", [measurement_id])
        if not found:
            known = ", ".join(self.ids()[-5:]) or "none"
            raise StoreError(f"the ledger {self} has no measurement {measurement_id}; its latest ones are: {known}.")
        return found[0]


def _job_of(row: sqlite3.Row) -> Job:
    names = ("tag", "attempt", "job_id", "state", "message", "submitted_at", "ended_at")
    return Job(**{name: row[name] for name in names})


def hamming_histograms(bits: Bits, *, n_qubits: int) -> IntArray:
    """How many of the shots (K, shots, bytes) of each circuit have k ones, shape (K, n + 1)."""
    hamming = np.bitwise_count(bits).sum(axis=-1, dtype=np.int64)
    # One pass over all circuits: each has n + 1 bins of its own.
    hamming += np.arange(len(hamming))[:, None] * (n_qubits + 1)
    return np.bincount(hamming.ravel(), minlength=len(hamming) * (n_qubits + 1)).reshape(-1, n_qubits + 1)


def stored_counts(ledger: Ledger, measurement_id: str) -> IntArray:
    """How many shots of each circuit of a complete measurement have k ones, shape (N, M, n + 1)."""
    summary = ledger.summary(measurement_id)
    if not summary.is_complete:
        raise StoreError(
            f"only {summary.n_measured} of {summary.n_circuits} circuits of measurement {measurement_id} are in the "
            f"ledger {ledger}: resume it first."
        )
    counts = np.empty((summary.n_circuits, summary.n_qubits + 1), dtype=np.int64)
    for circuits, bits in ledger.bits(measurement_id):
        counts[circuits.start : circuits.stop] = hamming_histograms(bits, n_qubits=summary.n_qubits)
    return counts.reshape(*summary.shape, summary.n_qubits + 1)
