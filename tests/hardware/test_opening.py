import os
import pickle
import subprocess
import sys
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mcquack import hardware
from mcquack.circuits import Circuit, OverlapCircuits, b, line, w, x
from mcquack.errors import InvalidInputError, LayoutError
from mcquack.hardware.jobs.ledger import Ledger
from mcquack.hardware.jobs.running import follow, noted
from mcquack.hardware.jobs.service import Limits, Speed, estimate
from mcquack.hardware.layout.coupling import properties_along
from mcquack.hardware.layout.ring import best_ring
from mcquack.hardware.sampler import StoredJobs, device_coupling, device_sampler, snapshot_properties
from mcquack.hardware.services import opening as services
from mcquack.hardware.services.options import Options
from tests.hardware.doubles import FakeService, circuits_of
from tests.hardware.overlaps import ring_map


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def measured(path):
    """Opens a sampler on the ledger and measures, so that it is noted there; gives how it describes its service."""

    def measure(name="aer", *, n_qubits=3, shots=5, **changes):
        sampler = device_sampler(name, **{"circuit": ring_map(n_qubits, 2), "ledger": path, **changes})
        sampler.hamming_counts(circuits_of(1, 1, n_qubits=sampler.service.description["n_qubits"]), shots=shots)
        return sampler.service.description

    return measure


@pytest.fixture
def other_ring(monkeypatch):
    """Another day, on which other qubits are the best."""

    def change(ring):
        monkeypatch.setattr(services, "simulated_ring", lambda *_, **__: SimpleNamespace(qubits=ring))
        monkeypatch.setattr(services, "chosen_qubits", lambda *_: ring)

    return change


def test_a_sampler_by_name_counts():
    counts = device_sampler("aer", ring_map(3, 2)).hamming_counts(circuits_of(2, 2), shots=11)
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
        {"circuit": ring_map(2, 3)},
        {"options": Options(noise="full")},
        {"options": Options(decoupling="XX")},
        {"ring": (3, 4)},
    ],
    ids=str,
)
def test_whatever_asks_for_something_else_has_a_ring_of_its_own(measured, path, other_ring, changes):
    assert measured("fake_rome", n_qubits=2)["ring"] != [3, 4]
    other_ring((3, 4))
    opened = device_sampler("fake_rome", **{"circuit": ring_map(2, 2), "ledger": path, **changes})
    assert opened.service.description["ring"] == [3, 4]


@pytest.mark.parametrize(
    "options", [Options(mode="batch"), Options(api="executor"), Options(max_error=0.4, allow_faulty=True)], ids=str
)
def test_what_does_not_decide_what_is_measured_makes_no_difference(measured, path, other_ring, options):
    first = measured("fake_rome", n_qubits=2)
    other_ring((3, 4))
    again = device_sampler("fake_rome", circuit=ring_map(2, 2), ledger=path, options=options)
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


@pytest.fixture
def stored(path):
    """Two measurements on services that outlive their process: half of the first is measured, all else was not sent."""
    names = ("ibm_one", "fake_two")
    known = {name: FakeService(device=name, limits=Limits(executions=15)) for name in names}
    for service in known.values():
        with Ledger.open(path, write=True) as ledger:
            measurement = noted(ledger, service, circuits_of(2, 3), shots=5)
            if service.device == "ibm_one":
                for event in follow(ledger, service, measurement):
                    if event.kind == "done":
                        break
    opened: list[str] = []

    def reopened(told):
        opened.append(told["backend"])
        return known[told["backend"]]

    return SimpleNamespace(path=path, services=known, opened=opened, jobs=partial(StoredJobs, path, reopened=reopened))


CIRCUIT = Circuit(3, 1).ry([0, 1, 2], x[0]).cnot(line(3)).rz([0, 1, 2], w * x[0] + b)


def of_any_circuit(circuit=CIRCUIT):
    parameters = {"weights": np.ones(circuit.weights_shape), "bias": np.zeros(circuit.bias_shape)}
    return OverlapCircuits.of(circuit, [[0.1], [0.7], [1.5]], [[0.2], [2.0]], **parameters)


