"""The paper's 20 real-world datasets and a few relatives of theirs."""

from collections.abc import Iterator
from itertools import chain

from mcquack.datasets.real_world.census import census_entries
from mcquack.datasets.real_world.cover_type import cover_type_entries
from mcquack.datasets.real_world.doh import doh_entries
from mcquack.datasets.real_world.emnist import emnist_entries
from mcquack.datasets.real_world.kdd import kdd_entries, kdd_without_difficulty_entries
from mcquack.datasets.real_world.manifold import iris_entries, manifold_entries, manifold_of_hardware_entries
from mcquack.datasets.real_world.mnist import fmnist_entries, mnist_entries
from mcquack.datasets.real_world.plus_minus import plus_minus_entries, plus_minus_generated_entries
from mcquack.datasets.real_world.url import url_entries, url_selection_entries
from mcquack.datasets.registry import Entry


def entries() -> Iterator[Entry]:
    """First the benchmark in the order of the paper's tables, then the relatives."""
    return chain(
        census_entries(),
        cover_type_entries(),
        doh_entries(),
        emnist_entries(),
        fmnist_entries(),
        iris_entries(),
        kdd_entries(),
        mnist_entries(),
        manifold_entries(),
        plus_minus_entries(),
        url_entries(),
        kdd_without_difficulty_entries(),
        manifold_of_hardware_entries(),
        plus_minus_generated_entries(),
        url_selection_entries(),
    )
