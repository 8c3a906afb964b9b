"""How circuits are run on a device: their native form, their place, the jobs, and the services that run them.

``open_device`` gives the engine on a device for a classifier, and ``label`` the labels of samples. ``device_sampler``
opens a device by name, and what it gives measures kernels, estimates what they cost, and keeps all of it in a ledger;
``StoredJobs`` goes on with a ledger. Only ``mcquack.hardware.services`` imports Qiskit, which
``pip install "mcquack[ibm]"`` brings, and only when a device is wanted.
"""

from typing import Any

from mcquack.lazy import lazy_exports

_exported, __dir__, __all__ = lazy_exports(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in ("list_backends", "open_service"):  # these need Qiskit, and say so where it is missing
        from mcquack.hardware.sampler import services

        return getattr(services(), name)
    return _exported(name)
