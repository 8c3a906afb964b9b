"""A sampler measures what its ledger lacks, says first what that costs, and gives no account away."""

import copy
import pickle
import sqlite3
import sys
import threading
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from mcquack.errors import DeviceError, InvalidInputError, StoreError
from mcquack.hardware.jobs.ledger import Ledger, hamming_histograms
from mcquack.hardware.jobs.running import JobEvent, Waiting, cancel, follow, noted, submit
from mcquack.hardware.jobs.service import Limits, Speed, estimate
from mcquack.hardware.sampler import DeviceSampler
from tests.database.permissions import protect, without_privileges
from tests.hardware.doubles import SECRET, Crash, FakeService, circuits_of, hasty
from tests.hardware.overlaps import paper_overlaps, ring_map


class CarefulService(FakeService):
    def __reduce__(self):
        return _careful_service, (self.device,)


def _careful_service(device):
    return CarefulService(device=device)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


@given(
    n_samples=st.integers(0, 4),
    n_centroids=st.integers(1, 3),
    n_qubits=st.integers(1, 10),
    n_layers=st.integers(1, 3),
    shots=st.integers(1, 20),
    executions=st.integers(20, 200),
)
def test_counts_are_whole_and_do_not_depend_on_how_jobs_are_split(
    n_samples, n_centroids, n_qubits, n_layers, shots, executions
):
    circuits = circuits_of(n_samples, n_centroids, n_qubits=n_qubits, n_layers=n_layers)
    counts = DeviceSampler(FakeService(n_qubits=n_qubits)).hamming_counts(circuits, shots=shots)
    assert counts.shape == (n_samples, n_centroids, n_qubits + 1)
    assert counts.dtype == np.int64
    assert np.all(counts.sum(axis=-1) == shots)
    small = FakeService(n_qubits=n_qubits, limits=Limits(executions=executions))
    np.testing.assert_array_equal(DeviceSampler(small).hamming_counts(circuits, shots=shots), counts)


@pytest.mark.parametrize("in_file", [True, False])
def test_the_same_call_again_sends_nothing(path, in_file):
    service = FakeService()
    sampler = DeviceSampler(service, ledger=path if in_file else None)
    first = sampler.hamming_counts(circuits_of(2, 3), shots=9)
    n_calls = service.calls.total()
    np.testing.assert_array_equal(sampler.hamming_counts(circuits_of(2, 3), shots=9), first)
    assert service.calls.total() == n_calls
    sampler.hamming_counts(circuits_of(2, 3), shots=8)
    sampler.hamming_counts(circuits_of(2, 3, seed=1), shots=9)
    assert len(service.submitted) == 3


def test_another_process_finds_what_was_measured_and_another_run_measures_anew(path):
    service = FakeService()
    first = DeviceSampler(service, ledger=path).hamming_counts(circuits_of(2, 3), shots=9)
    elsewhere = FakeService()
    again = DeviceSampler(elsewhere, ledger=str(path)).hamming_counts(circuits_of(2, 3), shots=9)
    np.testing.assert_array_equal(again, first)
    assert not elsewhere.submitted
    DeviceSampler(elsewhere, ledger=path, run="second").hamming_counts(circuits_of(2, 3), shots=9)
    DeviceSampler(FakeService(device="other"), ledger=path).hamming_counts(circuits_of(2, 3), shots=9)
    assert len(elsewhere.submitted) == 1
    with Ledger.open(path) as ledger:
        labels = [(ledger.summary(one).label, ledger.summary(one).service["backend"]) for one in ledger.ids()]
    assert labels == [("", "fake"), ("second", "fake"), ("", "other")]


