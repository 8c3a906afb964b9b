import csv

import numpy as np
import pytest

from mcquack import QuackClassifier, load
from mcquack.hardware.services import opening
from mcquack.hardware.services.account import TOKEN_VARIABLE
from mcquack.hardware.services.local import LocalService
from mcquack.kernels import SampledEngine, Shots
from mcquack.models.classical import SupportVectorClassifier
from mcquack.simulators.samplers import SimulatedSampler
from tests.hardware.doubles import SECRET

REMOTE = ("--backend", "ibm_rome", "--yes")


@pytest.fixture
def run(mcquack, model, data):
    def command(*options):
        return mcquack("hardware", "run", "--model", model, "--data", data, *options)

    return command


class Watch:
    """The jobs that ran on this computer; the one of the number ``stop_at`` is interrupted."""

    def __init__(self):
        self.jobs, self.stop_at = [], None


@pytest.fixture
def measured(monkeypatch):
    watch, original = Watch(), LocalService._run

    def watched(self, job):
        watch.jobs.append(job.tag)
        if len(watch.jobs) == watch.stop_at:
            raise KeyboardInterrupt
        original(self, job)

    monkeypatch.setattr(LocalService, "_run", watched)
    return watch


# Labels


@pytest.mark.parametrize("backend", ["aer", "simulator", "twin:pittsburgh", "twin:fake_rome", "fake_rome"])
def test_every_backend_labels_the_rows(run, model, backend):
    outcome = run("--backend", backend, "--shots", 400)
    assert outcome.code == 0, outcome.err
    assert [row["row"] for row in outcome.rows] == [str(number) for number in range(2, 14)]
    assert [row["prediction"] for row in outcome.rows] == ["low", "high"] * 6
    assert "Accuracy on 12 rows: 1.000." in outcome.err
    assert "On " + backend in outcome.err


def test_the_same_command_again_measures_nothing(run, measured):
    first = run("--backend", "aer", "--shots", 50, "--proba")
    assert len(measured.jobs) == 2  # between centroids, and for the rows
    again = run("--backend", "aer", "--shots", 50, "--proba")
    assert (again.out, again.code) == (first.out, 0)
    assert len(measured.jobs) == 2
    assert "in hardware.sqlite already" in again.err
    run("--backend", "aer", "--shots", 50, "--run", "second")
    assert len(measured.jobs) == 4


def test_our_own_simulator_is_asked_once_for_all_columns(run, monkeypatch):
    asked = []
    original = SimulatedSampler.hamming_counts

    def counted(self, circuits, *, shots):
        asked.append(circuits.digest)
        return original(self, circuits, shots=shots)

    monkeypatch.setattr(SimulatedSampler, "hamming_counts", counted)
    outcome = run("--backend", "simulator", "--proba", "--tolerance", 0)
    assert len(asked) == 1
    for row in outcome.rows:
        assert float(row["probability_low"]) + float(row["probability_high"]) == pytest.approx(1)
        assert (float(row["probability_low"]) > 0.5) == (row["prediction"] == "low")


@pytest.mark.parametrize(
    ("kind", "settings"),
    [(None, {"n_centroids_per_class": 2}), (QuackClassifier, {}), (None, {"n_qubits": 1}), (None, {"n_qubits": 3})],
)
def test_all_kinds_of_circuits(saved, mcquack, data, kind, settings):
    path = saved(*([kind] if kind else []), **settings)
    outcome = mcquack("hardware", "run", "--model", path, "--data", data, "--backend", "simulator", "--tolerance", 0)
    assert outcome.code == 0, outcome.err
    classifier = load(path).set_params(engine=SampledEngine(SimulatedSampler(seed=0), shots=100))
    x = np.array([[*divmod(index, 2)][::-1] for index in range(12)])
    values = [[colour * 5 + step / 10, float(1 - colour)] for colour, step in x]
    assert [row["prediction"] for row in outcome.rows] == classifier.predict(values).tolist()


def test_the_tolerance_is_that_of_the_user_then_of_the_model_then_calibrated(saved, run):
    assert "Bit-flip tolerance" in run("--backend", "simulator").err
    assert "Bit-flip tolerance" not in run("--backend", "simulator", "--tolerance", 1).err
    saved(engine=Shots(tolerance=1))
    assert "Bit-flip tolerance" not in run("--backend", "simulator").err


# Rows


def test_the_first_rows_of_a_rehearsal(run):
    assert len(run("--backend", "simulator", "--rows", 3).rows) == 3
    assert len(run("--backend", "simulator", "--rows", 1000).rows) == 12


