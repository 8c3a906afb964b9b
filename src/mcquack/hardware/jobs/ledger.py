"""All that was measured on devices, and every job that was sent for it, in one file that survives its writer."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, Self

from mcquack.database import Database
from mcquack.errors import StoreError
from mcquack.hardware.jobs import rows
from mcquack.hardware.jobs.records import Job, JobState, Measurement, Part, Summary, now
from mcquack.hardware.jobs.schema import LEDGER
from mcquack.hardware.jobs.service import Bits

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
        columns = rows.measurement_columns(measurement)
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
            return rows.measurement_of(row)

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
        return tuple(map(rows.part_of, self._rows(_PARTS, [measurement_id])))

    def jobs(self, measurement_id: str) -> tuple[Job, ...]:
        """All that were ever sent for it, in the order in which they were noted: what a bill can be held against."""
        query = "SELECT * FROM jobs WHERE measurement = ? ORDER BY rowid"
        return tuple(map(rows.job_of, self._rows(query, [measurement_id])))

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
        values = [state, rows.storable(message), ended, tag]
        self._change("UPDATE jobs SET state = ?, message = ?, ended_at = ? WHERE tag = ?", values)

    def keep_bits(self, tag: str, bits: Bits) -> None:
        """Keeps what was measured, as it came; the circuits of a part have one result, and the first one stays."""
        content = rows.bits_column(bits)
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
                    found = rows.bits_of(content, part=part, shots=row["shots"])
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