@pytest.mark.parametrize("in_file", [True, False])
def test_after_a_crash_the_same_call_goes_on(path, in_file):
    service = FakeService(limits=Limits(executions=18), faults=[None, None, None, None, "crash_after"])
    sampler = DeviceSampler(service, ledger=path if in_file else None)
    with pytest.raises(Crash):
        sampler.hamming_counts(circuits_of(2, 3), shots=9)
    counts = sampler.hamming_counts(circuits_of(2, 3), shots=9)
    np.testing.assert_array_equal(counts, DeviceSampler(FakeService()).hamming_counts(circuits_of(2, 3), shots=9))
    assert len(service.submitted) == 3


def test_no_samples_need_no_job(path):
    service = FakeService()
    counts = DeviceSampler(service, ledger=path).hamming_counts(circuits_of(0, 3), shots=9)
    assert counts.shape == (0, 3, 4)
    assert not service.calls
    assert not path.exists()


@pytest.mark.parametrize("shots", [0, -1, 1.5, True, "9", None])
def test_shots_that_are_no_number_of_shots_are_refused_before_anything_is_sent(shots):
    service = FakeService()
    with pytest.raises(InvalidInputError, match="shots"):
        DeviceSampler(service).hamming_counts(circuits_of(1, 1), shots=shots)
    assert not service.calls


def test_events_are_told_and_pauses_are_those_that_were_asked_for():
    events: list[JobEvent] = []
    waiting, pauses = hasty(poll_seconds=2)
    service = FakeService(faults=[None, *["stall"] * 40])
    sampler = DeviceSampler(service, on_event=events.append, waiting=waiting)
    sampler.hamming_counts(circuits_of(1, 1), shots=3)
    assert [event.kind for event in events] == ["sent", "done"]
    assert max(pauses) == 2
    assert DeviceSampler(service).waiting.poll_seconds == 5


def test_what_cannot_be_measured_tells_what_is_kept(path):
    service = FakeService(faults=[None, *["fail", None] * 5])
    with pytest.raises(DeviceError, match=rf"it broke\. 0 of 6 circuits are kept.*{path.name}"):
        DeviceSampler(service, ledger=path, waiting=hasty(attempts=2)[0]).hamming_counts(circuits_of(2, 3), shots=9)


def test_threads_take_turns(path):
    sampler = DeviceSampler(FakeService(polls=2), ledger=path, waiting=hasty()[0])
    counts, errors = {}, []

    def measure(seed):
        try:
            counts[seed] = sampler.hamming_counts(circuits_of(2, 2, seed=seed), shots=4)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=measure, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    for seed, found in counts.items():
        expected = DeviceSampler(FakeService()).hamming_counts(circuits_of(2, 2, seed=seed), shots=4)
        np.testing.assert_array_equal(found, expected)


