"""The datasets on which the defaults were chosen: bundled, generated, and pictures where a folder has them."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.model_selection import train_test_split

import mcquack.datasets

QML_SETS = ("hidden_manifold_10", "two_curves_diff_10", "hyperplanes_diff_5", "linearly_separable_8")
IMAGE_SETS = {"mnist10": "mnist.npz", "fmnist10": "fashion_mnist.npz"}


class Split(NamedTuple):
    """A dataset divided into training and test part."""

    X_train: NDArray[Any]
    X_test: NDArray[Any]
    y_train: NDArray[Any]
    y_test: NDArray[Any]


def _bundled(load: Callable[..., Any], seed: int) -> Split:
    X, y = load(return_X_y=True)
    return Split(*train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed))


def _images(path: Path, seed: int) -> Split:
    with np.load(path, allow_pickle=False) as file:
        X, y = file["X"], file["y"]
    parts = train_test_split(X, y, train_size=1000, test_size=400, stratify=y, random_state=seed)
    return Split(*(part.astype(float) if part.ndim == 2 else part for part in parts))


def _suite(name: str) -> Split:
    (X_train, y_train), (X_test, y_test) = mcquack.datasets.load(name).parts.values()
    return Split(X_train, X_test, y_train, y_test)


def splits(seed: int) -> Iterator[tuple[str, Split]]:
    """All datasets at hand by name; the folder is named by the variable MCQUACK_DATA."""
    for load in (datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer, datasets.load_digits):
        yield load.__name__.removeprefix("load_"), _bundled(load, seed)
    for name in QML_SETS:
        yield name, _suite(name)
    folder = os.environ.get("MCQUACK_DATA")
    if folder is None:
        return
    for name, file in IMAGE_SETS.items():
        yield name, _images(Path(folder) / "real_world" / file, seed)
