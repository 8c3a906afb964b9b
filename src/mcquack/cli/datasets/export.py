"""``mcquack datasets export``: a dataset as files that any program reads."""

import csv
import errno
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import typer

import mcquack
from mcquack.cli.datasets.loading import loaded
from mcquack.cli.datasets.options import DataDir, Name, Seed
from mcquack.cli.files import check_can_write, write_whole
from mcquack.cli.notes import tell
from mcquack.datasets import Dataset, Description, Part, describe
from mcquack.datasets.dataset import PART_NAMES
from mcquack.errors import InvalidInputError

if TYPE_CHECKING:
    import pyarrow as pa

TARGET = "label"
_ABOUT = "about.json"

Format = Literal["csv", "parquet", "npz"]
Scale = Literal["none", "min-max", "standard"]


def export(
    name: Name,
    out: Annotated[Path, typer.Option(help="The folder to write to; it is made if it does not exist.")],
    format: Annotated[
        Format, typer.Option(help="A table for each part (csv, parquet), or all arrays in one file (npz).")
    ] = "csv",
    seed: Seed = 0,
    sizes: Annotated[
        str | None,
        typer.Option(help="Samples in each part, such as 1000,400,400.", show_default="as mcquack datasets show tells"),
    ] = None,
    scale: Annotated[
        Scale, typer.Option(help="Scale every feature as in the training part: to [0, 1], or to mean 0 and variance 1.")
    ] = "none",
    data_dir: DataDir = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the files of an earlier export.")] = False,
) -> None:
    """Write a dataset to a folder: one table for each part, and about.json with its seed, classes, source and licence.

    A table has the features under their names and then the column `label`; about.json names the class of each label.
    NAME.npz holds X_train, y_train, …, labels, class_names and feature_names.

    Example: mcquack datasets export mnist10 --out mnist, then
    mcquack fit mnist/train.csv --target label --out mnist.mcq
    """
    description = describe(name)
    wanted = None if sizes is None else _numbers(sizes)
    _check_folder(out, _file_names(description, format), overwrite=force)
    dataset = loaded(name, seed=seed, sizes=wanted, data_dir=data_dir)
    dataset = dataset if scale == "none" else dataset.scaled(scale)
    # Where other data took the place of what was asked for, its own licence and notes hold.
    about = _about(dataset, describe(dataset.described_as or name), seed=seed, scale=scale)
    contents = {**_contents(dataset, format), _ABOUT: f"{json.dumps(about, indent=2, ensure_ascii=False)}\n".encode()}
    out.mkdir(parents=True, exist_ok=True)
    for file, content in contents.items():
        write_whole(out / file, content)
    tell(f"In {out}: {', '.join(contents)}. {dataset}.")


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in text.split(","))
    except ValueError:
        raise typer.BadParameter(
            f"expected whole numbers separated by commas, such as 1000,400,400, got {text!r}.", param_hint="--sizes"
        ) from None


def _file_names(description: Description, format: Format) -> list[str]:
    tables = [f"{description.name}.npz"] if format == "npz" else [f"{part}.{format}" for part in description.sizes]
    return [*tables, _ABOUT]


def _check_folder(out: Path, names: Sequence[str], *, overwrite: bool) -> None:
    """Refuses before anything is loaded what would fail, or mix two exports, after it."""
    existing = next(path for path in (out.absolute(), *out.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise InvalidInputError(f"{existing} is a file; name a folder with --out.")
    if not os.access(existing, os.W_OK):
        raise PermissionError(errno.EACCES, "no permission to write in the folder", str(existing))
    for name in names if existing == out.absolute() else ():
        check_can_write(out / name, overwrite=overwrite)
    tables = [f"{part}.{format}" for part in PART_NAMES for format in ("csv", "parquet")]
    left = [*(name for name in tables if (out / name).exists()), *sorted(path.name for path in out.glob("*.npz"))]
    stale = [name for name in left if name not in names]
    if stale:
        raise InvalidInputError(
            f"{out} holds {', '.join(stale)}, which would not belong to the new files; remove it or name another one."
        )


def _contents(dataset: Dataset, format: Format) -> dict[str, bytes]:
    if format == "npz":
        return {f"{dataset.name}.npz": _npz_bytes(dataset)}
    if TARGET in dataset.feature_names:
        raise InvalidInputError(
            f"a feature of {dataset.name} is named {TARGET!r}, as the labels in a table; export it with --format npz."
        )
    write = _csv_bytes if format == "csv" else _parquet_bytes
    return {f"{name}.{format}": write(_table(part, dataset.feature_names)) for name, part in dataset.parts.items()}


def _table(part: Part, feature_names: Sequence[str]) -> "pa.Table":
    import pyarrow as pa

    return pa.table([*np.asfortranarray(part.X).T, part.y], names=[*feature_names, TARGET])


def _csv_bytes(table: "pa.Table") -> bytes:
    from pyarrow.csv import WriteOptions, write_csv

    header = io.StringIO(newline="")
    csv.writer(header, lineterminator="\n").writerow(table.column_names)  # pyarrow would put every name in quotes
    content = io.BytesIO()
    content.write(header.getvalue().encode())
    write_csv(table, content, WriteOptions(include_header=False))
    return content.getvalue()


def _parquet_bytes(table: "pa.Table") -> bytes:
    from pyarrow.parquet import write_table

    content = io.BytesIO()
    write_table(table, content)
    return content.getvalue()


def _npz_bytes(dataset: Dataset) -> bytes:
    content = io.BytesIO()
    arrays: dict[str, Any] = {}
    for name, part in dataset.parts.items():
        arrays |= {f"X_{name}": part.X, f"y_{name}": _plain(part.y)}
    np.savez_compressed(
        content,
        **arrays,
        labels=_plain(dataset.labels),
        class_names=np.array(dataset.class_names, dtype=np.str_),
        feature_names=np.array(dataset.feature_names, dtype=np.str_),
    )
    return content.getvalue()


def _plain(labels: Any) -> Any:
    """Labels in an array that is read without pickle."""
    found = np.asarray(labels)
    return found.astype(np.str_) if found.dtype == object else found


def _about(dataset: Dataset, description: Description, *, seed: int, scale: Scale) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "title": description.title,
        "task": description.task,
        "seed": seed if description.is_seeded else None,
        "sizes": {name: len(part.y) for name, part in dataset.parts.items()},
        "scale": scale,
        "origin": dataset.origin,
        "fingerprint": dataset.fingerprint,
        "classes": {str(label): name for label, name in zip(dataset.labels, dataset.class_names, strict=True)},
        "image_shape": dataset.image_shape,
        "citation": description.citation,
        "licence": description.licence,
        "homepage": description.homepage,
        "notes": list(description.notes),
        "mcquack": mcquack.__version__,
    }
