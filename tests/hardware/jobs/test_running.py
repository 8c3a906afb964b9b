"""Whatever happens on the way, the same is measured, nothing twice, and everybody is told how to go on."""

import threading
from contextlib import closing
from itertools import islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.errors import AccountError, DeviceError, InvalidInputError, StoreError
from mcquack.hardware.jobs.ledger import Ledger, hamming_histograms, stored_counts
from mcquack.hardware.jobs.running import Waiting, cancel, follow, how_to_go_on, noted, refresh, submit
from mcquack.hardware.jobs.service import JobStatus, Limits
from mcquack.hardware.native import angle_sets
from tests.hardware.doubles import FAULTS, SECRET, Crash, FakeService, bits_of, circuits_of, hasty

CIRCUITS = circuits_of(3, 2)
SHOTS = 8
SMALL = Limits(executions=2 * SHOTS)  # three jobs of two circuits
N_JOBS = 3


def expected_counts(circuits=CIRCUITS, shots=SHOTS):
    """Without jobs, splitting or a ledger."""
    angles = angle_sets(circuits).reshape(-1, angle_sets(circuits).shape[-1])
    bits = bits_of(angles, shots=shots, n_qubits=circuits.n_qubits)
    return hamming_histograms(bits, n_qubits=circuits.n_qubits).reshape(*circuits.shape, -1)


def begun(ledger, service, **settings):
    return noted(ledger, service, CIRCUITS, **{"shots": SHOTS} | settings)


def kinds(events):
    return [event.kind for event in events]


@pytest.fixture
def memory():
    with closing(Ledger.in_memory()) as ledger:
        yield ledger


class TestWhateverHappens:
    """The counts are those of a service that never failed, and no circuit is measured twice."""

    @given(
        faults=st.lists(st.sampled_from((None, *FAULTS)), max_size=25),
        polls=st.integers(0, 2),
        capacity=st.sampled_from([None, 1, 2]),
        forgets=st.booleans(),
    )
    def test_it_ends_with_the_same_counts(self, faults, polls, capacity, forgets):
        service = FakeService(faults=faults, polls=polls, limits=SMALL, capacity=capacity)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "ledger.sqlite"
            counts = self._carried_through(service, path, forgets=forgets, n_lives=len(faults) + 2)
            np.testing.assert_array_equal(counts, expected_counts())
            n_calls = service.calls.total()
            np.testing.assert_array_equal(self._carried_through(service, path, forgets=False, n_lives=1), counts)
        assert service.calls.total() == n_calls  # what is known needs no service
        if not forgets:
            assert len(service.submitted) == len(set(service.submitted))
            # Jobs that neither failed nor were forgotten hold every circuit once.
            good = [job for job in service.jobs.values() if job.state != "failed"]
            assert {job.state for job in good} == {"done"}
            rows = [row.tobytes() for job in good for row in job.angles]
            assert len(rows) == len(set(rows))

    @staticmethod
    def _carried_through(service, path, *, forgets, n_lives):
        """One process after the other, each until it dies or gives up."""
        for _ in range(n_lives):
            try:
                with Ledger.open(path, write=True) as ledger:
                    measurement = begun(ledger, service)
                    list(follow(ledger, service, measurement, waiting=hasty(attempts=2, offline_seconds=2)[0]))
                    assert [part.is_measured for part in ledger.parts(measurement.id)] == [True] * N_JOBS
                    return stored_counts(ledger, measurement.id)
            except (Crash, DeviceError):
                if forgets:
                    service.restart()
        raise AssertionError("every life used up a fault, and there were more lives than faults")


