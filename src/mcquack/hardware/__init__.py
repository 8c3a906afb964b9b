"""How circuits are run on a device: their native form, their place, the jobs, and the services that run them.

``open_device`` gives the engine on a device for a classifier, and ``label`` the labels of samples. ``device_sampler``
opens a device by name, and what it gives measures kernels, estimates what they cost, and keeps all of it in a ledger;
``StoredJobs`` goes on with a ledger. Only ``mcquack.hardware.services`` imports Qiskit, which
``pip install "mcquack[ibm]"`` brings, and only when a device is wanted.
"""

from typing import TYPE_CHECKING, Any

from mcquack.lazy import lazy_exports

if TYPE_CHECKING:
    from mcquack.hardware.cost import Estimate, estimate
    from mcquack.hardware.devices import open_device, open_sampler
    from mcquack.hardware.jobs.ledger import Ledger, Measurement
    from mcquack.hardware.jobs.running import JobEvent, Waiting
    from mcquack.hardware.jobs.service import JobStatus, Limits, Service, Speed
    from mcquack.hardware.labelling import label
    from mcquack.hardware.layout import Coupling, Ring, best_ring, ring_lengths, simulated_ring
    from mcquack.hardware.opening import StoredJobs, device_coupling, device_sampler
    from mcquack.hardware.qasm import template_qasm3, to_qasm2, to_qasm3
    from mcquack.hardware.sampler import DeviceSampler
    from mcquack.hardware.services.opening import list_backends, open_service
    from mcquack.hardware.services.options import Options, is_remote

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
    "label",
    "list_backends",
    "open_device",
    "open_sampler",
    "open_service",
    "ring_lengths",
    "simulated_ring",
    "template_qasm3",
    "to_qasm2",
    "to_qasm3",
]

_exported, __dir__ = lazy_exports(
    __name__,
    __all__,
    {
        "mcquack.hardware.cost": ("Estimate", "estimate"),
        "mcquack.hardware.devices": ("open_device", "open_sampler"),
        "mcquack.hardware.jobs.ledger": ("Ledger", "Measurement"),
        "mcquack.hardware.jobs.running": ("JobEvent", "Waiting"),
        "mcquack.hardware.jobs.service": ("JobStatus", "Limits", "Service", "Speed"),
        "mcquack.hardware.labelling": ("label",),
        "mcquack.hardware.layout": ("Coupling", "Ring", "best_ring", "ring_lengths", "simulated_ring"),
        "mcquack.hardware.opening": ("StoredJobs", "device_coupling", "device_sampler"),
        "mcquack.hardware.qasm": ("template_qasm3", "to_qasm2", "to_qasm3"),
        "mcquack.hardware.sampler": ("DeviceSampler",),
        "mcquack.hardware.services.options": ("Options", "is_remote"),
    },
)


def __getattr__(name: str) -> Any:
    if name in ("list_backends", "open_service"):  # these need Qiskit
        from mcquack.hardware.opening import services

        return getattr(services(), name)
    return _exported(name)
