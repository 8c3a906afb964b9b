"""What the verbs of ``mcquack hardware`` share: the device with its options, its costs and jobs, and the rows."""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from numpy.typing import NDArray

import mcquack  # whose subpackages are imported when they are first used: Qiskit and SQLite would delay every --help
from mcquack.circuits.overlap import Sampler, n_layers_of
from mcquack.cli import console as exit_codes
from mcquack.cli.console import tell, tell_problems, told_as_notes
from mcquack.cli.datasets import is_name
from mcquack.cli.options import backend_names, flag, option
from mcquack.cli.predict import first_rows, read_rows
from mcquack.datasets.table import EncodedTable, read_table
from mcquack.errors import InvalidInputError, LayoutWarning
from mcquack.models.tables import encoder_of

if TYPE_CHECKING:
    from mcquack.circuits import Circuit
    from mcquack.hardware import Estimate, JobEvent
    from mcquack.hardware.labelling import Labelling
    from mcquack.kernels.bitflip import Calibration
    from mcquack.models import McQuackClassifier

# Event kinds that are told by other words than their own.
_TOLD = {
    "resent": "sent again",
    "found": "found again",
    "held": "held back",
    "waiting": "in the queue",
    "done": "measured and kept",
    "unusable": "failed",
    "offline": "out of reach, trying again",
}


DEVICE = "The device"
_BACKEND = (
    "Where to run: ibm_…, least_busy, a snapshot as fake_pittsburgh, aer, simulator, or a noisy twin as "
    "twin:pittsburgh or twin:fake_pittsburgh; mcquack hardware devices lists them."
)
_STORE = "The file that keeps every job and its raw counts; the same call goes on from there."
_DECOUPLING = "Pulses on waiting qubits: auto, none, XX, XpXm or XY4. auto is XX on a device, and none on a simulator."
_TWIRLING = "Flip random bits before they are read, and back. Without it, on a device only."
_ALLOW_FAULTY = (
    "Take a ring with faulty couplers if there is no other. Simulations always do, with the median in the place of "
    "faults."
)
Yes = Annotated[bool, flag("--yes -y", "Do not ask before QPU time is spent.")]


