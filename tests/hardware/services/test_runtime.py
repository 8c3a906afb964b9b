"""Jobs far away are sent, found, asked for and fetched, by whoever has their ids, through either sampler."""

import copy
import pickle
import time
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest
from qiskit_ibm_runtime import QiskitRuntimeService
from qiskit_ibm_runtime.api.exceptions import RequestsApiError
from qiskit_ibm_runtime.exceptions import IBMRuntimeError

from mcquack.circuits import Circuit, OverlapCircuits, all_to_all, x
from mcquack.errors import DeviceError, InvalidInputError, LostJobError
from mcquack.hardware.services import opening, runtime
from mcquack.hardware.services.account import TOKEN_VARIABLE, snapshot
from mcquack.hardware.services.options import Options, Setup
from mcquack.hardware.services.runtime import RuntimeService
from tests.hardware.overlaps import ring_map, some_circuits
from tests.hardware.services.accounts import FarAccount, FarJob
from tests.hardware.services.measuring import flat_angles

CIRCUITS = some_circuits(2, 2)


def service_of(account, backend, **options):
    setup = Setup(backend=backend.name, circuit=ring_map(2, 2), ring=(1, 2), options=Options(**options))
    return RuntimeService(setup, backend, account)


@pytest.fixture
def device():
    return snapshot("fake_rome")


@pytest.fixture
def far(device):
    account = FarAccount(devices=(device,))
    return account, service_of(account, device)


@pytest.mark.parametrize("mode", ["job", "batch", "session"])
@pytest.mark.parametrize("api", ["v2", "executor"])
def test_both_samplers_run_in_all_modes_on_the_vendors_local_service(api, mode, device):
    account = QiskitRuntimeService(channel="local")
    with closing(service_of(account, device, api=api, mode=mode)) as service:
        job_id = service.submit(flat_angles(CIRCUITS), shots=100, tag="mcquack-1")
        assert service.find("mcquack-1") == job_id
        while service.status(job_id).state in ("queued", "running"):
            time.sleep(0.01)
        assert service.outcomes(job_id).shape == (4, 100, 1)
    assert service.find("mcquack-2") is None
    with pytest.raises(LostJobError):
        service.status("job-of-another-process")


@pytest.mark.parametrize("api", ["v2", "executor"])
def test_both_samplers_run_any_circuit(api, device):
    circuit = Circuit(3, 1).ry([0, 1, 2], x[0]).cz(all_to_all(3)).rx([0, 1, 2], x[0])
    circuits = OverlapCircuits.of(circuit, [[0.3], [0.9]], [[0.4]], weights=np.zeros(0), bias=np.zeros(0))
    setup = Setup(backend=device.name, circuit=circuits.circuit, ring=(1, 2, 3), options=Options(api=api))
    service = RuntimeService(setup, device, QiskitRuntimeService(channel="local"))
    assert Setup.of(service.description) == setup
    job_id = service.submit(flat_angles(circuits), shots=100, tag="mcquack-1")
    while service.status(job_id).state in ("queued", "running"):
        time.sleep(0.01)
    assert service.outcomes(job_id).shape == (2, 100, 1)


def test_a_job_is_found_by_its_tag_from_any_process(far):
    account, service = far
    account.sent = [FarJob("a", ["t-1"]), FarJob("b", ["t-2"]), FarJob("c", ["t-1"])]
    assert service.find("t-1") == "c"  # the latest
    assert service.find("t-2") == "b"
    assert service.find("t-3") is None
    assert account.asked[-1] == {"limit": 1, "backend_name": "fake_rome", "job_tags": ["t-3"], "instance": None}


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("INITIALIZING", "queued"),
        ("QUEUED", "queued"),
        ("RUNNING", "running"),
        ("DONE", "done"),
        ("ERROR", "failed"),
        ("CANCELLED", "cancelled"),
        (SimpleNamespace(name="DONE"), "done"),
    ],
)
def test_states_are_translated(theirs, ours, far):
    account, service = far
    account.sent = [FarJob("a", state=theirs, error="out of cold")]
    status = service.status("a")
    assert (status.state, status.message) == (ours, "out of cold" if ours == "failed" else "")


def test_a_state_that_nobody_knows_is_an_error(far):
    account, service = far
    account.sent = [FarJob("a", state="MELTED")]
    with pytest.raises(DeviceError, match="MELTED"):
        service.status("a")


