"""One circuit of many."""

from mcquack.checks import is_whole_number, require
from mcquack.circuits.overlap import OverlapCircuits


def one_pair(circuits: OverlapCircuits, *, sample: int, centroid: int) -> OverlapCircuits:
    """The circuit of one sample and one centroid, counted from 0."""
    for name, number, count in zip(("sample", "centroid"), (sample, centroid), circuits.shape, strict=True):
        is_there = is_whole_number(number) and 0 <= number < count
        require(is_there, name, f"a whole number from 0 to {count - 1}", number)
    return OverlapCircuits(samples=circuits.samples[[sample]], centroids=circuits.centroids[[centroid]])