class TestOneAfterTheOther:
    def test_the_events_of_a_quiet_run_are_in_order(self, memory):
        service = FakeService(limits=SMALL, polls=1)
        events = list(follow(memory, service, begun(memory, service), waiting=hasty()[0]))
        assert kinds(events) == ["sent"] * 3 + ["running"] * 3 + ["done"] * 3
        assert [(event.part.first, event.part.last) for event in events[:3]] == [(0, 2), (2, 4), (4, 6)]
        assert all(event.part.is_measured == (event.kind == "done") for event in events)
        assert [event.job.job_id for event in events[3:6]] == ["job-0", "job-1", "job-2"]

    def test_submit_sends_and_refresh_keeps_what_is_done(self, memory):
        service = FakeService(limits=SMALL, faults=[*[None] * 3, "stall"])
        measurement = begun(memory, service)
        assert kinds(submit(memory, service, measurement)) == ["sent"] * 3
        assert kinds(submit(memory, service, measurement)) == []
        assert kinds(refresh(memory, service, measurement)) == ["done", "done"]
        assert memory.summary(measurement.id).n_measured == 4
        assert kinds(refresh(memory, service, measurement)) == ["done"]
        np.testing.assert_array_equal(stored_counts(memory, measurement.id), expected_counts())

    def test_circuits_are_sent_in_the_order_of_the_kernel(self, memory):
        service = FakeService(limits=SMALL)
        list(submit(memory, service, begun(memory, service)))
        sent = np.concatenate([job.angles for job in service.jobs.values()])
        np.testing.assert_allclose(sent, angle_sets(CIRCUITS).reshape(6, -1), atol=1e-12)

    def test_a_measurement_can_be_followed_from_the_ledger_alone(self, path):
        service = FakeService(limits=SMALL)
        with Ledger.open(path, write=True) as ledger:
            measurement_id = begun(ledger, service).id
        with Ledger.open(path, write=True) as ledger:
            list(follow(ledger, service, ledger.measurement(measurement_id)))
            np.testing.assert_array_equal(stored_counts(ledger, measurement_id), expected_counts())

    def test_another_label_measures_anew(self, memory):
        service = FakeService()
        for label in ("", "again", "again"):
            list(follow(memory, service, begun(memory, service, label=label)))
        assert len(service.submitted) == 2

    def test_limits_that_change_leave_the_parts_of_what_was_begun(self, memory):
        service = FakeService(limits=SMALL)
        measurement = begun(memory, service)
        service.limits = Limits(executions=SHOTS)
        assert begun(memory, service).id == measurement.id
        assert len(memory.parts(measurement.id)) == 3


