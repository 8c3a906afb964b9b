"""Processes of their own that measure, to be killed without warning, and a service that outlives them."""

import os

import numpy as np

from mcquack.errors import LostJobError, StoreError
from mcquack.hardware.jobs.ledger import Ledger
from mcquack.hardware.jobs.running import follow, noted
from mcquack.hardware.jobs.service import JobStatus, Limits, Speed
from tests.hardware.doubles import bits_of, circuits_of

CIRCUITS = circuits_of(4, 3)
SHOTS = 5


class FolderService:
    """Has its jobs in a folder, as a real one has them far away; ``told`` hears of every call before and after it."""

    def __init__(self, folder, told=lambda what: None):
        self.folder, self.told = folder, told
        self.description = {"device": "folder"}
        self.limits = Limits(executions=2 * SHOTS)  # six jobs
        self.speed = Speed()

    def submit(self, angles, *, shots, tag):
        self.told("submit")
        partial = self.folder / f"{tag}.{os.getpid()}.partial"
        with partial.open("wb") as file:
            np.save(file, angles)
        if (self.folder / tag).exists():
            (self.folder / "sent twice").touch()
        partial.replace(self.folder / tag)
        self.told("submitted")
        return f"id of {tag}"

    def find(self, tag):
        self.told("find")
        return f"id of {tag}" if (self.folder / tag).exists() else None

    def status(self, job_id):
        self.told("status")
        self._file(job_id)
        return JobStatus(state="done")

    def outcomes(self, job_id):
        self.told("outcomes")
        return bits_of(np.load(self._file(job_id)), shots=SHOTS, n_qubits=CIRCUITS.n_qubits)

    def cancel(self, job_id):
        self._file(job_id)

    def tags(self):
        return sorted(file.name for file in self.folder.iterdir() if file.suffix != ".partial")

    def _file(self, job_id):
        file = self.folder / job_id.removeprefix("id of ")
        if not file.exists():
            raise LostJobError(f"no job {job_id}.")
        return file


def measure(path, pipe, folder):
    """Tells of each step and waits to be told to go on, so that it can be killed at any of them."""

    def told(what):
        pipe.send(what)
        pipe.recv()

    try:
        with Ledger.open(path, write=True) as ledger:
            service = FolderService(folder, told)
            measurement = noted(ledger, service, CIRCUITS, shots=SHOTS)
            for event in follow(ledger, service, measurement):
                told(f"event {event.kind}")
    except StoreError as error:
        pipe.send(f"{type(error).__name__}: {error}")
    else:
        pipe.send("end")
    pipe.recv()
