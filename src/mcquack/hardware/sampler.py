"""Overlap circuits on a device, behind the seam that every sampler has, with a ledger that keeps what is measured.

Devices are opened by name, and nothing needs Qiskit before one is wanted.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

import numpy as np

from mcquack.arrays import IntArray
from mcquack.checks import IBM
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import InvalidInputError
from mcquack.hardware.jobs.ledger import Ledger, Measurement, MeasurementSummary, canonical_json, stored_counts
from mcquack.hardware.jobs.running import JobEvent, Waiting, cancel, follow, noted, parts_of, refresh, submit
from mcquack.hardware.jobs.service import Estimate, Service, Speed, estimate
from mcquack.hardware.layout import Coupling, simulated_ring
from mcquack.hardware.layout.coupling import RingProperties, properties_along
from mcquack.hardware.services.options import LEAST_BUSY, NOISELESS, Options, is_remote


class DeviceSampler:
    """Measures on a service, and keeps all of it in a ledger.

    The same call again, after a crash or in another process, finds what was measured and sends only what is missing.
    Without a ledger this holds as long as the sampler lives.

    Parameters
    ----------
    service : what runs the circuits; ``device_sampler`` opens one by name.
    ledger, run : the file that keeps circuits, jobs and bits, made if there is none, or None for memory; and a name of
        the run: another one measures anew what the ledger has already.
    on_event, waiting : what is told whatever happens to a job, and how long the device is waited for and how often it
        is asked.

    Examples
    --------
    >>> from mcquack.hardware import device_sampler
    >>> feature_map = FeatureMap(n_qubits=2, n_features=2, n_layers=1)
    >>> sampler = device_sampler("aer", feature_map)
    >>> zeros = np.zeros((2, 1, 2, 3))
    >>> circuits = OverlapCircuits(samples=zeros, centroids=zeros[:1], circuit=feature_map)
    >>> print(sampler.estimate([circuits], shots=50))
    100 executions of 2 circuits in 1 job: about 2.0 s of QPU time, between 0.0 s and 2.0 s
    >>> sampler.hamming_counts(circuits, shots=50).tolist()
    [[[50, 0, 0]], [[50, 0, 0]]]
    >>> sampler.estimate([circuits], shots=50).n_circuits
    0
    """

    def __init__(
        self,
        service: Service,
        *,
        ledger: str | PathLike[str] | None = None,
        run: str = "",
        on_event: Callable[[JobEvent], object] | None = None,
        waiting: Waiting | None = None,
    ) -> None:
        self.service = service
        self.ledger = None if ledger is None else Path(fspath(ledger))
        self.run = run
        self.on_event = on_event
        self.waiting = waiting or Waiting()
        self._turn = threading.RLock()
        self._memory = Ledger.in_memory() if ledger is None else None

    def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> IntArray:
        """How many shots of each circuit found k ones, shape (N, M, n + 1); it waits for jobs that take time."""
        measurement = self.measurement(circuits, shots=shots)
        if not measurement.n_circuits:
            return np.zeros((*circuits.shape, circuits.n_qubits + 1), dtype=np.int64)
        with self._turn:  # threads of one process would refuse each other the ledger
            # Without writing first, as several processes may read, and a finished ledger may be read-only.
            with self._readable() as ledger:
                if ledger and measurement.id in ledger and ledger.summary(measurement.id).is_complete:
                    return stored_counts(ledger, measurement.id)
            with self._writable() as ledger:
                noted(ledger, self.service, circuits, shots=measurement.shots, label=self.run)
                self._tell(follow(ledger, self.service, measurement, waiting=self.waiting))
                return stored_counts(ledger, measurement.id)

    def measurement(self, circuits: OverlapCircuits, *, shots: int) -> Measurement:
        return Measurement(circuits=circuits, shots=shots, service=self.service.description, label=self.run)

    def submit(self, asked: Sequence[OverlapCircuits], *, shots: int) -> tuple[Measurement, ...]:
        """Sends what is neither measured nor on its way; ``hamming_counts`` or ``StoredJobs`` wait for the results."""
        sent = []
        with self._turn, self._writable() as ledger:
            for circuits in asked:
                sent.append(noted(ledger, self.service, circuits, shots=shots, label=self.run))
                self._tell(submit(ledger, self.service, sent[-1], waiting=self.waiting))
        return tuple(sent)

    def unsent(self, asked: Sequence[OverlapCircuits], *, shots: int) -> list[int]:
        """The sizes, in circuits, of the jobs that are yet to be sent, without what the ledger or the service has.

        Circuits that are asked for twice are measured once. Nothing is sent, and nothing is written.
        """
        sizes: list[int] = []
        different = {one.id: one for one in (self.measurement(circuits, shots=shots) for circuits in asked)}
        with self._turn, self._readable() as ledger:
            for one in different.values():
                if ledger and one.id in ledger:
                    sizes += [part.n_circuits for part in ledger.summary(one.id).unsent]
                else:
                    sizes += [len(circuits) for circuits in parts_of(one, self.service)]
        return sizes

    def estimate(self, asked: Sequence[OverlapCircuits], *, shots: int) -> Estimate:
        """What ``unsent`` takes of the device's time: circuits, executions, jobs and seconds; all may be 0."""
        sizes = self.unsent(asked, shots=shots)
        # No circuits cost nothing, whichever they are.
        circuit = asked[0].circuit if asked else FeatureMap.of_angles(n_qubits=1, n_layers=1)
        return estimate(sum(sizes), shots, circuit=circuit, n_jobs=len(sizes), speed=self.service.speed)

    def _tell(self, events: Iterable[JobEvent]) -> None:
        for event in events:
            if self.on_event is not None:
                self.on_event(event)

    def _readable(self) -> AbstractContextManager[Ledger | None]:
        if self.ledger is None or not self.ledger.is_file():
            return nullcontext(self._memory)
        return Ledger.open(self.ledger)

    def _writable(self) -> AbstractContextManager[Ledger]:
        if self.ledger is not None:
            return Ledger.open(self.ledger, write=True)
        assert self._memory is not None
        return nullcontext(self._memory)

    def __repr__(self) -> str:
        device = self.service.description.get("backend", type(self.service).__name__)
        ledger = None if self.ledger is None else str(self.ledger)
        return f"DeviceSampler({device!r}, ledger={ledger!r}, run={self.run!r})"

    # It stands for a connection, which has no copies: clones of an estimator measure with the same one.
    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self

    __copy__ = __sklearn_clone__ = __deepcopy__

    def __reduce__(self) -> tuple[Any, ...]:
        if type(self.service).__reduce__ is object.__reduce__:
            raise InvalidInputError(
                f"{self!r} cannot be pickled, as its service does not say how, and might take an account along: save a "
                "model by its save method, and use one process (n_jobs=None) where an estimator measures."
            )
        # Whoever listens to events does so in this process.
        return partial(DeviceSampler, ledger=self.ledger, run=self.run, waiting=self.waiting), (self.service,)


