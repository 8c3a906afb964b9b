"""``mcquack fit``: from a table, or a dataset by name, to a model file."""

import ast
import time
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, Literal

import numpy as np
import typer
from rich.table import Table as RichTable

from mcquack.cli import console as exit_codes
from mcquack.cli.console import Checkpoints, check_can_write, described, tell, tell_problems
from mcquack.cli.datasets import DataDir, loaded
from mcquack.datasets import ColumnOptions, Dataset, describe
from mcquack.datasets.dataset import with_drawn_validation
from mcquack.datasets.own import table_dataset
from mcquack.datasets.table import TableReading, read_table
from mcquack.errors import InvalidInputError, UnknownDatasetError
from mcquack.models import catalog
from mcquack.models.tables import identifying_columns, table_extra, table_reading
from mcquack.progress import SafeConsole, shown, stage, unit_of

_COLUMN_DEFAULTS = ColumnOptions(
    missing="error",
    missing_target="drop",
    numeric=(),
    categorical=(),
    ignore=(),
    one_hot=False,
    decimal=None,
    thousands=None,
    date_format=None,
)
_PART_TITLES = {"train": "training", "validation": "validation", "test": "test"}
_SHOWN_CLASSES = 30
_SECONDS_BETWEEN_SAVES = 30.0


@described("mcquack")
def fit(
    data: str,
    out: Path,
    target: str | None = None,
    validation: float = 0.2,
    data_dir: DataDir = None,
    model: str = "mcquack",
    setting: list[str] | None = None,
    preset: Literal["default", "paper", "qml", "device", "device-12", "device-20"] = "default",
    epochs: int | None = None,
    qubits: int | None = None,
    repetitions: int | None = None,
    feature_map: str | None = None,
    seed: int | None = None,
    missing: Literal["error", "mean", "median", "most_frequent", "drop"] = "error",
    missing_target: Literal["drop", "error"] = "drop",
    numeric: list[str] | None = None,
    categorical: list[str] | None = None,
    ignore: list[str] | None = None,
    one_hot: bool = False,
    decimal: str | None = None,
    thousands: str | None = None,
    date_format: str | None = None,
    class_weight: Literal["none", "balanced"] = "none",
    scale: bool | None = None,
    force: bool = False,
    resume: bool = False,
) -> None:
    """Train a classifier on a table, or on a dataset by name, and save it with all that is needed to predict.

    Text columns become categories, dates become days; the columns are remembered by name, and how their numbers and
    dates are written. Ctrl-C stops the training
    and keeps the model so far; the same command with --resume goes on from there, also after a crash: the file is
    written every half minute. Then the settings are those in the file, but for --epochs. Models other than McQuack are
    named by --model; those that do not train in epochs, or cannot go on after a break, say so.

    Examples: mcquack fit flowers.csv --target species --out flowers.mcq, or mcquack fit iris3 --out iris.mcq --model
    svc --setting C=10
    """
    out = out.resolve()  # a link stays a link
    check_can_write(out, overwrite=force or resume, inputs=[Path(data)], regular=True)
    columns = ColumnOptions(
        missing=missing,
        missing_target=missing_target,
        numeric=numeric or (),
        categorical=categorical or (),
        ignore=ignore or (),
        one_hot=one_hot,
        decimal=decimal,
        thousands=thousands,
        date_format=date_format,
    )
    entry = catalog.entry(model)
    options = {
        "--epochs": ("epochs", epochs),
        "--qubits": ("n_qubits", qubits),
        "--repetitions": ("n_repetitions", repetitions),
        "--feature-map": ("feature_map", feature_map),
        "--class-weight": ("class_weight", None if class_weight == "none" else class_weight),
        "--scale": ("scale", scale),
        "--seed": ("random_state", seed if "random_state" in entry.defaults() else None),
    }
    settings = _chosen_settings(entry, options, preset=preset, texts=setting or ())
    if "random_state" in entry.defaults():
        settings.setdefault("random_state", 0)
    dataset = training_data(
        data, target=target, validation=validation, seed=seed or 0, data_dir=data_dir, columns=columns
    )
    classifier = _resumable_model(out, dataset, entry=entry, epochs=epochs) if resume else entry.new(**settings)
    tell(description(dataset))
    checkpoints = Checkpoints(out, partial(classifier.save, extra=table_extra(dataset)), unit=unit_of(classifier))
    interrupted = _trained_until_interrupted(classifier, dataset, checkpoints=checkpoints, resume=resume)
    can_resume = _can_resume(type(classifier))
    try:
        checkpoints.finish(**({"resumable": interrupted} if can_resume else {}))
    finally:
        _show_scores(classifier, dataset)
    _finish(out, interrupted=interrupted, can_resume=can_resume, reading=table_reading(dataset))


