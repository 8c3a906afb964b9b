"""The 133 datasets on which the QML benchmark suite compares quantum neural networks.

Six families of 19 datasets each are generated with the random streams of the original scripts, so nothing has to be
stored; the seventh, handwritten digits by their principal components, is read or computed from MNIST.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.random import RandomState

from mcquack.datasets.dataset import Dataset, Part, one_at_a_time
from mcquack.datasets.formats import idx_array, npz_arrays
from mcquack.datasets.real_world import published, source
from mcquack.datasets.registry import Builder, Description, Entry, Request
from mcquack.datasets.synthetic import (
    LABELS,
    curve_points,
    divided,
    hyperplane_points,
    manifold_points,
    separable_points,
)

SIZES = range(2, 21)
"""What distinguishes the 19 members of a family, there and here called n."""

_DRAWS: Mapping[str, Callable[[RandomState, int], Part]] = {
    "linearly_separable": lambda random, n: separable_points(random, n_features=n),
    "hidden_manifold": lambda random, n: manifold_points(random, n_features=n, manifold_dimension=6),
    "hidden_manifold_diff": lambda random, n: manifold_points(random, n_features=10, manifold_dimension=n),
    "two_curves": lambda random, n: curve_points(random, n_features=n, degree=5, offset=0.1),
    "two_curves_diff": lambda random, n: curve_points(random, n_features=10, degree=n, offset=1 / (2 * n)),
    "hyperplanes_diff": lambda random, n: hyperplane_points(random, n_hyperplanes=n),
}
_STANDARDISED = ("two_curves", "two_curves_diff", "hyperplanes_diff")
# A seed and the families that were generated one after the other from its stream of random numbers.
_SCRIPTS = (
    (42, ("linearly_separable",)),
    (3, ("hidden_manifold", "hidden_manifold_diff")),
    (3, ("two_curves", "two_curves_diff")),
    (1, ("hyperplanes_diff",)),
)


def entries() -> Iterator[Entry]:
    """All datasets for the registry, family by family."""
    builders: dict[str, Builder] = {
        family: partial(_built, seed=seed, families=families) for seed, families in _SCRIPTS for family in families
    }
    for family, build in {**builders, "mnist_pca": _mnist_pca}.items():
        for n in SIZES:
            yield Entry(description=_description(family, n), build=build)


def _description(family: str, n: int) -> Description:
    facts = {"n_features": n, **published("qml", family)}
    facts["task"] = facts["task"].format(n=n, twice_n=2 * n)
    facts["sources"] = tuple(source(name, n=n) for name in facts.get("sources", ()))
    return Description(name=f"{family}_{n}", title=f"{family} (n = {n})", family=family, **facts)


@cache
def _generated(seed: int, families: tuple[str, ...]) -> Mapping[str, Dataset]:
    """All datasets of a script by name; none can be had without those before it in the stream."""
    random = RandomState(seed)
    found = {}
    for family, n in itertools.product(families, SIZES):
        samples = _DRAWS[family](random, n)
        if family in _STANDARDISED:
            # Over all samples, as it was published: the test part has had a say in its own scale, as nowhere else here.
            with one_at_a_time:
                from sklearn.preprocessing import StandardScaler

            samples = Part(StandardScaler().fit_transform(samples.X), samples.y)
        name = f"{family}_{n}"
        found[name] = divided(name, samples, random=random, test=0.2, origin="generated")
    return found


def _built(request: Request, *, seed: int, families: tuple[str, ...]) -> Dataset:
    """A copy: what a caller does to the arrays must not reach the next caller."""
    return deepcopy(_generated(seed, families)[request.description.name])


# The seventh family: handwritten digits 3 and 5, by their first principal components.


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
