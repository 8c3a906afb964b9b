import pytest

from mcquack import checks as extras
from mcquack.hardware import sampler
from mcquack.hardware.services import opening as services


def named(outcome):
    return {line.split("\t")[0]: line.split("\t") for line in outcome.out.splitlines()}


def test_all_that_runs_here_is_listed(mcquack):
    outcome = mcquack("hardware", "devices")
    assert outcome.code == 0
    found = named(outcome)
    assert {"simulator", "twin:pittsburgh", "twin:aachen", "aer", "fake_pittsburgh"} <= found.keys()
    assert found["fake_pittsburgh"][1:4] == ["156", "Heron r3", "cz"]
    assert not any(name.startswith("ibm_") for name in found)


def test_devices_of_the_account_come_on_demand(mcquack, far, monkeypatch):
    for device in far.devices:
        monkeypatch.setattr(device, "status", lambda: type("Status", (), {"pending_jobs": 7})())
    found = named(mcquack("hardware", "devices", "--account"))
    assert found["ibm_rome"][-1] == "7"


def test_without_an_account_that_is_said(mcquack):
    outcome = mcquack("hardware", "devices", "--account")
    assert outcome.code == 1
    assert "save_account" in outcome.err


def test_on_a_terminal_it_is_a_table(mcquack, monkeypatch):
    monkeypatch.setattr(services, "list_backends", lambda **_: ())
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    outcome = mcquack("hardware", "devices")
    assert "waiting" in outcome.out
    assert "…" not in outcome.out
    assert "\t" not in outcome.out


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--account",), 1)])
def test_ours_are_listed_without_qiskit_too(mcquack, monkeypatch, options, code):
    def missing():
        raise extras.IBM.needed(what="a device or a snapshot of one")

    monkeypatch.setattr(sampler, "services", missing)
    outcome = mcquack("hardware", "devices", *options)
    assert outcome.code == code
    assert 'pip install "mcquack[ibm]"' in outcome.err
    assert ("simulator" in outcome.out) == (code == 0)
