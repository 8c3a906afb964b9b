"""What the verbs of ``mcquack hardware`` share: their options, the device they name, and the rows they read."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast

import numpy as np
import typer
from numpy.typing import NDArray

from mcquack.circuits.overlap import Sampler
from mcquack.cli import console as exit_codes
from mcquack.cli.console import tell, tell_problems
from mcquack.cli.datasets import loaded
from mcquack.cli.fit import description, is_name, training_data
from mcquack.datasets.own import ColumnOptions
from mcquack.datasets.table import EncodedTable, Table, read_table
from mcquack.datasets.table.encoder import target_labels
from mcquack.errors import InvalidInputError, InvalidTableError
from mcquack.hardware.services.options import is_remote
from mcquack.models.tables import encoder_of, numbered, table_reading, within_reach

if TYPE_CHECKING:
    from mcquack.circuits.feature_map import FeatureMap
    from mcquack.hardware.cost import Estimate
    from mcquack.hardware.jobs.running import JobEvent
    from mcquack.hardware.services.options import Options
    from mcquack.kernels.bitflip import Calibration
    from mcquack.models import McQuackClassifier


# What Ctrl-C means to jobs: they go on without us.


@contextmanager
def goes_on_later(how: str) -> Iterator[None]:
    """Leaves by the code of an interruption, with a word on how to go on."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        notes = " ".join(getattr(interrupt, "__notes__", ()))
        tell(f"mcquack: interrupted; {how}. {notes}".rstrip())
        raise typer.Exit(exit_codes.INTERRUPTED) from None


# What a device is to learn from: a table or a dataset, read as the model that it starts from reads them.


@dataclass(frozen=True, kw_only=True, eq=False)
class Lessons:
    """Samples and their labels, and what to store with the model so that it can read tables."""

    X: NDArray[Any]
    y: NDArray[Any]
    extra: dict[str, Any]


def new_lessons(data: str, *, target: str | None, seed: int, data_dir: Path | None) -> Lessons:
    """For a model that is yet to be made."""
    columns = ColumnOptions(missing="error", missing_target="drop", numeric=(), categorical=(), ignore=())
    dataset = training_data(data, target=target, validation=0, seed=seed, data_dir=data_dir, columns=columns)
    tell(description(dataset))
    tell_problems(table_reading(dataset).left_out, consequence="could not be used")
    return Lessons(**dataset.train._asdict(), extra={"table": table_reading(dataset).encoder.to_header()})


def more_lessons(
    data: str, classifier: "McQuackClassifier", *, model: Path, target: str | None, data_dir: Path | None
) -> Lessons:
    """For a model that has learned, or at least begun: its columns and categories stay what they are."""
    if is_name(data):
        X, y = loaded(data, data_dir=data_dir).train
    else:
        encoder = encoder_of(classifier, path=model)
        if target not in (None, encoder.target):
            raise typer.BadParameter(f"the labels of {model} are in {encoder.target!r}.", param_hint="--target")
        table = encoder.labelled(read_table(data))
        X, y = table.X, table.y
        tell_problems(table.problems, consequence="could not be used")
    if X.shape[1] != classifier.n_features_in_:
        raise InvalidInputError(
            f"{model} takes {classifier.n_features_in_} features, and the samples of {data} have {X.shape[1]}."
        )
    if not len(X):
        raise InvalidInputError(f"{data} has no rows that can be used.")
    return Lessons(X=X, y=y, extra=classifier.extra_)


# Options that several verbs take.