@dataclass(frozen=True, kw_only=True)
class OpenDevice:
    """Where circuits are to run, and how; its fields are options of every verb that measures."""

    backend: Annotated[str, option(_BACKEND, "NAME", autocompletion=backend_names)]
    shots: Annotated[int, option("Measurements of every circuit.", "N", min=1)] = 100
    store: Annotated[Path, option(_STORE, "FILE")] = Path("hardware.sqlite")
    yes: Yes = False
    run: Annotated[str, option("A name; another one measures anew what the store has already.", "NAME", DEVICE)] = ""
    decoupling: Annotated[Literal["auto", "none", "XX", "XpXm", "XY4"], option(_DECOUPLING, "PULSES", DEVICE)] = "auto"
    twirling: Annotated[bool | None, flag("--twirling/--no-twirling", _TWIRLING, DEVICE)] = None
    api: Annotated[
        Literal["auto", "v2", "executor"], option("Which sampler of the vendor; v2 is the older one.", panel=DEVICE)
    ] = "auto"
    mode: Annotated[
        Literal["job", "batch", "session"],
        option("How jobs are grouped on the service; IBM's Open Plan refuses sessions.", panel=DEVICE),
    ] = "job"
    noise: Annotated[
        Literal["full", "pauli", "none"],
        option("Of snapshots: Aer's own model (full), the same errors as Pauli channels, or none.", panel=DEVICE),
    ] = "pauli"
    max_error: Annotated[
        float, option("Avoid qubits and couplers that err as often as this.", "RATE", DEVICE, min=0, max=1)
    ] = 0.5
    allow_faulty: Annotated[bool, flag("--allow-faulty", _ALLOW_FAULTY, DEVICE)] = False
    seed: Annotated[int, option("Of simulations: same seed, same counts.", "N", DEVICE, min=0)] = 0

    @property
    def keeps_jobs(self) -> bool:
        """Whether what it measures goes to the store; our own simulators are asked again instead."""
        from mcquack.hardware.devices import is_simulated_here  # not above: it would delay every --help

        return not is_simulated_here(self.backend)

    @property
    def how_to_go_on(self) -> str:
        if self.keeps_jobs:
            return f"the same command, or mcquack hardware resume {self.store}, goes on"
        return f"{self.backend} keeps nothing, and the same command begins anew"

    def sampler(self, feature_map: "Circuit") -> Sampler:
        """Opened, with its ring found and told; nothing is sent yet. Options left open suit a device or a simulator."""
        from mcquack.hardware.devices import open_sampler

        far = mcquack.hardware.is_remote(self.backend)
        pulses: Any = {"auto": "XX" if far else None, "none": None}.get(self.decoupling, self.decoupling)
        options = mcquack.hardware.Options(
            decoupling=pulses,
            measure_twirling=far if self.twirling is None else self.twirling,
            **{name: getattr(self, name) for name in ("api", "mode", "noise", "max_error", "allow_faulty")},
        )
        asked: Any = {"options": options, "seed": self.seed, "ledger": self.store, "run": self.run}
        with told_as_notes(LayoutWarning) as faults:
            opened = open_sampler(self.backend, feature_map, **asked, on_event=job_teller())
        service = getattr(opened, "service", None)
        if self.backend.startswith(("twin:fake_", "twin:ibm_")) and not faults:
            size: Any = {"n_qubits": feature_map.n_qubits, "n_layers": n_layers_of(feature_map)}
            device = self.backend.removeprefix("twin:")
            for note in mcquack.hardware.sampler.snapshot_properties(device, **size, options=options).notes:
                tell(f"Note: {note}.")
        if service is not None:
            told = service.description
            ring = ", ".join(map(str, told["ring"][:6])) + " …" * (len(told["ring"]) > 6)
            tell(f"{told['backend']}: a ring of {len(told['ring'])} qubits, {ring}.")
            for note in filter(None, (*str(told.get("notes", "")).split("; "), options.twirling_note(self.shots))):
                if not any(note in fault for fault in faults):
                    tell(f"Note: {note}.")
        return opened

    def confirm(self, cost: "Estimate", at_most: str = "") -> None:
        """Tells what is not in the store already; if that costs QPU time, also how much, and asks for agreement."""
        if not cost.n_circuits:
            tell(f"All circuits are in {self.store} already, measured or on their way.")
            return
        if not mcquack.hardware.is_remote(self.backend):
            circuits = f"{cost.n_circuits:,} circuit{'s' * (cost.n_circuits != 1)}"
            tell(f"On {self.backend}: {at_most}{cost.executions:,} executions of {circuits}.")
            return
        tell(f"On {self.backend}: {at_most}{cost}. What is in {self.store} already costs nothing.")
        for line in cost.basis:
            tell(f"  {line}")
        if not self.yes:
            # Asked on stderr to the last blank, as typer's own question is not: stdout may be the file of the labels.
            typer.echo("Spend it? [y/N]: ", nl=False, err=True)
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                tell("mcquack: nothing was sent; --yes agrees in advance.")
                raise typer.Exit(exit_codes.REFUSED)

    def labelling(self, classifier: "McQuackClassifier", X: NDArray[Any], *, tolerance: int | None) -> "Labelling":
        """Samples with their cost agreed on, ready to be measured or sent."""
        from mcquack.hardware.labelling import label

        check_tolerance(tolerance, classifier)
        sampler = self.sampler(classifier.feature_map_)
        found = label(classifier, X, backend=sampler, shots=self.shots, tolerance=tolerance, seed=self.seed)
        self.confirm(found.estimate())
        return found


