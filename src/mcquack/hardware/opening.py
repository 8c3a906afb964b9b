"""Samplers and facts of devices by name, without asking for Qiskit before one is wanted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

from mcquack.checks import IBM
from mcquack.hardware.cost import Speed
from mcquack.hardware.jobs.ledger import Ledger
from mcquack.hardware.jobs.records import Event
from mcquack.hardware.layout import Coupling, best_ring
from mcquack.hardware.layout.properties import RingProperties, properties_along
from mcquack.hardware.sampler import DeviceSampler
from mcquack.hardware.services.plan import Options

# What devices are called, known without Qiskit.

NOISELESS = "aer"
LEAST_BUSY = "least_busy"
_REMOTE = "ibm_"


def is_remote(name: object) -> bool:
    """Whether it is a real device, which takes an account and costs QPU time, or the choice among those."""
    return isinstance(name, str) and (name == LEAST_BUSY or name.startswith(_REMOTE))


def device_sampler(
    name: str,
    *,
    n_qubits: int,
    n_layers: int,
    options: Options | None = None,
    ring: Sequence[int] | None = None,
    seed: int = 0,
    ledger: str | PathLike[str] | None = None,
    run: str = "",
    on_event: Callable[[Event], object] | None = None,
) -> DeviceSampler:
    """A sampler on the device of that name: "aer", a snapshot as "fake_pittsburgh", "ibm_…" or "least_busy".

    A ledger that has measurements of this device, size, seed, options and run already keeps to their ring: another
    day's calibration, or another ``max_error``, would prefer another, and what was measured would not be found again.
    So does the choice of the least busy device.
    """
    chosen = options or Options()
    known = None if ring is not None else _noted_service(ledger, name, n_qubits, n_layers, chosen, seed=seed, run=run)
    if known is not None:
        service = services().reopened(known, mode=chosen.mode)
    else:
        service = services().open_service(
            name, n_qubits=n_qubits, n_layers=n_layers, options=chosen, seed=seed, ring=ring
        )
    return DeviceSampler(service, ledger=ledger, run=run, on_event=on_event)


def snapshot_properties(
    name: str, *, n_qubits: int, n_layers: int, options: Options | None = None, ring: Sequence[int] | None = None
) -> RingProperties:
    """Errors and times along the best ring of a snapshot, or along the one given."""
    chosen = options or Options()
    coupling = device_coupling(name)
    if ring is None:
        ring = best_ring(
            coupling,
            n_qubits,
            n_layers=n_layers,
            max_error=chosen.max_error,
            allow_faulty=chosen.allow_faulty,
        ).qubits
    return properties_along(coupling, ring, n_layers=n_layers)


def device_coupling(name: str) -> Coupling:
    """The couplers of a device with its last calibration."""
    module = services()
    found: Coupling = module.coupling_of(module.open_backend(name))
    return found


def device_speed(name: str) -> Speed:
    """How fast a device says that it is; what it does not say is as in ``Speed``."""
    module = services()
    known = module.device_of(module.open_backend(name), kind="device")
    delay = {} if known.rep_delay_us is None else {"rep_delay_us": known.rep_delay_us}
    return Speed(clops=known.clops, **delay)


def _noted_service(
    ledger: str | PathLike[str] | None,
    name: str,
    n_qubits: int,
    n_layers: int,
    options: Options,
    *,
    seed: int,
    run: str,
) -> Mapping[str, Any] | None:
    """How the latest measurement like these describes its service, if the ledger has one."""
    if ledger is None or not Path(ledger).is_file():
        return None
    size = {"n_qubits": n_qubits, "n_layers": n_layers}
    options = replace(options, noise="none") if name == NOISELESS else options
    with Ledger.open(ledger) as opened:
        for identity in reversed(opened.ids()):
            noted = opened.summary(identity)
            alike = _is_called(str(noted.service.get("backend")), name)
            alike = alike and all(noted.service.get(key) == value for key, value in size.items())
            alike = alike and noted.label == run and noted.service.get("seed") in (None, seed)
            # A device does not say which noise was asked for, as it has its own.
            if alike and _asked_like(Options.of({"noise": options.noise, **noted.service}), options):
                return noted.service
    return None


def _is_called(device: str, name: str) -> bool:
    return is_remote(device) if name == LEAST_BUSY else device == name


def _asked_like(noted: Options, asked: Options) -> bool:
    """Whether the options that decide what is measured are the same, but for what a service chooses by itself."""
    as_asked = replace(noted, mode=asked.mode, max_error=asked.max_error, allow_faulty=asked.allow_faulty)
    return as_asked == replace(asked, api=noted.api if asked.api == "auto" else asked.api)


def services() -> Any:
    """The part of this package that speaks Qiskit."""
    try:
        return import_module("mcquack.hardware.services.opening")
    except ImportError as error:
        raise IBM.needed(what="a device or a snapshot of one") from error