class TestAnAccountStaysWhereItIs:
    def test_copies_and_clones_are_the_sampler_itself(self, path):
        sampler = DeviceSampler(FakeService(), ledger=path)
        assert clone(sampler) is sampler
        assert copy.copy(sampler) is sampler
        assert copy.deepcopy({"engine": sampler})["engine"] is sampler

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_a_service_that_does_not_say_how_is_not_pickled(self, protocol):
        with pytest.raises(InvalidInputError, match="cannot be pickled") as told:
            pickle.dumps(DeviceSampler(FakeService()), protocol=protocol)
        assert SECRET not in str(told.value)

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_a_service_that_says_how_is_pickled_in_its_own_way(self, path, protocol):
        sampler = DeviceSampler(
            CarefulService(device="here"), ledger=path, run="1", on_event=repr, waiting=Waiting(poll_seconds=7)
        )
        pickled = pickle.dumps(sampler, protocol=protocol)
        assert SECRET.encode() not in pickled
        again = pickle.loads(pickled)
        assert repr(again) == repr(sampler)
        assert again.waiting.poll_seconds == 7
        assert again.on_event is None
        np.testing.assert_array_equal(
            again.hamming_counts(circuits_of(2, 2), shots=3), sampler.hamming_counts(circuits_of(2, 2), shots=3)
        )

    def test_its_text_names_the_device_and_no_account(self, path):
        assert repr(DeviceSampler(FakeService())) == "DeviceSampler('fake', ledger=None, run='')"
        text = repr(DeviceSampler(FakeService(), ledger="a.sqlite", run="1"))
        assert text == "DeviceSampler('fake', ledger='a.sqlite', run='1')"

    def test_nothing_of_it_is_on_the_disk(self, path):
        service = FakeService()
        DeviceSampler(service, ledger=path).hamming_counts(circuits_of(2, 2), shots=3)
        assert service.token == SECRET
        assert all(SECRET.encode() not in file.read_bytes() for file in path.parent.iterdir() if file.is_file())


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files mean less there")
def test_a_finished_ledger_is_read_where_nobody_may_write():
    service = FakeService()
    with TemporaryDirectory() as name:  # which other users can look into, unlike those of pytest
        folder = Path(name)
        counts = DeviceSampler(FakeService(), ledger=folder / "a").hamming_counts(circuits_of(2, 2), shots=3)
        protect(folder)
        with without_privileges():
            sampler = DeviceSampler(service, ledger=folder / "a")
            found = sampler.hamming_counts(circuits_of(2, 2), shots=3)
            with pytest.raises(StoreError, match="allow writing"):
                sampler.hamming_counts(circuits_of(2, 2), shots=4)
        folder.chmod(0o755)
    np.testing.assert_array_equal(found, counts)
    assert not service.submitted


def test_raw_bits_are_kept_as_they_came(path):
    sampler = DeviceSampler(FakeService(n_qubits=9), ledger=path)
    circuits = circuits_of(2, 2, n_qubits=9)
    counts = sampler.hamming_counts(circuits, shots=6)
    with Ledger.open(path) as ledger:
        ((rows, bits),) = ledger.bits(sampler.measurement(circuits, shots=6).id)
    assert rows == range(4)
    assert bits.shape == (4, 6, 2)
    np.testing.assert_array_equal(hamming_histograms(bits, n_qubits=9).reshape(2, 2, 10), counts)
    with closing(sqlite3.connect(path)) as connection:  # and by anybody, without mcquack
        assert connection.execute("SELECT count(*) FROM parts WHERE bits IS NOT NULL").fetchone() == (1,)


def half_measured(path, service, circuits, *, shots):
    """A ledger whose writer ended after the first of its jobs."""
    with Ledger.open(path, write=True) as ledger:
        measurement = noted(ledger, service, circuits, shots=shots)
        for event in follow(ledger, service, measurement):
            if event.kind == "done":
                return measurement
    raise AssertionError("there is a first job")


class TwoAtATime:
    """A service that takes two circuits a job."""

    def __init__(self, service):
        self.service = service
        self.limits = Limits(executions=40)

    def __getattr__(self, name):
        return getattr(self.service, name)


def test_a_simulation_that_was_interrupted_goes_on_in_another_process_as_if_it_was_not(path):
    opening = pytest.importorskip("mcquack.hardware.services.opening")
    angles = circuits_of(3, 1).samples
    circuits = paper_overlaps(angles, angles[:2])
    undisturbed = TwoAtATime(opening.open_service("aer", circuit=ring_map(3, 2)))
    expected = DeviceSampler(undisturbed).hamming_counts(circuits, shots=20)
    first = TwoAtATime(opening.open_service("aer", circuit=ring_map(3, 2)))
    measurement = half_measured(path, first, circuits, shots=20)
    events: list[JobEvent] = []
    with Ledger.open(path) as ledger:
        service = opening.reopened(ledger.summary(measurement.id).service)
    counts = DeviceSampler(service, ledger=path, on_event=events.append).hamming_counts(circuits, shots=20)
    assert [event.kind for event in events] == ["lost", "lost", "resent", "resent", "done", "done"]
    np.testing.assert_array_equal(counts, expected)
    assert counts[0, 0, 0] == counts[1, 1, 0] == 20  # a state's overlap with itself


