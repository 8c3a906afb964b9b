import pytest

from mcquack import report
from mcquack.hardware.layout.ring import best_ring
from mcquack.hardware.sampler import device_coupling


def test_the_ring_is_printed_in_order(mcquack, folder):
    outcome = mcquack("hardware", "layout", "fake_algiers", "--qubits", 12, "--out", "ring.svg")
    assert outcome.code == 0, outcome.err
    coupling = device_coupling("fake_algiers")
    ring = best_ring(coupling, 12)
    assert outcome.out.split() == [str(qubit) for qubit in ring.qubits]
    assert f"{ring.success:.2g}" in outcome.err
    assert b"<svg" in (folder / "ring.svg").read_bytes()


def test_the_picture_crosses_out_what_the_search_avoids(mcquack, monkeypatch):
    asked = []
    original = report.plot_device_ring

    def plotted(*given, **named):
        asked.append(named)
        return original(*given, **named)

    monkeypatch.setattr(report, "plot_device_ring", plotted)
    options = ("--qubits", 2, "--max-error", 0.03, "--allow-faulty", "--out", "ring.svg")
    assert mcquack("hardware", "layout", "fake_rome", *options).code == 0
    assert asked == [{"max_error": 0.03}]


def test_lengths_that_there_are_get_listed(mcquack, folder):
    outcome = mcquack("hardware", "layout", "fake_algiers", "--qubits", 13, "--out", "ring.png")
    assert outcome.code == 1
    assert "no ring of 13 qubits, but rings of 1, 2, 12, 20, and without faulty ones of 1, 2, 12." in outcome.err
    assert outcome.out == ""
    assert not (folder / "ring.png").exists()


@pytest.mark.parametrize(
    ("name", "message"), [("aer", "has no couplers"), ("fake_algires", "did you mean fake_algiers")]
)
def test_what_has_no_couplers_is_refused(mcquack, name, message):
    outcome = mcquack("hardware", "layout", name, "--qubits", 2)
    assert outcome.code == 1
    assert message in outcome.err


def test_errors_above_the_limit_are_avoided(mcquack):
    outcome = mcquack("hardware", "layout", "fake_rome", "--qubits", 2, "--max-error", 0.001)
    assert outcome.code == 1
    assert "--max-error" in outcome.err
    faulty = mcquack("hardware", "layout", "fake_rome", "--qubits", 2, "--max-error", 0.001, "--allow-faulty")
    assert faulty.code == 0
    assert "Note:" in faulty.err


def test_a_picture_needs_a_format(mcquack):
    assert mcquack("hardware", "layout", "fake_rome", "--qubits", 2, "--out", "ring.tif").code == 1
