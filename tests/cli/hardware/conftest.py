"""Models and an account for the verbs of ``mcquack hardware``; every test has a folder of its own."""

import io
from typing import Any

import pytest
from qiskit_ibm_runtime.accounts import management

from mcquack import McQuackClassifier
from mcquack.datasets.own import table_dataset
from mcquack.datasets.table import read_table
from mcquack.hardware.services import opening, runtime
from mcquack.hardware.services.account import TOKEN_VARIABLE
from tests.cli.hardware.far import BusyAccount
from tests.cli.tables import two_classes


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where the command runs; nobody's account is in reach."""
    monkeypatch.setattr(management, "_DEFAULT_ACCOUNT_CONFIG_JSON_FILE", str(tmp_path / "qiskit-ibm.json"))
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def data(table):
    """Twelve rows with their labels."""
    return table(two_classes(), "data.csv")


@pytest.fixture
def saved(data, folder):
    """Writes an untrained model of two qubits and two layers, and gives its path."""

    def save(kind=McQuackClassifier, *, name="model.mcq", **settings):
        known: dict[str, Any] = {"n_repetitions": 2} if issubclass(kind, McQuackClassifier) else {}
        if known:
            known |= {"n_qubits": 2, "epochs": 0, "init_small": False, "scale": (0.0, 1.5), "random_state": 0}
        dataset = table_dataset(read_table(data), target="label")
        assert dataset.table is not None
        model = kind(**{**known, **settings}).fit(*dataset.train)
        model.save(folder / name, extra={"table": dataset.table.encoder.to_header()})
        return folder / name

    return save


@pytest.fixture
def model(saved):
    return saved()


@pytest.fixture
def far(monkeypatch):
    """The account with IBM that is found."""
    account = BusyAccount()
    monkeypatch.setattr(opening, "ibm_service", lambda: account)
    monkeypatch.setattr(runtime, "sent", account.take)
    return account


@pytest.fixture
def answer(monkeypatch):
    """What the user types."""

    def type_in(text):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))

    return type_in
