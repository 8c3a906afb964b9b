import pytest

from mcquack.hardware.cost import Outstanding, outstanding
from mcquack.hardware.jobs.ledger import Ledger
from mcquack.hardware.jobs.running import cancel, noted, submit
from mcquack.hardware.jobs.service import Limits
from mcquack.hardware.sampler import DeviceSampler
from tests.hardware.doubles import FakeService, circuits_of

ASKED = [circuits_of(2, 3), circuits_of(3, 3)]


@pytest.fixture
def sampler(tmp_path):
    """Jobs of at most four circuits with five shots."""
    return DeviceSampler(FakeService(limits=Limits(executions=20), polls=3), ledger=tmp_path / "ledger.sqlite")


def counts(sampler, asked=ASKED, shots=5):
    found = outstanding(sampler, asked, shots=shots)
    return found.n_circuits, found.n_jobs


def test_all_of_it_if_nothing_was_asked_before(sampler):
    assert counts(sampler) == (6 + 9, 2 + 3)
    assert not sampler.ledger.exists()
    assert not sampler.service.calls
    assert counts(sampler, []) == (0, 0)
    assert counts(DeviceSampler(FakeService())) == (15, 2)
    assert Outstanding(n_circuits=1, n_jobs=2) + Outstanding(n_circuits=3) == Outstanding(n_circuits=4, n_jobs=2)


def test_what_is_measured_or_on_its_way_is_not_outstanding(sampler):
    sampler.hamming_counts(ASKED[0], shots=5)
    assert counts(sampler) == (9, 3)
    assert counts(sampler, shots=4) == (15, 2 + 2)
    with Ledger.open(sampler.ledger, write=True) as ledger:
        measurement = noted(ledger, sampler.service, ASKED[1], shots=5)
        events = submit(ledger, sampler.service, measurement)
        next(events)
        events.close()
    assert counts(sampler) == (6, 2)
    with Ledger.open(sampler.ledger, write=True) as ledger:
        list(cancel(ledger, sampler.service, measurement))
    assert counts(sampler) == (9, 3)
