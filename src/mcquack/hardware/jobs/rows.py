"""Values to the columns of a ledger and back."""

import json
import zlib
from sqlite3 import Row
from typing import Any

import numpy as np

from mcquack.circuits.overlap import OverlapCircuits
from mcquack.hardware.jobs.records import Job, Measurement, Part, canonical_json
from mcquack.hardware.jobs.service import Bits

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
