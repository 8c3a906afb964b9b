"""Manifold: the hidden manifold of the hardware experiment, on as many features as two layers of 124 qubits take."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.random import RandomState

from mcquack.datasets.dataset import Dataset, one_at_a_time
from mcquack.datasets.real_world.pool import Pool
from mcquack.datasets.real_world.variant import EXTRA, Original, Variant, described, drawn_dataset, variant_entries
from mcquack.datasets.registry import Entry, Request
from mcquack.datasets.synthetic import manifold_points

N_FEATURES = 248
MANIFOLD_DIMENSION = 5
RANGE = (-1.0, 1.0)
# Enough for the paper's counts, whatever the classes: so both variants are draws from the same points.
_N_POINTS = 6_000

_ORIGINAL = Original(
    family="manifold",
    task="A manifold of 5 dimensions in 248",
    citation="Bowles, Ahmed, Schuld (2024), Better than classical? The subtle art of benchmarking quantum machine "
    "learning models, arXiv:2403.07059",
    licence="Generated here",
    homepage="https://github.com/XanaduAI/qml-benchmarks",
    n_features=N_FEATURES,
    paper_n_features=N_FEATURES,
    notes=(
        (
            "Generated: the paper's own draw is not published. Each feature is scaled to [-1, 1] over the training "
            "part; what lies beyond in other parts is clipped."
        ),
    ),
)
_CLASS_NAMES = ("0", "1")
_GROUPS = ((-1,), (1,))
_BENCHMARK = Variant(name="manifold", title="Manifold", class_names=_CLASS_NAMES, groups=_GROUPS)
_HARDWARE = Variant(
    name="manifold_124",
    title="Manifold of the hardware experiment",
    suite=EXTRA,
    counts={"train": (50, 50), "test": (25, 25)},
    notes=("The sizes of the experiment on 124 qubits; as many samples of either class.",),
    class_names=_CLASS_NAMES,
    groups=_GROUPS,
)


def _points(request: Request) -> Pool:
    n_points = max(_N_POINTS, 3 * sum(request.sizes.values()))
    X, y = manifold_points(
        RandomState(request.seed % 2**32),
        n_features=N_FEATURES,
        manifold_dimension=MANIFOLD_DIMENSION,
        n_samples=n_points,
    )
    return Pool(X=X, y=y, feature_names=tuple(f"x{index}" for index in range(N_FEATURES)))


def _built(request: Request, *, variant: Variant) -> Dataset:
    unscaled = drawn_dataset(_points(request), request, variant=variant, origin="generated")
    return unscaled.scaled(to=RANGE, clip=True)


def _entries(variant: Variant) -> Iterator[Entry]:
    yield Entry(description=described(_ORIGINAL, variant), build=partial(_built, variant=variant))


def manifold_entries() -> Iterator[Entry]:
    """The dataset of the real-world benchmark."""
    return _entries(_BENCHMARK)


def manifold_of_hardware_entries() -> Iterator[Entry]:
    """The smaller one of the hardware experiment."""
    return _entries(_HARDWARE)


# Iris3: three species of a flower, by the sizes of their leaves.

FEATURES = ("sepal_length", "sepal_width", "petal_length", "petal_width")
_SPECIES = ("setosa", "versicolor", "virginica")


def _bundled(_: Request) -> Pool:
    with one_at_a_time:
        from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return Pool(X=X, y=np.array(_SPECIES)[y], feature_names=FEATURES)


def iris_entries() -> Iterator[Entry]:
    """The one variant of the paper."""
    yield from variant_entries(
        Original(
            family="iris",
            task="Species of iris flowers",
            citation="Fisher (1936), The use of multiple measurements in taxonomic problems; UCI doi:10.24432/C56C76",
            licence="CC BY 4.0",
            homepage="https://archive.ics.uci.edu/dataset/53/iris",
            n_features=len(FEATURES),
            paper_n_features=4,
            notes=(
                "The copy in scikit-learn, which follows Fisher's paper and differs from the UCI file in two rows.",
                "As in the paper, validation and test part are the same 45 flowers: choose by cross-validation.",
                "All 150 flowers are needed, also the two with the same measurements, which may be in different parts.",
            ),
        ),
        Variant(
            name="iris3",
            title="Iris3",
            class_names=_SPECIES,
            groups=tuple((species,) for species in _SPECIES),
            validation_is_test=True,
            keeps_repeats=True,
        ),
        built_in=_bundled,
    )
