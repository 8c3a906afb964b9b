"""No verb tells, logs or keeps the token of an account, whatever the vendor says in whatever error."""

import base64
import logging
import random
from urllib.parse import quote

import pytest
from qiskit_ibm_runtime.exceptions import IBMInputValueError, IBMRuntimeError, RuntimeJobFailureError

from mcquack.hardware.services.account import TOKEN_VARIABLE
from tests.campaigns import rounds

TOKEN = "t0k3n/of+an=account-that~nobody_may:see"
REMOTE = ("--backend", "ibm_rome", "--store", "jobs.sqlite", "--yes")
WORDS = (
    "{}",
    "401 Client Error: Unauthorized for url: https://auth/identity?apikey={}&x=1",
    "The given API token {} is associated with no account",
    "Authorization: Bearer {}\n{}",
    "{{'headers': {{'Authorization': 'Bearer {}'}}}}",
    "a\x00b{}c\n" * 3,
)
OF_PYTHON = (ValueError, RuntimeError, ConnectionError, OSError, KeyError, TimeoutError, PermissionError)
TROUBLES: tuple[type[Exception], ...] = (*OF_PYTHON, IBMInputValueError, IBMRuntimeError, RuntimeJobFailureError)
VERBS = ("devices", "layout", "run", "submit", "status", "resume", "cancel", "calibrate")


@pytest.fixture
def verb(mcquack, model, data):
    """Runs a verb with all that it needs."""
    given = {
        "devices": ("--account",),
        "layout": ("ibm_rome", "--qubits", 2),
        "run": (*REMOTE, "--model", model, "--data", data),
        "submit": (*REMOTE, "--model", model, "--data", data),
        "calibrate": (*REMOTE, "--model", model),
        **dict.fromkeys(("status", "resume", "cancel"), ("jobs.sqlite",)),
    }
    return lambda name: mcquack("hardware", name, *given[name])


@pytest.mark.parametrize("n_commands", rounds(12, short=40, full=120))
def test_no_command_gives_the_token_away(verb, far, folder, caplog, monkeypatch, n_commands, tally):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    monkeypatch.setattr("mcquack.hardware.jobs.running.Waiting.retries", lambda _: iter(()))
    far.token = TOKEN
    chance = random.Random(n_commands)
    assert verb("submit").code == 0
    n_texts = n_refused = 0
    for _ in range(n_commands):
        words = chance.choice(WORDS).format(*[TOKEN] * 3)
        far.trouble = chance.choice([None, chance.choice(TROUBLES)(words)])
        name = chance.choice(VERBS)
        # Those that wait would wait for ever for a job that nobody runs.
        states = [("ERROR", words), ("DONE", None), *[("QUEUED", None)] * (name in ("status", "cancel"))]
        for job in far.sent:
            job.state, job.error = chance.choice(states)
        outcome = verb(name)
        n_refused += outcome.code != 0
        told = [outcome.out, outcome.err, *(record.getMessage() for record in caplog.records)]
        told += [str(record.exc_info) for record in caplog.records if record.exc_info]
        caplog.clear()
        n_texts += len(told)
        for text in told:
            for form in (TOKEN, quote(TOKEN, safe=""), base64.b64encode(TOKEN.encode()).decode()):
                assert form not in text
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path.name for path in files if TOKEN.encode() in path.read_bytes()]
    tally("texts and files searched for a token", n_texts + len(files), with_a_token=0)
    assert n_refused
