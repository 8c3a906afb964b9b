"""Samplers by name: simulators here, noisy twins of devices, their snapshots, and the devices themselves."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import Any

from mcquack.checks import did_you_mean, require
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import Sampler
from mcquack.errors import InvalidInputError
from mcquack.hardware.opening import device_sampler, snapshot_properties
from mcquack.hardware.services.options import Options
from mcquack.simulators.noise import AACHEN, PITTSBURGH, DeviceCalibration
from mcquack.simulators.samplers import NoisySampler, SimulatedSampler

SIMULATOR = "simulator"
TWIN = "twin:"
PAPER_DEVICES: Mapping[str, DeviceCalibration] = MappingProxyType({"pittsburgh": PITTSBURGH, "aachen": AACHEN})


def is_simulated_here(name: str) -> bool:
    """Whether our own simulators answer to it, which need neither Qiskit nor jobs."""
    return name == SIMULATOR or name.startswith(TWIN)


def open_sampler(
    name: str,
    feature_map: FeatureMap,
    *,
    options: Options | None = None,
    ring: Sequence[int] | None = None,
    seed: int = 0,
    ledger: str | PathLike[str] | None = None,
    run: str = "",
    on_event: Callable[[Any], object] | None = None,
    n_threads: int | None = None,
) -> Sampler:
    """Whatever of this name can run the overlap circuits of a feature map.

    "simulator" draws shots from exact distributions. "twin:pittsburgh" and "twin:aachen" have the noise of the paper's
    devices, "twin:fake_…" that of a snapshot, qubit by qubit, in our own simulator. All else is run by Qiskit: "aer", a
    snapshot as "fake_pittsburgh", a device as "ibm_pittsburgh", or "least_busy"; these keep what they measure in
    ``ledger``, and measure anew for another ``run``.
    """
    require(isinstance(name, str), "name", "the name of a simulator or a device", name)
    if name == SIMULATOR:
        return SimulatedSampler(seed=seed, n_threads=n_threads)
    size: dict[str, Any] = {"n_qubits": feature_map.n_qubits, "n_layers": feature_map.n_layers}
    if name.startswith(TWIN):
        calibration = _calibration(name, **size, options=options, ring=ring)
        return NoisySampler(calibration, seed=seed, n_threads=n_threads)
    # The names of ours are unknown to whoever is asked next.
    if ours := did_you_mean(name, [SIMULATOR], otherwise=""):
        raise InvalidInputError(f"there is no device {name!r}: {ours}")
    return device_sampler(
        name, **size, options=options, ring=ring, seed=seed, ledger=ledger, run=run, on_event=on_event
    )


def _calibration(name: str, **asked: Any) -> DeviceCalibration:
    """The noise of a twin: that of the paper's device, or of a snapshot or a device as it is now."""
    device = name.removeprefix(TWIN)
    if device in PAPER_DEVICES:
        return PAPER_DEVICES[device]
    if not device.startswith(("fake_", "ibm_")):
        known = [TWIN + paper for paper in PAPER_DEVICES]
        hint = did_you_mean(
            name, known, otherwise=f"there are {', '.join(known)}, and those of snapshots, as {TWIN}fake_torino."
        )
        raise InvalidInputError(f"there is no twin {name!r}: {hint}")
    return DeviceCalibration(**snapshot_properties(device, **asked).values)
