"""Devices by name: simulators here, noisy twins of devices, their snapshots, and the devices themselves.

:func:`open_device` gives the engine that a classifier takes, :func:`open_sampler` what counts for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import Any, Self

from mcquack.arrays import IntArray
from mcquack.checks import did_you_mean, require
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits, Sampler
from mcquack.errors import InvalidInputError
from mcquack.hardware.sampler import device_sampler, snapshot_properties
from mcquack.hardware.services.options import Options
from mcquack.simulators.engine import GradientRule
from mcquack.simulators.noise import AACHEN, PITTSBURGH, DeviceCalibration
from mcquack.simulators.samplers import NoisySampler, SimulatedSampler
from mcquack.simulators.shots import SampledEngine

SIMULATOR = "simulator"
TWIN = "twin:"
PAPER_DEVICES: Mapping[str, DeviceCalibration] = MappingProxyType({"pittsburgh": PITTSBURGH, "aachen": AACHEN})


def is_simulated_here(name: str) -> bool:
    """Whether our own simulators answer to it, which need neither Qiskit nor jobs."""
    return name == SIMULATOR or name.startswith(TWIN)


def open_sampler(
    name: str,
    feature_map: Circuit,
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

    Parameters
    ----------
    name : "simulator" draws shots from exact distributions. "twin:pittsburgh" and "twin:aachen" have the noise of the
        paper's devices, "twin:fake_…" that of a snapshot, qubit by qubit, in our own simulator. All else is run by
        Qiskit: "aer", a snapshot as "fake_pittsburgh", a device as "ibm_pittsburgh", or "least_busy".
    feature_map : The circuit. Of the paper's, the numbers of qubits and layers decide where on the device its ring
        lies; any other is laid out by Qiskit's transpiler, and has no twin.
    options : How a service runs jobs.
    ring : The qubits to take, in order; by default those that err least.
    seed : Of simulations: same seed, same counts.
    ledger, run, on_event : The file that keeps jobs and raw bits of what Qiskit runs, by default memory; another name
        of the run measures anew; a callable that is told what becomes of jobs.
    n_threads : Threads of our own simulators.

    Examples
    --------
    >>> from mcquack import FeatureMap
    >>> sampler = open_sampler("twin:pittsburgh", FeatureMap(n_qubits=4, n_features=4, n_layers=1))
    >>> type(sampler).__name__
    'NoisySampler'
    """
    require(isinstance(name, str), "name", "the name of a simulator or a device", name)
    if name == SIMULATOR:
        return SimulatedSampler(seed=seed, n_threads=n_threads)
    if name.startswith(TWIN):
        if not isinstance(feature_map, FeatureMap):
            raise InvalidInputError(
                f"{name} has noise for the feature map of the paper alone; for any other circuit use a snapshot of a "
                f'device, such as "fake_pittsburgh", "aer", or "{SIMULATOR}".'
            )
        width: dict[str, Any] = {"n_qubits": feature_map.n_qubits, "n_layers": feature_map.n_layers}
        calibration = _calibration(name, **width, options=options, ring=ring)
        return NoisySampler(calibration, seed=seed, n_threads=n_threads)
    # The names of ours are unknown to whoever is asked next.
    if ours := did_you_mean(name, [SIMULATOR], otherwise=""):
        raise InvalidInputError(f"there is no device {name!r}: {ours}")
    return device_sampler(
        name, feature_map, options=options, ring=ring, seed=seed, ledger=ledger, run=run, on_event=on_event
    )


class NamedSampler:
    """A sampler that ``open_sampler`` opens by its name when first asked, as only then the circuits are known."""

    def __init__(self, name: str, **arguments: Any) -> None:
        require(isinstance(name, str), "name", "the name of a simulator or a device", name)
        self.name = name
        self.arguments = arguments
        self._opened: dict[Circuit, Sampler] = {}

    def opened(self, circuits: OverlapCircuits) -> Sampler:
        circuit = circuits.circuit
        if circuit not in self._opened:
            self._opened[circuit] = open_sampler(self.name, circuit, **self.arguments)
        return self._opened[circuit]

    def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> IntArray:
        return self.opened(circuits).hamming_counts(circuits, shots=shots)

    def __repr__(self) -> str:
        return f"NamedSampler({self.name!r})"

    # It stands for a connection, which has no copies: clones of an estimator measure with the same one.
    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self

    __copy__ = __deepcopy__


def open_device(
    name: str,
    *,
    shots: int,
    tolerance: int | None = None,
    training_tolerance: int | None = None,
    gradient: GradientRule = "spsa",
    budget: int | None = None,
    **arguments: Any,
) -> SampledEngine:
    """The engine on a device, a snapshot or a simulator, for ``McQuackClassifier(engine=…)``; opened when first used.

    Parameters
    ----------
    name : As in :func:`open_sampler`: "ibm_…", "least_busy", "fake_…", "aer", "simulator" or "twin:…".
    shots : Measurements for each entry of the kernel.
    tolerance, training_tolerance, gradient, budget : As in :class:`mcquack.simulators.SampledEngine`.
    **arguments : All others of :func:`open_sampler`, such as ``ledger``, ``options`` and ``seed``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mcquack import McQuackClassifier, open_device
    >>> X, y = load_iris(return_X_y=True)
    >>> model = McQuackClassifier(4, 1, epochs=2, feature_map="device", random_state=0).fit(X, y)
    >>> model.set_params(engine=open_device("simulator", shots=100)).predict(X[:2]).tolist()
    [0, 0]
    """
    return SampledEngine(
        NamedSampler(name, **arguments),
        shots=shots,
        tolerance=tolerance,
        training_tolerance=training_tolerance,
        gradient=gradient,
        budget=budget,
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
