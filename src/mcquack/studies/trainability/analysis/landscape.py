"""The loss on a plane through a point of the parameters' space, such as the one that training found."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.checks import require, require_positive, required_count
from mcquack.errors import InvalidInputError
from mcquack.kernels.fidelity import centroid_kernel, class_scores
from mcquack.kernels.losses import target_alignment
from mcquack.randomness import stream
from mcquack.simulators.engine import Engine
from mcquack.studies.trainability.observation import GROUPS, Group, embedding_penalty
from mcquack.training.settings import TrainingSettings
from mcquack.training.state import Parameters, TrainingData

# Two directions in the space of parameters, along which a landscape is looked at.

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


Loss = Callable[[Parameters], float]


@dataclass(frozen=True, kw_only=True, eq=False)
class LossSlice:
    """``losses[j, i]`` at ``first[i]`` along the first and ``second[j]`` along the second direction."""

    first: FloatArray
    second: FloatArray
    losses: FloatArray

    @property
    def centre(self) -> float:
        """The loss at the point itself."""
        return float(self.losses[len(self.second) // 2, len(self.first) // 2])

    @property
    def minimum(self) -> tuple[float, float, float]:
        """Where on the grid the loss is lowest along both directions, and the loss there."""
        row, column = np.unravel_index(self.losses.argmin(), self.losses.shape)
        return float(self.first[column]), float(self.second[row]), float(self.losses[row, column])

    def to_json(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {name: getattr(self, name).tolist() for name in ("first", "second", "losses")}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """The slice that ``to_json`` wrote."""
        return cls(**{name: np.asarray(fields[name], np.float64) for name in ("first", "second", "losses")})


def alignment_loss(engine: Engine[Any], data: TrainingData, settings: TrainingSettings | None = None) -> Loss:
    """1 - A of the data with the penalties of KAO, as a function of the parameters."""
    chosen = TrainingSettings() if settings is None else settings

    def loss(parameters: Parameters) -> float:
        K = centroid_kernel(engine, data.X, parameters.centroids, weights=parameters.weights, bias=parameters.bias)
        scores = class_scores(K, data.n_classes, class_score=chosen.class_score)
        alignment = target_alignment(scores, data.labels, row_weights=data.row_weights)
        return 1 - alignment + embedding_penalty(parameters, chosen)

    return loss


def loss_slice(
    loss: Loss, parameters: Parameters, directions: Directions, *, reach: float = 1.0, n_points: int = 25
) -> LossSlice:
    """The loss on a square grid around the parameters, ``reach`` times each direction to each side.

    ``loss`` is that of any model: ``alignment_loss(engine, data)`` for McQuack on any engine.
    """
    require_positive("reach", reach)
    odd = required_count("n_points", n_points) % 2 == 1 and n_points >= 3
    require(odd, "n_points", "an odd number of at least 3, so that the centre is one of them", n_points)
    # Not linspace, which may miss 0 by a rounding error.
    steps = reach * (np.arange(n_points) - n_points // 2) / (n_points // 2)
    losses = np.array([[loss(directions.moved(parameters, a, b)) for a in steps] for b in steps])
    return LossSlice(first=steps, second=steps.copy(), losses=losses)
