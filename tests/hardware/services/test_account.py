"""Accounts are found by the vendor alone, and no token gets into any text."""

import base64
import json
import logging
import textwrap
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
import requests
from ibm_cloud_sdk_core import ApiException
from numpy.testing import assert_allclose
from qiskit.circuit import Measure
from qiskit.circuit.library import CXGate, CZGate, SXGate
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.transpiler import InstructionProperties, QubitProperties, Target
from qiskit_aer import AerSimulator
from qiskit_ibm_runtime import QiskitRuntimeService, fake_provider
from qiskit_ibm_runtime.accounts.exceptions import AccountNotFoundError
from qiskit_ibm_runtime.api.exceptions import RequestsApiError
from qiskit_ibm_runtime.exceptions import IBMInputValueError, IBMNotAuthorizedError, IBMRuntimeError, RuntimeJobNotFound

from mcquack.errors import AccountError, DeviceError, InvalidInputError, LostJobError
from mcquack.hardware.layout import best_ring, ring_lengths
from mcquack.hardware.layout.coordinates import qubit_positions
from mcquack.hardware.layout.coupling import properties_along
from mcquack.hardware.services import account
from mcquack.hardware.services.account import (
    TOKEN_VARIABLE,
    Device,
    coupling_of,
    explained,
    ibm_service,
    local_devices,
    snapshot,
    without_secrets,
)
from mcquack.hardware.services.opening import list_backends, open_service
from mcquack.hardware.services.options import is_remote
from mcquack.simulators.noise import DeviceCalibration
from tests.hardware.layout.graphs import complete, heavy_hex, is_ring
from tests.hardware.overlaps import ring_map

TOKEN = "s3cr3t-" + "x" * 30


def save(path, token):
    saved = {"channel": "ibm_quantum_platform", "token": token, "url": "https://cloud.ibm.com", "verify": True}
    path.write_text(json.dumps({"default-ibm-quantum-platform": saved}))


@pytest.fixture(params=["environment", "file"])
def saved_token(request, account_file, monkeypatch):
    if request.param == "environment":
        monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    else:
        save(account_file, TOKEN)
    return TOKEN


def assert_leads_to_no_token(error):
    """Neither what it was raised from nor the variables of the functions that raised it have it."""
    assert error.__context__ is None
    assert error.__cause__ is None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if "tests" not in Path(frame.f_code.co_filename).parts:
            held = [value for value in frame.f_locals.values() if not isinstance(value, type(pytest))]
            assert not any(TOKEN in repr(value) for value in held), frame
            assert not any(isinstance(value, BaseException) and value is not error for value in held), frame


@pytest.mark.parametrize("name", ["ibm_pittsburgh", "least_busy"])
def test_without_an_account_the_steps_to_one_are_told(name):
    with pytest.raises(AccountError) as told:
        open_service(name, circuit=ring_map(4, 2))
    for step in ("save_account", TOKEN_VARIABLE, "https://quantum.cloud.ibm.com", "fake_pittsburgh"):
        assert step in str(told.value)
    with pytest.raises(AccountError):
        list_backends(with_account=True)


@pytest.mark.parametrize(
    "error",
    [
        AccountNotFoundError(f"no account for {TOKEN}"),
        IBMInputValueError(f"The given API token {TOKEN} is associated with"),
        requests.ConnectionError(f"https://iam.cloud.ibm.com?apikey={TOKEN}"),
        KeyError(TOKEN),
    ],
)
def test_an_account_that_cannot_be_opened_gives_no_token_away(error, saved_token, monkeypatch, caplog):
    class Refusing(QiskitRuntimeService):
        def __new__(cls):
            raise error

    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(account, "QiskitRuntimeService", Refusing)
    with pytest.raises(AccountError) as told:
        ibm_service()
    assert "***" in str(told.value)
    assert saved_token not in str(told.value) + caplog.text
    assert_leads_to_no_token(told.value)


