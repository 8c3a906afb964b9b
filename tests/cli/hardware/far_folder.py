"""An account with IBM whose jobs lie in a folder, so that they outlive the command that sent them, and its commands.

A child runs them; before and after each call of the service and each note in the ledger is a moment at which it may be
told to kill itself.
"""

import os
import signal
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from qiskit_ibm_runtime.exceptions import RuntimeInvalidStateError, RuntimeJobNotFound
from qiskit_ibm_runtime.fake_provider import FakeRomeV2

from mcquack.cli.app import exit_code
from mcquack.hardware.jobs.ledger import LEDGER, Ledger
from mcquack.hardware.jobs.service import Limits
from mcquack.hardware.services import runtime
from tests.cli.hardware.far import N_QUBITS, renamed
from tests.hardware.doubles import bits_of

ROME = renamed(FakeRomeV2, "ibm_rome")
SHOTS = 20
MOST = Limits(executions=8 * SHOTS)  # jobs of eight circuits
NOTES = ("add", "note_attempt", "note_sent", "note_state", "keep_bits")


@dataclass
class Moments:
    """Counts the moments of a process, and ends it at the one that is asked for."""

    last: int | None
    n: int = 0

    def __call__(self) -> None:
        self.n += 1
        if self.n == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class FolderJob:
    """A file with the angles, whose ending is the state."""

    folder: Path
    number: str
    moment: Any

    @property
    def path(self) -> Path:
        return next(self.folder.glob(f"{self.number}_*"))

    @property
    def tag(self) -> str:
        return self.path.stem.split("_", 1)[1]

    @property
    def state(self) -> str:
        return self.path.suffix[1:]

    @property
    def angles(self) -> np.ndarray:
        with self.path.open("rb") as file:
            return np.load(file)

    def job_id(self) -> str:
        return f"far-{self.number}"

    def error_message(self) -> None:
        return None

    def status(self) -> str:
        self.moment()
        state = self.state
        self.moment()
        return state

    def result(self) -> Any:
        self.moment()
        bits = bits_of(self.angles, shots=SHOTS, n_qubits=N_QUBITS)
        return [SimpleNamespace(data=SimpleNamespace(meas=SimpleNamespace(array=bits)))]

    def cancel(self) -> None:
        self.moment()
        if self.state != "QUEUED":
            raise RuntimeInvalidStateError("Job cannot be cancelled")
        self.path.rename(self.path.with_suffix(".CANCELLED"))
        self.moment()


@dataclass
class FolderAccount:
    """As much of the vendor's service as is asked; ``at_once`` jobs are done when they are sent."""

    folder: Path
    at_once: bool = True
    moment: Any = field(default=lambda: None)

    @property
    def sent(self) -> list[FolderJob]:
        names = sorted(path.name.split("_")[0] for path in self.folder.iterdir() if path.suffix != ".partial")
        return [FolderJob(self.folder, name, self.moment) for name in names]

    def take(self, _program: Any, angles: np.ndarray, *, shots: int, options: Any, mode: Any, tag: str) -> FolderJob:
        self.moment()
        assert shots == SHOTS
        partial = self.folder / f"{tag}.{os.getpid()}.partial"
        with partial.open("wb") as file:
            np.save(file, angles)
        number = f"{len(self.sent):03}"
        partial.rename(self.folder / f"{number}_{tag}.{'DONE' if self.at_once else 'QUEUED'}")
        self.moment()
        return FolderJob(self.folder, number, self.moment)

    def finish(self) -> None:
        """All that wait are done."""
        for job in self.sent:
            if job.state == "QUEUED":
                job.path.rename(job.path.with_suffix(".DONE"))

    def job(self, job_id: str) -> FolderJob:
        found = [job for job in self.sent if job.job_id() == job_id]
        if not found:
            raise RuntimeJobNotFound(f"Job not found: {job_id}")
        return found[0]

    def jobs(self, *, limit: int, job_tags: list[str], **_: Any) -> list[FolderJob]:
        self.moment()
        return [job for job in reversed(self.sent) if {job.tag} >= set(job_tags)][:limit]

    def backend(self, name: str) -> Any:
        assert name == ROME.name
        return ROME


def command(folder: str, arguments: list[list[str]], last: int | None, at_once: bool) -> int:
    """Runs command lines in the folder one after the other, until one fails, killed at the moment ``last``."""
    os.chdir(folder)
    moments = Moments(last)
    account = FolderAccount(Path(folder) / "account", at_once=at_once, moment=moments)
    patch = pytest.MonkeyPatch()  # of a process that ends with this
    patch.setattr("mcquack.hardware.services.opening.ibm_service", lambda: account)
    patch.setattr("mcquack.hardware.services.runtime.sent", account.take)
    patch.setattr(runtime.RuntimeService, "limits", property(lambda _: MOST))
    # No test cuts the power, so none has to wait for the disk; a process that is killed loses nothing anyway.
    Ledger._kind = replace(LEDGER, synchronous="OFF")
    for name in NOTES:
        setattr(Ledger, name, _with_moments(getattr(Ledger, name), moments))
    code = 0
    for line in arguments:
        code = code or exit_code(line)
    Path("moments.txt").write_text(str(moments.n))
    return code


def _with_moments(method: Any, moment: Moments) -> Any:
    def called(*arguments: Any, **options: Any) -> Any:
        moment()
        result = method(*arguments, **options)
        moment()
        return result

    return called
