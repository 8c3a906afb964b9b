"""Overlap circuits on a service, behind the seam that every sampler has, with a ledger that keeps what is measured."""

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

import numpy as np

from mcquack.arrays import IntArray
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import InvalidInputError
from mcquack.hardware.cost import Estimate, estimate
from mcquack.hardware.jobs.ledger import Ledger, Measurement, stored_counts
from mcquack.hardware.jobs.running import JobEvent, Waiting, follow, noted, parts_of, submit
from mcquack.hardware.jobs.service import Service


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
        circuit = (
            asked[0].circuit if asked else FeatureMap.of_angles(n_qubits=1, n_layers=1)
        )  # no circuits cost nothing
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
