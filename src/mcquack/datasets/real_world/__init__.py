"""The paper's 20 real-world datasets and a few relatives of theirs.

``drawing`` says how a dataset is drawn from a published one; the other files know what was published, where its files
are and how they are read.
"""

from collections.abc import Iterator

from mcquack.datasets.real_world import built_in, pictures, traffic, uci
from mcquack.datasets.registry import Entry


def entries() -> Iterator[Entry]:
    """All datasets for the registry: the benchmark in the order of the paper's tables, then the relatives."""
    yield uci.census_entry()
    yield uci.cover_type_entry()
    yield traffic.doh_entry()
    yield from pictures.emnist_entries()
    yield from pictures.fmnist_entries()
    yield built_in.iris_entry()
    yield from traffic.kdd_entries()
    yield from pictures.mnist_entries()
    yield built_in.manifold_entry()
    yield from pictures.plus_minus_entries()
    yield traffic.url_entry()
    yield from traffic.kdd_without_difficulty_entries()
    yield built_in.manifold_of_hardware_entry()
    yield from pictures.plus_minus_generated_entries()
    yield traffic.url_selection_entry()