def test_results_are_fetched_by_id_once_they_are_there(far, device):
    account, service = far
    sender = service_of(account, device)
    job_id = sender.submit(flat_angles(CIRCUITS), shots=7, tag="t")
    outcome = sender._job(job_id).result()
    account.sent = [FarJob("far", state="RUNNING", outcome=outcome)]
    with pytest.raises(DeviceError, match="is running"):
        service.outcomes("far")
    account.sent[0].state = "DONE"
    assert service.outcomes("far").shape == (4, 7, 1)


def test_jobs_are_lost_only_if_the_service_says_so(far):
    account, service = far
    for ask in (service.status, service.outcomes, service.cancel):
        with pytest.raises(LostJobError, match="the job x"):
            ask("x")
    account.trouble = RequestsApiError("no answer", status_code=503)
    for ask in (service.status, service.outcomes, service.cancel, service.find):
        with pytest.raises(ConnectionError):
            ask("x")


def test_only_jobs_that_have_not_ended_are_cancelled(far):
    account, service = far
    account.sent = [FarJob("a", state="RUNNING"), FarJob("b", state="DONE")]
    service.cancel("a")
    service.cancel("b")
    assert [job.was_cancelled for job in account.sent] == [True, False]


class Group:
    """A batch or session that may close by itself."""

    made: list["Group"]

    def __init__(self, backend):
        self.backend, self.is_open, self.n_closed = backend, True, 0
        self.made.append(self)

    def details(self):
        return {"accepting_jobs": self.is_open}

    def close(self):
        self.n_closed += 1


@pytest.mark.parametrize("mode", ["batch", "session"])
def test_jobs_share_a_group_until_it_closes(mode, device, monkeypatch):
    Group.made = []
    modes = []
    monkeypatch.setattr(runtime, mode.capitalize(), Group)

    def noted(*given, mode, tag, **options):
        modes.append(mode)
        return FarJob(tag)

    monkeypatch.setattr(runtime, "sent", noted)
    service = service_of(FarAccount(), device, mode=mode)
    assert Group.made == []
    angles = flat_angles(CIRCUITS)
    service.submit(angles, shots=1, tag="1")
    service.submit(angles, shots=1, tag="2")
    Group.made[0].is_open = False
    service.submit(angles, shots=1, tag="3")
    assert modes == [Group.made[0], Group.made[0], Group.made[1]]
    service.close()
    service.close()
    assert [group.n_closed for group in Group.made] == [1, 1]
    service.submit(angles, shots=1, tag="4")
    last = Group.made[-1]
    del service  # an open session is paid for
    modes.clear()
    assert (len(Group.made), last.n_closed) == (3, 1)


def test_what_the_device_refuses_is_told(far, monkeypatch):
    _, service = far
    monkeypatch.setattr(runtime, "sent", lambda *given, **options: (_ for _ in ()).throw(IBMRuntimeError("no quota")))
    with pytest.raises(DeviceError, match=r"fake_rome.*no quota"):
        service.submit(flat_angles(CIRCUITS), shots=1, tag="t")
    with pytest.raises(InvalidInputError, match="shots"):
        service.submit(flat_angles(CIRCUITS), shots=0, tag="t")


def test_no_copy_has_the_account(device, monkeypatch):
    token = "s3cr3t-" + "y" * 30
    monkeypatch.setenv(TOKEN_VARIABLE, token)
    account = FarAccount(devices=(device,), token=token)
    service = service_of(account, device, decoupling="XY4")
    for content in (pickle.dumps(service), repr(service).encode(), str(service.description).encode()):
        assert token.encode() not in content
    assert copy.deepcopy(service) is service
    monkeypatch.setattr(opening, "found_device", lambda name, n_qubits: (account, device))
    again = pickle.loads(pickle.dumps(service))
    assert again is not service
    assert again.description == service.description


def test_a_failure_gives_no_token_away(far, monkeypatch):
    token = "s3cr3t-" + "z" * 30
    monkeypatch.setenv(TOKEN_VARIABLE, token)
    account, service = far
    account.sent = [FarJob("a", state="ERROR", error=f"Authorization: Bearer {token}")]
    assert service.status("a").message == "Authorization: Bearer ***"
