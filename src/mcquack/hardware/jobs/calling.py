"""The calls of a service, made again while it cannot be reached."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from mcquack.errors import AccountError, DeviceError, McQuackError
from mcquack.hardware.circuit.euler import angle_sets
from mcquack.hardware.jobs.events import Event
from mcquack.hardware.jobs.patience import Patience
from mcquack.hardware.jobs.records import Job, Measurement, Part
from mcquack.hardware.jobs.service import Angles, Bits, Service

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
