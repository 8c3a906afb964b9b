"""Jobs that one command sends and others look after: submit, status, resume, cancel, and run in the end."""

import pytest

from mcquack.hardware.jobs.ledger import Ledger
from mcquack.hardware.services.account import TOKEN_VARIABLE
from mcquack.hardware.services.runtime import RuntimeService
from tests.hardware.doubles import SECRET

STORE = "jobs.sqlite"
REMOTE = ("--backend", "ibm_rome", "--store", STORE)


@pytest.fixture
def hardware(mcquack, model, data):
    """A verb with its options; those that measure get the model and the data too."""

    def command(verb, *options):
        given = ("--model", model, "--data", data) if verb in ("run", "submit") else ()
        return mcquack("hardware", verb, *options, *given)

    return command


def told_jobs(outcome):
    """The circuits, those measured and the jobs of each measurement."""
    return [(fields[3], fields[5], fields[6]) for fields in (line.split("\t") for line in outcome.out.splitlines())]


def test_jobs_outlive_the_command_that_sent_them(hardware, far):
    far.at_once = False
    outcome = hardware("submit", *REMOTE, "--yes")
    assert outcome.code == 0, outcome.err
    assert "mcquack hardware status jobs.sqlite" in outcome.err
    assert [job.n_circuits for job in far.sent] == [4, 24]
    outcome = hardware("status", STORE)
    assert told_jobs(outcome) == [("4", "0", "1 queued"), ("24", "0", "1 queued")]
    assert "resume jobs.sqlite waits for the rest" in outcome.err
    far.sent[0].state = "DONE"
    assert told_jobs(hardware("status", STORE, "--no-ask")) == [("4", "0", "1 queued"), ("24", "0", "1 queued")]
    assert told_jobs(hardware("status", STORE)) == [("4", "4", "1 done"), ("24", "0", "1 queued")]
    far.finish()
    assert hardware("resume", STORE).code == 0
    assert told_jobs(hardware("status", STORE)) == [("4", "4", "1 done"), ("24", "24", "1 done")]
    outcome = hardware("run", *REMOTE)  # nothing is left to be paid for, so nobody is asked
    assert outcome.code == 0, outcome.err
    assert len(outcome.rows) == 12
    assert len(far.sent) == 2


def test_to_submit_twice_sends_once(hardware, far):
    far.at_once = False
    hardware("submit", *REMOTE, "--yes")
    outcome = hardware("submit", *REMOTE)
    assert outcome.code == 0
    assert "measured or on their way" in outcome.err
    assert len(far.sent) == 2


def test_run_waits_for_what_was_submitted_with_the_same_tolerance(hardware, far):
    hardware("submit", *REMOTE, "--yes", "--tolerance", 1)
    assert [job.n_circuits for job in far.sent] == [24]
    assert hardware("run", *REMOTE, "--tolerance", 1).code == 0
    assert len(far.sent) == 1


def test_cancelled_jobs_are_sent_again_by_resume(hardware, far):
    far.at_once = False
    hardware("submit", *REMOTE, "--yes")
    with Ledger.open(STORE) as ledger:
        _, second = ledger.ids()
    far.sent[0].state = "DONE"
    outcome = hardware("cancel", STORE, "--only", second[:9])
    assert outcome.code == 0
    assert [job.was_cancelled for job in far.sent] == [False, True]
    assert told_jobs(hardware("status", STORE)) == [("4", "4", "1 done"), ("24", "0", "1 cancelled")]
    far.at_once = True
    assert "sent again" in hardware("resume", STORE, "--only", second, "--yes").err
    assert [job.n_circuits for job in far.sent] == [4, 24, 24]
    assert hardware("run", *REMOTE).code == 0


def test_what_resume_sends_is_agreed_on_first(hardware, far, answer):
    far.at_once = False
    hardware("submit", *REMOTE, "--yes")
    hardware("cancel", STORE)
    answer("n\n")
    outcome = hardware("resume", STORE)
    assert outcome.code == 1
    assert "2,800 executions of 28 circuits in 2 jobs" in outcome.err
    assert "nothing was sent" in outcome.err
    assert len(far.sent) == 2
    far.at_once = True
    answer("y\n")
    assert hardware("resume", STORE).code == 0
    assert len(far.sent) == 4


def test_what_the_service_says_is_cancelled_is_told_and_sent_again_once_it_is_agreed_on(hardware, far, answer):
    # As it is after a cancel of an earlier release that was killed before it had noted what it did.
    far.at_once = False
    hardware("submit", *REMOTE, "--yes")
    far.sent[0].state, far.sent[1].state = "CANCELLED", "DONE"
    answer("n\n")
    outcome = hardware("resume", STORE)
    assert outcome.code == 1
    assert "cancelled" in outcome.err
    assert "400 executions of 4 circuits in 1 job" in outcome.err
    assert len(far.sent) == 2
    assert told_jobs(hardware("status", STORE)) == [("4", "0", "1 cancelled"), ("24", "24", "1 done")]
    far.at_once = True
    assert hardware("resume", STORE, "--yes").code == 0
    assert [job.n_circuits for job in far.sent] == [4, 24, 4]