def _chosen_settings(
    entry: catalog.Entry, options: Mapping[str, tuple[str, Any]], *, preset: str, texts: Iterable[str]
) -> dict[str, Any]:
    """The settings that a preset, options by their names, and texts as ``C=10`` give to a model, each only once."""
    known, kept = entry.defaults(), catalog.preset(preset)
    chosen: dict[str, Any] = {}
    given_by: dict[str, str] = {}
    if lacking := ", ".join(sorted(kept.keys() - known.keys())):
        raise typer.BadParameter(
            f"{preset} sets {lacking}, which {entry.name} does not have; give its settings by --setting.",
            param_hint="--preset",
        )
    for option, (name, value) in options.items():
        if value is None:
            continue
        if name not in known:
            raise typer.BadParameter(
                f"{entry.name} has no setting {name!r}; mcquack models show {entry.name} lists those that it has, to "
                "be given by --setting.",
                param_hint=option,
            )
        chosen[name], given_by[name] = value, option
    for text in texts:
        name, value = _named_value(text)
        if name in chosen:
            raise typer.BadParameter(
                f"{name} is given by {given_by[name]} already; keep one of the two.", param_hint="--setting"
            )
        chosen[name], given_by[name] = value, "--setting"
    return {**kept, **chosen}


def _named_value(text: str) -> tuple[str, Any]:
    """The two sides of ``NAME=VALUE``: a value of TOML, or of Python as models show prints it, or else a plain text."""
    name, equals, said = (part.strip() for part in text.partition("="))
    if not name or not equals:
        raise typer.BadParameter(f"write NAME=VALUE, as C=10, in place of {text!r}.", param_hint="--setting")
    with suppress(tomllib.TOMLDecodeError):
        read = tomllib.loads(f"value = {said}")
        if read.keys() == {"value"} and isinstance(read["value"], bool | int | float | str | list | dict):
            return name, catalog.frozen(read["value"])
    with suppress(SyntaxError, ValueError):
        return name, catalog.frozen(ast.literal_eval(said))
    return name, said


def is_name(data: str) -> bool:
    """Whether ``data`` must be the name of a dataset: no file here is called so, and it does not look like one."""
    path = Path(data)
    is_file = path.exists() and not path.is_dir()
    return path.name == data and not is_file and not path.suffix


def training_data(
    data: str,
    *,
    target: str | None,
    validation: float,
    seed: int,
    data_dir: Path | None,
    columns: ColumnOptions = _COLUMN_DEFAULTS,
) -> Dataset:
    """The table in the file ``data``, or the dataset of that name, with a part to validate on."""
    if is_name(data):
        given = ["--target"] if target is not None else []
        changed = [name for name, value in columns.items() if value != _COLUMN_DEFAULTS.get(name)]
        given += [f"--{name.replace('_', '-')}" for name in changed]
        if given:
            raise typer.BadParameter("it is for tables, not for a dataset by name.", param_hint=", ".join(given))
        return _named_dataset(data, validation=validation, seed=seed, data_dir=data_dir)
    if target is None:
        raise typer.BadParameter("a table needs the name of the column with the labels.", param_hint="--target")
    if data_dir is not None:
        raise typer.BadParameter("it is for datasets by name, not for a table.", param_hint="--data-dir")
    dataset = table_dataset(read_table(data), target=target, validation=validation, seed=seed, **columns)
    for name, repetition in identifying_columns(dataset).items():
        tell(f"Note: column {name!r} has {repetition}; if it names the rows, leave it out with --ignore {name!r}.")
    return dataset


def description(dataset: Dataset) -> str:
    """How much there is to learn from, in one line."""
    n_rows = {name: f"{len(part.y):,}" for name, part in dataset.parts.items()}
    kept_back = f", {n_rows['validation']} kept back to validate" if "validation" in n_rows else ""
    to_test = f", {n_rows['test']} to test" if "test" in n_rows else ""
    size = f"{dataset.n_features} features, {dataset.n_classes} classes"
    return f"Training on {n_rows['train']} rows{kept_back}{to_test}; {size}."


def _named_dataset(name: str, *, validation: float, seed: int, data_dir: Path | None) -> Dataset:
    try:
        is_seeded = describe(name).is_seeded
    except UnknownDatasetError as error:
        raise UnknownDatasetError(f"there is no file {name!r}, and {error}") from None
    dataset = loaded(name, seed=seed if is_seeded else 0, data_dir=data_dir)
    if dataset.validation_is_test:
        tell(f"Note: {name} validates and tests on the same samples; training samples are kept back to validate.")
    elif dataset.validation is not None:
        return dataset
    return with_drawn_validation(dataset, fraction=validation, seed=seed)


def _can_resume(kind: type[Any]) -> bool:
    """Whether training of these models yields epochs, after each of which it can be saved and go on another time."""
    return hasattr(kind, "fit_iter") and "resume" in signature(kind.fit_iter).parameters