def device_sampler(
    name: str,
    circuit: Circuit,
    *,
    options: Options | None = None,
    ring: Sequence[int] | None = None,
    seed: int = 0,
    ledger: str | PathLike[str] | None = None,
    run: str = "",
    on_event: Callable[[JobEvent], object] | None = None,
) -> DeviceSampler:
    """A sampler on the device of that name.

    A ledger that has measurements of this device, size, seed, options and run already keeps to their ring: another
    day's calibration, or another ``max_error``, would prefer another, and what was measured would not be found again.
    So does the choice of the least busy device.

    Parameters
    ----------
    name : "aer" is a simulator without errors, "fake_pittsburgh" a snapshot of a device with its errors, "ibm_…" a
        device, and "least_busy" the one of them that is large enough and has the shortest queue.
    circuit, options : the feature map, the paper's or any other, and how its overlaps are run.
    ring, seed : the device's qubits in the order of the circuit's, None for the best; and the seed of simulations.
    ledger, run, on_event : see ``DeviceSampler``.

    Examples
    --------
    >>> from mcquack.circuits import FeatureMap
    >>> device_sampler("fake_rome", FeatureMap(n_qubits=2, n_features=4, n_layers=2), ring=(0, 1))
    DeviceSampler('fake_rome', ledger=None, run='')
    """
    options = options or Options()
    circuit = circuit.for_overlaps()
    known = None if ring is not None else _noted_service(ledger, name, circuit, options, seed=seed, run=run)
    if known is not None:
        service = services().reopened(known, mode=options.mode)
    else:
        service = services().open_service(name, circuit, options=options, seed=seed, ring=ring)
    return DeviceSampler(service, ledger=ledger, run=run, on_event=on_event)


def snapshot_properties(
    name: str, *, n_qubits: int, n_layers: int, options: Options | None = None, ring: Sequence[int] | None = None
) -> RingProperties:
    """Errors and times along the best ring of a device or snapshot, or along the one given, for a noisy twin.

    If every ring has faults, it is one with the fewest, and a LayoutWarning says what takes their place.
    """
    options, coupling = options or Options(), device_coupling(name)
    if ring is None:
        how: Any = {"max_error": options.max_error, "allow_faulty": options.allow_faulty}
        ring = simulated_ring(coupling, n_qubits, n_layers=n_layers, **how).qubits
    return properties_along(coupling, ring, n_layers=n_layers)


def device_coupling(name: str) -> Coupling:
    """The couplers of a device with its last calibration.

    >>> device_coupling("fake_rome").edges
    ((0, 1), (1, 2), (2, 3), (3, 4))
    """
    module = services()
    found: Coupling = module.coupling_of(module.open_backend(name))
    return found


