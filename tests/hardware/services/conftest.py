"""An account that is only this test's."""

import pytest
from qiskit_ibm_runtime.accounts import management

from mcquack.hardware.services.account import TOKEN_VARIABLE


@pytest.fixture(autouse=True)
def account_file(tmp_path, monkeypatch):
    """Where the vendor looks for accounts, empty; nothing of the developer's own is ever read."""
    path = tmp_path / "qiskit-ibm.json"
    monkeypatch.setattr(management, "_DEFAULT_ACCOUNT_CONFIG_JSON_FILE", str(path))
    for name in (TOKEN_VARIABLE, "QISKIT_IBM_INSTANCE", "QISKIT_IBM_CHANNEL", "QISKIT_IBM_URL"):
        monkeypatch.delenv(name, raising=False)
    return path