def _resumable_model(path: Path, dataset: Dataset, *, entry: catalog.Entry, epochs: int | None) -> Any:
    from mcquack.models import load  # not above: compilers and solvers would delay every --help

    if not _can_resume(entry.estimator_class()):
        raise typer.BadParameter(
            f"the training of {entry.name} cannot go on after a break; train it anew, with --force to replace a file.",
            param_hint="--resume",
        )
    model: Any = load(path)
    if type(model).__name__ != entry.class_name:
        raise InvalidInputError(
            f"{path} holds a {type(model).__name__}, not the {entry.class_name} of --model {entry.name}; resume it "
            "with the --model that it is."
        )
    if not hasattr(model, "training_state_"):
        raise InvalidInputError(f"the training of {path} was finished; train it anew, with --force to replace it.")
    if model.extra_ != table_extra(dataset):
        raise InvalidInputError(
            f"{path} was trained on other columns or values; resume with the same table and options."
        )
    starts = getattr(model, "starts_", [model])
    n_had, is_last = max(start.n_iter_ for start in starts), len(starts) == getattr(model, "n_starts", 1)
    is_full = is_last and starts[-1].n_iter_ == n_had  # else a start is left that has not had as many
    if epochs is not None and epochs < n_had + is_full:
        raise InvalidInputError(f"{path} has had {n_had} epochs already; ask for more with --epochs.")
    return model if epochs is None else model.set_params(epochs=epochs)


def _trained_until_interrupted(model: Any, dataset: Dataset, *, checkpoints: Checkpoints, resume: bool) -> bool:
    """Trains in place; True when Ctrl-C ended it, the model until then being kept."""
    in_epochs, can_resume = hasattr(model, "fit_iter"), _can_resume(type(model))
    train = model.fit_iter if in_epochs else model.fit
    takes_validation = "validation_data" in signature(train).parameters
    options: dict[str, Any] = {"validation_data": dataset.validation} if takes_validation else {}
    if can_resume:
        options["resume"] = resume
    if not in_epochs and hasattr(model, "verbose"):
        model.set_params(verbose=1)  # which no file keeps
    n_done = stage(model).n_done if resume else 0
    saved_at = time.monotonic()
    try:
        begun = train(*dataset.train, **options)
        if not in_epochs:
            return False
        with closing(begun) as epochs:
            for _ in shown(epochs, of=model, going_on=resume, names=_class_names(dataset)):
                n_done = stage(model).n_done
                if can_resume and time.monotonic() - saved_at > _SECONDS_BETWEEN_SAVES:
                    checkpoints.write(n_done, resumable=True)
                    saved_at = time.monotonic()
    except KeyboardInterrupt:
        if n_done:
            return True
        first = "the first epoch was" if unit_of(model) == "epoch" else "the first steps were"
        tell(f"mcquack: interrupted before {first if in_epochs else 'the training was'} done; nothing was written.")
        raise typer.Exit(exit_codes.INTERRUPTED) from None
    return False


def _show_scores(model: Any, dataset: Dataset) -> None:
    from sklearn.metrics import accuracy_score, recall_score

    length = f", {model.n_iter_:,} {unit_of(model)}s" if hasattr(model, "n_iter_") else ""
    table = RichTable(caption=f"{model.n_parameters_:,} parameters{length}")
    table.add_column("")
    accuracies, recalls = [], []
    for name, (X, y) in dataset.parts.items():
        table.add_column(f"{_PART_TITLES[name]} ({len(y):,} rows)", justify="right")
        predicted = model.predict(X)
        accuracies.append(accuracy_score(y, predicted))
        # A class without samples has no recall.
        recalls.append(recall_score(y, predicted, labels=model.classes_, average=None, zero_division=np.nan))
    table.add_row("accuracy", *map(_share, accuracies))
    table.add_row("balanced accuracy", *map(_share, np.nanmean(recalls, axis=1)), end_section=True)
    names = _class_names(dataset)
    of_classes = zip(model.classes_.tolist(), np.transpose(recalls), strict=True)
    for label, of_class in list(of_classes)[:_SHOWN_CLASSES]:
        named = f" ({names[label]})" if names[label] != str(label) else ""
        table.add_row(f"recall of {label}{named}", *map(_share, of_class))
    if len(model.classes_) > _SHOWN_CLASSES:
        table.add_row(f"and {len(model.classes_) - _SHOWN_CLASSES} more classes")
    SafeConsole().print(table)  # a label may look like ":cat:" or "[red]"


def _class_names(dataset: Dataset) -> dict[Any, str]:
    """The names of the classes by their labels."""
    return dict(zip(dataset.labels, dataset.class_names, strict=True))


def _share(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"


def _finish(out: Path, *, interrupted: bool, can_resume: bool, reading: TableReading) -> None:
    if reading.n_dropped:
        tell(f"{reading.n_dropped} rows with missing or infinite values were dropped.")
    tell_problems(reading.left_out, consequence="could not be used")
    if interrupted:
        going_on = " The same command with --resume goes on." if can_resume else ""
        tell(f"mcquack: interrupted; the model so far is in {out}.{going_on}")
        raise typer.Exit(exit_codes.INTERRUPTED)
    tell(f"The model is in {out}; apply it with: mcquack predict {out} <table>")
    if reading.left_out:
        raise typer.Exit(exit_codes.SOME_ROWS_LEFT_OUT)
