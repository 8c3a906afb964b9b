"""A service without a device: its bits are a function of the angles, and it fails when it is told to."""

import hashlib
from collections import Counter
from dataclasses import dataclass

import numpy as np

from mcquack.errors import DeviceError, LostJobError
from mcquack.hardware.jobs.running import Waiting
from mcquack.hardware.jobs.service import JobStatus, Limits, Speed
from tests.hardware.overlaps import paper_overlaps

# What may happen to a call; where it means nothing, the call goes well.
FAULTS = (
    "offline",  # the call did not arrive
    "offline_after",  # it did, but the answer got lost
    "crash",  # the caller dies before the call
    "crash_after",  # or before it has the answer
    "refuse",  # no job is taken
    "fail",  # the job that is asked for fails
    "lose",  # it is forgotten
    "stall",  # it stays in the queue
)
SECRET = "t0k3n-of-an-account"


class Crash(BaseException):
    """The end of a process: nothing of it is meant to be caught by the code under test."""


@dataclass
class FakeJob:
    tag: str
    angles: np.ndarray
    shots: int
    n_polls: int = 0
    state: str = "queued"


class FakeService:
    """Done after ``polls`` questions. ``faults`` happen to its calls in their order, then nothing happens any more."""

    def __init__(self, *, n_qubits=3, faults=(), limits=None, polls=0, device="fake", capacity=None):
        self.n_qubits, self.polls, self.device, self.capacity = n_qubits, polls, device, capacity
        self.faults = iter(faults)
        self.limits = limits or Limits()
        self.speed = Speed()
        self.jobs = {}
        self.submitted = []
        self.calls: Counter[str] = Counter()
        self.token = SECRET

    @property
    def description(self):
        return {"backend": self.device, "ring": list(range(self.n_qubits)), "decoupling": None}

    def submit(self, angles, *, shots, tag):
        def take(fault):
            under_way = [job for job in self.jobs.values() if job.state in ("queued", "running")]
            if fault == "refuse" or (self.capacity is not None and len(under_way) >= self.capacity):
                raise DeviceError("too many jobs are pending.")
            job_id = f"job-{len(self.submitted)}"
            self.submitted.append(tag)
            self.jobs[job_id] = FakeJob(tag=tag, angles=np.array(angles), shots=shots)
            return job_id

        return self._call("submit", take)

    def find(self, tag):
        def look(_):
            return next((job_id for job_id, job in self.jobs.items() if job.tag == tag), None)

        return self._call("find", look)

    def status(self, job_id):
        def tell(fault):
            if fault == "lose":
                self.jobs.pop(job_id, None)
            job = self._job(job_id)
            if fault == "fail" and job.state in ("queued", "running"):
                job.state = "failed"
            if job.state in ("queued", "running") and fault != "stall":
                job.state = "done" if job.n_polls >= self.polls else "running"
                job.n_polls += 1
            return JobStatus(state=job.state, message="it broke" if job.state == "failed" else "")

        return self._call("status", tell)

    def outcomes(self, job_id):
        def give(fault):
            if fault == "lose":
                self.jobs.pop(job_id, None)
            job = self._job(job_id)
            assert job.state == "done"
            return bits_of(job.angles, shots=job.shots, n_qubits=self.n_qubits)

        return self._call("outcomes", give)

    def cancel(self, job_id):
        def end(_):
            job = self._job(job_id)
            if job.state in ("queued", "running"):
                job.state = "cancelled"

        return self._call("cancel", end)

    def instead(self, **calls):
        """Answers these calls so from now on, and by itself again where that is None."""
        for name, answer in calls.items():
            if answer is None:
                del self.__dict__[name]
            else:
                self.__dict__[name] = answer

    def restart(self):
        """As a service within the process does that ends: all jobs are forgotten."""
        self.jobs.clear()

    def _job(self, job_id):
        if job_id not in self.jobs:
            raise LostJobError(f"no job {job_id} is known.")
        return self.jobs[job_id]

    def _call(self, name, effect):
        self.calls[name] += 1
        fault = next(self.faults, None)
        if fault == "offline":
            raise ConnectionError("no route to the service")
        if fault == "crash":
            raise Crash
        result = effect(fault)
        if fault == "offline_after":
            raise TimeoutError("the answer took too long")
        if fault == "crash_after":
            raise Crash
        return result


def bits_of(angles, *, shots, n_qubits):
    """Bits that look random, and are the same for the same angles: (K, shots, bytes), packed as Qiskit packs them."""
    rows = []
    for row in np.round(np.exp(1j * angles), 6) + 0.0:  # the last digits may depend on how many rows are computed
        seed = list(hashlib.sha256(row.tobytes()).digest())
        ones = np.random.default_rng(seed).random((shots, n_qubits)) < 0.4
        rows.append(np.packbits(np.pad(ones, ((0, 0), (-n_qubits % 8, 0))), axis=-1))
    return np.array(rows, dtype=np.uint8).reshape(len(angles), shots, -(-n_qubits // 8))


def circuits_of(n_samples, n_centroids, *, n_qubits=3, n_layers=2, seed=0):
    """Some overlap circuits."""
    rng = np.random.default_rng([seed, n_samples, n_centroids, n_qubits, n_layers])
    shape = (n_layers, n_qubits, 3)
    return paper_overlaps(rng.uniform(-3, 3, (n_samples, *shape)), rng.uniform(-3, 3, (n_centroids, *shape)))


def hasty(**changes):
    """A waiting that never waits, and notes for how long it would have."""
    pauses: list[float] = []
    return Waiting(**{"sleep": pauses.append, "clock": lambda: sum(pauses)} | changes), pauses
