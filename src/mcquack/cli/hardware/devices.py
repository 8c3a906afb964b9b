"""``mcquack hardware devices``: what can be named as a backend."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import JustifyMethod

from mcquack.cli.notes import tell
from mcquack.cli.tables import show_rows
from mcquack.errors import MissingDependencyError

if TYPE_CHECKING:
    from mcquack.hardware.services.devices import Device

_COLUMNS: dict[str, JustifyMethod] = {
    "name": "left",
    "qubits": "right",
    "what": "left",
    "gate": "left",
    "CLOPS": "right",
    "waiting": "right",
}
_OURS = (
    ("simulator", "any", "exact distributions", "", "", ""),
    ("twin:pittsburgh", "any", "as the paper's Heron r3", "", "", ""),
    ("twin:aachen", "any", "as the paper's Heron r2", "", "", ""),
)


def devices(
    account: Annotated[bool, typer.Option("--account", help="Also the devices of your account with IBM.")] = False,
) -> None:
    """List where circuits can run: simulators, snapshots of devices, and the devices of your account.

    Any snapshot or device also has a noisy twin in our own simulator, as twin:fake_torino. Elsewhere than on a terminal
    each is a line of name, qubits, what it is, two-qubit gate, CLOPS and jobs waiting, separated by tabs.
    """
    from mcquack.hardware.opening import services

    try:
        found = services().list_backends(with_account=account)
    except MissingDependencyError as error:
        if account:
            raise
        found = ()
        tell(f"Note: {error}")
    show_rows(_COLUMNS, [*_OURS, *map(_fields, found)])


def _fields(device: "Device") -> tuple[str, ...]:
    numbers = (device.n_qubits, device.clops, device.pending_jobs)
    qubits, clops, waiting = ("" if number is None else str(number) for number in numbers)
    what = "without errors, by Aer" if device.kind == "simulator" else device.processor or ""
    return device.name, qubits or "any", what, device.two_qubit_gate or "", clops, waiting
