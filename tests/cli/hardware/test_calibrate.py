import csv

import pytest

from mcquack import load
from mcquack.cli.hardware_device import rows_of
from mcquack.datasets import load as load_dataset
from mcquack.kernels.bitflip import calibrate, training_tolerance
from mcquack.simulators.noise import PITTSBURGH
from mcquack.simulators.samplers import NoisySampler


@pytest.fixture
def command(mcquack, model):
    def run(*options, backend="twin:pittsburgh"):
        return mcquack("hardware", "calibrate", "--model", model, "--backend", backend, *options)

    return run


def test_the_tolerance_is_printed_and_kept_in_a_model(command, model, folder):
    outcome = command("--out", "calibrated.mcq", "--shots", 300)
    assert outcome.code == 0, outcome.err
    before, after = load(model), load(folder / "calibrated.mcq")
    found = calibrate(NoisySampler(PITTSBURGH, seed=0).hamming_counts(before.overlap_circuits(), shots=300), seed=0)
    assert outcome.out == f"{found.tolerance}\n"
    told = before.get_params() | {"engine": after.engine}
    assert after.get_params() == told
    assert (after.engine.tolerance, after.engine.shots) == (found.tolerance, None)
    assert after.extra_ == before.extra_
    assert load(model).engine == "auto"


def test_the_curve_is_written_as_numbers_and_as_a_picture(command, folder):
    assert command("--curve", "curve.csv", "--plot", "curve.png").code == 0
    with (folder / "curve.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["tolerance"] for row in rows] == ["0", "1", "2"]
    assert rows[-1]["diagonal"] == rows[-1]["off_diagonal"] == "1"
    for row in rows:
        assert float(row["difference"]) == pytest.approx(float(row["diagonal"]) - float(row["off_diagonal"]), abs=1e-5)
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_what_was_measured_for_it_serves_run(command, mcquack, model, data):
    assert command(backend="aer").code == 0
    outcome = mcquack("hardware", "run", "--model", model, "--data", data, "--backend", "aer")
    assert "2,400 executions of 24 circuits" in outcome.err


def test_rows_with_labels_choose_by_accuracy(command, model, data, folder):
    outcome = command("--rule", "accuracy", "--data", data, "--out", "calibrated.mcq", "--curve", "curve.csv")
    assert outcome.code == 0, outcome.err
    circuits = load(model).overlap_circuits(rows_of(data, load(model), model=model, data_dir=None, part="train")[0].X)
    counts = NoisySampler(PITTSBURGH, seed=0).hamming_counts(circuits, shots=100)
    labels = [1, 0] * 6  # low and high, of the classes high and low
    assert outcome.out == f"{training_tolerance(counts, labels)}\n"
    assert load(folder / "calibrated.mcq").engine.tolerance == int(outcome.out)
    with (folder / "curve.csv").open(newline="") as file:
        assert [list(row) for row in csv.DictReader(file)] == [["tolerance", "accuracy"]] * 3


def test_a_dataset_by_name_is_calibrated_on_its_training_part(mcquack, folder):
    assert mcquack("fit", "linearly_separable_2", "--qubits", 2, "--epochs", 0, "--out", "m.mcq").code == 0
    given = ("--model", "m.mcq", "--backend", "simulator", "--rule", "accuracy", "--data", "linearly_separable_2")
    outcome = mcquack("hardware", "calibrate", *given, "--shots", 5)
    assert outcome.code == 0, outcome.err
    assert "Training on" not in outcome.err
    assert f"on {len(load_dataset('linearly_separable_2').train.y):,} rows" in outcome.err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--rule", "accuracy"), 2, "--data"),
        (("--data", "data.csv"), 2, "--rule"),
        (("--rule", "accuracy", "--data", "data.csv", "--plot", "a.png"), 2, "--curve"),
    ],
)
def test_rules_and_rows_belong_together(command, options, code, message):
    outcome = command(*options)
    assert outcome.code == code
    assert message in outcome.err


def test_labels_must_be_those_of_the_model_and_centroids_one_of_a_class(command, saved, data, table):
    other = table("x,colour,label\n0.1,red,middle\n", "other.csv")
    outcome = command("--rule", "accuracy", "--data", other)
    assert outcome.code == 1
    assert "'middle'" in outcome.err
    saved(n_centroids_per_class=2)
    assert "one centroid per class" in command("--rule", "accuracy", "--data", data).err


def test_centroids_of_one_class_are_not_each_others_others(command, saved, folder):
    path = saved(n_centroids_per_class=2)
    assert command("--shots", 50, "--curve", "curve.csv").code == 0
    counts = NoisySampler(PITTSBURGH, seed=0).hamming_counts(load(path).overlap_circuits(), shots=50)
    found = calibrate(counts, labels=[0, 0, 1, 1], n_resamples=1)
    with (folder / "curve.csv").open(newline="") as file:
        off = [float(row["off_diagonal"]) for row in csv.DictReader(file)]
    assert off == pytest.approx(found.off_diagonal, abs=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--plot", "curve.bmp"), "must end in .png, .pdf, .svg"),
        (("--out", "model.mcq"), "is one of the files to read"),
        (("--curve", "nowhere/curve.csv"), "does not exist"),
    ],
)
def test_files_are_checked_before_anything_is_measured(command, folder, options, message):
    outcome = command(*options, backend="aer")
    assert outcome.code == 1
    assert message in outcome.err
    assert not (folder / "hardware.sqlite").exists()


def test_qpu_time_is_asked_for(command, far, answer):
    answer("n\n")
    assert command(backend="ibm_rome").code == 1
    assert not far.sent
    assert command("--yes", backend="ibm_rome").code == 0
    assert [job.n_circuits for job in far.sent] == [4]
