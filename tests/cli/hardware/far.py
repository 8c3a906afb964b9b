"""An account with IBM that takes jobs: their bits are a function of the angles, and they end when they are told to."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from qiskit_ibm_runtime.fake_provider import FakeAlgiers, FakeRomeV2

from tests.hardware.doubles import SECRET, bits_of
from tests.hardware.services.accounts import FarAccount, FarJob

N_QUBITS = 2


def renamed(maker: Any, name: str) -> Any:
    """The snapshot as if it were the device."""
    device = type("Renamed", (maker,), {"backend_name": name})()
    device.name = name
    return device


@dataclass
class WatchedJob(FarJob):
    """Somebody who looks at it may be interrupted."""

    account: Any = None
    n_circuits: int = 0

    def status(self):
        if self.account.interrupts:
            raise KeyboardInterrupt
        return self.state


@dataclass
class BusyAccount(FarAccount):
    """Jobs wait until ``finish``, or are done ``at_once``."""

    devices: tuple[Any, ...] = field(
        default_factory=lambda: (renamed(FakeRomeV2, "ibm_rome"), renamed(FakeAlgiers, "ibm_algiers"))
    )
    at_once: bool = True
    token: str = SECRET
    interrupts: bool = False

    def take(self, program, angles, *, shots, options, mode, tag):
        """What the vendor's samplers do."""
        bits = bits_of(angles, shots=shots, n_qubits=N_QUBITS)
        outcome = [SimpleNamespace(data=SimpleNamespace(meas=SimpleNamespace(array=bits)))]
        state = "DONE" if self.at_once else "QUEUED"
        job = WatchedJob(f"far-{len(self.sent)}", [tag], state, outcome=outcome, account=self, n_circuits=len(angles))
        self.sent.append(job)
        return job

    def finish(self):
        """All that wait are done."""
        for job in self.sent:
            if job.state == "QUEUED":
                job.state = "DONE"
