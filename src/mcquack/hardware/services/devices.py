"""The devices that can be named: snapshots of real ones, a simulator without errors, and those of an account."""

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from qiskit.providers import BackendV2
from qiskit_ibm_runtime import fake_provider

from mcquack.checks import did_you_mean, is_number
from mcquack.errors import InvalidInputError
from mcquack.hardware.names import LEAST_BUSY, NOISELESS

Kind = Literal["simulator", "snapshot", "device"]


@dataclass(frozen=True, kw_only=True)
class Device:
    """What to choose a device by; None is unknown. ``clops`` are layers of a standard circuit per second."""

    name: str
    kind: Kind
    n_qubits: int | None = None
    processor: str | None = None
    two_qubit_gate: str | None = None
    clops: int | None = None
    rep_delay_us: float | None = None
    pending_jobs: int | None = None


def local_devices() -> tuple[Device, ...]:
    """All that run on this computer, the largest first."""
    found = [device_of(_made(name), kind="snapshot") for name in _snapshots()]
    ordered = sorted(found, key=lambda device: (-(device.n_qubits or 0), device.name))
    return Device(name=NOISELESS, kind="simulator"), *ordered


def is_local(name: str) -> bool:
    """Whether a name is that of a device on this computer."""
    return name == NOISELESS or name in _snapshots()


def snapshot(name: str) -> BackendV2:
    """The device as it was on the day of its snapshot."""
    if name not in _snapshots():
        raise unknown_device(name)
    return _made(name)


def unknown_device(name: object, others: tuple[str, ...] = ()) -> InvalidInputError:
    """What to raise for a name that nobody has, with those that are close."""
    known = [*others, NOISELESS, LEAST_BUSY, *_snapshots()]
    # Devices are known by their cities, and few remember what comes before.
    cities = {known_name.removeprefix("fake_").removeprefix("ibm_"): known_name for known_name in reversed(known)}
    if isinstance(name, str) and name.lower() in cities:
        hint = f"did you mean {cities[name.lower()]}?"
    else:
        hint = did_you_mean(
            name,
            known,
            otherwise=f"there are {NOISELESS}, {LEAST_BUSY}, the ibm_… of your account, and snapshots such as "
            "fake_pittsburgh; list_backends shows all.",
        )
    return InvalidInputError(f"there is no device {name!r}: {hint}")


def device_of(backend: Any, *, kind: Kind, pending_jobs: int | None = None) -> Device:
    """What the configuration of a device says; that of a snapshot is read without its calibration."""
    known = backend.configuration()
    processor = getattr(known, "processor_type", None) or {}
    family, revision = (str(processor.get(name) or "") for name in ("family", "revision"))
    delay = getattr(known, "default_rep_delay", None)
    # Some snapshots say "None", in words.
    speeds = [getattr(known, name, None) for name in ("clops_h", "clops")]
    clops = next((speed for speed in speeds if is_number(speed)), None)
    gates = [gate for gate in ("cz", "ecr", "cx") if gate in known.basis_gates]
    return Device(
        name=backend.name,
        kind=kind,
        n_qubits=int(known.n_qubits),
        processor=f"{family} r{revision}" if family and revision else family or None,
        two_qubit_gate=gates[0] if gates else None,
        clops=None if clops is None else int(clops),
        # Qiskit gives it in seconds.
        rep_delay_us=delay * 1e6 if delay else None,
        pending_jobs=pending_jobs,
    )


@cache
def _snapshots() -> dict[str, type[BackendV2]]:
    """The classes of the vendor, by the names of their devices."""
    classes = [maker for maker in vars(fake_provider).values() if isinstance(maker, type)]
    named = {getattr(maker, "backend_name", None): maker for maker in classes}
    return {name: maker for name, maker in named.items() if isinstance(name, str)}


def _made(name: str) -> BackendV2:
    with warnings.catch_warnings():
        # One warns that its numbers are invented; the wish for that device is answer enough.
        warnings.filterwarnings("ignore", message="Properties of fake_", category=UserWarning)
        return _snapshots()[name]()
