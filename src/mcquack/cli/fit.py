"""``mcquack fit``: from a table, or a dataset by name, to a model file."""

import ast
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table as RichTable

from mcquack.cli import console as exit_codes
from mcquack.cli.console import Checkpoints, check_can_write, tell, tell_problems
from mcquack.cli.datasets import is_name, named
from mcquack.cli.options import MODEL, TABLE, DataDir, Force, argument, flag, model_names, option, seed_option
from mcquack.cli.predict import Scores
from mcquack.datasets import ColumnOptions, Dataset
from mcquack.datasets.dataset import with_drawn_validation
from mcquack.datasets.own import table_dataset
from mcquack.datasets.table import TableReading, read_table
from mcquack.datasets.table.column import Missing
from mcquack.errors import InvalidInputError
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
_VALIDATION = (
    "Share of the rows kept back to score, and to stop in time where a model can, unless the dataset comes with such a "
    "part."
)
_PRESET = (
    "Settings of McQuack: default, those of the paper, qml of the QML benchmark suite, device of the paper's untrained "
    "model for 124 qubits, device-12 or device-20 for rings of 12 and 20 qubits."
)
_SETTING = (
    "Any setting of the model, as lr_ka=0.01 or scale=[-1.0, 1.0] (may be repeated); mcquack models show NAME lists "
    "them."
)
_FEATURE_MAP = (
    "The circuit: paper, device, quack, zz, pauli, iqp, hardware_efficient, reuploading, chebyshev, hubregtsen or "
    "amplitude. Without it, as the preset."
)
_MISSING = (
    "Missing values and infinities: refuse them (error), fill them with the mean, median or most_frequent, or drop "
    "their rows."
)
_ONE_HOT = "Make a feature of 0 and 1 of each category, in place of one feature for each column of text."
_DECIMAL = "What stands before the fraction of numbers: . or , (without it a point, and in a CSV with semicolons both)."
_THOUSANDS = (
    "What stands between groups of three digits: , or . or ' or _ or a space. A sign of a currency is then left out."
)
_DATE_FORMAT = "How dates are written, such as %d.%m.%Y; those as 2024-12-31 are always read."
_PART_TITLES = {"train": "training", "validation": "validation", "test": "test"}
_SHOWN_CLASSES = 30


