"""The 133 datasets on which the QML benchmark suite compares quantum neural networks."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from mcquack.datasets.dataset import Dataset, Part, one_at_a_time
from mcquack.datasets.description import Description
from mcquack.datasets.files import DataFile, Source
from mcquack.datasets.formats import MNIST, idx_array, npz_arrays
from mcquack.datasets.generated import CLASS_NAMES, LABELS, divided, standardised
from mcquack.datasets.registry import Entry, Request
from mcquack.datasets.synthetic import curve_points, hyperplane_points, manifold_points, separable_points

# What all datasets of the suite have in common.

SUITE = "qml"
SIZES = range(2, 21)
"""What distinguishes the 19 members of a family, there and here called n."""

CITATION = (
    "Bowles, Ahmed, Schuld (2024), Better than classical? The subtle art of benchmarking quantum machine learning "
    "models, arXiv:2403.07059"
)
HOMEPAGE = "https://github.com/XanaduAI/qml-benchmarks"


# Six of the seven families, each of which is generated: nothing has to be stored.

_TEST_SHARE = 0.2


@dataclass(frozen=True, kw_only=True)
class Family:
    """Nineteen datasets that differ in one number n."""

    name: str
    task: str
    n_features: Callable[[int], int]
    points: Callable[[RandomState, int], Part]


@dataclass(frozen=True, kw_only=True)
class Script:
    """Families that were generated one after the other from one stream of random numbers."""

    seed: int
    families: tuple[Family, ...]


SCRIPTS = (
    Script(
        seed=42,
        families=(
            Family(
                name="linearly_separable",
                task="Two sides of a plane in {n} dimensions",
                n_features=lambda n: n,
                points=lambda random, n: separable_points(random, n_features=n),
            ),
        ),
    ),
    Script(
        seed=3,
        families=(
            Family(
                name="hidden_manifold",
                task="A manifold of 6 dimensions in {n}",
                n_features=lambda n: n,
                points=lambda random, n: manifold_points(random, n_features=n, manifold_dimension=6),
            ),
            Family(
                name="hidden_manifold_diff",
                task="A manifold of {n} dimensions in 10",
                n_features=lambda _: 10,
                points=lambda random, n: manifold_points(random, n_features=10, manifold_dimension=n),
            ),
        ),
    ),
    Script(
        seed=3,
        families=(
            Family(
                name="two_curves",
                task="Two curves of degree 5 in {n} dimensions",
                n_features=lambda n: n,
                points=lambda random, n: standardised(curve_points(random, n_features=n, degree=5, offset=0.1)),
            ),
            Family(
                name="two_curves_diff",
                task="Two curves of degree {n} in 10 dimensions, 1/{twice_n} apart",
                n_features=lambda _: 10,
                points=lambda random, n: standardised(
                    curve_points(random, n_features=10, degree=n, offset=1 / (2 * n))
                ),
            ),
        ),
    ),
    Script(
        seed=1,
        families=(
            Family(
                name="hyperplanes_diff",
                task="Parity of {n} hyperplanes, 3 dimensions seen in 10",
                n_features=lambda _: 10,
                points=lambda random, n: standardised(hyperplane_points(random, n_hyperplanes=n)),
            ),
        ),
    ),
)


@cache
def generated(script: Script) -> Mapping[str, Dataset]:
    """All datasets of a script by name; none can be had without those before it in the stream."""
    random = RandomState(script.seed)
    return {
        name: divided(name, family.points(random, n), random=random, test=_TEST_SHARE, origin="generated")
        for family in script.families
        for n in SIZES
        for name in [f"{family.name}_{n}"]
    }


def _built(request: Request, *, script: Script) -> Dataset:
    """A copy: what a caller does to the arrays must not reach the next caller."""
    return deepcopy(generated(script)[request.description.name])


def family_entries() -> Iterator[Entry]:
    """All generated datasets, family by family."""
    for script in SCRIPTS:
        for family in script.families:
            for n in SIZES:
                yield Entry(description=_description(family, n), build=partial(_built, script=script))


def _description(family: Family, n: int) -> Description:
    return Description(
        name=f"{family.name}_{n}",
        title=f"{family.name} (n = {n})",
        suite=SUITE,
        family=family.name,
        task=family.task.format(n=n, twice_n=2 * n),
        class_names=CLASS_NAMES,
        n_features=family.n_features(n),
        sizes={"train": 240, "test": 60},
        is_seeded=False,
        citation=CITATION,
        licence="Generated here; the recipe was published under Apache-2.0",
        homepage=HOMEPAGE,
    )


# The seventh family: handwritten digits 3 and 5, by their first principal components.

_STORED = DataFile(
    name="mnist_pca.npz",
    folder="qml_benchmarks/datasets",
    checksum="sha256:84ff95f3ac12f2725dfb0bb57436541c90e5137a5711c5b55399adeeb060e82b",
    n_bytes=10_516_730,
)


def _stored(path: Path, *, n: int) -> tuple[Part, Part]:
    names = [f"{letter}_{part}_{n:02d}" for part in ("train", "test") for letter in "Xy"]
    X_train, y_train, X_test, y_test = npz_arrays(path, *names)
    return Part(X_train, y_train.astype(np.int64)), Part(X_test, y_test.astype(np.int64))


def _computed(*paths: Path, n: int) -> tuple[Part, Part]:
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
    signs = _largest_positive(projected)
    return (
        Part((signs * projected).astype(np.float32), train.y),
        Part((signs * pca.transform(scaler.transform(test.X))).astype(np.float32), test.y),
    )


def _threes_and_fives(images: Path, labels: Path) -> Part:
    X, y = idx_array(images), idx_array(labels)
    chosen = (y == 3) | (y == 5)
    return Part(X[chosen].reshape(-1, 784).astype(np.float64), np.where(y[chosen] == 5, 1, -1))


def _largest_positive(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Signs that make the largest score on each axis positive, the convention of the published data."""
    return np.asarray(np.sign(scores[np.abs(scores).argmax(axis=0), np.arange(scores.shape[1])]))


def _mnist_pca_description(n: int) -> Description:
    return Description(
        name=f"mnist_pca_{n}",
        title=f"mnist_pca (n = {n})",
        suite=SUITE,
        family="mnist_pca",
        task=f"Handwritten digits 3 and 5 by {n} principal components",
        class_names=("3", "5"),
        n_features=n,
        sizes={"train": 11_552, "test": 1_902},
        is_seeded=False,
        citation=f"{CITATION}; LeCun, Cortes, Burges, The MNIST database of handwritten digits",
        licence="CC BY-SA 3.0 (MNIST)",
        homepage=HOMEPAGE,
        sources=(
            Source(title="stored copy of the published data", files=(_STORED,), read=partial(_stored, n=n)),
            *(replace(source, title=f"computed from {source.title}", read=partial(_computed, n=n)) for source in MNIST),
        ),
        notes=(
            (
                "Where the stored copy is absent it is computed from MNIST by the published recipe, a randomised "
                "decomposition with its seed; the two agree to the precision of the copy (float32)."
            ),
        ),
    )


def _mnist_pca_built(request: Request) -> Dataset:
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


def mnist_pca_entries() -> Iterator[Entry]:
    """One dataset for each number of components."""
    return (Entry(description=_mnist_pca_description(n), build=_mnist_pca_built) for n in SIZES)


def entries() -> Iterator[Entry]:
    """Family by family."""
    return chain(family_entries(), mnist_pca_entries())
