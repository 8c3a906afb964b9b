"""A dataset as files that any program reads: a table for each part or one file of arrays, and a note about them."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from mcquack.datasets.dataset import PART_NAMES, Dataset, Part
from mcquack.datasets.registry import descriptions
from mcquack.errors import InvalidInputError
from mcquack.files import replace_file

Format = Literal["csv", "parquet", "npz"]
TARGET = "label"
_ABOUT = "about.json"


def export(
    dataset: Dataset,
    folder: str | Path,
    *,
    format: Format = "csv",
    seed: int | None = None,
    scale: str = "none",
    overwrite: bool = False,
) -> tuple[str, ...]:
    """Writes a dataset to a folder, which is made if it does not exist.

    Parameters
    ----------
    dataset : What is written. A table has the features under their names and then the column ``label``.
    folder : Where to.
    format : "csv", "parquet" or "npz". A table for each part, or all arrays in one file: X_train, y_train, …, labels,
        class_names and feature_names.
    seed, scale : What about.json says of how the samples were drawn and scaled.
    overwrite : Whether the files of an earlier export may be replaced.

    Returns
    -------
    tuple of str
        The names of the files; the last is about.json, with classes, origin, citation and licence.

    Examples
    --------
    >>> import tempfile
    >>> from mcquack import datasets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     datasets.export(datasets.load("iris3"), folder)
    ('train.csv', 'validation.csv', 'test.csv', 'about.json')
    """
    folder = Path(folder)
    names = export_names(dataset.name, dataset.parts, format)
    check_no_others(folder, names)
    present = [name for name in names if (folder / name).exists()]
    if present and not overwrite:
        raise InvalidInputError(f"{folder / present[0]} exists already; name another folder, or give overwrite=True.")
    contents = [*_contents(dataset, format), _about(dataset, seed=seed, scale=scale)]
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in zip(names, contents, strict=True):
        replace_file((folder / name).resolve(), content)  # a link stays a link
    return names


def export_names(name: str, parts: Iterable[str], format: Format) -> tuple[str, ...]:
    """The files that an export of a dataset with these parts writes, in their order."""
    tables = [f"{name}.npz"] if format == "npz" else [f"{part}.{format}" for part in parts]
    return (*tables, _ABOUT)


def check_no_others(folder: Path, names: Sequence[str]) -> None:
    """Refuses a folder that holds files of another export, which would mix with those of these names."""
    tables = [f"{part}.{format}" for part in PART_NAMES for format in ("csv", "parquet")]
    left = [*(name for name in tables if (folder / name).exists()), *sorted(path.name for path in folder.glob("*.npz"))]
    stale = [name for name in left if name not in names]
    if stale:
        raise InvalidInputError(
            f"{folder} holds {', '.join(stale)}, which would not belong to the new files; remove it or name another "
            "one."
        )


def _contents(dataset: Dataset, format: Format) -> list[bytes]:
    if format == "npz":
        return [_npz_bytes(dataset)]
    if TARGET in dataset.feature_names:
        raise InvalidInputError(
            f"a feature of {dataset.name} is named {TARGET!r}, as the labels in a table; export it as npz "
            "(--format npz)."
        )
    return [_table_bytes(part, dataset.feature_names, format) for part in dataset.parts.values()]


def _table_bytes(part: Part, feature_names: Sequence[str], format: Format) -> bytes:
    table = pa.table([*np.asfortranarray(part.X).T, part.y], names=[*feature_names, TARGET])
    content = io.BytesIO()
    if format == "parquet":
        pq.write_table(table, content)
        return content.getvalue()
    header = io.StringIO(newline="")
    csv.writer(header, lineterminator="\n").writerow(table.column_names)  # pyarrow would put every name in quotes
    content.write(header.getvalue().encode())
    pacsv.write_csv(table, content, pacsv.WriteOptions(include_header=False))
    return content.getvalue()


def _npz_bytes(dataset: Dataset) -> bytes:
    arrays: dict[str, Any] = {}
    for name, part in dataset.parts.items():
        arrays |= {f"X_{name}": part.X, f"y_{name}": _plain(part.y)}
    content = io.BytesIO()
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


def _about(dataset: Dataset, *, seed: int | None, scale: str) -> bytes:
    # Where other data took the place of what was asked for, its own licence and notes hold.
    name = dataset.described_as or dataset.name
    known = next((known for known in descriptions() if known.name == name), None)
    facts = {} if known is None else known.facts()
    about = {
        "name": dataset.name,
        "title": facts.get("title", name),
        "task": facts.get("task", ""),
        "seed": seed if facts.get("is_seeded", True) else None,
        "sizes": {part: len(samples.y) for part, samples in dataset.parts.items()},
        "scale": scale,
        "origin": dataset.origin,
        "fingerprint": dataset.fingerprint,
        "classes": {str(label): text for label, text in zip(dataset.labels, dataset.class_names, strict=True)},
        "image_shape": dataset.image_shape,
        **{fact: facts.get(fact, "") for fact in ("citation", "licence", "homepage")},
        "notes": facts.get("notes", []),
        "mcquack": version("mcquack"),
    }
    return f"{json.dumps(about, indent=2, ensure_ascii=False)}\n".encode()
