"""What a device is to learn from: a table or a dataset, read as the model that it starts from reads them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from numpy.typing import NDArray

from mcquack.cli.datasets.loading import loaded
from mcquack.cli.model import encoder_of
from mcquack.cli.notes import tell, tell_problems
from mcquack.cli.training_data import description, is_name, table_reading, training_data
from mcquack.datasets.own import ColumnOptions
from mcquack.datasets.table import read_table
from mcquack.errors import InvalidInputError

if TYPE_CHECKING:
    from mcquack.models import McQuackClassifier


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
