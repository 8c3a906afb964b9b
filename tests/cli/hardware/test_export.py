import numpy as np
import pytest
from qiskit import qasm2, qasm3
from qiskit.quantum_info import Statevector

from mcquack import load
from mcquack.hardware.native import angle_sets, to_qasm3


@pytest.fixture
def export(mcquack, model):
    def run(*options):
        return mcquack("hardware", "export", "--model", model, *options)

    return run


def share_of_zeros(circuit):
    circuit.remove_final_measurements()
    return Statevector(circuit).probabilities()[0]


@pytest.mark.parametrize("form", ["native", "textbook"])
@pytest.mark.parametrize(("dialect", "read"), [("qasm3", qasm3.loads), ("qasm2", qasm2.loads)])
def test_what_is_read_back_has_the_kernel_of_the_model(export, model, data, folder, dialect, read, form):
    outcome = export(
        "--data", data, "--sample", 3, "--centroid", 2, "--dialect", dialect, "--form", form, "--out", "c.qasm"
    )
    assert outcome.code == 0, outcome.err
    assert "row 3 and centroid 2 is in c.qasm" in outcome.err
    kernel = load(model).transform(np.array([[0.1, 1.0]]))  # the third row; "red" is the second category
    assert share_of_zeros(read((folder / "c.qasm").read_text())) == pytest.approx(kernel[0, 1], abs=1e-5)


def test_without_data_the_centroids_are_the_rows(export, folder):
    assert export("--out", "c.qasm", "--sample", 2, "--centroid", 2).code == 0
    assert share_of_zeros(qasm3.loads((folder / "c.qasm").read_text())) == pytest.approx(1)


def test_a_template_takes_all_angles(export, model, folder):
    assert export("--template", "--out", "t.qasm").code == 0
    template = qasm3.loads((folder / "t.qasm").read_text())
    circuits = load(model).overlap_circuits()
    bound = template.assign_parameters(angle_sets(circuits)[0, 1])
    assert share_of_zeros(bound) == pytest.approx(share_of_zeros(qasm3.loads(to_qasm3(circuits, centroid=1))))


def test_a_vendors_dialect(export, folder):
    assert export("--template", "--dialect", "braket", "--out", "t.qasm").code == 0
    assert export("--dialect", "braket", "--form", "textbook", "--out", "c.qasm").code == 0
    assert "include" not in (folder / "t.qasm").read_text() + (folder / "c.qasm").read_text()
    assert "cnot" in (folder / "c.qasm").read_text()


def test_all_pairs_go_into_a_folder(export, data, folder):
    outcome = export("--data", data, "--all", "--out", "circuits")
    assert outcome.code == 0
    assert "24 circuits are in circuits" in outcome.err
    assert len(list((folder / "circuits").iterdir())) == 24
    (folder / "file").touch()
    assert "is a file" in export("--all", "--out", "file").err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--sample", 3), 1, "there are 2 rows and 2 centroids"),
        (("--centroid", 3), 1, "there are 2 rows and 2 centroids"),
        (("--template", "--dialect", "qasm2"), 2, "has no inputs"),
    ],
)
def test_what_is_not_there_cannot_be_written(export, folder, options, code, message):
    outcome = export("--out", "c.qasm", *options)
    assert outcome.code == code
    assert message in outcome.err
    assert not (folder / "c.qasm").exists()


def test_more_files_than_anybody_wants_are_refused(export, data, monkeypatch):
    monkeypatch.setattr("mcquack.cli.hardware.MOST_CIRCUITS", 10)
    assert "take --template, or fewer rows" in export("--data", data, "--all", "--out", "circuits").err