def said_of(error, text):
    """What the vendor says of an error of its connection, whose number is not in it."""
    told = IBMRuntimeError(f"{text}: {error}")
    told.__context__ = error
    return told


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RuntimeJobNotFound(f"Job not found: 1 {TOKEN}"), LostJobError),
        (IBMNotAuthorizedError(f"401 Client Error {TOKEN}"), AccountError),
        (RequestsApiError(f"no answer {TOKEN}"), ConnectionError),
        (RequestsApiError(f"504 Server Error {TOKEN}", status_code=504), ConnectionError),
        (RequestsApiError(f"429 Client Error {TOKEN}", status_code=429), ConnectionError),
        (RequestsApiError(f"400 Client Error {TOKEN}", status_code=400), DeviceError),
        (said_of(RequestsApiError(f"502 {TOKEN}", status_code=502), "Failed to retrieve job"), ConnectionError),
        (said_of(requests.ConnectionError(f"Max retries {TOKEN}"), "Failed to run program"), ConnectionError),
        (said_of(RequestsApiError(f"409 quota {TOKEN}", status_code=409), "Failed to run program"), DeviceError),
        (IBMRuntimeError(f"no more of it {TOKEN}"), DeviceError),
        (requests.Timeout(f"slow {TOKEN}"), ConnectionError),
        (IBMInputValueError(f"circuit too wide {TOKEN}"), DeviceError),
        (ValueError(f"circuit too wide {TOKEN}"), DeviceError),
        (ApiException(503, message=f"the cloud is down {TOKEN}"), ConnectionError),
        (ApiException(404, message=f"no such instance {TOKEN}"), DeviceError),
        (KeyError(TOKEN), DeviceError),
    ],
)
def test_errors_of_the_vendor_become_ours(error, kind, saved_token):
    with pytest.raises(kind) as told, explained("asked in vain", job_id="job-1"):
        raise error
    assert type(told.value) is kind
    assert saved_token not in repr(told.value) + str(told.value)
    assert_leads_to_no_token(told.value)


def test_an_error_within_the_handling_of_another_leads_to_none_of_them(saved_token):
    def ask():
        try:
            raise KeyError(saved_token)
        except KeyError:
            raise ValueError(saved_token)  # noqa: B904 (the vendor does so)

    with pytest.raises(DeviceError) as told, explained("asked in vain"):
        ask()
    assert_leads_to_no_token(told.value)


def test_errors_of_our_own_stay_as_they_are():
    with pytest.raises(InvalidInputError, match=r"^ours$"), explained("asked in vain"):
        raise InvalidInputError("ours")


ODD_TOKEN = "aB3/+_Zq-" + "xY7~" * 8 + "é"


def within_base64(token, *, before, after, kind):
    return kind(f"{before}{token}{after}".encode()).decode()


