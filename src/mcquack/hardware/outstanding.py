"""What is still to be sent of what is wanted, so that nobody is asked to pay for what a ledger has."""

from collections.abc import Sequence
from dataclasses import dataclass

from mcquack.circuits.overlap import OverlapCircuits
from mcquack.hardware.circuit.euler import n_angles
from mcquack.hardware.jobs.ledger import Ledger
from mcquack.hardware.jobs.records import Part
from mcquack.hardware.jobs.splitting import split
from mcquack.hardware.sampler import DeviceSampler


@dataclass(frozen=True, kw_only=True)
class Outstanding:
    """Circuits that are neither measured nor on their way, and the jobs that they take."""

    n_circuits: int = 0
    n_jobs: int = 0

    def __add__(self, other: "Outstanding") -> "Outstanding":
        return Outstanding(n_circuits=self.n_circuits + other.n_circuits, n_jobs=self.n_jobs + other.n_jobs)


def outstanding(sampler: DeviceSampler, asked: Sequence[OverlapCircuits], *, shots: int) -> Outstanding:
    """Of all that is asked of the sampler, what its ledger lacks."""
    found = (_outstanding(sampler, circuits, shots=shots) for circuits in asked)
    return sum(found, start=Outstanding())


def unsent(parts: Sequence[Part]) -> Outstanding:
    """Of what a ledger has noted, what is neither measured nor on its way."""
    left = [part for part in parts if not part.is_measured and not part.is_on_its_way]
    return Outstanding(n_circuits=sum(part.n_circuits for part in left), n_jobs=len(left))


def _outstanding(sampler: DeviceSampler, circuits: OverlapCircuits, *, shots: int) -> Outstanding:
    measurement = sampler.measurement(circuits, shots=shots)
    if sampler.ledger is not None and sampler.ledger.is_file():
        with Ledger.open(sampler.ledger) as ledger:
            if measurement.id in ledger:
                return unsent(ledger.parts(measurement.id))
    n_parameters = n_angles(circuits.n_qubits, circuits.n_layers)
    jobs = split(measurement.n_circuits, shots=shots, n_parameters=n_parameters, limits=sampler.service.limits)
    return Outstanding(n_circuits=measurement.n_circuits, n_jobs=len(jobs))
