"""Overlap circuits on a service, behind the seam that every sampler has."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mcquack.checks import required_count
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import InvalidInputError
from mcquack.hardware.jobs.ledger import Ledger, stored_counts
from mcquack.hardware.jobs.records import Event, Measurement
from mcquack.hardware.jobs.running import Patience, follow, noted
from mcquack.hardware.jobs.service import Service


class DeviceSampler:
    """Measures on a service, and keeps all of it in a ledger.

    The same call again, after a crash or in another process, finds what was measured and sends only what is missing;
    another ``run`` measures anew. Without a ledger this holds as long as the sampler lives. ``on_event`` is told
    whatever happens to a job; ``poll_seconds`` is the one setting of ``patience`` that often needs another value.
    """

    def __init__(
        self,
        service: Service,
        *,
        ledger: str | PathLike[str] | None = None,
        run: str = "",
        on_event: Callable[[Event], object] | None = None,
        poll_seconds: float | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.service = service
        self.ledger = None if ledger is None else Path(fspath(ledger))
        self.run = run
        self.on_event = on_event
        waits = patience or Patience()
        self.patience = waits if poll_seconds is None else replace(waits, poll_seconds=poll_seconds)
        self._turn = threading.Lock()
        self._memory = Ledger.in_memory() if ledger is None else None

    def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> NDArray[np.int64]:
        """How many shots of each circuit found k ones, shape (N, M, n + 1)."""
        shots = required_count("shots", shots)
        measurement = self.measurement(circuits, shots=shots)
        if not measurement.n_circuits:
            return np.zeros((*circuits.shape, circuits.n_qubits + 1), dtype=np.int64)
        with self._turn:  # threads of one process would refuse each other the ledger
            known = self._known_counts(measurement)
            return self._measured_counts(measurement) if known is None else known

    def measurement(self, circuits: OverlapCircuits, *, shots: int) -> Measurement:
        """What the ledger calls these circuits, measured or not."""
        return Measurement(circuits=circuits, shots=shots, service=self.service.description, label=self.run)

    def _known_counts(self, measurement: Measurement) -> NDArray[np.int64] | None:
        """Without writing, as several processes may read, and a finished ledger may be read-only."""
        if self.ledger is None or not self.ledger.is_file():
            return None
        with Ledger.open(self.ledger) as ledger:
            if measurement.id not in ledger or not ledger.summary(measurement.id).is_complete:
                return None
            return stored_counts(ledger, measurement.id)

    def _measured_counts(self, measurement: Measurement) -> NDArray[np.int64]:
        with self._writable() as ledger:
            noted(ledger, self.service, measurement.circuits, shots=measurement.shots, label=measurement.label)
            for event in follow(ledger, self.service, measurement, patience=self.patience):
                if self.on_event is not None:
                    self.on_event(event)
            return stored_counts(ledger, measurement.id)

    @contextmanager
    def _writable(self) -> Iterator[Ledger]:
        if self._memory is not None:
            yield self._memory
        else:
            assert self.ledger is not None
            with Ledger.open(self.ledger, write=True) as ledger:
                yield ledger

    def __repr__(self) -> str:
        device = self.service.description.get("backend", type(self.service).__name__)
        ledger = None if self.ledger is None else str(self.ledger)
        return f"DeviceSampler({device!r}, ledger={ledger!r}, run={self.run!r})"

    # It stands for a connection, which has no copies: clones of an estimator measure with the same one.
    def __sklearn_clone__(self) -> Self:
        return self

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if type(self.service).__reduce__ is object.__reduce__:
            raise InvalidInputError(
                f"{self!r} cannot be pickled, as its service does not say how, and might take an account along: save a "
                "model by its save method, and use one process (n_jobs=None) where an estimator measures."
            )
        # Whoever listens to events does so in this process.
        return _restored, (self.service, self.ledger, self.run, self.patience)


def _restored(service: Service, ledger: Path | None, run: str, patience: Patience) -> DeviceSampler:
    return DeviceSampler(service, ledger=ledger, run=run, patience=patience)
