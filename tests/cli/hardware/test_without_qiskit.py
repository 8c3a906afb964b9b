"""Qiskit is needed where a device is meant, and nowhere else."""

import sys

import pytest


@pytest.fixture
def no_qiskit(monkeypatch):
    """As if it had never been installed; modules that other tests hold stay as they are."""

    def import_module(name):
        raise ModuleNotFoundError(f"No module named 'qiskit', which {name} needs")

    monkeypatch.setattr("mcquack.hardware.sampler.import_module", import_module)
    for name in ("qiskit", "qiskit_aer", "qiskit_ibm_runtime"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize("backend", ["aer", "fake_rome", "ibm_rome", "twin:fake_rome"])
def test_devices_say_what_to_install(model, data, mcquack, no_qiskit, backend):
    outcome = mcquack("hardware", "run", "--model", model, "--data", data, "--backend", backend)
    assert outcome.code == 1
    assert 'pip install "mcquack[ibm]"' in outcome.err
    assert "unexpected" not in outcome.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--data", "data.csv", "--backend", "twin:pittsburgh"),
        ("calibrate", "--backend", "simulator"),
        ("export", "--out", "c.qasm"),
        ("train", "--data", "data.csv", "--backend", "simulator", "--budget", "40000", "--out", "t.mcq"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_all_else_works(model, mcquack, no_qiskit, arguments):
    outcome = mcquack("hardware", *arguments, "--model", model)
    assert outcome.code == 0, outcome.err
