"""``mcquack fit``: from a table, or a dataset by name, to a model file."""

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import typer
from rich.table import Table as RichTable

from mcquack.cli import console as exit_codes
from mcquack.cli.console import check_can_write, described, plain_console, shown, tell, tell_problems
from mcquack.cli.datasets import DataDir, loaded
from mcquack.datasets import ColumnOptions, Dataset, describe
from mcquack.datasets.dataset import with_drawn_validation
from mcquack.datasets.own import table_dataset
from mcquack.datasets.table import TableReading, read_table
from mcquack.errors import InvalidInputError, UnknownDatasetError
from mcquack.models.tables import identifying_columns, table_extra, table_reading

if TYPE_CHECKING:
    from mcquack.models import McQuackClassifier

_COLUMN_DEFAULTS = ColumnOptions(missing="error", missing_target="drop", numeric=(), categorical=(), ignore=())
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
    preset: Literal["default", "paper", "qml", "device"] = "default",
    epochs: int | None = None,
    qubits: int | None = None,
    repetitions: int | None = None,
    feature_map: str | None = None,
    seed: int = 0,
    missing: Literal["error", "mean", "median", "most_frequent", "drop"] = "error",
    missing_target: Literal["drop", "error"] = "drop",
    numeric: list[str] | None = None,
    categorical: list[str] | None = None,
    ignore: list[str] | None = None,
    class_weight: Literal["none", "balanced"] = "none",
    scale: bool = True,
    force: bool = False,
    resume: bool = False,
) -> None:
    """Train a classifier on a table, or on a dataset by name, and save it with all that is needed to predict.

    Text columns become categories, dates become days; the columns are remembered by name. Ctrl-C stops the training
    and keeps the best model so far; the same command with --resume goes on from there, also after a crash: the file
    is written every half minute. Then the settings are those in the file, but for --epochs.

    Examples: mcquack fit flowers.csv --target species --out flowers.mcq, or mcquack fit iris3 --out iris.mcq
    """
    from mcquack.models import McQuackClassifier  # not above: compilers and solvers would delay every --help

    out = out.resolve()  # a link stays a link
    check_can_write(out, overwrite=force or resume, inputs=[Path(data)], regular=True)
    columns = ColumnOptions(
        missing=missing,
        missing_target=missing_target,
        numeric=numeric or (),
        categorical=categorical or (),
        ignore=ignore or (),
    )
    dataset = training_data(data, target=target, validation=validation, seed=seed, data_dir=data_dir, columns=columns)
    if resume:
        model = _resumable_model(out, dataset, epochs=epochs)
    else:
        scaling = None if scale else False  # else it is that of the preset
        size = {"n_qubits": qubits, "n_repetitions": repetitions, "feature_map": feature_map}
        chosen = {"epochs": epochs, **size, "scale": scaling}
        given = {name: value for name, value in chosen.items() if value is not None}
        weighting = None if class_weight == "none" else class_weight
        model = McQuackClassifier.from_preset(preset, **given, class_weight=weighting, random_state=seed)
    tell(description(dataset))
    interrupted = _trained_until_interrupted(model, dataset, out=out, resume=resume)
    model.save(out, resumable=interrupted, extra=table_extra(dataset))
    _show_scores(model, dataset)
    _finish(out, interrupted=interrupted, reading=table_reading(dataset))


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


def _resumable_model(path: Path, dataset: Dataset, *, epochs: int | None) -> "McQuackClassifier":
    from mcquack.models import McQuackClassifier

    model = McQuackClassifier.load(path)
    if not hasattr(model, "training_state_"):
        raise InvalidInputError(f"the training of {path} was finished; train it anew, with --force to replace it.")
    if model.extra_ != table_extra(dataset):
        raise InvalidInputError(
            f"{path} was trained on other columns or values; resume with the same table and options."
        )
    if epochs is not None and epochs <= model.n_iter_:
        raise InvalidInputError(f"{path} has had {model.n_iter_} epochs already; ask for more with --epochs.")
    return model if epochs is None else model.set_params(epochs=epochs)


def _trained_until_interrupted(model: "McQuackClassifier", dataset: Dataset, *, out: Path, resume: bool) -> bool:
    """Trains in place; True when Ctrl-C ended it, the best model until then being kept."""
    n_done = model.n_iter_ if resume else 0
    saved_at = time.monotonic()
    try:
        epochs = model.fit_iter(*dataset.train, validation_data=dataset.validation, resume=resume)
        with closing(epochs):
            for _ in shown(epochs, n_epochs=model.epochs, n_done=n_done):
                n_done += 1
                if time.monotonic() - saved_at > _SECONDS_BETWEEN_SAVES:
                    model.save(out, resumable=True, extra=table_extra(dataset))
                    saved_at = time.monotonic()
    except KeyboardInterrupt:
        if n_done:
            return True
        tell("mcquack: interrupted before the first epoch was done; nothing was written.")
        raise typer.Exit(exit_codes.INTERRUPTED) from None
    return False


def _show_scores(model: "McQuackClassifier", dataset: Dataset) -> None:
    from sklearn.metrics import accuracy_score, recall_score

    table = RichTable(caption=f"{model.n_parameters_:,} parameters, {model.n_iter_} epochs")
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
    names = dict(zip(dataset.labels, dataset.class_names, strict=True))
    of_classes = zip(model.classes_.tolist(), np.transpose(recalls), strict=True)
    for label, of_class in list(of_classes)[:_SHOWN_CLASSES]:
        named = f" ({names[label]})" if names[label] != str(label) else ""
        table.add_row(f"recall of {label}{named}", *map(_share, of_class))
    if len(model.classes_) > _SHOWN_CLASSES:
        table.add_row(f"and {len(model.classes_) - _SHOWN_CLASSES} more classes")
    plain_console().print(table)  # a label may look like ":cat:" or "[red]"


def _share(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"


def _finish(out: Path, *, interrupted: bool, reading: TableReading) -> None:
    if reading.n_dropped:
        tell(f"{reading.n_dropped} rows with missing or infinite values were dropped.")
    tell_problems(reading.left_out, consequence="could not be used")
    if interrupted:
        tell(f"mcquack: interrupted; the best model so far is in {out}. The same command with --resume goes on.")
        raise typer.Exit(exit_codes.INTERRUPTED)
    tell(f"The model is in {out}; apply it with: mcquack predict {out} <table>")
    if reading.left_out:
        raise typer.Exit(exit_codes.SOME_ROWS_LEFT_OUT)
