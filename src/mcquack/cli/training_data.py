"""What ``mcquack fit`` trains on: a table of the user's, or a dataset by its name."""

from pathlib import Path

import typer

from mcquack.cli.datasets.export import TARGET
from mcquack.cli.datasets.loading import loaded
from mcquack.cli.notes import tell
from mcquack.datasets import Dataset, describe
from mcquack.datasets.held_out import with_drawn_validation
from mcquack.datasets.own import ColumnOptions
from mcquack.datasets.own.tables import names_rows, table_dataset
from mcquack.datasets.table import TableEncoder, TableReading, read_table
from mcquack.errors import UnknownDatasetError

_COLUMN_DEFAULTS = ColumnOptions(missing="error", missing_target="drop", numeric=(), categorical=(), ignore=())


def training_data(
    data: str, *, target: str | None, validation: float, seed: int, data_dir: Path | None, columns: ColumnOptions
) -> Dataset:
    """The table in the file ``data``, or the dataset of that name, with a part to validate on."""
    if is_name(data):
        _refuse_table_options(target, columns)
        return _named_dataset(data, validation=validation, seed=seed, data_dir=data_dir)
    if target is None:
        raise typer.BadParameter("a table needs the name of the column with the labels.", param_hint="--target")
    if data_dir is not None:
        raise typer.BadParameter("it is for datasets by name, not for a table.", param_hint="--data-dir")
    dataset = table_dataset(read_table(data), target=target, validation=validation, seed=seed, **columns)
    _tell_identifiers(dataset)
    return dataset


def table_reading(dataset: Dataset) -> TableReading:
    """How a table becomes samples of the dataset: as the one it was read from, or one written by datasets export."""
    if dataset.table is not None:
        return dataset.table
    return TableReading(encoder=TableEncoder.of_numbers(dataset.feature_names, target=TARGET))


def description(dataset: Dataset) -> str:
    """How much there is to learn from."""
    n_rows = {name: f"{len(part.y):,}" for name, part in dataset.parts.items()}
    kept_back = f", {n_rows['validation']} kept back to validate" if "validation" in n_rows else ""
    to_test = f", {n_rows['test']} to test" if "test" in n_rows else ""
    size = f"{dataset.n_features} features, {dataset.n_classes} classes"
    return f"Training on {n_rows['train']} rows{kept_back}{to_test}; {size}."


def is_name(data: str) -> bool:
    """Whether it must be a dataset: nothing else here is called so, and it does not look like a file."""
    path = Path(data)
    is_file = path.exists() and not path.is_dir()
    return path.name == data and not is_file and not path.suffix


def _refuse_table_options(target: str | None, columns: ColumnOptions) -> None:
    given = ["--target"] if target is not None else []
    given += [f"--{name.replace('_', '-')}" for name, value in columns.items() if value != _COLUMN_DEFAULTS.get(name)]
    if given:
        raise typer.BadParameter("it is for tables, not for a dataset by name.", param_hint=", ".join(given))


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


def _tell_identifiers(dataset: Dataset) -> None:
    n_rows = sum(len(part.y) for part in dataset.parts.values())
    for column in table_reading(dataset).encoder.columns:
        if names_rows(len(column.categories), n_rows=n_rows):
            tell(
                f"Note: column {column.name!r} has {len(column.categories)} different texts in {n_rows} rows; if it "
                f"names the rows, leave it out with --ignore {column.name!r}."
            )