def fit(
    data: Annotated[str, argument("DATA", "A table, CSV (also .gz) with a header or Parquet, or a dataset by name.")],
    out: Annotated[Path, option("The model file to write.", "FILE")],
    target: Annotated[str | None, option("The column with the labels; a table needs it.", "COLUMN")] = None,
    model: Annotated[
        str,
        option("What to train, by a name of mcquack models list.", "NAME", autocompletion=model_names),
    ] = "mcquack",
    epochs: Annotated[
        int | None,
        option("At most this many epochs; 0 leaves McQuack untrained. Without it, as the preset says.", "N", min=0),
    ] = None,
    validation: Annotated[float, option(_VALIDATION, "SHARE", min=0, max=0.9)] = 0.2,
    seed: Annotated[int | None, seed_option("Same seed and data, same model. Without it, 0.")] = None,
    resume: Annotated[
        bool, flag("--resume", "Go on with the interrupted training in the model file, on the same table.")
    ] = False,
    force: Force = False,
    preset: Annotated[
        Literal["default", "paper", "qml", "device", "device-12", "device-20"], option(_PRESET, "NAME", MODEL)
    ] = "default",
    setting: Annotated[list[str] | None, option(_SETTING, "NAME=VALUE", MODEL)] = None,
    qubits: Annotated[int | None, option("Number of qubits; without it, as the preset.", "N", MODEL, min=1)] = None,
    repetitions: Annotated[
        int | None, option("How often the circuit encodes each feature; without it, as the preset.", "N", MODEL, min=1)
    ] = None,
    feature_map: Annotated[str | None, option(_FEATURE_MAP, "NAME", MODEL)] = None,
    class_weight: Annotated[
        Literal["none", "balanced"], option("Give every row, or every class, the same weight.", panel=MODEL)
    ] = "none",
    scale: Annotated[
        bool | None,
        flag("--scale/--no-scale", "Scale features to [0, 1] inside the model; without it, as the preset.", MODEL),
    ] = None,
    missing: Annotated[Missing, option(_MISSING, "HOW", TABLE)] = "error",
    missing_target: Annotated[
        Literal["drop", "error"], option("Rows without a label: leave them out, or refuse the table.", panel=TABLE)
    ] = "drop",
    numeric: Annotated[list[str] | None, option("Take as numbers (may be repeated).", "COLUMN", TABLE)] = None,
    categorical: Annotated[list[str] | None, option("Take as categories (may be repeated).", "COLUMN", TABLE)] = None,
    ignore: Annotated[list[str] | None, option("Leave out, as an id (may be repeated).", "COLUMN", TABLE)] = None,
    one_hot: Annotated[bool, flag("--one-hot", _ONE_HOT, TABLE)] = False,
    decimal: Annotated[str | None, option(_DECIMAL, "SIGN", TABLE)] = None,
    thousands: Annotated[str | None, option(_THOUSANDS, "SIGN", TABLE)] = None,
    date_format: Annotated[str | None, option(_DATE_FORMAT, "FORMAT", TABLE)] = None,
    data_dir: DataDir = None,
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
    for given, (name, value) in options.items():
        if value is None:
            continue
        if name not in known:
            raise typer.BadParameter(
                f"{entry.name} has no setting {name!r}; mcquack models show {entry.name} lists those that it has, to "
                "be given by --setting.",
                param_hint=given,
            )
        chosen[name], given_by[name] = value, given
    for text in texts:
        name, value = named_value(text)
        if name in chosen:
            raise typer.BadParameter(
                f"{name} is given by {given_by[name]} already; keep one of the two.", param_hint="--setting"
            )
        chosen[name], given_by[name] = value, "--setting"
    return {**kept, **chosen}


def named_value(text: str) -> tuple[str, Any]:
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
    dataset = named(name, seed=seed, data_dir=data_dir)
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
    try:
        begun = train(*dataset.train, **options)
        if not in_epochs:
            return False
        with closing(begun) as epochs:
            for _ in shown(epochs, of=model, going_on=resume, names=_class_names(dataset)):
                n_done = stage(model).n_done
                if can_resume and checkpoints.are_due:
                    checkpoints.write(n_done, resumable=True)
    except KeyboardInterrupt:
        if n_done:
            return True
        first = "the first epoch was" if unit_of(model) == "epoch" else "the first steps were"
        tell(f"mcquack: interrupted before {first if in_epochs else 'the training was'} done; nothing was written.")
        raise typer.Exit(exit_codes.INTERRUPTED) from None
    return False


def _show_scores(model: Any, dataset: Dataset) -> None:
    length = f", {model.n_iter_:,} {unit_of(model)}s" if hasattr(model, "n_iter_") else ""
    table = RichTable(caption=f"{model.n_parameters_:,} parameters{length}")
    table.add_column("")
    found: list[Scores] = []
    for name, (X, y) in dataset.parts.items():
        table.add_column(f"{_PART_TITLES[name]} ({len(y):,} rows)", justify="right")
        found.append(Scores.of(y, model.predict(X), classes=model.classes_))
    table.add_row("accuracy", *(f"{each.accuracy:.3f}" for each in found))
    table.add_row("balanced accuracy", *(f"{each.balanced_accuracy:.3f}" for each in found), end_section=True)
    names = _class_names(dataset)
    for label in model.classes_[:_SHOWN_CLASSES].tolist():
        called = f" ({names[label]})" if names[label] != str(label) else ""
        recalls = (each.recalls.get(str(label)) for each in found)  # None of a class without samples
        table.add_row(f"recall of {label}{called}", *("–" if share is None else f"{share:.3f}" for share in recalls))
    if len(model.classes_) > _SHOWN_CLASSES:
        table.add_row(f"and {len(model.classes_) - _SHOWN_CLASSES} more classes")
    SafeConsole().print(table)  # a label may look like ":cat:" or "[red]"


def _class_names(dataset: Dataset) -> dict[Any, str]:
    """The names of the classes by their labels."""
    return dict(zip(dataset.labels, dataset.class_names, strict=True))


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
