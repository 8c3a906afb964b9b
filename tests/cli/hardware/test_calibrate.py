import csv

import pytest

from mcquack import load
from mcquack.kernels.bitflip import calibrate
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
    found = calibrate(NoisySampler(PITTSBURGH, seed=0).weight_counts(before.overlap_circuits(), shots=300), seed=0)
    assert outcome.out == f"{found.tolerance}\n"
    assert after.get_params() == {**before.get_params(), "bitflip_tolerance": found.tolerance}
    assert after.extra_ == before.extra_
    assert load(model).bitflip_tolerance is None


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