class TestAnyCircuit:
    def test_its_qubits_are_kept_by_a_ledger(self, path, other_ring):
        first = device_sampler("fake_manila", CIRCUIT, ledger=path)
        counts = first.hamming_counts(of_any_circuit(), shots=20)
        other_ring((0, 1, 2))
        again = device_sampler("fake_manila", CIRCUIT, ledger=path)
        assert again.service.description == first.service.description
        np.testing.assert_array_equal(again.hamming_counts(of_any_circuit(), shots=20), counts)
        longer = CIRCUIT.cnot(0, 1)
        assert device_sampler("fake_manila", longer, ledger=path).service.description["ring"] == [0, 1, 2]

    def test_what_was_sent_goes_on_in_another_process_as_if_nothing_had_happened(self, path):
        sampler = device_sampler("fake_manila", CIRCUIT, ledger=path, seed=4)
        sampler.submit([of_any_circuit()], shots=20)
        assert [event.kind for event in StoredJobs(path).resume()] == ["lost", "resent", "done"]
        undisturbed = device_sampler("fake_manila", CIRCUIT, seed=4)
        expected = undisturbed.hamming_counts(of_any_circuit(), shots=20)
        np.testing.assert_array_equal(sampler.hamming_counts(of_any_circuit(), shots=20), expected)

    def test_a_copy_of_its_service_runs_the_same(self):
        service = device_sampler("fake_manila", CIRCUIT).service
        assert pickle.loads(pickle.dumps(service)).description == service.description

    def test_another_circuit_is_refused(self):
        sampler = device_sampler("aer", CIRCUIT)
        for circuits in (of_any_circuit(CIRCUIT.cnot(0, 1)), circuits_of(1, 1)):
            with pytest.raises(InvalidInputError, match="another circuit"):
                sampler.hamming_counts(circuits, shots=5)

    def test_its_cost_is_told_by_its_gates(self):
        found = device_sampler("aer", CIRCUIT).estimate([of_any_circuit()], shots=10)
        assert (found.n_circuits, found.executions, found.n_jobs) == (6, 60, 1)
        assert found.by_clops == pytest.approx(60 * 4 / 250_000)  # two CNOTs after each other, there and back


class TestStoredJobs:
    def test_all_is_resumed_on_the_services_that_it_was_begun_on(self, stored):
        jobs = stored.jobs()
        assert [each.n_measured for each in jobs.summaries()] == [3, 0]
        kinds = [event.kind for event in jobs.resume()]
        assert kinds.count("done") == 3
        assert all(each.is_complete for each in jobs.summaries())
        assert {name: len(service.submitted) for name, service in stored.services.items()} == {
            "ibm_one": 2,
            "fake_two": 2,
        }
        assert list(jobs.resume()) == []

    def test_only_what_a_device_has_not_got_costs_and_nothing_is_opened_twice(self, stored):
        jobs = stored.jobs()
        list(jobs.cancel())
        stored.services["ibm_one"].speed = Speed(clops=None)
        ((device, cost),) = jobs.estimates()  # simulations cost nothing
        assert device == "ibm_one"
        assert cost == estimate(3, 5, circuit=ring_map(3, 2), n_jobs=1, speed=Speed(clops=None))
        list(jobs.resume())
        assert stored.opened == ["ibm_one", "fake_two"]
        assert jobs.estimates() == []

    def test_what_is_on_its_way_is_asked_for_and_the_rest_is_not(self, stored):
        assert [event.kind for event in stored.jobs().refresh()] == ["done"]
        assert stored.opened == ["ibm_one"]

    def test_one_of_them_is_named_by_the_start_of_its_id(self, stored):
        wanted = stored.jobs().summaries()[1].id
        assert [each.id for each in stored.jobs(only=wanted[:6]).summaries()] == [wanted]
        with pytest.raises(InvalidInputError, match=f"measurement 'x'; .*{wanted[:12]}"):
            stored.jobs(only="x").summaries()


def test_all_that_is_exported_is_there_and_qiskit_comes_with_what_needs_it():
    code = "import sys, mcquack.hardware as room; "
    code += "early = [getattr(room, name) for name in room.__all__ if name not in ('list_backends', 'open_service')]; "
    code += "assert 'qiskit' not in sys.modules; room.open_service; assert 'qiskit' in sys.modules"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    room: Any = hardware
    assert set(dir(room)) >= set(room.__all__) - {"list_backends", "open_service"}
    with pytest.raises(AttributeError, match="nothing"):
        _ = room.nothing


def test_without_qiskit_the_extra_is_named():
    # In a process of its own: this one has imported it, and others hold on to what they imported.
    code = """
import sys
from mcquack.circuits import FeatureMap
from mcquack.errors import MissingDependencyError
from mcquack.hardware import sampler

for module in ("qiskit", "qiskit_ibm_runtime", "qiskit_aer"):
    sys.modules[module] = None
    try:
        sampler.device_sampler("aer", FeatureMap(n_qubits=2, n_features=1, n_layers=2))
    except MissingDependencyError as error:
        print(error)
    del sys.modules[module]
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert finished.stdout.count("mcquack[ibm]") == 3