FORMS: dict[str, list[Callable[[str], str]]] = {
    "upper case": [str.upper],
    "lower case": [str.lower],
    "an address": [
        quote,
        quote_plus,
        lambda token: quote(token, safe=""),
        lambda token: quote(quote(token, safe=""), safe=""),
        lambda token: "".join(f"%{byte:02x}" for byte in token.encode()),
    ],
    "lines": [
        lambda token: f"{token[:9]}\n{token[9:]}",
        lambda token: repr(f"{token[:9]}\r\n\t{token[9:]}"),
        lambda token: "\n".join(token),
        lambda token: textwrap.fill(base64.b64encode(f"Bearer {token}".encode()).decode(), 10),
    ],
    "Base64": [
        partial(within_base64, before=before, after=after, kind=kind)
        for before in ("", "a", "ab", "apikey:")
        for after in ("", "x", "xy", ":more")
        for kind in (base64.b64encode, base64.urlsafe_b64encode)
    ],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("token", [TOKEN, ODD_TOKEN], ids=["plain", "odd"])
def test_a_token_is_taken_out_in_every_form(form, token, monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, token)
    for written in FORMS[form]:
        shown = without_secrets(f"before {written(token)} after")
        before, _, after = shown.partition("***")
        assert before.startswith("before ")
        assert after.endswith(" after")
        # What surrounds it within Base64 stays, with no whole letter of the token.
        assert len(shown) < len("before *** after") + 30
        assert "***" not in without_secrets(f"before {written('nothing to hide')} after")


def test_a_short_secret_is_taken_out_as_it_is_alone(monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, "abc")
    assert without_secrets("abc ABC a b c") == "*** ABC a b c"


def test_only_secrets_are_taken_out(saved_token):
    assert without_secrets(f"a {saved_token} b {saved_token}") == "a *** b ***"
    assert without_secrets("nothing to hide") == "nothing to hide"


def test_an_unreadable_account_file_hides_no_other_error(account_file):
    account_file.write_text("{ not json")
    assert without_secrets("text") == "text"
    with pytest.raises(AccountError):
        open_service("ibm_boston", circuit=ring_map(4, 2))


# Devices have names, and names that nobody has are answered with those that are close.


def test_every_device_of_the_list_can_be_had_by_its_name():
    devices = local_devices()
    assert devices[0] == Device(name="aer", kind="simulator")
    assert len({device.name for device in devices}) == len(devices) > 50
    assert not any(is_remote(device.name) for device in devices)
    # The largest first, for these are the ones that rings of a hundred qubits fit on.
    sizes = [device.n_qubits or 0 for device in devices[1:]]
    assert sizes == sorted(sizes, reverse=True)
    assert snapshot(devices[-1].name).num_qubits == sizes[-1]


def test_a_snapshot_tells_what_its_cost_is_estimated_from():
    known = {device.name: device for device in local_devices()}
    assert known["fake_pittsburgh"] == Device(
        name="fake_pittsburgh",
        kind="snapshot",
        n_qubits=156,
        processor="Heron r3",
        two_qubit_gate="cz",
        clops=330_000,
        rep_delay_us=known["fake_pittsburgh"].rep_delay_us,
    )
    assert known["fake_pittsburgh"].rep_delay_us == pytest.approx(250)
    assert known["fake_nighthawk"].clops is None


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("fake_pitsburgh", "mean fake_pittsburgh"),
        ("Pittsburgh", r"fake_pittsburgh\?"),
        ("aers", r"mean aer\?"),
        ("leastbusy", r"least_busy\?"),
        ("zzzzzz", "list_backends shows all"),
        (7, "list_backends shows all"),
    ],
)
def test_unknown_names_are_answered_with_close_ones(name, hint):
    with pytest.raises(InvalidInputError, match=hint):
        open_service(name, circuit=ring_map(2, 2))


# What backends tell of their devices, and the facts of some of them.


@cache
def fake(name):
    return getattr(fake_provider, name)()


class Backend:
    """No more of a backend than its target."""

    name = "hand-made"

    def __init__(self, target):
        self.target = target


def test_a_heron_processor_is_a_heavy_hex_lattice():
    coupling = coupling_of(fake("FakePittsburgh"))
    assert coupling.name == "fake_pittsburgh"
    assert coupling.edges == tuple(sorted(heavy_hex().edges))


