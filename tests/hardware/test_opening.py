import os
import subprocess
import sys

import numpy as np
import pytest

from mcquack.errors import LayoutError
from mcquack.hardware.cost import Speed
from mcquack.hardware.layout.properties import properties_along
from mcquack.hardware.layout.ring import best_ring
from mcquack.hardware.opening import device_coupling, device_sampler, device_speed, snapshot_properties
from mcquack.hardware.services import opening as services
from mcquack.hardware.services.plan import Options
from tests.hardware.doubles import circuits_of

SIZE = {"n_qubits": 3, "n_layers": 2}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def measured(path):
    """Opens a sampler on the ledger and measures, so that it is noted there; gives how it describes its service."""

    def measure(name="aer", *, shots=5, **changes):
        sampler = device_sampler(name, **{**SIZE, "ledger": path, **changes})
        sampler.hamming_counts(circuits_of(1, 1, n_qubits=sampler.service.description["n_qubits"]), shots=shots)
        return sampler.service.description

    return measure


@pytest.fixture
def other_ring(monkeypatch):
    """Another day, on which other qubits are the best."""

    def change(ring):
        monkeypatch.setattr(services, "_chosen_ring", lambda *_: ring)

    return change


def test_a_sampler_by_name_counts():
    counts = device_sampler("aer", **SIZE).hamming_counts(circuits_of(2, 2), shots=11)
    assert counts.shape == (2, 2, 4)
    np.testing.assert_array_equal(counts.sum(axis=-1), 11)


def test_the_ring_of_a_ledger_is_kept(measured, other_ring):
    first = measured("fake_rome", n_qubits=2)
    other_ring((3, 4))
    assert measured("fake_rome", n_qubits=2, shots=6) == first
    assert measured("fake_rome", n_qubits=2, ledger=None)["ring"] == [3, 4]


@pytest.mark.parametrize(
    "changes",
    [
        {"run": "second"},
        {"seed": 1},
        {"n_layers": 3},
        {"options": Options(noise="full")},
        {"options": Options(decoupling="XX")},
        {"ring": (3, 4)},
    ],
    ids=str,
)
def test_whatever_asks_for_something_else_has_a_ring_of_its_own(measured, path, other_ring, changes):
    assert measured("fake_rome", n_qubits=2)["ring"] != [3, 4]
    other_ring((3, 4))
    opened = device_sampler("fake_rome", **{"n_qubits": 2, "n_layers": 2, "ledger": path, **changes})
    assert opened.service.description["ring"] == [3, 4]


@pytest.mark.parametrize(
    "options", [Options(mode="batch"), Options(api="executor"), Options(max_error=0.4, allow_faulty=True)], ids=str
)
def test_what_does_not_decide_what_is_measured_makes_no_difference(measured, path, other_ring, options):
    first = measured("fake_rome", n_qubits=2)
    other_ring((3, 4))
    again = device_sampler("fake_rome", n_qubits=2, n_layers=2, ledger=path, options=options)
    assert again.service.description["ring"] == first["ring"]


def test_noise_means_nothing_to_a_simulator_without_any(measured):
    assert measured("aer", options=Options(noise="pauli")) == measured("aer", options=Options(noise="full"))


def test_the_latest_of_several_is_kept(measured, other_ring):
    for ring in ((0, 1), (3, 4)):
        measured("fake_rome", n_qubits=2, ring=ring)
    assert measured("fake_rome", n_qubits=2)["ring"] == [3, 4]


def test_properties_are_those_of_the_best_ring_or_of_the_one_given():
    coupling = device_coupling("fake_algiers")
    best = best_ring(coupling, 12)
    assert snapshot_properties("fake_algiers", n_qubits=12, n_layers=2) == properties_along(coupling, best.qubits)
    alone = snapshot_properties("fake_algiers", n_qubits=13, n_layers=1)  # one layer has no CNOTs, and needs no ring
    assert all(len(values) == 13 for values in alone.values.values())
    given = snapshot_properties("fake_algiers", n_qubits=2, n_layers=2, ring=(0, 1))
    assert given == properties_along(coupling, (0, 1))
    with pytest.raises(LayoutError):
        snapshot_properties("fake_algiers", n_qubits=11, n_layers=2)


def test_a_device_says_how_fast_it_is():
    speed = device_speed("fake_pittsburgh")
    known = next(device for device in services.list_backends() if device.name == "fake_pittsburgh")
    assert (speed.clops, speed.rep_delay_us) == (known.clops, known.rep_delay_us)
    unknown = device_speed("fake_rome")
    assert unknown.clops is None or unknown.clops > 0
    assert unknown.readout_us == Speed().readout_us


@pytest.mark.parametrize("module", ["qiskit_ibm_runtime", "qiskit", "qiskit_aer"])
def test_without_qiskit_the_extra_is_named(module):
    # In a process of its own: this one has imported it, and others hold on to what they imported.
    code = f"import sys; sys.modules[{module!r}] = None; from mcquack.hardware import opening; "
    asking = 'opening.device_sampler("aer", n_qubits=2, n_layers=2)'
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    finished = subprocess.run(
        [sys.executable, "-c", code + asking], capture_output=True, text=True, check=False, env=environment
    )
    assert finished.returncode == 1
    assert "MissingDependencyError" in finished.stderr
    assert "mcquack[ibm]" in finished.stderr
