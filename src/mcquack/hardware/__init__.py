"""How circuits are run on a device: their native form, their place, the jobs, and the services that run them.

``device_sampler`` opens a device by name, and what it gives measures kernels, estimates what they cost, and keeps all
of it in a ledger; ``StoredJobs`` goes on with a ledger. Only ``mcquack.hardware.services`` imports Qiskit, which
``pip install "mcquack[ibm]"`` brings, and only when a device is wanted.
"""

from typing import TYPE_CHECKING, Any

from mcquack.hardware import opening
from mcquack.hardware.cost import Estimate, estimate
from mcquack.hardware.jobs.ledger import Ledger, Measurement
from mcquack.hardware.jobs.running import JobEvent, Waiting
from mcquack.hardware.jobs.service import JobStatus, Limits, Service, Speed
from mcquack.hardware.layout import Coupling, Ring, best_ring, ring_lengths, simulated_ring
from mcquack.hardware.opening import StoredJobs, device_coupling, device_sampler
from mcquack.hardware.qasm import template_qasm3, to_qasm2, to_qasm3
from mcquack.hardware.sampler import DeviceSampler
from mcquack.hardware.services.options import Options, is_remote

if TYPE_CHECKING:
    from mcquack.hardware.services.opening import list_backends, open_service

__all__ = [
    "Coupling",
    "DeviceSampler",
    "Estimate",
    "JobEvent",
    "JobStatus",
    "Ledger",
    "Limits",
    "Measurement",
    "Options",
    "Ring",
    "Service",
    "Speed",
    "StoredJobs",
    "Waiting",
    "best_ring",
    "device_coupling",
    "device_sampler",
    "estimate",
    "is_remote",
    "list_backends",
    "open_service",
    "ring_lengths",
    "simulated_ring",
    "template_qasm3",
    "to_qasm2",
    "to_qasm3",
]


def __getattr__(name: str) -> Any:
    if name in ("list_backends", "open_service"):  # these need Qiskit
        return getattr(opening.services(), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
