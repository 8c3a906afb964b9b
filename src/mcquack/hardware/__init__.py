"""How circuits are run on a device: their native form, their place, the jobs, and the services that run them.

``device_sampler`` opens a device by name, and what it gives measures kernels, estimates what they cost, and keeps all
of it in a ledger; ``StoredJobs`` goes on with a ledger. Only ``mcquack.hardware.services`` imports Qiskit, which
``pip install "mcquack[ibm]"`` brings; importing this package needs nothing of that.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcquack.hardware.cost import Estimate, estimate
    from mcquack.hardware.jobs.ledger import Ledger, Measurement, stored_counts
    from mcquack.hardware.jobs.running import JobEvent, Waiting, cancel, follow, noted, refresh, submit
    from mcquack.hardware.jobs.service import JobStatus, Limits, Service, Speed
    from mcquack.hardware.layout import Coupling, Ring, best_ring, ring_lengths
    from mcquack.hardware.native import angle_sets
    from mcquack.hardware.opening import StoredJobs, device_coupling, device_sampler, snapshot_properties
    from mcquack.hardware.qasm import template_qasm3, to_qasm2, to_qasm3
    from mcquack.hardware.sampler import DeviceSampler, ListeningSampler, RememberingSampler
    from mcquack.hardware.services.opening import list_backends, open_service
    from mcquack.hardware.services.options import Options

_HOMES = {
    "cost": ("Estimate", "estimate"),
    "jobs.ledger": ("Ledger", "Measurement", "stored_counts"),
    "jobs.running": ("JobEvent", "Waiting", "cancel", "follow", "noted", "refresh", "submit"),
    "jobs.service": ("JobStatus", "Limits", "Service", "Speed"),
    "layout": ("Coupling", "Ring", "best_ring", "ring_lengths"),
    "native": ("angle_sets",),
    "opening": ("StoredJobs", "device_coupling", "device_sampler", "snapshot_properties"),
    "qasm": ("template_qasm3", "to_qasm2", "to_qasm3"),
    "sampler": ("DeviceSampler", "ListeningSampler", "RememberingSampler"),
    "services.opening": ("list_backends", "open_service"),  # these need Qiskit
    "services.options": ("Options",),
}

__all__ = [
    "Coupling",
    "DeviceSampler",
    "Estimate",
    "JobEvent",
    "JobStatus",
    "Ledger",
    "Limits",
    "ListeningSampler",
    "Measurement",
    "Options",
    "RememberingSampler",
    "Ring",
    "Service",
    "Speed",
    "StoredJobs",
    "Waiting",
    "angle_sets",
    "best_ring",
    "cancel",
    "device_coupling",
    "device_sampler",
    "estimate",
    "follow",
    "list_backends",
    "noted",
    "open_service",
    "refresh",
    "ring_lengths",
    "snapshot_properties",
    "stored_counts",
    "submit",
    "template_qasm3",
    "to_qasm2",
    "to_qasm3",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
