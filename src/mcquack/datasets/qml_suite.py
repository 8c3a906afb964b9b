"""The 133 datasets on which the QML benchmark suite compares quantum neural networks.

Six families of 19 datasets each are generated with the random streams of the original scripts, so nothing has to be
stored; the seventh, handwritten digits by their principal components, is read or computed from MNIST.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState

from mcquack.datasets.dataset import Dataset, Part, one_at_a_time
from mcquack.datasets.formats import idx_array, npz_arrays
from mcquack.datasets.real_world import source
from mcquack.datasets.registry import Description, Entry, Request
from mcquack.datasets.synthetic import (
    CLASS_NAMES,
    LABELS,
    curve_points,
    divided,
    hyperplane_points,
    manifold_points,
    separable_points,
)

SIZES = range(2, 21)
"""What distinguishes the 19 members of a family, there and here called n."""

_CITATION = (
    "Bowles, Ahmed, Schuld (2024), Better than classical? The subtle art of benchmarking quantum machine learning "
    "models, arXiv:2403.07059"
)


class Family(NamedTuple):
    """Nineteen datasets that differ in one number n; ``n_features`` is None where that is n itself."""

    name: str
    task: str
    n_features: int | None
    points: Callable[[RandomState, int], Part]


Script = tuple[int, tuple[Family, ...]]
"""A seed and the families that were generated one after the other from its stream of random numbers."""


def _standardised(samples: Part) -> Part:
    """Each feature with the mean 0 and the variance 1 over all samples, as the suite has published them.

    A test part that is taken from them has had a say in its own scale, so nothing else here does it.
    """
    with one_at_a_time:
        from sklearn.preprocessing import StandardScaler

    return Part(StandardScaler().fit_transform(samples.X), samples.y)


_SEPARABLE = Family(
    "linearly_separable",
    "Two sides of a plane in {n} dimensions",
    None,
    lambda random, n: separable_points(random, n_features=n),
)
_MANIFOLD = Family(
    "hidden_manifold",
    "A manifold of 6 dimensions in {n}",
    None,
    lambda random, n: manifold_points(random, n_features=n, manifold_dimension=6),
)
_MANIFOLD_DIFF = Family(
    "hidden_manifold_diff",
    "A manifold of {n} dimensions in 10",
    10,
    lambda random, n: manifold_points(random, n_features=10, manifold_dimension=n),
)
_CURVES = Family(
    "two_curves",
    "Two curves of degree 5 in {n} dimensions",
    None,
    lambda random, n: _standardised(curve_points(random, n_features=n, degree=5, offset=0.1)),
)
_CURVES_DIFF = Family(
    "two_curves_diff",
    "Two curves of degree {n} in 10 dimensions, 1/{twice_n} apart",
    10,
    lambda random, n: _standardised(curve_points(random, n_features=10, degree=n, offset=1 / (2 * n))),
)
_HYPERPLANES_DIFF = Family(
    "hyperplanes_diff",
    "Parity of {n} hyperplanes, 3 dimensions seen in 10",
    10,
    lambda random, n: _standardised(hyperplane_points(random, n_hyperplanes=n)),
)
_SCRIPTS: tuple[Script, ...] = (
    (42, (_SEPARABLE,)),
    (3, (_MANIFOLD, _MANIFOLD_DIFF)),
    (3, (_CURVES, _CURVES_DIFF)),
    (1, (_HYPERPLANES_DIFF,)),
)


def entries() -> Iterator[Entry]:
    """All datasets for the registry, family by family."""
    for script in _SCRIPTS:
        for family, n in itertools.product(script[1], SIZES):
            description = _description(
                family.name,
                n,
                task=family.task.format(n=n, twice_n=2 * n),
                class_names=CLASS_NAMES,
                n_features=family.n_features or n,
                sizes={"train": 240, "test": 60},
                citation=_CITATION,
                licence="Generated here; the recipe was published under Apache-2.0",
            )
            yield Entry(description=description, build=partial(_built, script=script))
    for n in SIZES:
        yield Entry(description=_mnist_pca_description(n), build=_mnist_pca)


def _description(family: str, n: int, **facts: Any) -> Description:
    return Description(
        name=f"{family}_{n}",
        title=f"{family} (n = {n})",
        suite="qml",
        family=family,
        is_seeded=False,
        homepage="https://github.com/XanaduAI/qml-benchmarks",
        **facts,
    )


@cache
def generated(script: Script) -> Mapping[str, Dataset]:
    """All datasets of a script by name; none can be had without those before it in the stream."""
    seed, families = script
    random = RandomState(seed)
    return {
        name: divided(name, family.points(random, n), random=random, test=0.2, origin="generated")
        for family in families
        for n in SIZES
        for name in [f"{family.name}_{n}"]
    }


def _built(request: Request, *, script: Script) -> Dataset:
    """A copy: what a caller does to the arrays must not reach the next caller."""
    return deepcopy(generated(script)[request.description.name])


# The seventh family: handwritten digits 3 and 5, by their first principal components.


def _mnist_pca_description(n: int) -> Description:
    return _description(
        "mnist_pca",
        n,
        task=f"Handwritten digits 3 and 5 by {n} principal components",
        class_names=("3", "5"),
        n_features=n,
        sizes={"train": 11_552, "test": 1_902},
        citation=f"{_CITATION}; LeCun, Cortes, Burges, The MNIST database of handwritten digits",
        licence="CC BY-SA 3.0 (MNIST)",
        sources=tuple(source(name, n=n) for name in ("mnist_pca", "mnist_pca_computed", "mnist_pca_unpacked")),
        notes=(
            (
                "Where the stored copy is absent it is computed from MNIST by the published recipe, a randomised "
                "decomposition with its seed; the two agree to the precision of the copy (float32)."
            ),
        ),
    )


def _mnist_pca(request: Request) -> Dataset:
    found, (train, test) = request.places.read(request.description.sources, wanted_for=request.description.name)
    return Dataset(
        name=request.description.name,
        train=train,
        test=test,
        labels=LABELS,
        class_names=request.description.class_names,
        feature_names=tuple(f"component_{index}" for index in range(request.description.n_features)),
        origin=found.source.title,
    )


def stored_components(path: Path, *, n: int) -> tuple[Part, Part]:
    """The published copy, of which each n has its own arrays."""
    names = [f"{letter}_{part}_{n:02d}" for part in ("train", "test") for letter in "Xy"]
    X_train, y_train, X_test, y_test = npz_arrays(path, *names)
    return Part(X_train, y_train.astype(np.int64)), Part(X_test, y_test.astype(np.int64))


def computed_components(*paths: Path, n: int) -> tuple[Part, Part]:
    """Threes and fives, each pixel standardised, projected on the first components; both learned in training."""
    with one_at_a_time:
        from sklearn.decomposition import PCA
        from sklearn.preprocessing import StandardScaler

    train, test = _threes_and_fives(*paths[:2]), _threes_and_fives(*paths[2:])
    scaler = StandardScaler().fit(train.X)
    # One stream for the whole family: each smaller n has drawn its random projection of 10 more columns before.
    random = RandomState(42)
    random.normal(size=sum(train.X.shape[1] * (smaller + 10) for smaller in SIZES if smaller < n))
    pca = PCA(n, svd_solver="randomized", random_state=random)
    # The published training part is U S of the approximate decomposition, which is not quite the projection of X.
    projected = pca.fit_transform(scaler.transform(train.X))
    # The published data makes the largest score on each axis positive.
    signs = np.sign(projected[np.abs(projected).argmax(axis=0), np.arange(n)])
    return (
        Part((signs * projected).astype(np.float32), train.y),
        Part((signs * pca.transform(scaler.transform(test.X))).astype(np.float32), test.y),
    )


def _threes_and_fives(images: Path, labels: Path) -> Part:
    X, y = idx_array(images), idx_array(labels)
    chosen = (y == 3) | (y == 5)
    return Part(X[chosen].reshape(-1, 784).astype(np.float64), np.where(y[chosen] == 5, 1, -1))