class StoredJobs:
    """What a ledger has not measured yet, and how to go on with it, on the services that it was begun on.

    Every step yields what happens to the jobs, and may be stopped and taken up again at any time.

    Parameters
    ----------
    ledger : the file that a sampler has written.
    only : the start of the id of one measurement; None for all.
    reopened : opens the service that described itself so; by default by the name of its device.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from mcquack.circuits import FeatureMap, OverlapCircuits
    >>> feature_map = FeatureMap(n_qubits=2, n_features=2, n_layers=1)
    >>> angles = np.zeros((3, 1, 2, 3))
    >>> circuits = OverlapCircuits(samples=angles, centroids=angles[:1], circuit=feature_map)
    >>> with TemporaryDirectory() as folder:
    ...     sampler = device_sampler("aer", feature_map, ledger=f"{folder}/jobs.sqlite")
    ...     _ = sampler.submit([circuits], shots=10)  # and the process ends, and with it the simulation
    ...     [event.kind for event in StoredJobs(f"{folder}/jobs.sqlite").resume()]
    ['lost', 'resent', 'done']
    """

    def __init__(
        self,
        ledger: str | PathLike[str],
        *,
        only: str | None = None,
        reopened: Callable[[Mapping[str, Any]], Service] | None = None,
    ) -> None:
        self.ledger = Path(ledger)
        self.only = only
        self._reopened = reopened
        self._services: dict[str, Service] = {}

    def summaries(self) -> list[MeasurementSummary]:
        with Ledger.open(self.ledger) as ledger:
            ids = ledger.ids()
            wanted = [identity for identity in ids if identity.startswith(self.only or "")]
            if self.only is not None and not wanted:
                known = ", ".join(identity[:12] for identity in ids)
                raise InvalidInputError(
                    f"{self.ledger} has no measurement {self.only!r}; it has {known or 'none at all'}."
                )
            return [ledger.summary(identity) for identity in wanted]

    def estimates(self) -> list[tuple[str, Estimate]]:
        """What it costs to send what was never sent, lost, cancelled or failed, by the device that costs QPU time."""
        found: dict[tuple[str, int, Circuit], list[int]] = {}
        speeds: dict[str, Speed] = {}
        for each in self.summaries():
            backend, unsent = str(each.service.get("backend")), [part.n_circuits for part in each.unsent]
            if unsent and is_remote(backend):
                found.setdefault((backend, each.shots, each.circuit), []).extend(unsent)
                speeds[backend] = self._service(each.service).speed
        return [
            (name, estimate(sum(sizes), shots, circuit=circuit, n_jobs=len(sizes), speed=speeds[name]))
            for (name, shots, circuit), sizes in found.items()
        ]

    def resume(self) -> Iterator[JobEvent]:
        """Waits for all jobs; what was never sent, or lost, cancelled or failed, is sent again."""
        return self._each(follow, lambda each: not each.is_complete)

    def refresh(self) -> Iterator[JobEvent]:
        """Asks once how far the jobs are, and keeps what is done."""
        return self._each(refresh, _has_jobs_to_ask_for)

    def cancel(self) -> Iterator[JobEvent]:
        """Ends the jobs that are on their way; what a process that died began to cancel is cancelled, too."""
        return self._each(cancel, _has_jobs_to_ask_for)

    def _each(
        self, step: Callable[..., Iterator[JobEvent]], is_wanted: Callable[[MeasurementSummary], bool]
    ) -> Iterator[JobEvent]:
        for each in filter(is_wanted, self.summaries()):
            with Ledger.open(self.ledger, write=True) as ledger:
                yield from step(ledger, self._service(each.service), ledger.measurement(each.id))

    def _service(self, description: Mapping[str, Any]) -> Service:
        key = canonical_json(description)
        if key not in self._services:
            self._services[key] = (self._reopened or services().reopened)(description)
        return self._services[key]


def _has_jobs_to_ask_for(summary: MeasurementSummary) -> bool:
    return any(part.is_on_its_way or part.is_being_cancelled for part in summary.parts)


def _noted_service(
    path: str | PathLike[str] | None, name: str, circuit: Circuit, options: Options, *, seed: int, run: str
) -> Mapping[str, Any] | None:
    """How the latest measurement like these describes its service, if the ledger has one."""
    if path is None or not Path(path).is_file():
        return None
    options = replace(options, noise="none") if name == NOISELESS else options
    with Ledger.open(path) as ledger:
        for identity in reversed(ledger.ids()):
            noted = ledger.summary(identity)
            told, backend = noted.service, str(noted.service.get("backend"))
            is_called = is_remote(backend) if name == LEAST_BUSY else backend == name
            if not is_called or noted.label != run or told.get("seed") not in (None, seed):
                continue
            if noted.circuit != circuit:
                continue
            # What decides nothing of what is measured, or is left to the service, may be another; and a device does not
            # say which noise was asked for, as it has its own.
            theirs = Options.of({"noise": options.noise, **told})
            free: Any = {"mode": options.mode, "max_error": options.max_error, "allow_faulty": options.allow_faulty}
            if options.api == "auto":
                free["api"] = "auto"
            if replace(theirs, **free) == options:
                return noted.service
    return None


def services() -> Any:
    """The module that opens services, which needs Qiskit; MissingDependencyError says how to install it."""
    try:
        return import_module("mcquack.hardware.services.opening")
    except ImportError as error:
        raise IBM.needed(what="a device or a snapshot of one") from error
