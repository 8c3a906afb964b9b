"""Options that several verbs share, the panels of their help, and the names that a shell completes."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from mcquack.datasets.dataset import PartName
from mcquack.datasets.table.encoder import Unknown
from mcquack.errors import MissingDependencyError

# Titles of panels, below that of the usual options.
MODEL = "The model"
TABLE = "Reading the table"
DATASET = "Datasets by name"
WORKERS = "Where tasks run"
OUTPUT = "Output"

_MOST_SEED = 2**32 - 1  # as NumPy's older generators have it


class _PlainUsage:
    """Help without the type of flags, which have no value, and without braces around arguments."""

    def get_params(self, context: Any) -> list[Any]:
        found: list[Any] = super().get_params(context)  # type: ignore[misc]  # the command's, beside which this stands
        for each in found:
            if getattr(each, "is_flag", False):
                each.metavar = ""
        return found

    def collect_usage_pieces(self, context: Any) -> list[str]:
        pieces: list[str] = super().collect_usage_pieces(context)  # type: ignore[misc]
        return [piece.replace("{", "").replace("}", "") for piece in pieces]


class Verb(_PlainUsage, TyperCommand):
    """A command, as ``mcquack fit``."""


class Verbs(_PlainUsage, TyperGroup):
    """A group of commands, as ``mcquack bench``."""


def group(about: Callable[..., None], *verbs: Callable[..., None], **options: Any) -> typer.Typer:
    """Return an app of verbs, each named as its function (``list_`` is ``list``), with the help of ``about``."""
    app = typer.Typer(
        name=about.__name__,
        cls=Verbs,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",  # joins the lines of a docstring into paragraphs
        **options,
    )
    app.callback(cls=Verbs)(about)
    for verb in verbs:
        app.command(verb.__name__.removesuffix("_"), cls=Verb)(verb)
    return app


# Names that a shell completes; what is slow to list is imported only when it is asked for.

_SIMULATORS = ("simulator", "aer", "twin:pittsburgh", "twin:aachen", "least_busy")
_SNAPSHOT, _TWIN = "fake_", "twin:"


def _beginning_with(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def suite_names(incomplete: str) -> list[str]:
    """Return the suites of the package that begin so."""
    from mcquack.bench import BUILT_IN

    return _beginning_with(incomplete, BUILT_IN)


def model_names(incomplete: str) -> list[str]:
    """Return the models of the catalogue that begin so."""
    from mcquack.models.catalog import names

    return _beginning_with(incomplete, names())


def dataset_names(incomplete: str) -> list[str]:
    """Return the names of datasets that begin so."""
    from mcquack.datasets import names

    return _beginning_with(incomplete, names())


def backend_names(incomplete: str) -> list[str]:
    """Return the simulators, and once one is begun the snapshots and their twins, for which Qiskit must be loaded."""
    found = [*_SIMULATORS]
    device = incomplete.removeprefix(_TWIN)
    if device.startswith(_SNAPSHOT[:1]):
        found += [incomplete[: len(incomplete) - len(device)] + name for name in _snapshots()]
    else:
        found += [_SNAPSHOT, _TWIN + _SNAPSHOT]
    return _beginning_with(incomplete, found)


def _snapshots() -> tuple[str, ...]:
    from mcquack.hardware.sampler import services

    try:
        return tuple(device.name for device in services().list_backends() if device.name.startswith(_SNAPSHOT))
    except MissingDependencyError:
        return ()


def _possible_seed(seed: int | None) -> int | None:
    if seed is not None and seed > _MOST_SEED:
        raise typer.BadParameter(f"{seed} is too large; expected at most {_MOST_SEED}.")
    return seed


# Options. Those of one verb only are written where the verb is.


def argument(metavar: str, about: str, **more: Any) -> Any:
    """Return an argument of typer."""
    return typer.Argument(metavar=metavar, help=about, **more)


def option(about: str, metavar: str | None = None, panel: str | None = None, **more: Any) -> Any:
    """Return an option of typer, named as the parameter that it is for; ``panel`` is where its help stands."""
    return typer.Option(metavar=metavar, help=about, rich_help_panel=panel, **more)


def flag(names: str, about: str, panel: str | None = None) -> Any:
    """Return an option of typer without a value."""
    return typer.Option(*names.split(), help=about, rich_help_panel=panel)


def seed_option(about: str, panel: str | None = None) -> Any:
    """Return the option ``--seed`` with this help."""
    return option(about, "N", panel, min=0, callback=_possible_seed)


Json = Annotated[bool, flag("--json", "Print JSON, for programs.")]
Force = Annotated[bool, flag("--force", "Replace files that exist.")]
DryRun = Annotated[bool, flag("--dry-run", "Only tell how much there is to do.")]
OutFolder = Annotated[Path, option("The folder to write to; it is made if it does not exist.", "FOLDER")]
Title = Annotated[str | None, option("Above the page, in place of its usual title.", "TEXT")]
ModelFile = Annotated[Path, argument("MODEL", "A model file written by mcquack fit, or by save in Python.")]
_WHERE = "Where the files of datasets are; without it, the folder that MCQUACK_DATA names."
DataDir = Annotated[Path | None, option(_WHERE, "FOLDER", DATASET)]
_NAME = "The dataset, by a name that mcquack datasets list shows."
DatasetName = Annotated[str, argument("NAME", _NAME, autocompletion=dataset_names)]
DrawSeed = Annotated[int, seed_option("Which samples, where they are a random draw: same seed, same samples.")]
Part = Annotated[PartName, option("Which part of it.", panel=DATASET)]
_UNKNOWN = "Categories not seen in training: report their rows, take the most_frequent, or refuse (error)."
UnknownCategories = Annotated[Unknown, option(_UNKNOWN, "HOW", TABLE)]

# Those of the verbs that run tasks.
StoreFile = Annotated[Path, argument("STORE", "A store that mcquack bench run has written.")]
_MODELS = "Only these, separated by commas (may be repeated). Also module:Class of any classifier."
Models = Annotated[list[str] | None, option(_MODELS, "NAMES")]
_DATASETS = "Only these, by names or patterns as 'mnist*', separated by commas (may be repeated)."
Datasets = Annotated[list[str] | None, option(_DATASETS, "NAMES")]
_JOBS = "Tasks that run at once, each on one core; without it, one for each core."
Jobs = Annotated[int | None, option(_JOBS, "N", WORKERS, min=1)]
_DASK = "Run on a Dask cluster: the address of its scheduler, or local to start one here."
Dask = Annotated[str | None, option(_DASK, "ADDRESS", WORKERS)]
_BUDGET = (
    "How long a fit may take: a longer one is ended after an epoch and has failed. Models that do not train in epochs "
    "are not ended."
)
Budget = Annotated[float | None, option(_BUDGET, "SECONDS", WORKERS, min=0)]


def listed(values: Iterable[str] | None) -> tuple[str, ...] | None:
    """Return what was given with commas, repeatedly, or both; None if nothing was."""
    names = [name.strip() for value in values or () for name in value.split(",")]
    return tuple(dict.fromkeys(filter(None, names))) or None
