"""The user's account with IBM, and what the devices of it, or their snapshots, tell about themselves.

The vendor's own package finds the account; no token ever gets further than here.
"""

import base64
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any, Literal

import requests
from qiskit.circuit import Gate
from qiskit.providers import BackendV2
from qiskit.transpiler import Target
from qiskit_ibm_runtime import QiskitRuntimeService, fake_provider
from qiskit_ibm_runtime.exceptions import IBMAccountError, IBMNotAuthorizedError, RuntimeJobNotFound

from mcquack.checks import did_you_mean, is_number
from mcquack.errors import AccountError, DeviceError, InvalidInputError, LostJobError, McQuackError
from mcquack.hardware.jobs.service import Speed
from mcquack.hardware.layout import Coupling
from mcquack.hardware.services.options import LEAST_BUSY, NOISELESS

TWO_QUBIT_GATES = ("cz", "ecr", "cx")
"""What CNOTs are made of on IBM's devices, the best first."""

TOKEN_VARIABLE = "QISKIT_IBM_TOKEN"

_STARS = "***"
_LEAST_LENGTH = 8

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
        told = f"no usable account with IBM was found: {without_secrets(error)}\n{HOW_TO_SAVE}"
    except Exception as error:  # the vendor raises errors of its own, of requests and of its cloud's package
        told = (
            f"the account with IBM could not be opened: {without_secrets(error)}\nIf the network is there, the API "
            f"key may have been revoked. {HOW_TO_SAVE}"
        )
    # Out here the vendor's error, in whose text and frames the token may be, is not the context of ours.
    raise AccountError(told)


def explained(what: str, *, job_id: str = "") -> "_Explained":
    """Turns the vendor's errors, which may carry secrets, into ours, or ConnectionError where it helps to wait.

    Nothing leads from ours to the vendor's: neither the context nor the frames of the traceback.
    """
    return _Explained(what, job_id)


