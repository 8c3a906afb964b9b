"""Iris3: three species of a flower, by the sizes of their leaves."""

from collections.abc import Iterator

import numpy as np

from mcquack.datasets.lazy_imports import one_at_a_time
from mcquack.datasets.real_world.pool import Pool
from mcquack.datasets.real_world.variant import Original, Variant, variant_entries
from mcquack.datasets.registry import Entry, Request

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