def test_rows_that_cannot_be_labelled_say_why(run, table):
    table("x,colour,label\n0.1,red,low\nwide,red,low\n5,blue,high\n1,green,low\n", "data.csv")
    outcome = run("--backend", "simulator")
    assert outcome.code == 3
    assert [bool(row["prediction"]) for row in outcome.rows] == [True, False, True, False]
    assert "Accuracy on 2 rows" in outcome.err
    assert "2 rows could not be labelled" in outcome.err
    outcome = run("--backend", "simulator", "--rows", 1)
    assert (outcome.code, len(outcome.rows)) == (0, 1)


def test_without_a_usable_row_nothing_is_opened(run, table, folder):
    table("x,colour\nwide,red\n", "data.csv")
    outcome = run("--backend", "ibm_rome", "--proba")  # there is no account
    assert outcome.code == 3
    assert list(outcome.rows[0].values()) == ["2", "", "", "", "column 'x': 'wide' is not a number"]
    assert not (folder / "hardware.sqlite").exists()


@pytest.mark.parametrize("content", ["x,colour\n0.1,red\n", "x,colour,label\n0.1,red,\n"])
def test_labels_need_not_be_known(run, table, content):
    table(content, "data.csv")
    outcome = run("--backend", "simulator")
    assert outcome.code == 0
    assert outcome.rows[0]["prediction"] == "low"
    assert "Accuracy" not in outcome.err


def test_a_dataset_by_name_is_judged_by_its_test_part(mcquack, folder):
    assert mcquack("fit", "linearly_separable_4", "--qubits", 2, "--epochs", 0, "--out", "m.mcq").code == 0
    arguments = ("hardware", "run", "--model", "m.mcq", "--backend", "simulator", "--rows", 5)
    outcome = mcquack(*arguments, "--data", "linearly_separable_4")
    assert outcome.code == 0
    assert len(outcome.rows) == 5
    assert "Accuracy on 5 rows" in outcome.err
    outcome = mcquack(*arguments, "--data", "linearly_separable_2")
    assert outcome.code == 1
    assert "takes 4 features" in outcome.err