ModelFile = Annotated[Path, typer.Option("--model", help="A model file written by mcquack fit.")]
Data = Annotated[
    str, typer.Option(help="The table to label: CSV (also .gz) or Parquet. Or a dataset by name: its test part.")
]
Backend = Annotated[
    str,
    typer.Option(
        help="Where to run: ibm_…, least_busy, a snapshot as fake_pittsburgh, aer, simulator, or a noisy twin as "
        "twin:pittsburgh or twin:fake_pittsburgh; mcquack hardware devices lists them.",
    ),
]
Rows = Annotated[
    int | None, typer.Option(min=1, help="Only the first so many rows, as for a rehearsal.", show_default="all")
]
Shots = Annotated[int, typer.Option(min=1, help="Measurements of every circuit.")]
Tolerance = Annotated[
    int | None,
    typer.Option(
        min=0, help="Count outcomes with at most so many ones.", show_default="the model's, else calibrated first"
    ),
]
Store = Annotated[
    Path, typer.Option(help="The file that keeps every job and its raw counts; the same call goes on from there.")
]
Run = Annotated[str, typer.Option("--run", help="A name; another one measures anew what the store has already.")]
Decoupling = Annotated[
    Literal["auto", "none", "XX", "XpXm", "XY4"],
    typer.Option(help="Pulses on waiting qubits; auto is XX on a device, and none on a simulator."),
]
Twirling = Annotated[
    bool | None,
    typer.Option(help="Flip random bits before they are read, and back.", show_default="on a device, not here"),
]
Api = Annotated[
    Literal["auto", "v2", "executor"], typer.Option(help="Which sampler of the vendor; v2 is the older one.")
]
Mode = Annotated[
    Literal["job", "batch", "session"],
    typer.Option(help="How jobs are grouped on the service; IBM's Open Plan refuses sessions."),
]
Noise = Annotated[
    Literal["full", "pauli", "none"],
    typer.Option(help="Of snapshots: Aer's own model, the same errors as Pauli channels, or none."),
]
MaxError = Annotated[float, typer.Option(min=0, max=1, help="Qubits and couplers that err so often are avoided.")]
AllowFaulty = Annotated[
    bool,
    typer.Option(
        "--allow-faulty", help="Take a ring with faulty couplers if there is no other; snapshots replace them."
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Of simulations: same seed, same counts.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before QPU time is spent.")]
StoreFile = Annotated[Path, typer.Argument(help="A file that mcquack hardware run or submit has written.")]

DEFAULT_STORE = Path("hardware.sqlite")


# What becomes of jobs, line by line on stderr.

_TOLD = {
    "sent": "sent",
    "resent": "sent again",
    "found": "found again",
    "held": "held back",
    "waiting": "in the queue",
    "running": "running",
    "done": "measured and kept",
    "failed": "failed",
    "unusable": "failed",
    "lost": "lost",
    "cancelled": "cancelled",
    "offline": "out of reach, trying again",
}


class Jobs:
    """Tells each event once, however often it is repeated."""

    def __init__(self) -> None:
        self._last: dict[int, str] = {}

    def __call__(self, event: "JobEvent") -> None:
        part = event.part
        job = f" ({event.job.job_id})" if event.job.job_id else ""
        why = f": {' '.join(event.message.split())}" if event.message else ""
        line = f"circuits {part.first + 1:,} to {part.last:,}{job}: {_TOLD[event.kind]}{why}"
        if self._last.get(part.first) != line:
            tell(line)
        self._last[part.first] = line


# Where circuits are to run, as the user asked for it, and what that costs.


@dataclass(frozen=True, kw_only=True)
class OpenDevice:
    """One backend with all options; ``store`` keeps what is measured there under the name ``run``."""

    backend: str
    shots: int
    store: Path
    run: str
    decoupling: Literal["auto", "none", "XX", "XpXm", "XY4"]
    twirling: bool | None
    api: Literal["auto", "v2", "executor"]
    mode: Literal["job", "batch", "session"]
    noise: Literal["full", "pauli", "none"]
    max_error: float
    allow_faulty: bool
    seed: int
    yes: bool

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """From all arguments of a verb, which typer wants to see one by one in each."""
        return cls(**{field.name: arguments[field.name] for field in fields(cls)})

    @property
    def is_remote(self) -> bool:
        """Whether it costs QPU time."""
        return is_remote(self.backend)

    @property
    def how_to_go_on(self) -> str:
        """What to tell whoever interrupts."""
        if self.keeps_jobs:
            return f"the same command, or mcquack hardware resume {self.store}, goes on"
        return f"{self.backend} keeps nothing, and the same command begins anew"

    @property
    def keeps_jobs(self) -> bool:
        """Whether what it measures goes to the store; our own simulators are asked again instead."""
        from mcquack.models.devices import is_simulated_here  # not above: it would delay every --help

        return not is_simulated_here(self.backend)

    @property
    def options(self) -> "Options":
        """Those of the service; what is left open suits a device if it is one, and a simulator if not."""
        from mcquack.hardware.services.options import Options

        usual = "XX" if self.is_remote else None
        chosen: Any = {"auto": usual, "none": None}.get(self.decoupling, self.decoupling)
        return Options(
            decoupling=chosen,
            measure_twirling=self.is_remote if self.twirling is None else self.twirling,
            api=self.api,
            mode=self.mode,
            noise=self.noise,
            max_error=self.max_error,
            allow_faulty=self.allow_faulty,
        )

    def sampler(self, feature_map: "FeatureMap") -> "Sampler":
        """Opened, with its ring found and told; nothing is sent yet."""
        from mcquack.models.devices import open_sampler

        opened = open_sampler(
            self.backend,
            feature_map,
            options=self.options,
            seed=self.seed,
            ledger=self.store,
            run=self.run,
            on_event=Jobs(),
        )
        tell_service(opened)
        if self.keeps_jobs and (note := self.options.twirling_note(self.shots)):
            tell(f"Note: {note}.")
        return opened

    def confirm(self, cost: "Estimate") -> None:
        """Tells what the circuits cost that are not in the store already, and asks if it is QPU time."""
        if cost.n_circuits:
            self.ask(cost)
        else:
            tell(f"All circuits are in {self.store} already, measured or on their way.")

    def ask(self, cost: "Estimate", at_most: str = "") -> None:
        """Tells the cost, and asks if it is QPU time."""
        if self.is_remote:
            require_agreement(cost, backend=self.backend, store=self.store, yes=self.yes, at_most=at_most)
            return
        circuits = f"{cost.n_circuits:,} circuit{'s' * (cost.n_circuits != 1)}"
        tell(f"On {self.backend}: {at_most}{cost.executions:,} executions of {circuits}.")


def require_agreement(cost: "Estimate", *, backend: str, store: Path, yes: bool, at_most: str = "") -> None:
    """Tells what QPU time it is and what that rests on, and leaves unless the user wants to spend it."""
    tell(f"On {backend}: {at_most}{cost}. What is in {store} already costs nothing.")
    for line in cost.basis:
        tell(f"  {line}")
    if not (yes or _agrees()):
        tell("mcquack: nothing was sent; --yes agrees in advance.")
        raise typer.Exit(exit_codes.REFUSED)


def _agrees() -> bool:
    """Asked on stderr to the last blank, as typer's own question is not: stdout may be the file of the labels."""
    typer.echo("Spend it? [y/N]: ", nl=False, err=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def tell_service(sampler: Any) -> None:
    """Which device and qubits, and what the simulation of one replaces."""
    service = getattr(sampler, "service", None)
    if service is None:
        return
    told = service.description
    ring = told["ring"]
    tell(f"{told['backend']}: a ring of {len(ring)} qubits, {', '.join(map(str, ring[:6]))}{' …' * (len(ring) > 6)}.")
    if told.get("notes"):
        tell(f"Note: {told['notes']}.")


# What a model is to label on a device: the rows of a table, or the test part of a dataset by name.


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Rows that the model can take, and their true labels where they are known."""

    table: EncodedTable
    truth: NDArray[Any] | None = None

    def accuracy(self, predicted: NDArray[Any]) -> float | None:
        """The share of rows with the true label; None if nobody knows it."""
        return None if self.truth is None else float(np.mean(predicted.astype(str) == self.truth.astype(str)))


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


def samples(
    data: str,
    classifier: "McQuackClassifier",
    *,
    model: Path,
    data_dir: Path | None = None,
    n_rows: int | None = None,
) -> Samples:
    """The rows of ``data`` as the model takes them, or the first so many."""
    if is_name(data):
        test = loaded(data, data_dir=data_dir).parts.get("test")
        if test is None:
            raise InvalidInputError(f"the dataset {data} has no test part; export a table of it and label that.")
        if test.X.shape[1] != classifier.n_features_in_:
            raise InvalidInputError(
                f"{model} takes {classifier.n_features_in_} features, and the samples of {data} have {test.X.shape[1]}."
            )
        return Samples(table=numbered(test.X[:n_rows]), truth=test.y[:n_rows])
    encoder = encoder_of(classifier, path=model)
    read = _first(read_table(data), n_rows)
    table = within_reach(encoder.transform(read), classifier=classifier, encoder=encoder)
    return Samples(table=table, truth=_truth(read, encoder.target, rows=table.rows))


def _first(table: Table, n_rows: int | None) -> Table:
    """So many rows, readable or not."""
    if n_rows is None:
        return table
    numbers = np.sort([*table.rows, *(problem.row for problem in table.bad_rows)])[:n_rows]
    bad = tuple(problem for problem in table.bad_rows if problem.row in numbers)
    return replace(table.only(np.isin(table.rows, numbers)), bad_rows=bad)


def _truth(table: Table, target: str, *, rows: NDArray[np.int64]) -> NDArray[Any] | None:
    """The labels of these rows, if the table has them all: a column that is to be filled has none."""
    known = np.isin(table.rows, rows)
    if target not in table.names or not known.any():
        return None
    try:
        labels, missing = target_labels(table, target)
    except InvalidTableError:
        return None
    return None if missing[known].any() else cast("NDArray[Any]", labels[known])


# The share of zeros in what should be zeros alone, below which training on them would mostly see none.
_SEEN = 0.1


def check_tolerance(tolerance: int | None, feature_map: "FeatureMap") -> None:
    """Refuses more flips than there are bits, before anything is spent on them."""
    if tolerance is not None and tolerance > feature_map.n_qubits:
        raise InvalidInputError(
            f"--tolerance {tolerance} is more than the {feature_map.n_qubits} qubits of the model; choose fewer."
        )


def learnable_tolerance(
    classifier: "McQuackClassifier", sampler: "Sampler", *, tolerance: int | None, shots: int, seed: int
) -> int | None:
    """What to train on: the one given, or a calibrated one; None where enough zeros are seen."""
    from mcquack.models.labelling import centroid_calibration

    if tolerance is not None:
        return tolerance
    found = centroid_calibration(classifier, sampler, shots=shots, seed=seed)
    zeros = float(found.diagonal[0])
    if zeros >= _SEEN:
        tell(f"No bit-flip tolerance is needed: {zeros:.0%} of a centroid's shots with itself are all zeros.")
        return None
    tell(f"Bit-flip tolerance {found.tolerance}, as only {zeros:.1%} of a centroid's shots with itself are all zeros.")
    return found.tolerance


def interval(calibration: "Calibration") -> str:
    """Where it lies in most repetitions."""
    if calibration.interval is None:
        return ""
    low, high = calibration.interval
    return f" ({calibration.confidence:.0%} of repetitions: {low} to {high})"