ASKED = [circuits_of(2, 3), circuits_of(3, 3)]


@pytest.fixture
def sampler(tmp_path):
    """Jobs of at most four circuits with five shots."""
    return DeviceSampler(FakeService(limits=Limits(executions=20), polls=3), ledger=tmp_path / "ledger.sqlite")


def sizes(sampler, asked=ASKED, shots=5):
    return sampler.unsent(asked, shots=shots)


class TestWhatIsYetToBeSent:
    def test_all_of_it_if_nothing_was_asked_before(self, sampler):
        assert sizes(sampler) == [3, 3, 3, 3, 3]
        assert not sampler.ledger.exists()
        assert not sampler.service.calls
        assert sizes(sampler, []) == []
        assert sizes(DeviceSampler(FakeService())) == [6, 9]

    def test_equal_circuits_are_counted_once(self, sampler):
        assert sizes(sampler, [ASKED[0], circuits_of(2, 3)]) == [3, 3]

    def test_what_is_measured_or_on_its_way_is_left_out(self, sampler):
        sampler.hamming_counts(ASKED[0], shots=5)
        assert sizes(sampler) == [3, 3, 3]
        assert len(sizes(sampler, shots=4)) == 2 + 2
        with Ledger.open(sampler.ledger, write=True) as ledger:
            measurement = noted(ledger, sampler.service, ASKED[1], shots=5)
            events = submit(ledger, sampler.service, measurement)
            next(events)
            events.close()
        assert sizes(sampler) == [3, 3]
        with Ledger.open(sampler.ledger, write=True) as ledger:
            list(cancel(ledger, sampler.service, measurement))
        assert sizes(sampler) == [3, 3, 3]

    def test_without_a_file_it_is_remembered_as_long_as_the_sampler_lives(self):
        sampler = DeviceSampler(FakeService())
        sampler.hamming_counts(ASKED[0], shots=5)
        assert sizes(sampler) == [9]

    def test_it_is_estimated_at_the_speed_that_the_service_tells(self, sampler):
        sampler.service.speed = Speed(clops=None, rep_delay_us=1_000)
        found = sampler.estimate(ASKED, shots=5)
        assert found == estimate(15, 5, circuit=ring_map(3, 2), n_jobs=5, speed=sampler.service.speed)
        assert not sampler.service.calls
        for circuits in ASKED:
            sampler.hamming_counts(circuits, shots=5)
        nothing = sampler.estimate(ASKED, shots=5)
        assert (nothing.n_circuits, nothing.executions, nothing.n_jobs, nothing.high) == (0, 0, 0, 0)
        assert nothing == sampler.estimate([*ASKED, ASKED[0]], shots=5)
        assert sampler.estimate([], shots=5).n_circuits == 0


class TestSubmitting:
    def test_all_is_sent_once_and_nobody_waits(self, sampler):
        events: list[JobEvent] = []
        sampler.on_event = events.append
        first, second = sampler.submit(ASKED, shots=5)
        assert [event.kind for event in events] == ["sent"] * 5
        assert (first.id, second.id) == tuple(sampler.measurement(one, shots=5).id for one in ASKED)
        assert sampler.service.calls == {"submit": 5}
        assert sizes(sampler) == []
        sampler.submit(ASKED, shots=5)
        assert len(sampler.service.submitted) == 5

    def test_the_results_come_later_and_from_anywhere(self, sampler):
        sampler.submit(ASKED, shots=5)
        elsewhere = DeviceSampler(sampler.service, ledger=sampler.ledger, waiting=hasty()[0])
        counts = elsewhere.hamming_counts(ASKED[1], shots=5)
        np.testing.assert_array_equal(counts, DeviceSampler(FakeService()).hamming_counts(ASKED[1], shots=5))
        assert len(sampler.service.submitted) == 5