class TestFaults:
    def test_what_was_sent_before_a_crash_is_found_and_not_sent_again(self, memory):
        service = FakeService(faults=["crash_after"])
        measurement = begun(memory, service)
        with pytest.raises(Crash):
            list(follow(memory, service, measurement))
        (job,) = memory.jobs(measurement.id)
        assert (job.state, job.job_id) == ("noted", None)
        assert kinds(follow(memory, service, measurement)) == ["found", "done"]
        assert len(service.submitted) == 1

    def test_an_answer_that_got_lost_is_asked_for_again(self, memory):
        service = FakeService(faults=["offline_after", "offline"])
        waiting, pauses = hasty()
        events = list(follow(memory, service, begun(memory, service), waiting=waiting))
        assert kinds(events) == ["offline", "offline", "found", "done"]
        assert pauses == [1, 2]
        assert len(service.submitted) == 1
        assert "too long" in events[0].message

    @pytest.mark.parametrize("fault", ["fail", "lose"])
    def test_what_fails_or_is_lost_is_sent_again_under_another_tag(self, memory, fault):
        service = FakeService(faults=[None, fault])
        measurement = begun(memory, service)
        found = kinds(follow(memory, service, measurement, waiting=hasty()[0]))
        assert found == ["sent", {"fail": "failed", "lose": "lost"}[fault], "resent", "done"]
        assert [job.attempt for job in memory.jobs(measurement.id)] == [1, 2]
        assert len(set(service.submitted)) == 2

    def test_a_result_that_is_gone_is_measured_again(self, memory):
        service = FakeService(faults=[None, None, "lose"])
        assert kinds(follow(memory, service, begun(memory, service), waiting=hasty()[0])) == [
            "sent",
            "lost",
            "resent",
            "done",
        ]

    def test_after_some_attempts_a_part_is_given_up_and_the_others_are_kept(self, path, ledger):
        service = FakeService(limits=SMALL, faults=[None, None, None, "fail", None, None, None, None, None, "fail"])
        measurement = begun(ledger, service)
        with pytest.raises(DeviceError) as told:
            list(follow(ledger, service, measurement, waiting=hasty(attempts=2)[0]))
        message = str(told.value)
        assert "1 job ended without a result; that of the circuits 0 to 1 is failed: it broke." in message
        assert "4 of 6 circuits are kept; the same call" in message
        assert f"resume measurement {measurement.id} of {path}" in message
        list(follow(ledger, service, measurement, waiting=hasty()[0]))  # a new call has new attempts
        np.testing.assert_array_equal(stored_counts(ledger, measurement.id), expected_counts())
        assert len(ledger.jobs(measurement.id)) == 5

    def test_a_service_out_of_reach_is_given_up_after_the_time_that_was_set(self, memory):
        service = FakeService(faults=["offline"] * 100)
        waiting, pauses = hasty(offline_seconds=100)
        with pytest.raises(DeviceError, match=r"100 seconds.*no route.* 0 of 6"):
            list(follow(memory, service, begun(memory, service), waiting=waiting))
        assert pauses == [1, 2, 4, 8, 16, 32, 37]

    def test_waiting_ends_when_it_was_to_end_and_the_jobs_stay(self, memory):
        service = FakeService(faults=[None, *["stall"] * 1000])
        waiting, pauses = hasty(wait_seconds=60, poll_seconds=10)
        measurement = begun(memory, service)
        with pytest.raises(DeviceError, match=r"\d+ seconds.* 1 job"):
            list(follow(memory, service, measurement, waiting=waiting))
        assert 60 <= sum(pauses) <= 70
        assert max(pauses) == 10
        service.faults = iter(())
        assert kinds(follow(memory, service, measurement, waiting=waiting)) == ["done"]

    def test_a_service_that_takes_few_jobs_at_a_time_gets_the_others_later(self, memory):
        service = FakeService(limits=SMALL, capacity=1, polls=1)
        events = list(follow(memory, service, begun(memory, service), waiting=hasty()[0]))
        assert kinds(events).count("held") == 2
        assert kinds(events).count("done") == 3
        assert len(service.submitted) == 3

    def test_a_refusal_is_final_if_nothing_is_under_way(self, memory):
        service = FakeService(faults=["refuse"])
        measurement = begun(memory, service)
        with pytest.raises(DeviceError, match=r"pending\. 0 of 6"):
            list(follow(memory, service, measurement))
        assert kinds(follow(memory, service, measurement)) == ["sent", "done"]

    def test_a_refusal_is_final_if_whatever_was_under_way_has_ended(self, memory):
        service = FakeService(limits=SMALL, faults=[None, "refuse", "fail", *["refuse"] * 500])
        waiting, _ = hasty(wait_seconds=1000, attempts=1)
        with pytest.raises(DeviceError, match="pending"):
            list(follow(memory, service, begun(memory, service), waiting=waiting))

    def test_an_account_that_is_refused_stays_the_error_it_is(self, memory):
        service = FakeService()

        def submit_without_account(angles, *, shots, tag):
            raise AccountError("no account.")

        service.instead(submit=submit_without_account)
        with pytest.raises(AccountError, match="no account"):
            list(follow(memory, service, begun(memory, service)))

    def test_an_error_that_is_not_the_network_s_is_not_waited_for(self, memory):
        service = FakeService()

        def submit_without_disk(angles, *, shots, tag):
            raise StoreError("the disk is full.")

        service.instead(submit=submit_without_disk)
        waiting, pauses = hasty()
        with pytest.raises(StoreError, match="disk is full"):
            list(follow(memory, service, begun(memory, service), waiting=waiting))
        assert not pauses

    def test_a_full_disk_loses_no_result(self, ledger):
        service = FakeService()
        big = circuits_of(40, 10)
        measurement = noted(ledger, service, big, shots=500)
        list(submit(ledger, service, measurement))
        ledger._connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(StoreError, match="disk is full"):
            list(follow(ledger, service, measurement))
        ledger._connection.execute("PRAGMA max_page_count = 100000")
        assert kinds(follow(ledger, service, measurement)) == ["done"]
        assert len(service.submitted) == 1
        np.testing.assert_array_equal(stored_counts(ledger, measurement.id), expected_counts(big, 500))

    @pytest.mark.parametrize(
        ("bits", "reason"),
        [
            (np.zeros((6, SHOTS + 1, 1), dtype=np.uint8), "shape"),
            (np.zeros((6, SHOTS, 1), dtype=np.int64), "int64"),
            (np.full((6, SHOTS, 1), 8, dtype=np.uint8), "beyond the 3 qubits"),
        ],
    )
    def test_bits_that_were_not_asked_for_are_refused_and_not_paid_for_again(self, memory, bits, reason):
        service = FakeService()
        service.instead(outcomes=lambda job_id: bits)
        measurement = begun(memory, service)
        with pytest.raises(DeviceError, match=reason):
            list(follow(memory, service, measurement))
        assert len(service.submitted) == 1
        (part,) = memory.parts(measurement.id)
        assert (part.is_measured, part.job.state) == (False, "failed")
        assert reason in part.job.message
        # Whoever has mended it may try again.
        service.instead(outcomes=None)
        assert kinds(follow(memory, service, measurement)) == ["resent", "done"]

    @pytest.mark.parametrize("step", [refresh, cancel])
    def test_a_job_with_bits_that_were_not_asked_for_can_be_looked_after(self, memory, step):
        service = FakeService(limits=SMALL)
        service.instead(outcomes=lambda job_id: np.zeros((1, 1, 1), dtype=np.uint8))
        measurement = begun(memory, service)
        list(submit(memory, service, measurement))
        for job_id in service.jobs:
            service.status(job_id)  # all are done
        assert kinds(step(memory, service, measurement)) == ["unusable"] * 3
        assert {part.job.state for part in memory.parts(measurement.id)} == {"failed"}

    def test_ctrl_c_leaves_the_jobs_and_says_how_to_go_on(self, ledger):
        service = FakeService(limits=SMALL, polls=5)
        measurement = begun(ledger, service)

        def interrupt(seconds):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as told:
            list(follow(ledger, service, measurement, waiting=hasty(sleep=interrupt)[0]))
        assert told.value.__notes__ == [how_to_go_on(ledger, measurement.id)]
        assert "3 jobs left to the service; the same call goes on" in told.value.__notes__[0]
        assert {job.state for job in service.jobs.values()} == {"running"}

    def test_a_consumer_that_stops_listening_loses_nothing(self, memory):
        service = FakeService(limits=SMALL)
        measurement = begun(memory, service)
        events = follow(memory, service, measurement)
        next(events)
        events.close()
        assert kinds(follow(memory, service, measurement)) == ["sent", "sent", "done", "done", "done"]

    def test_another_service_is_refused(self, memory):
        measurement = begun(memory, FakeService())
        with pytest.raises(InvalidInputError, match=r"'other'.* 'fake'"):
            list(follow(memory, FakeService(device="other"), measurement))


