"""Searches whose settings are known beforehand: the whole grid, or a part of it drawn by chance."""

from mcquack.bench.search.method import SearchMethod
from mcquack.bench.search.tally import Settings
from mcquack.models.search_space import SearchSpace
from mcquack.randomness import stream


def listed_settings(space: SearchSpace, method: SearchMethod, *, purpose: tuple[str, ...]) -> list[Settings]:
    """The settings to try, in the order of the grid.

    A larger budget tries all that a smaller one would, so that a search can be extended.
    """
    if method.kind == "grid":
        return list(space)
    order = stream(0, "random search", *purpose).permutation(len(space))
    return [space[number] for number in sorted(order[: method.budget].tolist())]
