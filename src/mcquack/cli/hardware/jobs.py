"""``mcquack hardware status``, ``resume`` and ``cancel``: jobs that were sent before."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import JustifyMethod

from mcquack.cli.hardware.device import require_agreement
from mcquack.cli.hardware.interrupted import goes_on_later
from mcquack.cli.hardware.options import StoreFile, Yes
from mcquack.cli.hardware.progress import Jobs
from mcquack.cli.notes import tell
from mcquack.cli.tables import show_rows
from mcquack.errors import InvalidInputError, StoreBusyError
from mcquack.hardware.names import is_remote

if TYPE_CHECKING:
    from mcquack.hardware.jobs.events import Event
    from mcquack.hardware.jobs.ledger import Ledger
    from mcquack.hardware.jobs.records import Measurement, Summary
    from mcquack.hardware.jobs.service import Service

    Step = Callable[[Ledger, Service, Measurement], Iterator[Event]]

_COLUMNS: dict[str, JustifyMethod] = {
    "measurement": "left",
    "run": "left",
    "device": "left",
    "circuits": "right",
    "shots": "right",
    "measured": "right",
    "jobs": "left",
}

Only = Annotated[
    str | None,
    typer.Option("--only", help="One measurement, by the start of its id.", show_default="all"),
]


def status(
    store: StoreFile,
    ask: Annotated[
        bool, typer.Option("--ask/--no-ask", help="Ask the service how far the jobs are, or show what is noted.")
    ] = True,
) -> None:
    """Show what was measured and how far the jobs are; those that are done are fetched and kept.

    While another process measures with the store, what is noted there is shown, and nobody is asked.

    Elsewhere than on a terminal each measurement is a line of its id, run, device, circuits, shots, circuits measured
    and jobs, separated by tabs.
    """
    from mcquack.hardware.jobs.ledger import Ledger
    from mcquack.hardware.jobs.running import refresh

    if ask:
        try:
            _each(store, None, refresh, on_their_way=True)
        except StoreBusyError:
            tell(f"Another process is measuring with {store}, and asks by itself; this is what it has noted so far.")
    with Ledger.open(store) as ledger:
        summaries = [ledger.summary(identity) for identity in ledger.ids()]
    show_rows(_COLUMNS, [_fields(each) for each in summaries])
    if any(not each.is_complete for each in summaries):
        tell(f"mcquack hardware resume {store} waits for the rest.")


def resume(store: StoreFile, only: Only = None, yes: Yes = False) -> None:
    """Wait for the jobs of a store; what was never sent, or lost, cancelled or failed, is sent again.

    What that costs is told, and asked for, before QPU time is spent. Then the command that asked for the measurements
    gives its results at once.
    """
    from mcquack.hardware.jobs.running import follow

    with goes_on_later("the same command goes on"):
        _confirm(_unfinished(store, only), store=store, yes=yes)
        _each(store, only, follow)
    tell(f"All that was asked for is in {store}; the command that asked gives its results now.")


def cancel(store: StoreFile, only: Only = None) -> None:
    """End the jobs that are on their way; what is done by then is kept."""
    from mcquack.hardware.jobs.running import cancel as end

    _each(store, only, end, on_their_way=True)
    tell(f"What was measured is in {store}; mcquack hardware resume {store} sends the rest again.")


def _each(store: Path, only: str | None, step: "Step", *, on_their_way: bool = False) -> None:
    """One step for every measurement that is not complete, or has jobs on their way, on the service of its own."""
    from mcquack.hardware.jobs.ledger import Ledger
    from mcquack.hardware.opening import services

    tells = Jobs()
    for unfinished in _unfinished(store, only, on_their_way=on_their_way):
        with Ledger.open(store, write=True) as ledger:
            measurement = ledger.measurement(unfinished.id)
            for event in step(ledger, services().reopened(measurement.service), measurement):
                tells(event)


def _confirm(summaries: "list[Summary]", *, store: Path, yes: bool) -> None:
    """Tells what it costs to send what devices have not got yet, and asks, before any of it is sent."""
    from mcquack.hardware.cost import estimate
    from mcquack.hardware.opening import device_speed
    from mcquack.hardware.outstanding import Outstanding, unsent

    missing: dict[tuple[str, int, int, int], Outstanding] = defaultdict(Outstanding)
    for each in summaries:
        missing[str(each.service.get("backend")), each.shots, each.n_qubits, each.n_layers] += unsent(each.parts)
    for (backend, shots, n_qubits, n_layers), left in missing.items():
        if left.n_circuits and is_remote(backend):
            size = {"n_qubits": n_qubits, "n_layers": n_layers, "n_jobs": left.n_jobs}
            cost = estimate(left.n_circuits, shots, **size, speed=device_speed(backend))
            require_agreement(cost, backend=backend, store=store, yes=yes)


def _unfinished(store: Path, only: str | None, *, on_their_way: bool = False) -> "list[Summary]":
    from mcquack.hardware.jobs.ledger import Ledger

    with Ledger.open(store) as ledger:
        ids = ledger.ids()
        wanted = [identity for identity in ids if only is None or identity.startswith(only)]
        if only is not None and not wanted:
            known = ", ".join(identity[:12] for identity in ids)
            raise InvalidInputError(f"{store} has no measurement {only!r}; it has {known or 'none at all'}.")
        found = [ledger.summary(identity) for identity in wanted]
    if on_their_way:
        return [each for each in found if any(part.is_on_its_way for part in each.parts)]
    return [each for each in found if not each.is_complete]


def _fields(summary: "Summary") -> tuple[object, ...]:
    device = summary.service.get("backend", "")
    counts = summary.n_circuits, summary.shots, summary.n_measured
    return summary.id, summary.label, device, *counts, _states(summary)


def _states(summary: "Summary") -> str:
    noted = ["done" if part.is_measured else part.job.state if part.job else "not sent" for part in summary.parts]
    counts = Counter(noted)
    return ", ".join(f"{n} {state}" for state, n in counts.items())
