"""All that was measured on devices, and every job that was sent for it, in one file that survives its writer."""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from os import PathLike
from sqlite3 import Row
from typing import Any, Self

import numpy as np

from mcquack.arrays import IntArray
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.database import Database, FileKind, executing
from mcquack.errors import StoreError
from mcquack.hardware.jobs.records import Job, JobState, Measurement, Part, Summary, canonical_json, now
from mcquack.hardware.jobs.service import Bits

# The tables of a ledger, how those of an older version become those of this one, and what errors call it.

_FIRST_TABLES = (
    # Holds the circuits, so that what is missing can be sent without whoever asked for it.
    """
    CREATE TABLE measurements (
        id TEXT PRIMARY KEY,
        label TEXT NOT NULL,
        service TEXT NOT NULL,
        shots INTEGER NOT NULL CHECK (shots >= 1),
        n_samples INTEGER NOT NULL,
        n_centroids INTEGER NOT NULL,
        n_layers INTEGER NOT NULL,
        n_qubits INTEGER NOT NULL,
        samples BLOB NOT NULL,
        centroids BLOB NOT NULL,
        digest TEXT NOT NULL,
        created_at TEXT NOT NULL
    )
    """,
    # The bits are here and not with a job: however often a part is sent, its circuits have one result.
    """
    CREATE TABLE parts (
        measurement TEXT NOT NULL REFERENCES measurements (id),
        first INTEGER NOT NULL CHECK (first >= 0),
        last INTEGER NOT NULL CHECK (last > first),
        bits BLOB,
        PRIMARY KEY (measurement, first)
    )
    """,
    """
    CREATE TABLE jobs (
        tag TEXT PRIMARY KEY,
        measurement TEXT NOT NULL,
        first INTEGER NOT NULL,
        attempt INTEGER NOT NULL CHECK (attempt >= 1),
        job_id TEXT,
        state TEXT NOT NULL
            CHECK (state IN ('noted', 'queued', 'running', 'done', 'failed', 'cancelled', 'lost')),
        message TEXT NOT NULL,
        noted_at TEXT NOT NULL,
        submitted_at TEXT,
        ended_at TEXT,
        UNIQUE (measurement, first, attempt),
        FOREIGN KEY (measurement, first) REFERENCES parts (measurement, first),
        CHECK (job_id IS NOT NULL OR state NOT IN ('queued', 'running', 'done'))
    )
    """,
)

LEDGER = FileKind(
    application_id=0x6D63716A,  # "mcqj"
    migrations=(executing(*_FIRST_TABLES),),
    synchronous="FULL",  # jobs cost money, and a ledger changes rarely
    noun="ledger",
    maker="a measurement with a device",
    safe="What it holds is safe, and jobs that were sent go on",
    writing="measuring with",
    stopping="stop it (its jobs go on)",
    meanings={"TOOBIG": ("a measurement is too large for it", "measure fewer samples at a time")},
)


# Values to the columns of a ledger and back.

# Bits of a device hardly shrink more at any other level.
_LEVEL = 1