def with_device_options(**defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a verb, in the place of its parameter ``device``, the fields of OpenDevice, with these defaults."""

    def decorated(verb: Callable[..., None]) -> Callable[..., None]:
        fields = inspect.signature(OpenDevice).parameters

        @wraps(verb)
        def with_device(**arguments: Any) -> None:
            verb(device=OpenDevice(**{name: arguments.pop(name) for name in fields}), **arguments)

        parameters: list[inspect.Parameter] = []
        for name, parameter in inspect.signature(verb).parameters.items():
            parameters += fields.values() if name == "device" else [parameter]
        parameters = [
            each.replace(kind=each.KEYWORD_ONLY, default=defaults.get(each.name, each.default)) for each in parameters
        ]
        with_device.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # which typer reads
        with_device.__annotations__ = {each.name: each.annotation for each in parameters}
        return with_device

    return decorated


@contextmanager
def goes_on_later(how: str) -> Iterator[None]:
    """Leaves by the code of an interruption, with a word on how to go on; jobs that were sent go on without us."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        notes = " ".join(getattr(interrupt, "__notes__", ()))
        tell(f"mcquack: interrupted; {how}. {notes}".rstrip())
        raise typer.Exit(exit_codes.INTERRUPTED) from None


def job_teller() -> "Callable[[JobEvent], None]":
    """What tells the events of jobs on stderr, each once, however often it is repeated."""
    last: dict[int, str] = {}

    def told(event: "JobEvent") -> None:
        part = event.part
        job = f" ({event.job.job_id})" if event.job.job_id else ""
        why = f": {' '.join(event.message.split())}" if event.message else ""
        line = f"circuits {part.first + 1:,} to {part.last:,}{job}: {_TOLD.get(event.kind, event.kind)}{why}"
        if last.get(part.first) != line:
            tell(line)
        last[part.first] = line

    return told


def tell_all(events: "Iterable[JobEvent]") -> None:
    """Follows events to their end, and tells them."""
    told = job_teller()
    for event in events:
        told(event)


def kernel_model(path: Path) -> "McQuackClassifier":
    """The model in the file, refused if it is no kernel between samples and centroids."""
    from mcquack.models import McQuackClassifier, load

    classifier = load(path)
    if not isinstance(classifier, McQuackClassifier):
        raise InvalidInputError(
            f"{path} holds a {type(classifier).__name__}; a device measures the kernels of McQuackClassifier and "
            "QuackClassifier."
        )
    return classifier


def check_tolerance(tolerance: int | None, classifier: "McQuackClassifier") -> None:
    """Refuses more flips than there are bits, before anything is spent on them."""
    n_qubits = classifier.feature_map_.n_qubits
    if tolerance is not None and tolerance > n_qubits:
        raise InvalidInputError(
            f"--tolerance {tolerance} is more than the {n_qubits} qubits of the model; choose fewer."
        )


def rows_of(
    data: str,
    classifier: "McQuackClassifier",
    *,
    model: Path,
    data_dir: Path | None,
    part: Literal["train", "test"] = "test",
    n_rows: int | None = None,
) -> tuple[EncodedTable, Any]:
    """The rows of a table or of this part of a dataset that the model can take, or the first so many, and their labels.

    To train takes rows with labels; to test, the labels are None unless those of all rows are known.
    """
    if part == "train" and not is_name(data):
        labelled = encoder_of(classifier, path=model).labelled(first_rows(read_table(data), n_rows))
        tell_problems(labelled.problems, consequence="could not be used")
        if not len(labelled.X):
            raise InvalidInputError(f"{data} has no rows that can be used.")
        return labelled, labelled.y
    rows = read_rows(data, classifier, model=model, data_dir=data_dir, part=part, n_rows=n_rows)
    return rows.encoded, rows.labels if rows.known.all() else None


def interval(calibration: "Calibration") -> str:
    """Where the tolerance lies in most repetitions, in words."""
    if calibration.interval is None:
        return ""
    low, high = calibration.interval
    return f" ({calibration.confidence:.0%} of repetitions: {low} to {high})"