def test_the_csv_goes_where_it_is_wanted(run, folder, data):
    outcome = run("--backend", "simulator", "--out", "labels.csv")
    assert outcome.out == ""
    with (folder / "labels.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 12
    assert run("--backend", "simulator", "--out", data).code == 1


# Refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--backend", "twin:foo"), "there is no twin 'twin:foo'"),
        (("--backend", "twin:pitsburgh"), "did you mean twin:pittsburgh"),
        (("--backend", "twin:fake_pitsburgh"), "did you mean fake_pittsburgh"),
        (("--backend", "simulatr"), "did you mean simulator"),
        (("--backend", "pittsburgh"), "did you mean fake_pittsburgh"),
        (("--backend", "fake_pitsburg"), "did you mean fake_pittsburgh"),
        (("--backend", "simulator", "--tolerance", 3), "more than the 2 qubits"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_measured(run, folder, options, message):
    outcome = run(*options)
    assert outcome.code == 1
    assert message in outcome.err
    assert outcome.out == ""
    assert not (folder / "hardware.sqlite").exists()


def test_a_model_without_a_kernel_is_refused(saved, run):
    saved(SupportVectorClassifier)
    outcome = run("--backend", "simulator")
    assert outcome.code == 1
    assert "holds a SupportVectorClassifier" in outcome.err


def test_a_model_that_knows_no_table_is_refused(run, model):
    load(model).save(model)
    assert "knows no table columns" in run("--backend", "simulator").err


def test_without_an_account_the_steps_to_one_are_told_line_by_line(run):
    outcome = run("--backend", "ibm_rome")
    assert outcome.code == 1
    assert "save_account" in outcome.err
    assert outcome.err.count("\n") > 2


# Costs


@pytest.mark.parametrize("typed", ["n\n", "\n", ""])
def test_whoever_does_not_agree_sends_nothing(run, far, answer, folder, typed):
    answer(typed)
    outcome = run("--backend", "ibm_rome")
    assert outcome.code == 1
    assert "Spend it?" in outcome.err
    assert "nothing was sent" in outcome.err
    assert not far.sent
    assert not (folder / "hardware.sqlite").exists()


def test_the_cost_is_that_of_the_device_and_of_what_is_missing(run, far, answer, monkeypatch):
    known = far.devices[0].configuration()
    known.default_rep_delay, known.clops_h = 123e-6, 4567
    monkeypatch.setattr(far.devices[0], "configuration", lambda: known)
    answer("y\n")
    outcome = run("--backend", "ibm_rome", "--rows", 3)
    assert outcome.code == 0, outcome.err
    assert "1,000 executions of 10 circuits in 2 jobs" in outcome.err
    assert "123 µs to reset" in outcome.err
    assert "4,567 layers per second" in outcome.err
    assert outcome.out.startswith("row,")  # not a blank of the question is in the CSV
    assert [job.n_circuits for job in far.sent] == [4, 6]
    outcome = run("--backend", "ibm_rome")
    assert "2,400 executions of 24 circuits in 1 job:" in outcome.err  # those between centroids are there


def test_what_is_measured_is_not_asked_for_again(run, far):
    first = run(*REMOTE)
    again = run("--backend", "ibm_rome")
    assert (again.code, again.out) == (0, first.out)
    assert "Spend it?" not in again.err
    assert len(far.sent) == 2


# Interruptions


def test_ctrl_c_here_keeps_what_was_measured(run, measured):
    whole = run("--backend", "aer", "--store", "whole.sqlite").out
    measured.jobs.clear()
    measured.stop_at = 2
    outcome = run("--backend", "aer")
    assert outcome.code == 130
    assert "the same command, or mcquack hardware resume hardware.sqlite, goes on" in outcome.err
    assert "0 of 24 circuits are kept" in outcome.err
    outcome = run("--backend", "aer")
    assert (outcome.code, outcome.out) == (0, whole)
    assert len(measured.jobs) == 3  # the one of the centroids, and twice that of the rows


def test_ctrl_c_leaves_far_jobs_alone(run, far):
    far.at_once, far.interrupts = False, True
    assert run(*REMOTE).code == 130
    assert run(*REMOTE).code == 130
    assert len(far.sent) == 1
    far.interrupts = False
    far.finish()
    far.at_once = True
    outcome = run(*REMOTE)
    assert outcome.code == 0
    assert [job.n_circuits for job in far.sent] == [4, 24]


# Devices


def test_another_days_calibration_does_not_move_what_was_begun(run, far, monkeypatch):
    monkeypatch.setattr(opening, "_chosen_ring", lambda *_, **__: (1, 2))
    first = run(*REMOTE)
    monkeypatch.setattr(opening, "_chosen_ring", lambda *_, **__: (3, 4))
    again = run(*REMOTE)
    assert (again.code, again.out) == (0, first.out)
    assert "a ring of 2 qubits, 1, 2." in again.err
    assert len(far.sent) == 2
    assert "a ring of 2 qubits, 3, 4." in run(*REMOTE, "--run", "tomorrow").err


def test_the_least_busy_device_stays_the_one_it_was(run, far):
    first = run("--backend", "least_busy", "--yes")
    far.devices = far.devices[::-1]
    again = run("--backend", "least_busy", "--yes")
    assert (again.code, again.out) == (0, first.out)
    assert len(far.sent) == 2


def test_no_token_is_told_or_kept(run, far, folder, monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, SECRET)
    outcome = run(*REMOTE)
    assert outcome.code == 0
    far.trouble = ValueError(f"401 for apikey {SECRET}")
    refused = run(*REMOTE, "--run", "other")
    assert refused.code == 1
    assert "***" in refused.err
    for told in (outcome.out, outcome.err, refused.out, refused.err):
        assert SECRET not in told
    files = [path for path in folder.iterdir() if path.is_file()]
    assert {"hardware.sqlite", "model.mcq"} <= {path.name for path in files}
    assert all(SECRET.encode() not in path.read_bytes() for path in files)


@pytest.mark.parametrize("backend", ["twin:fake_rome", "fake_rome"])
def test_no_rehearsal_is_refused_for_faults_of_a_snapshot(run, backend):
    outcome = run("--backend", backend, "--shots", 10, "--max-error", 1e-6, "--rows", 1)
    assert outcome.code == 0, outcome.err
    assert outcome.err.count("Note: every ring of 2 qubits on fake_rome has") == 1
    assert "faulty coupler" in outcome.err


def test_a_device_takes_a_ring_with_faults_only_if_asked(run, far):
    refused = run(*REMOTE, "--max-error", 1e-6)
    assert refused.code == 1
    assert "a higher --max-error, or --allow-faulty." in refused.err
    assert "allow_faulty" not in refused.err
