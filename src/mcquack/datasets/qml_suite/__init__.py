"""The 133 datasets on which the QML benchmark suite compares quantum neural networks."""

from collections.abc import Iterator
from itertools import chain

from mcquack.datasets.qml_suite.families import family_entries
from mcquack.datasets.qml_suite.mnist_pca import mnist_pca_entries
from mcquack.datasets.registry import Entry


def entries() -> Iterator[Entry]:
    """Family by family."""
    return chain(family_entries(), mnist_pca_entries())
