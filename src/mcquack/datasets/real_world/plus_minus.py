"""PM2 and PM4: pictures of plus and minus signs."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.datasets.dataset import Dataset, Part, pixel_names
from mcquack.datasets.description import Description
from mcquack.datasets.files import HDF5, DataFile, Source
from mcquack.datasets.formats import npz_arrays
from mcquack.datasets.real_world.variant import EXTRA, PAPER_COUNTS, SUITE, wanted_counts
from mcquack.datasets.registry import Entry, Request
from mcquack.datasets.synthetic import CLASS_NAMES, SIDE, drawn_signs, plus_minus
from mcquack.errors import DataFileError, MissingDataError, SubstitutedDataWarning

_HOMEPAGE = "https://pennylane.ai/datasets/plus-minus"
_TRAIN, _TEST = 0, 1


def _stored(path: Path) -> tuple[Part, Part]:
    X, y, split = npz_arrays(path, "X", "y", "split")
    train, test = (Part(X[split == part], y[split == part].astype(np.int64)) for part in (_TRAIN, _TEST))
    return train, test


def _published(path: Path) -> tuple[Part, Part]:
    """The HDF5 file of PennyLane."""
    try:
        import h5py
    except ImportError as error:
        raise HDF5.missing(to_read=path) from error
    try:
        with h5py.File(path, "r") as file:
            train, test = (_part(file[f"img_{part}"][()], file[f"labels_{part}"][()]) for part in ("train", "test"))
    except (OSError, KeyError, ValueError, TypeError, RuntimeError) as error:
        raise DataFileError(f"{path} is not the PlusMinus file ({error}); remove it.") from error
    return train, test


def _part(images: NDArray[Any], labels: NDArray[Any]) -> Part:
    X, y = np.asarray(images, np.float32), np.asarray(labels, np.int64).ravel()
    if len(X) != len(y) or X.size != len(y) * SIDE * SIDE or not np.isfinite(X).all():
        raise ValueError(f"it has the shape {X.shape} for {len(y)} pictures, or values that are not finite")
    if not np.isin(y, range(len(CLASS_NAMES))).all():
        raise ValueError(f"it has the labels {np.unique(y).tolist()}")
    return Part(X.reshape(len(y), SIDE * SIDE), y)


_SOURCES = (
    Source(
        title="PlusMinus, the original pictures",
        files=(
            DataFile(
                name="plus_minus.npz",
                folder="real_world",
                checksum="sha256:6129624cccaaa427848fded6df0045e79471118c5dc30b42447d5f7bd667d1be",
                n_bytes=213_249,
            ),
        ),
        read=_stored,
    ),
    Source(
        title="PlusMinus, the original pictures, from PennyLane",
        # Without a checksum: the server may write other metadata than the copy at hand has.
        files=(
            DataFile(
                name="PlusMinus_PlusMinus.h5",
                folder="plus_minus",
                magic=b"\x89HDF\r\n\x1a\n",
                url="https://datasets.cloud.pennylane.ai/datasets/h5/other/PlusMinus/PlusMinus_PlusMinus.h5",
            ),
        ),
        read=_published,
        homepage=_HOMEPAGE,
        extra=HDF5,
    ),
)


def _original(request: Request, *, n_classes: int) -> Dataset:
    name = request.description.name
    try:
        found, parts = request.places.read(_SOURCES, wanted_for=name)
    except MissingDataError as error:
        warnings.warn(
            f"{name} is drawn here in the manner of the original pictures, which are not at hand ({error.reason}); "
            f"mcquack datasets show {name} tells how to get them.",
            SubstitutedDataWarning,
            stacklevel=3,  # whoever called load
        )
        return replace(plus_minus(n_classes=n_classes), described_as=f"{name}_generated")
    train, test = (_first_classes(part, n_classes) for part in parts)
    return Dataset(
        name=name,
        train=train,
        validation=test,
        test=test,
        labels=tuple(range(n_classes)),
        class_names=CLASS_NAMES[:n_classes],
        feature_names=pixel_names((SIDE, SIDE)),
        image_shape=(SIDE, SIDE),
        origin=found.source.title,
    )


def _first_classes(part: Part, n_classes: int) -> Part:
    chosen = part.y < n_classes
    return Part(part.X[chosen], part.y[chosen])


def _generated(request: Request) -> Dataset:
    return drawn_signs(wanted_counts(request), seed=request.seed)


def _description(n_classes: int, *, generated: bool) -> Description:
    counts = PAPER_COUNTS[f"pm{n_classes}"]
    return Description(
        name=f"pm{n_classes}_generated" if generated else f"pm{n_classes}",
        title=f"PM{n_classes}, drawn here" if generated else f"PM{n_classes}",
        suite=EXTRA if generated else SUITE,
        family="plus_minus",
        task="Pictures of plus and minus signs",
        class_names=CLASS_NAMES[:n_classes],
        n_features=SIDE * SIDE,
        paper_n_features=SIDE * SIDE,
        sizes={part: sum(each) for part, each in counts.items()},
        class_counts=counts,
        image_shape=(SIDE, SIDE),
        is_seeded=generated,
        validation_is_test=not generated,
        citation="Wendlinger, Tscharke, Debus (2024), A Comparative Analysis of Adversarial Robustness for Quantum and "
        "Classical Machine Learning Models, arXiv:2404.16154",
        licence="Drawn here" if generated else "CC BY-SA 4.0",
        homepage=_HOMEPAGE,
        sources=() if generated else _SOURCES,
        notes=_GENERATED_NOTES if generated else _ORIGINAL_NOTES,
    )


_ORIGINAL_NOTES = (
    (
        "All published pictures: 250 to train and 50 to test of each class. The paper counts another 50 to validate, "
        "which are not public; validation and test part are the same pictures here, so choose by cross-validation."
    ),
    "Where the pictures are out of reach, ones of the same kind are drawn, with a warning.",
)
_GENERATED_NOTES = ("Drawn from a seed in the manner of PM2 and PM4; the three parts share no picture.",)


def plus_minus_entries() -> Iterator[Entry]:
    """The two datasets of the paper."""
    for n_classes in (2, 4):
        yield Entry(description=_description(n_classes, generated=False), build=partial(_original, n_classes=n_classes))


def plus_minus_generated_entries() -> Iterator[Entry]:
    """The same drawn here, from any seed and in any number."""
    for n_classes in (2, 4):
        yield Entry(description=_description(n_classes, generated=True), build=_generated)