def test_while_another_process_measures_its_notes_are_shown_and_nothing_is_cancelled(hardware, far):
    far.at_once = False
    hardware("submit", *REMOTE, "--yes")
    with Ledger.open(STORE, write=True):
        outcome = hardware("status", STORE)
        assert outcome.code == 0
        assert "Another process is measuring with jobs.sqlite" in outcome.err
        assert told_jobs(outcome) == [("4", "0", "1 queued"), ("24", "0", "1 queued")]
        outcome = hardware("cancel", STORE)
        assert outcome.code == 1
        assert "another process is measuring" in outcome.err
        assert "stop it" in outcome.err
    assert not any(job.was_cancelled for job in far.sent)


def test_a_store_is_gone_on_with_in_the_mode_that_is_asked_for(hardware, far, monkeypatch):
    modes = []
    monkeypatch.setattr(RuntimeService, "_mode", lambda self: modes.append(self._setup.options.mode))
    hardware("submit", *REMOTE, "--yes", "--mode", "batch", "--tolerance", 1)
    hardware("run", *REMOTE, "--yes", "--mode", "session", "--shots", 50, "--tolerance", 1)
    assert modes == ["batch", "session"]
    assert hardware("run", *REMOTE, "--mode", "job", "--max-error", 0.4, "--tolerance", 1).code == 0
    assert len(far.sent) == 2


def test_shots_that_cannot_be_twirled_are_told(hardware, far):
    outcome = hardware("submit", *REMOTE, "--yes", "--shots", 101)
    assert "101 shots can be twirled in one way only" in outcome.err


def test_whoever_waits_may_leave(hardware, far):
    far.at_once = False
    hardware("submit", *REMOTE, "--yes")
    far.interrupts = True
    outcome = hardware("resume", STORE)
    assert outcome.code == 130
    assert "the same command goes on" in outcome.err
    far.interrupts = False
    far.finish()
    assert hardware("resume", STORE).code == 0
    assert len(far.sent) == 2


def test_a_measurement_that_is_not_there_is_answered_with_those_that_are(hardware, far):
    hardware("submit", *REMOTE, "--yes")
    with Ledger.open(STORE) as ledger:
        known = ledger.ids()[0]
    for verb in ("resume", "cancel"):
        outcome = hardware(verb, STORE, "--only", "zebra")
        assert outcome.code == 1
        assert known[:12] in outcome.err


@pytest.mark.parametrize("verb", ["status", "resume", "cancel"])
def test_a_store_that_is_none_is_refused(hardware, folder, verb):
    assert hardware(verb, "nowhere.sqlite").code == 1
    assert not (folder / "nowhere.sqlite").exists()
    (folder / "text.sqlite").write_text("no database")
    outcome = hardware(verb, "text.sqlite")
    assert outcome.code == 1
    assert "unexpected" not in outcome.err


@pytest.mark.parametrize("backend", ["simulator", "twin:pittsburgh", "twin:fake_rome"])
def test_simulators_of_ours_have_no_jobs(hardware, folder, backend):
    outcome = hardware("submit", "--backend", backend)
    assert outcome.code == 1
    assert "use mcquack hardware run" in outcome.err
    assert not (folder / "hardware.sqlite").exists()


def test_the_way_of_jobs_is_rehearsed_on_a_simulator(hardware):
    outcome = hardware("submit", "--backend", "aer", "--store", STORE)
    assert outcome.code == 0
    assert "resume jobs.sqlite runs what is noted" in outcome.err
    assert told_jobs(hardware("status", STORE)) == [("4", "0", "1 lost"), ("24", "0", "1 lost")]
    assert hardware("resume", STORE).code == 0
    outcome = hardware("run", "--backend", "aer", "--store", STORE)
    assert outcome.code == 0
    assert "sent" not in outcome.err


def test_nothing_is_submitted_for_rows_that_cannot_be_labelled(hardware, table, far):
    table("x,colour\nwide,red\n", "data.csv")
    outcome = hardware("submit", *REMOTE, "--yes")
    assert outcome.code == 1
    assert "no rows that can be labelled" in outcome.err
    assert not far.sent


def test_no_agreement_no_jobs(hardware, far, answer):
    answer("no\n")
    outcome = hardware("submit", *REMOTE)
    assert outcome.code == 1
    assert not far.sent


def test_a_device_that_is_out_of_reach_says_so_without_the_token(hardware, far, monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, SECRET)
    far.at_once = False
    hardware("submit", *REMOTE, "--yes")
    far.trouble = ValueError(f"no such key: {SECRET}")
    for verb in ("status", "resume", "cancel"):
        outcome = hardware(verb, STORE)
        assert outcome.code == 1
        assert SECRET not in outcome.out + outcome.err
    assert told_jobs(hardware("status", STORE, "--no-ask"))[0] == ("4", "0", "1 queued")