def died(job_id):
    raise Crash


class TestCancelling:
    def test_what_is_done_is_kept_and_the_rest_is_sent_anew_when_resumed(self, memory):
        service = FakeService(limits=SMALL, polls=1)
        measurement = begun(memory, service)
        list(submit(memory, service, measurement))
        service.jobs["job-1"].state = "done"
        assert kinds(cancel(memory, service, measurement)) == ["cancelled", "done", "cancelled"]
        assert [job.state for job in service.jobs.values()] == ["cancelled", "done", "cancelled"]
        assert memory.summary(measurement.id).n_measured == 2
        assert kinds(cancel(memory, service, measurement)) == []
        found = kinds(follow(memory, service, measurement, waiting=hasty()[0]))
        assert found.count("resent") == 2
        np.testing.assert_array_equal(stored_counts(memory, measurement.id), expected_counts())

    def test_a_job_whose_id_never_came_back_is_cancelled_too(self, memory):
        service = FakeService(faults=["crash_after"], polls=1)
        measurement = begun(memory, service)
        with pytest.raises(Crash):
            list(submit(memory, service, measurement))
        assert kinds(cancel(memory, service, measurement)) == ["cancelled"]
        assert service.jobs["job-0"].state == "cancelled"

    def test_a_job_that_was_noted_but_never_sent_is_not_sent(self, memory):
        service = FakeService(faults=["crash"])
        measurement = begun(memory, service)
        with pytest.raises(Crash):
            list(submit(memory, service, measurement))
        assert kinds(cancel(memory, service, measurement)) == ["cancelled"]
        assert not service.submitted

    def test_a_job_that_the_service_forgot_is_lost(self, memory):
        service = FakeService(polls=1)
        measurement = begun(memory, service)
        list(submit(memory, service, measurement))
        service.restart()
        assert kinds(cancel(memory, service, measurement)) == ["lost"]

    def test_a_service_that_takes_its_time_to_cancel_is_believed(self, memory):
        service = FakeService(polls=9)
        service.instead(cancel=lambda job_id: None)
        measurement = begun(memory, service)
        list(submit(memory, service, measurement))
        assert kinds(cancel(memory, service, measurement)) == ["cancelled"]
        assert memory.parts(measurement.id)[0].job.state == "cancelled"

    def test_what_was_done_before_it_could_be_cancelled_is_not_paid_for_twice(self, memory):
        service = FakeService(polls=9, limits=SMALL)
        service.instead(cancel=lambda job_id: None)
        measurement = begun(memory, service)
        list(submit(memory, service, measurement))
        assert kinds(cancel(memory, service, measurement)) == ["cancelled"] * 3
        service.jobs["job-0"].state = service.jobs["job-2"].state = "done"
        found = kinds(follow(memory, service, measurement, waiting=hasty()[0]))
        assert found == ["done", "resent", "done", "running", "done"]
        np.testing.assert_array_equal(stored_counts(memory, measurement.id), expected_counts())
        assert len(service.submitted) == 4

    def test_a_cancelled_job_that_is_forgotten_is_sent_anew(self, memory):
        service = FakeService(polls=1)
        measurement = begun(memory, service)
        list(submit(memory, service, measurement))
        list(cancel(memory, service, measurement))
        service.restart()
        found = kinds(follow(memory, service, measurement, waiting=hasty()[0]))
        assert found == ["resent", "running", "done"]

    @pytest.mark.parametrize("finished", ["cancelled", "queued", "done"])
    @pytest.mark.parametrize("step", [follow, refresh, cancel])
    def test_what_a_process_that_died_began_to_cancel_is_cancelled_by_the_next(self, memory, step, finished):
        service = FakeService(polls=1)
        measurement = begun(memory, service)
        list(submit(memory, service, measurement))
        service.instead(cancel=died)
        with pytest.raises(Crash):
            list(cancel(memory, service, measurement))
        service.instead(cancel=None)
        service.jobs["job-0"].state = finished
        (part,) = memory.parts(measurement.id)
        assert part.is_being_cancelled
        assert memory.summary(measurement.id).unsent == (part,)  # what it costs to go on is known beforehand
        told = kinds(step(memory, service, measurement, **({"waiting": hasty()[0]} if step is follow else {})))
        if finished == "done":
            assert told == ["done"]
            assert len(service.submitted) == 1
        elif step is follow:
            assert told == ["cancelled", "resent", "running", "done"]
            assert [job.state for job in memory.jobs(measurement.id)] == ["cancelled", "done"]
        else:
            assert told == ["cancelled"]
            assert kinds(step(memory, service, measurement)) == []
        if finished != "done":
            assert service.jobs["job-0"].state == "cancelled"
            assert memory.jobs(measurement.id)[0].message == ""

    def test_a_service_that_takes_its_time_never_seems_to_go_on_with_what_is_being_cancelled(self, memory, monkeypatch):
        service = FakeService(polls=9)
        service.instead(cancel=lambda job_id: None)
        measurement = begun(memory, service)
        list(submit(memory, service, measurement))
        noted, note = [], memory.note_state

        def watched(tag, state, *message):
            noted.append(state)
            note(tag, state, *message)

        monkeypatch.setattr(memory, "note_state", watched)
        list(cancel(memory, service, measurement))
        assert set(noted) == {"cancelled"}

    def test_who_waits_for_a_job_that_somebody_cancels_is_told(self, memory):
        service = FakeService()
        measurement = begun(memory, service)
        list(submit(memory, service, measurement))
        service.jobs["job-0"].state = "cancelled"
        with pytest.raises(DeviceError, match="is cancelled"):
            list(follow(memory, service, measurement))
        assert len(service.submitted) == 1
        assert kinds(follow(memory, service, measurement)) == ["resent", "done"]


