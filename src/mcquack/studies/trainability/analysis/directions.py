"""Two directions in the space of parameters, along which a landscape is looked at."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mcquack.checks import require
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.studies.trainability.observation import GROUPS, Group
from mcquack.training.parameters import Parameters

FloatArray = NDArray[np.float64]
Norm = Literal["parameters", "unit"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Directions:
    """Two orthogonal directions, as parameters to add; ``explained`` are their shares of a path's variance."""

    first: Parameters
    second: Parameters
    explained: tuple[float, float] | None = None

    def moved(self, parameters: Parameters, along_first: float, along_second: float) -> Parameters:
        """The parameters so far along both directions."""
        return Parameters(
            *(
                getattr(parameters, group)
                + along_first * getattr(self.first, group)
                + along_second * getattr(self.second, group)
                for group in GROUPS
            )
        )

    def coordinates(self, path: Sequence[Parameters], centre: Parameters) -> FloatArray:
        """Where the points of a path lie in the plane through ``centre``, projected, shape (T, 2)."""
        away = _flat(path) - _flat([centre])
        axes = _flat([self.first, self.second])
        found: FloatArray = away @ axes.T / np.sum(axes**2, axis=1)
        return found


def random_directions(
    parameters: Parameters, *, seed: int = 0, groups: Sequence[Group] = GROUPS, norm: Norm = "parameters"
) -> Directions:
    """Normal in the given groups and zero in the others, orthogonal in each group.

    In each group they are as long as its parameters, so that groups of different size are moved alike in proportion
    (as in Li et al., 2018), or of length 1.
    """
    require(norm in ("parameters", "unit"), "norm", '"parameters" or "unit"', norm)
    for group in groups:
        require(group in GROUPS, "groups", f"some of {', '.join(GROUPS)}", group)
    pairs = {}
    for group in GROUPS:
        array = np.asarray(getattr(parameters, group), np.float64)
        length = (1.0 if norm == "unit" else float(np.linalg.norm(array))) if group in groups else 0.0
        pairs[group] = length * _orthonormal_pair(array.shape, stream(seed, "landscape", group))
    first, second = (Parameters(*(pairs[group][which] for group in GROUPS)) for which in (0, 1))
    if not _flat([first]).any():
        raise InvalidInputError('all parameters of these groups are zero, and so are directions; use norm="unit".')
    return Directions(first=first, second=second)


def path_directions(path: Sequence[Parameters]) -> Directions:
    """The first two principal directions of a training path around its last point, of length 1."""
    if len(path) < 3:
        raise InvalidInputError(f"a plane takes three points of a path or more, got {len(path)}; train for longer.")
    away = _flat(path) - _flat(path[-1:])
    _, sizes, axes = np.linalg.svd(away, full_matrices=False)
    if sizes[0] == 0:
        raise InvalidInputError("the path does not move, so it has no directions; train with a higher learning rate.")
    shares = sizes**2 / np.sum(sizes**2)
    # The sign of a principal direction means nothing; this one has the path start on the positive side.
    signs = np.where(axes[:2] @ away[0] < 0, -1.0, 1.0)
    first, second = (_unflat(sign * axis, like=path[-1]) for sign, axis in zip(signs, axes[:2], strict=True))
    return Directions(first=first, second=second, explained=(float(shares[0]), float(shares[1])))


def _orthonormal_pair(shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Of a single number there is only one direction; the second is zero then."""
    drawn = rng.normal(size=(2, *shape)).reshape(2, -1)
    drawn[0] /= np.linalg.norm(drawn[0])
    drawn[1] -= (drawn[1] @ drawn[0]) * drawn[0]
    drawn[1] = drawn[1] / np.linalg.norm(drawn[1]) if drawn.shape[1] > 1 else 0.0
    return drawn.reshape(2, *shape)


def _flat(points: Sequence[Parameters]) -> FloatArray:
    """Every point as a row."""
    return np.array([np.concatenate([np.ravel(getattr(each, group)) for group in GROUPS]) for each in points], float)


def _unflat(row: FloatArray, *, like: Parameters) -> Parameters:
    shapes = [getattr(like, group).shape for group in GROUPS]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    return Parameters(*(part.reshape(shape) for part, shape in zip(np.split(row, ends), shapes, strict=True)))
