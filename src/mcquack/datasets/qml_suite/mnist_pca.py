"""The seventh family: handwritten digits 3 and 5, by their first principal components."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from mcquack.datasets.dataset import Dataset, Part
from mcquack.datasets.description import Description
from mcquack.datasets.files import DataFile, Source
from mcquack.datasets.idx import MNIST, idx_array
from mcquack.datasets.lazy_imports import one_at_a_time
from mcquack.datasets.npz import npz_arrays
from mcquack.datasets.qml_suite.facts import CITATION, HOMEPAGE, SIZES, SUITE
from mcquack.datasets.registry import Entry, Request
from mcquack.datasets.synthetic.generated import LABELS

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


def _description(n: int) -> Description:
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


def _built(request: Request) -> Dataset:
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
    return (Entry(description=_description(n), build=_built) for n in SIZES)