def storable(text: str) -> str:
    """The text, or one that stands for it where SQLite cannot hold it."""
    # Messages may hold lone surrogates, which no encoding has.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def measurement_columns(measurement: Measurement) -> dict[str, Any]:
    """The row of a measurement."""
    circuits = measurement.circuits
    return {
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


def measurement_of(row: Row) -> Measurement:
    """The measurement that was written; a ValueError if it is not what it was."""

    def angles(name: str) -> Any:
        return np.frombuffer(row[name], dtype="<f8").reshape(row[f"n_{name}"], row["n_layers"], row["n_qubits"], 3)

    found = Measurement(
        circuits=OverlapCircuits(samples=angles("samples"), centroids=angles("centroids")),
        shots=row["shots"],
        service=json.loads(row["service"]),
        label=row["label"],
        created_at=row["created_at"],
    )
    if found.circuits.digest != row["digest"] or found.id != row["id"]:
        raise ValueError(f"measurement {row['id']} is not what its checksum says")
    return found


def part_of(row: Row) -> Part:
    """A part with its latest job, if there is one."""
    job = None if row["tag"] is None else job_of(row)
    return Part(first=row["first"], last=row["last"], is_measured=bool(row["is_measured"]), job=job)


def job_of(row: Row) -> Job:
    """The job that was written."""
    names = ("tag", "attempt", "job_id", "state", "message", "submitted_at", "ended_at")
    return Job(**{name: row[name] for name in names})


def bits_column(bits: Bits) -> bytes:
    """What was measured, compressed, with a checksum of its own."""
    return zlib.compress(np.ascontiguousarray(bits).tobytes(), _LEVEL)


def bits_of(content: bytes, *, part: Part, shots: int) -> Bits:
    """What was measured, (K, shots, bytes)."""
    return np.frombuffer(zlib.decompress(content), dtype=np.uint8).reshape(part.n_circuits, shots, -1)


# Each part with its latest job.
_PARTS = """
    SELECT parts.first, parts.last, parts.bits IS NOT NULL AS is_measured,
        tag, attempt, job_id, state, message, submitted_at, ended_at
    FROM parts LEFT JOIN jobs ON jobs.measurement = parts.measurement AND jobs.first = parts.first
        AND attempt = (SELECT max(attempt) FROM jobs AS others
            WHERE others.measurement = parts.measurement AND others.first = parts.first)
    WHERE parts.measurement = ? ORDER BY parts.first
"""


class Ledger(Database):
    """Measurements by their ids. Whatever a call has written is there when it returns, even if the process is killed.

    One process writes at a time, and any number read meanwhile. A ledger in a file is used by the thread that opened
    it.
    """

    _kind = LEDGER

    @classmethod
    def open(cls, path: str | PathLike[str], *, write: bool = False) -> Self:
        """The ledger at ``path``, to read, or to write; then it is made if there is none."""
        return cls._opened(path, write=write, create=write)

    @classmethod
    def in_memory(cls) -> Self:
        """One that ends with the process; threads may share it if they take turns."""
        return cls._opened_in_memory()

    def add(self, measurement: Measurement, parts: Sequence[range]) -> None:
        """Keeps what is to be measured, and in which parts; one that is known stays as it is."""
        columns = measurement_columns(measurement)
        names, values = ", ".join(columns), ", ".join(f":{name}" for name in columns)
        with self._transaction() as connection:
            if connection.execute(f"INSERT OR IGNORE INTO measurements ({names}) VALUES ({values})", columns).rowcount:
                connection.executemany(
                    "INSERT INTO parts (measurement, first, last) VALUES (?, ?, ?)",
                    [(measurement.id, part.start, part.stop) for part in parts],
                )

    def ids(self) -> tuple[str, ...]:
        """Of all measurements, from the oldest to the newest."""
        return tuple(row["id"] for row in self._rows("SELECT id FROM measurements ORDER BY rowid"))

    def __contains__(self, measurement_id: str) -> bool:
        return bool(self._rows("SELECT 1 FROM measurements WHERE id = ?", [measurement_id]))

    def measurement(self, measurement_id: str) -> Measurement:
        """With its circuits, so that it can be measured on without whoever asked for it."""
        row = self._row(measurement_id, columns="*")
        with self._readable_content():
            return measurement_of(row)

    def summary(self, measurement_id: str) -> Summary:
        """What it is and how far it is."""
        plain = ("id", "label", "shots", "n_layers", "n_qubits", "created_at")
        row = self._row(measurement_id, columns=", ".join((*plain, "service", "n_samples", "n_centroids")))
        with self._readable_content():
            return Summary(
                **{name: row[name] for name in plain},
                service=json.loads(row["service"]),
                shape=(row["n_samples"], row["n_centroids"]),
                parts=self.parts(measurement_id),
            )

    def parts(self, measurement_id: str) -> tuple[Part, ...]:
        """In the order of their circuits, each with its latest job."""
        return tuple(map(part_of, self._rows(_PARTS, [measurement_id])))

    def jobs(self, measurement_id: str) -> tuple[Job, ...]:
        """All that were ever sent for it, in the order in which they were noted: what a bill can be held against."""
        query = "SELECT * FROM jobs WHERE measurement = ? ORDER BY rowid"
        return tuple(map(job_of, self._rows(query, [measurement_id])))

    def note_attempt(self, measurement_id: str, part: Part) -> Job:
        """Keeps that a job is about to be sent for the part, under a tag that no other has."""
        attempt = 1 if part.job is None else part.job.attempt + 1
        job = Job(tag=f"mcquack-{measurement_id}-{part.first}-{attempt}", attempt=attempt)
        columns = [job.tag, measurement_id, part.first, attempt, job.state, now()]
        names = "tag, measurement, first, attempt, state, noted_at"
        self._change(f"INSERT INTO jobs ({names}, message) VALUES (?, ?, ?, ?, ?, ?, '')", columns)
        return job

    def note_sent(self, tag: str, job_id: str) -> None:
        """Keeps the id that the service gave to the job."""
        values = [job_id, now(), tag]
        self._change("UPDATE jobs SET job_id = ?, state = 'queued', submitted_at = ? WHERE tag = ?", values)

    def note_state(self, tag: str, state: JobState, message: str = "") -> None:
        """Keeps how far the job is."""
        ended = now() if Job(tag=tag, attempt=1, state=state).has_ended else None
        values = [state, storable(message), ended, tag]
        self._change("UPDATE jobs SET state = ?, message = ?, ended_at = ? WHERE tag = ?", values)

    def keep_bits(self, tag: str, bits: Bits) -> None:
        """Keeps what was measured, as it came; the circuits of a part have one result, and the first one stays."""
        content = bits_column(bits)
        with self._transaction() as connection:
            connection.execute(
                "UPDATE parts SET bits = ? WHERE bits IS NULL AND (measurement, first) = "
                "(SELECT measurement, first FROM jobs WHERE tag = ?)",
                [content, tag],
            )
            connection.execute("UPDATE jobs SET state = 'done', message = '', ended_at = ? WHERE tag = ?", [now(), tag])

    def bits(self, measurement_id: str) -> Iterator[tuple[range, Bits]]:
        """What was measured, part by part: its circuits and their bits, (K, shots, bytes)."""
        row = self._row(measurement_id, columns="shots")
        query = "SELECT bits FROM parts WHERE measurement = ? AND first = ?"
        for part in self.parts(measurement_id):
            if part.is_measured:
                ((content,),) = self._rows(query, [measurement_id, part.first])
                with self._readable_content():
                    found = bits_of(content, part=part, shots=row["shots"])
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


# Bits that were measured, as counts of ones.


def weight_histograms(bits: Bits, *, n_qubits: int) -> IntArray:
    """How many of the shots (K, shots, bytes) of each circuit have k ones, shape (K, n + 1)."""
    weights = np.bitwise_count(bits).sum(axis=-1, dtype=np.int64)
    # One pass over all circuits: each has n + 1 bins of its own.
    weights += np.arange(len(weights))[:, None] * (n_qubits + 1)
    return np.bincount(weights.ravel(), minlength=len(weights) * (n_qubits + 1)).reshape(-1, n_qubits + 1)


def stored_counts(ledger: Ledger, measurement_id: str) -> IntArray:
    """The weight counts of a measurement that is complete, shape (N, M, n + 1)."""
    summary = ledger.summary(measurement_id)
    if not summary.is_complete:
        raise StoreError(
            f"only {summary.n_measured} of {summary.n_circuits} circuits of measurement {measurement_id} are in the "
            f"ledger {ledger}: resume it first."
        )
    counts = np.empty((summary.n_circuits, summary.n_qubits + 1), dtype=np.int64)
    for circuits, bits in ledger.bits(measurement_id):
        counts[circuits.start : circuits.stop] = weight_histograms(bits, n_qubits=summary.n_qubits)
    return counts.reshape(*summary.shape, summary.n_qubits + 1)