class _Explained:
    """A class, for a generator under ``contextmanager`` would have the vendor's error in a frame of its traceback."""

    def __init__(self, what: str, job_id: str) -> None:
        self._what, self._job_id = what, job_id

    def __enter__(self) -> None:
        """Nothing is to be made ready."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, Exception) or isinstance(error, McQuackError):
            return
        ours = self._ours(error)
        del error, trace  # or the frame of this function would keep them
        try:
            raise ours
        except type(ours):
            # Python has noted the error that is being handled. Raised once more, ours is left as it is.
            ours.__context__ = None
            raise

    def _ours(self, error: Exception) -> Exception:
        if isinstance(error, RuntimeJobNotFound):
            return LostJobError(
                f"the service does not know the job {self._job_id}; it may be of another account or instance, or "
                "deleted."
            )
        if isinstance(error, IBMNotAuthorizedError | IBMAccountError):
            return AccountError(f"{self._what}: the account was refused: {without_secrets(error)}\n{HOW_TO_SAVE}")
        # Of the vendor, of requests, or of its cloud's package, whose are plain exceptions.
        told = f"{self._what}: {without_secrets(error) or type(error).__name__}"
        return ConnectionError(told) if _is_out_of_reach(error) else DeviceError(told)


def _is_out_of_reach(error: Exception) -> bool:
    # The vendor's errors have no number, but were raised while one of its connection was handled, which has.
    cause: BaseException | None = error
    while cause is not None:
        code = getattr(cause, "status_code", None)
        if isinstance(code, int):
            return code in (-1, 429) or code >= 500
        if isinstance(cause, requests.RequestException | ConnectionError | TimeoutError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def without_secrets(text: object) -> str:
    """The text with stars where it has the token of any account on this computer, in whatever form.

    Forms are letters of the other case, quotation as in addresses, Base64, alone or within something longer, and any of
    these broken over lines.
    """
    told = str(getattr(text, "message", "") or text)
    for secret in sorted(_secrets(), key=len, reverse=True):
        told = told.replace(secret, _STARS)
        if len(secret) >= _LEAST_LENGTH:  # the forms of a shorter one may be in any text
            for form in _forms(secret):
                told = form.sub(_STARS, told)
    return told


def _forms(secret: str) -> Iterator[re.Pattern[str]]:
    """Patterns of all that the secret can be written as."""
    yield _broken([_quoted(letter) for letter in secret])
    content = secret.encode()
    for n_before in range(3):  # Base64 takes three bytes at once: what it makes of some depends on where they are
        encoded = base64.b64encode(bytes(n_before) + content).decode().rstrip("=")
        first = (0, 2, 3)[n_before]  # earlier letters also hold what comes before the secret, and the last what follows
        last = len(encoded) - ((n_before + len(content)) % 3 != 0)
        yield _broken(
            [_quoted(letter, like={"+": "+-", "/": "/_"}.get(letter, letter)) for letter in encoded[first:last]]
        )


def _broken(letters: Iterable[str]) -> re.Pattern[str]:
    """These letters in a row, or with breaks between them, as they are or as text shows them."""
    return re.compile(r"(?:\s|\\[nrt])*".join(letters), re.IGNORECASE)


def _quoted(letter: str, *, like: str = "") -> str:
    """A letter, or the bytes that stand for it in an address, perhaps of an address within another."""
    bytes_ = "".join(f"%(?:25)*{byte:02x}" for byte in letter.encode())
    return f"(?:{'|'.join(map(re.escape, like or letter))}|{bytes_})"


def _secrets() -> set[str]:
    found: set[Any] = {os.environ.get(TOKEN_VARIABLE)}
    # An unreadable file has none to give away; it is reported where the account is opened.
    with suppress(Exception):
        found |= {account.get("token") for account in QiskitRuntimeService.saved_accounts().values()}
    return {secret for secret in found if isinstance(secret, str) and secret}


@dataclass(frozen=True, kw_only=True)
class Device:
    """What to choose a device by; None is unknown. ``clops`` are layers of a standard circuit per second."""

    name: str
    kind: Literal["simulator", "snapshot", "device"]
    n_qubits: int | None = None
    processor: str | None = None
    two_qubit_gate: str | None = None
    clops: int | None = None
    rep_delay_us: float | None = None
    pending_jobs: int | None = None

    @property
    def speed(self) -> Speed:
        delay = {} if self.rep_delay_us is None else {"rep_delay_us": self.rep_delay_us}
        return Speed(clops=self.clops, **delay)


def device_of(
    backend: Any, *, kind: Literal["snapshot", "device"] = "device", pending_jobs: int | None = None
) -> Device:
    """What the configuration of a device says; that of a snapshot is read without its calibration."""
    known = backend.configuration()
    processor = getattr(known, "processor_type", None) or {}
    family, revision = (str(processor.get(name) or "") for name in ("family", "revision"))
    delay = getattr(known, "default_rep_delay", None)
    # Some snapshots say "None", in words.
    speeds = [getattr(known, name, None) for name in ("clops_h", "clops")]
    return Device(
        name=backend.name,
        kind=kind,
        n_qubits=int(known.n_qubits),
        processor=f"{family} r{revision}" if family and revision else family or None,
        two_qubit_gate=next((gate for gate in TWO_QUBIT_GATES if gate in known.basis_gates), None),
        clops=next((int(speed) for speed in speeds if speed is not None and is_number(speed)), None),
        # Qiskit gives it in seconds.
        rep_delay_us=delay * 1e6 if delay else None,
        pending_jobs=pending_jobs,
    )


def local_devices() -> tuple[Device, ...]:
    """All devices that run on this computer, the largest first."""
    found = [device_of(snapshot(name), kind="snapshot") for name in _snapshots()]
    ordered = sorted(found, key=lambda device: (-(device.n_qubits or 0), device.name))
    return Device(name=NOISELESS, kind="simulator"), *ordered


def snapshot(name: str) -> BackendV2:
    """The device as it was on the day of its snapshot."""
    if name not in _snapshots():
        raise unknown_device(name)
    with warnings.catch_warnings():
        # One warns that its numbers are invented; the wish for that device is answer enough.
        warnings.simplefilter("ignore", UserWarning)
        return _snapshots()[name]()


@cache
def _snapshots() -> dict[str, type[BackendV2]]:
    classes = [maker for maker in vars(fake_provider).values() if isinstance(maker, type)]
    named = {getattr(maker, "backend_name", None): maker for maker in classes}
    return {name: maker for name, maker in named.items() if isinstance(name, str)}


def unknown_device(name: object, others: tuple[str, ...] = ()) -> InvalidInputError:
    """What to raise for a name that nobody has, with those that are close."""
    known = [*others, NOISELESS, LEAST_BUSY, *_snapshots()]
    # Devices are known by their cities, and few remember what comes before.
    cities = {known_name.removeprefix("fake_").removeprefix("ibm_"): known_name for known_name in reversed(known)}
    if isinstance(name, str) and name.lower() in cities:
        hint = f"did you mean {cities[name.lower()]}?"
    else:
        hint = did_you_mean(
            name,
            known,
            otherwise=f"there are {NOISELESS}, {LEAST_BUSY}, the ibm_… of your account, and snapshots such as "
            "fake_pittsburgh; list_backends shows all.",
        )
    return InvalidInputError(f"there is no device {name!r}: {hint}")


def coupling_of(backend: BackendV2) -> Coupling:
    """The couplers of a backend with its last calibration; a backend without a coupling map couples every pair.

    A coupler counts with the gate that CNOTs are made of there. If its two directions differ, the worse one counts.
    """
    target = backend.target
    n_qubits = target.num_qubits
    if not n_qubits:
        raise DeviceError(f"{backend.name} does not say how many qubits it has; choose a backend for a device.")
    gates = _two_qubit_gates(target)
    edges = tuple(sorted(gates))
    sx, readout = (
        [target[name].get((qubit,)) if name in target.operation_names else None for qubit in range(n_qubits)]
        for name in ("sx", "measure")
    )
    coherence = target.qubit_properties or [None] * n_qubits
    # A fault may be reported as more than certain, and a coherence time of zero is one that was not measured.
    return Coupling(
        name=backend.name,
        n_qubits=n_qubits,
        edges=edges,
        two_qubit_error=tuple(_worst(_number(gate, "error", most=1) for gate in gates[edge]) for edge in edges),
        two_qubit_us=tuple(_worst(_number(gate, "duration") for gate in gates[edge]) for edge in edges),
        sx_error=tuple(_number(gate, "error", most=1) for gate in sx),
        sx_us=tuple(_number(gate, "duration") for gate in sx),
        readout_error=tuple(_number(gate, "error", most=1) for gate in readout),
        readout_us=tuple(_number(gate, "duration") for gate in readout),
        t1_us=tuple(_number(qubit, "t1") or None for qubit in coherence),
        t2_us=tuple(_number(qubit, "t2") or None for qubit in coherence),
    )


def _two_qubit_gates(target: Target) -> dict[tuple[int, int], list[Any]]:
    found: dict[tuple[int, int], tuple[str, list[Any]]] = {}
    others = sorted(set(target.operation_names) - set(TWO_QUBIT_GATES))
    for name in (*(gate for gate in TWO_QUBIT_GATES if gate in target.operation_names), *others):
        operation = target.operation_from_name(name)
        if not (isinstance(operation, Gate) and operation.num_qubits == 2):
            continue
        offered = target[name]
        if None in offered:  # one that is offered without any pairs acts on all
            offered = dict.fromkeys(combinations(range(target.num_qubits), 2))
        for pair, properties in offered.items():
            gate, known = found.setdefault((min(pair), max(pair)), (name, []))
            if gate == name:
                known.append(properties)
    return {pair: known for pair, (_, known) in found.items()}


def _number(properties: object, name: str, *, most: float | None = None) -> float | None:
    """A property if it is known: at most so much, or else a time, which Qiskit has in seconds, in microseconds."""
    value = getattr(properties, name, None)
    if value is None:
        return None
    return float(value) * 1e6 if most is None else min(float(value), most)


def _worst(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
