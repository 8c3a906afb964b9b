"""The datasets of the studies of robustness and of fixed kernels, in features that all models share."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as bundled
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from mcquack import datasets

BUNDLED = {"iris": bundled.load_iris, "wine": bundled.load_wine, "digits": bundled.load_digits}
PICTURES = ("mnist10", "fmnist10")
DATASETS = (*BUNDLED, "census", "covert", *PICTURES)
N_TEST = 200  # at most; attacks take most of the time


class Split(NamedTuple):
    """A dataset in three parts: to learn from, to choose on and to test on, in features from 0 to 1."""

    X: NDArray[Any]
    y: NDArray[Any]
    X_validation: NDArray[Any]
    y_validation: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]


def split(name: str, seed: int) -> Split:
    """A dataset by name, drawn or divided by the seed; files are found through the variable MCQUACK_DATA."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        X, X_rest, y, y_rest = train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed)
        parts = train_test_split(X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=seed)
        X_validation, X_test, y_validation, y_test = parts
    else:
        loaded = datasets.load(name, seed=seed)
        (X, y), (X_validation, y_validation), (X_test, y_test) = (
            loaded.parts[part] for part in ("train", "validation", "test")
        )
    if name in PICTURES:
        X, X_validation, X_test = (_coarse(part) for part in (X, X_validation, X_test))
    # What of the other parts lies beyond the training part is taken to its ends: attacks stay between these.
    scaler = MinMaxScaler(clip=True).fit(X)
    tested = np.sort(np.random.default_rng(seed).permutation(len(X_test))[:N_TEST])
    return Split(
        scaler.transform(X),
        y,
        scaler.transform(X_validation),
        y_validation,
        scaler.transform(X_test[tested]),
        y_test[tested],
    )


def _coarse(pictures: NDArray[Any]) -> NDArray[Any]:
    """Pictures of 28 × 28 as 7 × 7 means of 16 pixels."""
    means: NDArray[Any] = pictures.reshape(-1, 7, 4, 7, 4).mean(axis=(2, 4)).reshape(-1, 49)
    return means
