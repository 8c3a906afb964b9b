"""The user's account with IBM, which the vendor's own package finds; no token ever gets further than here."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from qiskit_ibm_runtime import QiskitRuntimeService
from qiskit_ibm_runtime.exceptions import IBMAccountError, IBMNotAuthorizedError, RuntimeJobNotFound

from mcquack.errors import AccountError, DeviceError, LostJobError, McQuackError

# How the vendor words an answer that may be another one a minute later, when it keeps no number of it.
_OUT_OF_REACH = re.compile(
    r"\b(429 Client|5\d\d Server) Error|Max retries exceeded|timed out|[Cc]onnection (aborted|refused|reset|error)"
)

TOKEN_VARIABLE = "QISKIT_IBM_TOKEN"

HOW_TO_SAVE = (
    "Make an API key at https://quantum.cloud.ibm.com and save it once, where the vendor's package keeps it:\n"
    '    python -c "import getpass; from qiskit_ibm_runtime import QiskitRuntimeService as s; '
    "s.save_account(token=getpass.getpass('API key: '))\"\n"
    f"or put it into the environment as {TOKEN_VARIABLE}, and the instance, if you have several, as "
    "QISKIT_IBM_INSTANCE. To rehearse without an account take a snapshot, such as fake_pittsburgh."
)


def ibm_service() -> QiskitRuntimeService:
    """The vendor's service for the account that its file or the environment names."""
    try:
        return QiskitRuntimeService()
    except IBMAccountError as error:
        raise AccountError(f"no usable account with IBM was found: {without_secrets(error)}\n{HOW_TO_SAVE}") from None
    except Exception as error:  # the vendor raises errors of its own, of requests and of its cloud's package
        raise AccountError(
            f"the account with IBM could not be opened: {without_secrets(error)}\nIf the network is there, the API "
            f"key may have been revoked. {HOW_TO_SAVE}"
        ) from None


@contextmanager
def explained(what: str, *, job_id: str = "") -> Iterator[None]:
    """Turns the vendor's errors into ours, and into ConnectionError where it helps to wait and to ask again.

    Theirs are not chained, as nobody knows what they carry.
    """
    try:
        yield
    except McQuackError:
        raise
    except RuntimeJobNotFound:
        raise LostJobError(
            f"the service does not know the job {job_id}; it may be of another account or instance, or deleted."
        ) from None
    except (IBMNotAuthorizedError, IBMAccountError) as error:
        raise AccountError(f"{what}: the account was refused: {without_secrets(error)}\n{HOW_TO_SAVE}") from None
    except Exception as error:  # of the vendor, of requests, or of its cloud's package, whose are plain exceptions
        told = f"{what}: {without_secrets(error) or type(error).__name__}"
        raise (ConnectionError(told) if _is_out_of_reach(error) else DeviceError(told)) from None


def _is_out_of_reach(error: Exception) -> bool:
    code = getattr(error, "status_code", None)
    if isinstance(code, int):
        return code in (-1, 429) or code >= 500
    if isinstance(error, requests.RequestException | ConnectionError | TimeoutError):
        return True
    return _OUT_OF_REACH.search(str(error)) is not None


def without_secrets(text: object) -> str:
    """The text with stars where it has the token of any account on this computer."""
    told = str(getattr(text, "message", "") or text)
    for secret in sorted(_secrets(), key=len, reverse=True):
        told = told.replace(secret, "***")
    return told


def _secrets() -> set[str]:
    """Tokens of the environment and the vendor's file, read anew each time so that none is kept."""
    found: set[Any] = {os.environ.get(TOKEN_VARIABLE)}
    try:
        found |= {account.get("token") for account in QiskitRuntimeService.saved_accounts().values()}
    except Exception:  # an unreadable file has none to give away; it is reported where the account is opened
        found |= set()
    return {secret for secret in found if isinstance(secret, str) and secret}
