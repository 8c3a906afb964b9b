"""The datasets on which the defaults were chosen, none of which a benchmark or a race uses.

They are bundled with scikit-learn, generated with seeds and sizes of their own, or other draws of MNIST.
"""

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from numpy.typing import NDArray
from sklearn import datasets
from sklearn.model_selection import train_test_split

import mcquack.datasets
from mcquack.datasets import synthetic

PICTURES = "mnist10, other draws"
_FIRST_SEED = 1000  # of what is generated or drawn here


class Split(NamedTuple):
    """A dataset divided into training and test part."""

    X_train: NDArray[Any]
    X_test: NDArray[Any]
    y_train: NDArray[Any]
    y_test: NDArray[Any]


def _divided(X: NDArray[Any], y: NDArray[Any], seed: int) -> Split:
    return Split(*train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed))


def _bundled(load: Callable[..., Any], seed: int) -> Split:
    X, y = load(return_X_y=True)
    return _divided(X, y, seed)


def _generated(make: Callable[..., Any], seed: int, **settings: Any) -> Split:
    (X_train, y_train), (X_test, y_test) = make(**settings, test=0.4, seed=_FIRST_SEED + seed).parts.values()
    return Split(X_train, X_test, y_train, y_test)


def _classification(seed: int) -> Split:
    X, y = datasets.make_classification(
        700, 14, n_informative=8, n_redundant=3, n_classes=4, flip_y=0.03, random_state=_FIRST_SEED + seed
    )
    return _divided(X, y, seed)


def _pictures(seed: int) -> Split:
    """A draw of MNIST that no race is run on; some of its pictures are in the draws that are."""
    drawn = mcquack.datasets.load("mnist10", seed=_FIRST_SEED + seed)
    (X_train, y_train), (X_test, y_test) = drawn.train, drawn.parts["test"]
    return Split(X_train, X_test, y_train, y_test)


def splits(seed: int) -> Iterator[tuple[str, Split]]:
    """All datasets at hand by name; pictures come from the folder that the variable MCQUACK_DATA names."""
    for load in (datasets.load_wine, datasets.load_breast_cancer, datasets.load_digits):
        yield load.__name__.removeprefix("load_"), _bundled(load, seed)
    yield "make_classification", _classification(seed)
    yield "hidden_manifold 7", _generated(synthetic.hidden_manifold, seed, n_features=7, n_samples=400)
    yield "two_curves 9", _generated(synthetic.two_curves, seed, n_features=9, n_samples=400)
    yield "hyperplanes 6", _generated(synthetic.hyperplanes, seed, n_features=6, n_hyperplanes=3, n_samples=400)
    yield "linearly_separable 9", _generated(synthetic.linearly_separable, seed, n_features=9, n_samples=400)
    if "MCQUACK_DATA" in os.environ:
        yield PICTURES, _pictures(seed)