def test_medians_are_those_that_the_device_reports():
    coupling = coupling_of(fake("FakePittsburgh"))
    known = ("sx_error", "readout_error", "t1_us", "t2_us", "two_qubit_error", "two_qubit_us", "sx_us")
    ordered = {name: sorted(getattr(coupling, name)) for name in known}
    median = {name: values[len(values) // 2] for name, values in ordered.items()}
    assert_allclose(median["sx_error"], 1.99e-4, rtol=0.01)
    assert_allclose(median["readout_error"], 4.517e-3, rtol=0.01)
    assert_allclose(median["t1_us"], 299, rtol=0.01)
    assert_allclose(median["t2_us"], 317, rtol=0.01)
    assert_allclose(median["two_qubit_error"], 1.549e-3, rtol=0.02)
    assert ordered["two_qubit_us"][0] == pytest.approx(0.088)
    assert ordered["sx_us"][0] == pytest.approx(0.032)


@pytest.mark.parametrize(
    ("name", "longest", "longest_good"),
    [
        ("FakePittsburgh", 124, 116),
        ("FakeAachen", 124, 116),
        ("FakeBoston", 124, 124),
        ("FakeKingston", 124, 112),
        ("FakeFez", 124, 108),
        ("FakeTorino", 104, 76),
    ],
)
def test_the_longest_rings_with_and_without_faulty_couplers(name, longest, longest_good):
    coupling = coupling_of(fake(name))
    assert ring_lengths(coupling, allow_faulty=True) == (1, 2, 12, *range(20, longest + 1, 4))
    couplers_only = replace(coupling, sx_error=(), readout_error=())
    assert ring_lengths(couplers_only) == (1, 2, 12, *range(20, longest_good + 1, 4))
    ring = best_ring(couplers_only, longest_good)
    assert is_ring(coupling, ring.qubits)
    assert not ring.notes


def test_qubits_that_cannot_be_turned_count_as_well():
    """The snapshot has a qubit with an SX error of 1, of which no coupler tells."""
    assert ring_lengths(coupling_of(fake("FakeBoston")))[-1] == 116


def test_a_ring_of_a_snapshot_makes_a_noisy_twin():
    backend = fake("FakePittsburgh")
    ring = best_ring(coupling_of(backend), 124, allow_faulty=True)
    assert ring.notes[0] == "faulty couplers in the ring: 31–32, 56–63, 83–96, 117–125, 145–146"
    values, notes = properties_along(coupling_of(backend), ring.qubits)
    assert DeviceCalibration(**values).n_qubits == 124
    assert len(notes) == 2
    assert "31–32, 56–63, 83–96, 117–125, 145–146" in notes[1]
    place = ring.qubits.index(0) if 0 in ring.qubits else 0
    pair = (ring.qubits[place], ring.qubits[place + 1])
    assert values["two_qubit_error"][place] == backend.target["cz"][pair].error


@pytest.mark.parametrize("name", ["FakeBrisbane", "FakeAuckland", "FakeGuadalupeV2", "FakeManilaV2"])
def test_older_devices_with_other_gates_work_too(name):
    backend = fake(name)
    coupling = coupling_of(backend)
    assert set(coupling.edges) == {tuple(sorted(edge)) for edge in backend.coupling_map}
    assert None not in coupling.two_qubit_error
    ring = best_ring(coupling, ring_lengths(coupling)[-1])
    assert DeviceCalibration(**properties_along(coupling_of(backend), ring.qubits).values).n_qubits == len(ring)
    positions = qubit_positions(coupling)
    assert all(abs(positions[first] - positions[second]).sum() == 1 for first, second in coupling.edges)


def test_the_worse_direction_of_a_coupler_counts():
    backend = GenericBackendV2(4, seed=1)
    coupling = coupling_of(backend)
    for edge, error in zip(coupling.edges, coupling.two_qubit_error, strict=True):
        both = [backend.target["cx"][pair].error for pair in (edge, edge[::-1])]
        assert error == max(both)


def test_a_simulator_without_a_map_couples_all():
    coupling = coupling_of(AerSimulator(n_qubits=6))
    assert coupling.edges == complete(6).edges
    assert coupling.two_qubit_error == (None,) * 15
    assert best_ring(coupling, 5).qubits == (0, 1, 2, 3, 4)


def hand_made(**cz):
    target = Target(
        num_qubits=3, qubit_properties=[QubitProperties(t1=1e-4, t2=0.0), QubitProperties(), QubitProperties(t1=2e-4)]
    )
    target.add_instruction(
        CXGate(), {(0, 1): InstructionProperties(error=0.3), (2, 1): InstructionProperties(error=0.2)}
    )
    target.add_instruction(CZGate(), {(1, 0): InstructionProperties(**cz)})
    target.add_instruction(SXGate(), {(0,): InstructionProperties(error=0.01), (1,): None, (2,): None})
    target.add_instruction(Measure(), {(0,): InstructionProperties(error=0.02, duration=1e-6), (1,): None})
    return Backend(target)


def test_what_is_missing_is_not_known_and_the_best_gate_of_a_coupler_counts():
    coupling = coupling_of(hand_made(error=0.1))
    assert coupling.edges == ((0, 1), (1, 2))
    assert coupling.two_qubit_error == (0.1, 0.2)
    assert coupling.sx_error == (0.01, None, None)
    assert coupling.readout_error == (0.02, None, None)
    assert coupling.readout_us == (1.0, None, None)
    assert coupling.t1_us == (100.0, None, 200.0)
    assert coupling.t2_us == (None, None, None)


def test_an_error_above_certainty_is_a_fault():
    assert coupling_of(hand_made(error=2.5)).two_qubit_error == (1.0, 0.2)


def test_a_backend_without_qubits_is_refused():
    with pytest.raises(DeviceError, match="hand-made"):
        coupling_of(Backend(Target()))
