"""Services, backends and devices by their names."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from qiskit.providers import BackendV2
from qiskit.providers.exceptions import QiskitBackendNotFoundError

from mcquack.checks import require
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.hardware.jobs.service import Service
from mcquack.hardware.layout import best_ring, simulated_ring
from mcquack.hardware.services.account import (
    Device,
    coupling_of,
    device_of,
    explained,
    ibm_service,
    local_devices,
    snapshot,
    unknown_device,
)
from mcquack.hardware.services.general import chosen_qubits
from mcquack.hardware.services.local import LocalService
from mcquack.hardware.services.options import LEAST_BUSY, NOISELESS, Mode, Options, Setup, is_remote
from mcquack.hardware.services.runtime import RuntimeService


def open_service(
    name: str,
    circuit: Circuit,
    *,
    options: Options | None = None,
    seed: int = 0,
    ring: Sequence[int] | None = None,
) -> Service:
    """The service that runs overlap circuits of one size on the device of that name.

    The parameters are those of ``device_sampler``, which also finds the ring that a ledger has kept to.

    >>> feature_map = FeatureMap(n_qubits=2, n_features=4, n_layers=2)
    >>> open_service("fake_rome", feature_map, ring=(3, 4)).description["ring"]
    [3, 4]
    """
    options = Options() if options is None else options
    require(isinstance(options, Options), "options", "Options", options)
    circuit = circuit.for_overlaps()
    account, backend = found_device(name, circuit.n_qubits)
    if ring is None:
        ring = _chosen_ring(backend, circuit, options=options, is_simulated=account is None)
    setup = Setup(
        backend=NOISELESS if backend is None else backend.name,
        circuit=circuit,
        ring=tuple(ring),
        options=options,
        seed=None if account is not None else seed,
    )
    return _service(setup, account, backend)


def reopened(description: Mapping[str, Any], *, mode: Mode = "job") -> Service:
    """The service that once described itself so, with the same ring, to go on with its jobs; new ones in ``mode``."""
    setup = Setup.of(description)
    return opened(replace(setup, options=replace(setup.options, mode=mode)))


def opened(setup: Setup) -> Service:
    """The service of a setup."""
    return _service(setup, *found_device(setup.backend, setup.n_qubits))


def open_backend(name: str) -> BackendV2:
    """The device or snapshot of that name, for what it tells about itself."""
    _, backend = found_device(name, n_qubits=1)
    if backend is None:
        raise InvalidInputError(f"{name} is a simulator and has no couplers; name a device, or a snapshot of one.")
    return backend


def list_backends(*, with_account: bool = False) -> tuple[Device, ...]:
    """The devices on this computer by name, and if wanted those of the account before them, least busy first.

    >>> [device.n_qubits for device in list_backends() if device.name == "fake_pittsburgh"]
    [156]
    """
    if not with_account:
        return local_devices()
    account = ibm_service()
    with explained("the devices of the account could not be listed"):
        found = [
            device_of(backend, pending_jobs=backend.status().pending_jobs)
            for backend in account.backends(simulator=False)
        ]
    return *sorted(found, key=lambda device: (device.pending_jobs or 0, device.name)), *local_devices()


def found_device(name: str, n_qubits: int) -> tuple[Any, BackendV2 | None]:
    """Return the account and the backend of a device; one on this computer has no account, "aer" neither of them."""
    if not is_remote(name):
        return None, None if name == NOISELESS else snapshot(name)
    account = ibm_service()
    with explained(f"the device {name} could not be opened"):
        try:
            if name == LEAST_BUSY:
                return account, account.least_busy(min_num_qubits=n_qubits, simulator=False, operational=True)
            return account, account.backend(name)
        except QiskitBackendNotFoundError:
            others = tuple(backend.name for backend in account.backends())
    raise unknown_device(name, others)


def _chosen_ring(
    backend: BackendV2 | None, circuit: Circuit, *, options: Options, is_simulated: bool
) -> tuple[int, ...]:
    if backend is None:
        return tuple(range(circuit.n_qubits))
    if not isinstance(circuit, FeatureMap):
        return chosen_qubits(circuit, backend.target)
    how: Any = {"n_layers": circuit.n_layers, "max_error": options.max_error, "allow_faulty": options.allow_faulty}
    find = simulated_ring if is_simulated else best_ring
    return find(coupling_of(backend), circuit.n_qubits, **how).qubits


def _service(setup: Setup, account: Any, backend: BackendV2 | None) -> Service:
    if account is None or backend is None:
        return LocalService(setup, backend)
    return RuntimeService(setup, backend, account)
