"""Names lead to devices, near and far."""

import pytest
from qiskit_ibm_runtime.fake_provider import FakeAlgiers, FakeRomeV2

from mcquack.errors import InvalidInputError, LayoutError, LayoutWarning
from mcquack.hardware.jobs.service import Speed
from mcquack.hardware.layout.ring import best_ring
from mcquack.hardware.services import opening
from mcquack.hardware.services.account import coupling_of
from mcquack.hardware.services.opening import list_backends, open_service, opened, reopened
from mcquack.hardware.services.options import Options, Setup
from mcquack.hardware.services.runtime import RuntimeService
from tests.hardware.overlaps import ring_map
from tests.hardware.services.accounts import FarAccount


def renamed(maker, name):
    class Renamed(maker):  # type: ignore[misc, valid-type]
        backend_name = name

    device = Renamed()
    device.name = name
    return device


@pytest.fixture
def account(monkeypatch):
    found = FarAccount(devices=(renamed(FakeRomeV2, "ibm_rome"), renamed(FakeAlgiers, "ibm_algiers")))
    monkeypatch.setattr(opening, "ibm_service", lambda: found)
    return found


def test_a_device_is_opened_by_its_name(account):
    service = open_service("ibm_algiers", circuit=ring_map(12, 2), options=Options(decoupling="XY4"))
    assert isinstance(service, RuntimeService)
    told = service.description
    assert (told["backend"], told["decoupling"], told["seed"]) == ("ibm_algiers", "XY4", None)
    assert tuple(told["ring"]) == best_ring(coupling_of(account.devices[1]), 12).qubits
    assert reopened(told).description == told
    assert "mode='job'" in repr(reopened(told))
    assert "mode='batch'" in repr(reopened(told, mode="batch"))
    assert service.limits.executions == 10_000_000


def test_the_least_busy_device_that_is_large_enough_keeps_its_own_name(account):
    service = open_service("least_busy", circuit=ring_map(12, 2))
    assert service.description["backend"] == "ibm_algiers"
    assert account.asked[0] == {"min_num_qubits": 12, "simulator": False, "operational": True}


def test_a_device_takes_faults_only_if_they_are_allowed_and_its_snapshot_always(account):
    with pytest.raises(LayoutError, match="allow_faulty=True"):
        open_service("ibm_rome", circuit=ring_map(2, 2), options=Options(max_error=1e-6))
    allowed = open_service("ibm_rome", circuit=ring_map(2, 2), options=Options(max_error=1e-6, allow_faulty=True))
    with pytest.warns(LayoutWarning, match="every ring of 2 qubits on fake_rome"):
        rehearsed = open_service("fake_rome", circuit=ring_map(2, 2), options=Options(max_error=1e-6))
    assert rehearsed.description["ring"] == allowed.description["ring"]


def test_devices_that_the_account_lacks_are_answered_with_those_that_it_has(account):
    with pytest.raises(InvalidInputError, match="ibm_algiers"):
        open_service("ibm_algirs", circuit=ring_map(2, 2))


def test_devices_of_the_account_come_first(account, monkeypatch):
    for device, pending in zip(account.devices, (7, 3), strict=True):
        monkeypatch.setattr(device, "status", lambda pending=pending: type("Status", (), {"pending_jobs": pending})())
    first, second, third, *_ = list_backends(with_account=True)
    assert [(device.name, device.pending_jobs) for device in (first, second)] == [("ibm_algiers", 3), ("ibm_rome", 7)]
    assert (first.kind, third.name) == ("device", "aer")


def test_a_given_ring_is_kept():
    service = open_service("fake_rome", circuit=ring_map(2, 2), ring=[3, 2])
    assert service.description["ring"] == [3, 2]


def test_a_ring_that_the_device_lacks_is_refused():
    with pytest.raises(LayoutError, match="0 and 3"):
        open_service("fake_rome", circuit=ring_map(2, 2), ring=[0, 3])
    with pytest.raises(LayoutError, match=r"fake_rome.* 4 qubits"):
        open_service("fake_rome", circuit=ring_map(4, 2))


def test_options_are_checked_before_anything_is_opened():
    with pytest.raises(InvalidInputError, match="options must be"):
        open_service("ibm_algiers", circuit=ring_map(2, 2), options={"api": "v2"})  # type: ignore[arg-type]


def test_a_setup_is_opened_as_it_is():
    setup = Setup(backend="fake_rome", circuit=ring_map(2, 1), ring=(2, 1), options=Options(api="v2"), seed=5)
    assert Setup.of(opened(setup).description) == setup


def test_a_service_says_how_fast_its_device_is_without_opening_it_again(account):
    known = next(device for device in list_backends() if device.name == "fake_pittsburgh")
    speed = open_service("fake_pittsburgh", circuit=ring_map(12, 2)).speed
    assert (speed.clops, speed.rep_delay_us) == (known.clops, known.rep_delay_us)
    far = open_service("ibm_rome", circuit=ring_map(2, 2))
    n_asked = len(account.asked)
    assert far.speed.clops is None or far.speed.clops > 0
    assert far.speed.readout_us == open_service("aer", circuit=ring_map(2, 2)).speed.readout_us == Speed().readout_us
    assert len(account.asked) == n_asked
