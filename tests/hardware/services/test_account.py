"""Accounts are found by the vendor alone, and no token gets into any text."""

import json
import logging

import pytest
import requests
from ibm_cloud_sdk_core import ApiException
from qiskit_ibm_runtime.accounts.exceptions import AccountNotFoundError
from qiskit_ibm_runtime.api.exceptions import RequestsApiError
from qiskit_ibm_runtime.exceptions import (
    IBMInputValueError,
    IBMNotAuthorizedError,
    IBMRuntimeError,
    RuntimeJobNotFound,
)

from mcquack.errors import AccountError, DeviceError, InvalidInputError, LostJobError
from mcquack.hardware.services import account
from mcquack.hardware.services.account import TOKEN_VARIABLE, explained, ibm_service, without_secrets
from mcquack.hardware.services.opening import list_backends, open_service

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


@pytest.mark.parametrize("name", ["ibm_pittsburgh", "least_busy"])
def test_without_an_account_the_steps_to_one_are_told(name):
    with pytest.raises(AccountError) as told:
        open_service(name, n_qubits=4, n_layers=2)
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
    def refuse():
        raise error

    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(account, "QiskitRuntimeService", type("Refusing", (account.QiskitRuntimeService,), {}))
    monkeypatch.setattr(account.QiskitRuntimeService, "__new__", lambda cls: refuse())
    with pytest.raises(AccountError) as told:
        ibm_service()
    assert "***" in str(told.value)
    assert saved_token not in str(told.value) + caplog.text
    # Whoever prints a traceback prints what it was raised from.
    assert told.value.__suppress_context__


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RuntimeJobNotFound(f"Job not found: 1 {TOKEN}"), LostJobError),
        (IBMNotAuthorizedError(f"401 Client Error {TOKEN}"), AccountError),
        (RequestsApiError(f"no answer {TOKEN}"), ConnectionError),
        (RequestsApiError(f"504 Server Error {TOKEN}", status_code=504), ConnectionError),
        (RequestsApiError(f"429 Client Error {TOKEN}", status_code=429), ConnectionError),
        (RequestsApiError(f"400 Client Error {TOKEN}", status_code=400), DeviceError),
        (IBMRuntimeError(f"Failed to retrieve job: '502 Server Error: {TOKEN}'"), ConnectionError),
        (IBMRuntimeError(f"Failed to run program: 'Pool: Max retries exceeded {TOKEN}'"), ConnectionError),
        (IBMRuntimeError(f"Failed to run program: '409 Client Error: quota {TOKEN}'"), DeviceError),
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
    assert saved_token not in str(told.value)
    assert told.value.__suppress_context__


def test_errors_of_our_own_stay_as_they_are():
    with pytest.raises(InvalidInputError, match=r"^ours$"), explained("asked in vain"):
        raise InvalidInputError("ours")


def test_only_secrets_are_taken_out(saved_token):
    assert without_secrets(f"a {saved_token} b {saved_token}") == "a *** b ***"
    assert without_secrets("nothing to hide") == "nothing to hide"


def test_an_unreadable_account_file_hides_no_other_error(account_file):
    account_file.write_text("{ not json")
    assert without_secrets("text") == "text"
    with pytest.raises(AccountError):
        open_service("ibm_boston", n_qubits=4, n_layers=2)