def test_nothing_of_an_account_is_in_the_ledger_or_in_an_event(path):
    service = FakeService(limits=SMALL, faults=[None, "offline", None, "fail"])
    assert service.token == SECRET
    with Ledger.open(path, write=True) as ledger:
        events = list(follow(ledger, service, begun(ledger, service), waiting=hasty()[0]))
    assert SECRET not in repr(events)
    assert SECRET.encode() not in path.read_bytes()


def test_others_read_how_far_it_is_while_one_measures(path):
    service = FakeService(limits=SMALL)
    seen = []

    def look(measurement_id):
        with Ledger.open(path) as reader:
            seen.append(reader.summary(measurement_id).n_measured)

    with Ledger.open(path, write=True) as ledger:
        measurement = begun(ledger, service)
        for event in follow(ledger, service, measurement):
            if event.kind == "done":
                thread = threading.Thread(target=look, args=(measurement.id,))
                thread.start()
                thread.join()
    assert seen == [2, 4, 6]


def test_a_message_that_changes_is_an_event_and_one_that_does_not_is_none(memory):
    service = FakeService()
    places = [JobStatus(state="queued", message=f"place {place}") for place in (2, 1, 1)]
    statuses = iter([*places, JobStatus(state="done")])
    measurement = begun(memory, service)
    list(submit(memory, service, measurement))
    service.jobs["job-0"].state = "done"
    service.instead(status=lambda job_id: next(statuses))
    events = list(follow(memory, service, measurement, waiting=hasty()[0]))
    assert [(event.kind, event.message) for event in events] == [
        ("waiting", "place 2"),
        ("waiting", "place 1"),
        ("done", ""),
    ]


def test_pauses_between_questions_grow_to_the_one_that_was_asked_for_and_stay_there():
    pauses = list(islice(Waiting(poll_seconds=5).polls(), 30))
    assert pauses[0] == pytest.approx(0.1)
    assert all(first < second or first == second == 5 for first, second in pairwise(pauses))
    assert pauses[-1] == 5


@pytest.mark.parametrize("seconds", [0.5, 1.0, 7.5, 600.0])
def test_retries_double_up_to_a_minute_and_last_as_long_as_was_asked_for(seconds):
    pauses = list(Waiting(offline_seconds=seconds).retries())
    assert sum(pauses) == pytest.approx(seconds)
    assert max(pauses) <= 60
    assert all(second in (min(2 * first, 60), pauses[-1]) for first, second in pairwise(pauses))


@pytest.mark.parametrize(
    "settings", [{"poll_seconds": 0}, {"offline_seconds": -1}, {"attempts": 0}, {"wait_seconds": -1.0}]
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(InvalidInputError, match=next(iter(settings))):
        Waiting(**settings)
