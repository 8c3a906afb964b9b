"""The real-world datasets that need no files: Iris3, which scikit-learn brings along, and Manifold, which is generated.

Manifold is the hidden manifold of the hardware experiment, on as many features as two layers of 124 qubits take.
"""

from functools import partial

import numpy as np
from numpy.random import RandomState

from mcquack.datasets.dataset import Dataset, one_at_a_time
from mcquack.datasets.real_world.drawing import EXTRA, Pool, drawn_dataset, drawn_description, drawn_entry
from mcquack.datasets.registry import Entry, Request
from mcquack.datasets.synthetic import manifold_points

_FLOWER_FEATURES = ("sepal_length", "sepal_width", "petal_length", "petal_width")
_SPECIES = ("setosa", "versicolor", "virginica")


def iris_entry() -> Entry:
    """Iris3: three species of a flower, by the sizes of their leaves."""
    return drawn_entry(
        name="iris3",
        title="Iris3",
        family="iris",
        task="Species of iris flowers",
        citation="Fisher (1936), The use of multiple measurements in taxonomic problems; UCI doi:10.24432/C56C76",
        licence="CC BY 4.0",
        homepage="https://archive.ics.uci.edu/dataset/53/iris",
        n_features=4,
        paper_n_features=4,
        notes=(
            "The copy in scikit-learn, which follows Fisher's paper and differs from the UCI file in two rows.",
            "As in the paper, validation and test part are the same 45 flowers: choose by cross-validation.",
            "All 150 flowers are needed, also the two with the same measurements, which may be in different parts.",
        ),
        class_names=_SPECIES,
        groups=tuple((species,) for species in _SPECIES),
        validation_is_test=True,
        keeps_repeats=True,
        built_in=_flowers,
    )


def _flowers(_: Request) -> Pool:
    with one_at_a_time:
        from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return Pool(X=X, y=np.array(_SPECIES)[y], feature_names=_FLOWER_FEATURES)


_N_FEATURES = 2 * 124
# Enough for the paper's counts, whatever the classes: so both datasets are draws from the same points.
_N_POINTS = 6_000

_manifold_description = partial(
    drawn_description,
    family="manifold",
    task="A manifold of 5 dimensions in 248",
    citation="Bowles, Ahmed, Schuld (2024), Better than classical? The subtle art of benchmarking quantum machine "
    "learning models, arXiv:2403.07059",
    licence="Generated here",
    homepage="https://github.com/XanaduAI/qml-benchmarks",
    n_features=_N_FEATURES,
    paper_n_features=_N_FEATURES,
    class_names=("0", "1"),
)
_SCALE_NOTE = (
    "Generated: the paper's own draw is not published. Each feature is scaled to [-1, 1] over the training part; what "
    "lies beyond in other parts is clipped."
)


def manifold_entry() -> Entry:
    """Manifold, as the real-world benchmark has it."""
    description = _manifold_description(name="manifold", title="Manifold", notes=(_SCALE_NOTE,))
    return Entry(description=description, build=_manifold)


def manifold_of_hardware_entry() -> Entry:
    """The smaller dataset of the experiment on 124 qubits."""
    description = _manifold_description(
        name="manifold_124",
        title="Manifold of the hardware experiment",
        suite=EXTRA,
        counts={"train": (50, 50), "test": (25, 25)},
        notes=(_SCALE_NOTE, "The sizes of the experiment on 124 qubits; as many samples of either class."),
    )
    return Entry(description=description, build=_manifold)


def _manifold(request: Request) -> Dataset:
    n_points = max(_N_POINTS, 3 * sum(request.sizes.values()))
    random = RandomState(request.seed % 2**32)
    X, y = manifold_points(random, n_features=_N_FEATURES, manifold_dimension=5, n_samples=n_points)
    pool = Pool(X=X, y=y, feature_names=tuple(f"x{index}" for index in range(_N_FEATURES)))
    return drawn_dataset(pool, request, origin="generated", groups=((-1,), (1,))).scaled(to=(-1.0, 1.0), clip=True)
