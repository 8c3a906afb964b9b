"""Samplers by their names."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.circuits import Circuit, b, w, x
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError, LayoutError, LayoutWarning
from mcquack.hardware.devices import PAPER_DEVICES, open_device, open_sampler
from mcquack.hardware.sampler import DeviceSampler, snapshot_properties
from mcquack.hardware.services.options import Options
from mcquack.simulators.gates import GateEngine
from mcquack.simulators.noise import AACHEN, PITTSBURGH, DeviceCalibration
from mcquack.simulators.samplers import NoisySampler, SimulatedSampler
from tests.hardware.doubles import circuits_of

SMALL = FeatureMap(n_qubits=2, n_features=4, n_layers=2)
CIRCUITS = circuits_of(2, 2, n_qubits=2)


def counts(sampler: Any) -> Any:
    return sampler.hamming_counts(CIRCUITS, shots=40)


def test_the_simulator_draws_from_exact_distributions() -> None:
    assert_array_equal(counts(open_sampler("simulator", SMALL, seed=3)), counts(SimulatedSampler(seed=3)))


@pytest.mark.parametrize(("name", "calibration"), [("pittsburgh", PITTSBURGH), ("aachen", AACHEN)])
def test_twins_of_the_papers_devices(name: str, calibration: DeviceCalibration) -> None:
    assert PAPER_DEVICES[name] is calibration
    assert_array_equal(counts(open_sampler(f"twin:{name}", SMALL, seed=3)), counts(NoisySampler(calibration, seed=3)))


def test_the_twin_of_a_snapshot_has_its_errors_qubit_by_qubit() -> None:
    properties = snapshot_properties("fake_rome", n_qubits=2, n_layers=2, ring=(1, 0))
    expected = NoisySampler(DeviceCalibration(**properties.values), seed=3)
    assert_array_equal(counts(open_sampler("twin:fake_rome", SMALL, ring=(1, 0), seed=3)), counts(expected))


@pytest.mark.parametrize("name", ["fake_rome", "twin:fake_rome"])
def test_rehearsals_take_a_ring_with_faults_if_there_is_no_other(name: str) -> None:
    usual = open_device(name, shots=20, ring=(1, 0)).on(SMALL)
    point = {"weights": np.zeros(SMALL.weights_shape), "bias": np.zeros(SMALL.weights_shape)}
    X = np.zeros((1, 4))
    assert usual.kernel(X, X, **point).shape == (1, 1)
    with pytest.warns(LayoutWarning, match="every ring of 2 qubits on fake_rome .*faulty coupler"):
        faulty = open_device(name, shots=20, options=Options(max_error=1e-6)).on(SMALL).kernel(X, X, **point)
    allowed = open_device(name, shots=20, options=Options(max_error=1e-6, allow_faulty=True)).on(SMALL)
    assert_array_equal(allowed.kernel(X, X, **point), faulty)


def test_all_else_keeps_what_it_measures(tmp_path: Path) -> None:
    events: list[Any] = []
    sampler = open_sampler("aer", SMALL, ledger=tmp_path / "a.sqlite", run="first", on_event=events.append)
    assert isinstance(sampler, DeviceSampler)
    assert (sampler.service.description["n_qubits"], sampler.run) == (2, "first")
    counts(sampler)
    assert [event.kind for event in events] == ["sent", "done"]
    assert (tmp_path / "a.sqlite").is_file()


def test_any_circuit_runs_where_gates_do() -> None:
    circuit = Circuit(2, 1).ry([0, 1], x[0]).cnot(0, 1).rx([0, 1], w * x[0])
    point = {"weights": np.array([0.5, 1.5]), "bias": np.zeros(0)}
    X = np.array([[0.1], [0.8], [1.7]])
    exact = GateEngine(circuit, dtype=np.float64).kernel(X, X[:2], **point)
    for name in ("simulator", "aer", "fake_manila"):
        engine = open_device(name, shots=2000, options=Options(noise="none")).on(circuit)
        for _ in range(2):  # by a sampler that is opened once
            assert_allclose(engine.kernel(X, X[:2], **point), exact, rtol=0, atol=5 * 0.5 / np.sqrt(2000))
    with pytest.raises(InvalidInputError, match=r"twin:aachen.*fake_pittsburgh"):
        open_sampler("twin:aachen", circuit)
    with pytest.raises(InvalidInputError, match="no gates"):
        open_sampler("aer", Circuit(2, 4, start="amplitudes").ry(0, b))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Simulator", r"mean simulator\?"),
        ("twin:foo", "twin:pittsburgh, twin:aachen"),
        ("twin:", "no twin 'twin:'"),
        ("twin:achen", r"mean twin:aachen\?"),
        ("twin:fake_rom", "mean fake_rome"),
        ("rome", "mean fake_rome"),
        ("", "no device ''"),
        (None, "name must be"),
    ],
)
def test_names_that_nobody_has(name: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        open_sampler(name, SMALL)


def test_a_ring_that_a_snapshot_lacks() -> None:
    with pytest.raises(LayoutError, match="no ring of 3 qubits"):
        open_sampler("twin:fake_rome", FeatureMap(n_qubits=3, n_features=3, n_layers=2))
