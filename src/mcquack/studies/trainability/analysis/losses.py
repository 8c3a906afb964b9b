"""What losses are like: how much a training curve goes up and down, and the loss on a plane around a point."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.isotonic import isotonic_regression

from mcquack.arrays import FloatArray
from mcquack.checks import require, require_positive, required_count
from mcquack.errors import InvalidInputError
from mcquack.kernels.fidelity import centroid_kernel
from mcquack.randomness import stream
from mcquack.simulators.engine import Engine
from mcquack.studies.trainability.observation import GROUPS, alignment_and_slopes, embedding_penalty
from mcquack.training.settings import TrainingSettings
from mcquack.training.state import Parameters, TrainingData

Loss = Callable[[Parameters], float]


@dataclass(frozen=True, kw_only=True)
class Oscillation:
    """How much a loss goes up and down; all are 0 for a curve that never rises, whatever its scale."""

    rises: float  # share of the steps that go up
    uphill: float  # share of the whole way that leads up: 1/2 going nowhere
    amplitude: float  # root mean square distance from the closest curve that never rises, divided by its range


def oscillation(losses: Sequence[float | None]) -> Oscillation:
    """Oscillation of a curve: one loss for each epoch, as mini-batches differ from step to step.

    >>> oscillation([1.0, 0.5, 0.75, 0.25]).uphill
    0.2
    """
    if any(loss is None for loss in losses):
        raise InvalidInputError("the loss has epochs without a finite value; leave out runs that diverged, and say so.")
    curve = np.asarray(losses, np.float64)
    if curve.ndim != 1 or len(curve) < 2 or not np.isfinite(curve).all():
        raise InvalidInputError(f"a curve takes two finite losses or more, got an array of shape {curve.shape}.")
    steps = np.diff(curve)
    up, way = float(steps[steps > 0].sum()), float(np.abs(steps).sum())
    if way == 0:
        return Oscillation(rises=0.0, uphill=0.0, amplitude=0.0)
    # Any smoother trend would call the steep start of a good training an oscillation.
    away = curve - isotonic_regression(curve, increasing=False)
    return Oscillation(
        rises=float(np.mean(steps > 0)), uphill=up / way, amplitude=float(np.sqrt(np.mean(away**2)) / np.ptp(curve))
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Directions:
    """Two orthogonal directions in the space of parameters, as parameters to add."""

    first: Parameters
    second: Parameters

    def moved(self, parameters: Parameters, along_first: float, along_second: float) -> Parameters:
        triples = (tuple(getattr(each, group) for each in (parameters, self.first, self.second)) for group in GROUPS)
        return Parameters(*(at + along_first * first + along_second * second for at, first, second in triples))

    def coordinates(self, path: Sequence[Parameters], centre: Parameters) -> FloatArray:
        """Where the points of a path lie in the plane through ``centre``, projected, shape (T, 2)."""
        away = _flat(path) - _flat([centre])
        axes = _flat([self.first, self.second])
        found: FloatArray = away @ axes.T / np.sum(axes**2, axis=1)
        return found


def random_directions(parameters: Parameters, *, seed: int = 0) -> Directions:
    """Two directions by chance, orthogonal in each group of parameters and as long as its parameters.

    So groups of different size are moved alike in proportion (as in Li et al., 2018).
    """
    pairs = {}
    for group in GROUPS:
        array = np.asarray(getattr(parameters, group), np.float64)
        drawn = stream(seed, "landscape", group).normal(size=(2, array.size))
        drawn[0] /= np.linalg.norm(drawn[0])
        drawn[1] -= (drawn[1] @ drawn[0]) * drawn[0]
        # Of a single number there is only one direction.
        drawn[1] = drawn[1] / np.linalg.norm(drawn[1]) if array.size > 1 else 0.0
        pairs[group] = float(np.linalg.norm(array)) * drawn.reshape(2, *array.shape)
    first, second = (Parameters(*(pairs[group][which] for group in GROUPS)) for which in (0, 1))
    if not _flat([first]).any():
        raise InvalidInputError("all parameters are zero, and so are such directions; start from other parameters.")
    return Directions(first=first, second=second)


def path_directions(path: Sequence[Parameters]) -> Directions:
    """The first two principal directions of a training path around its last point, of length 1."""
    if len(path) < 3:
        raise InvalidInputError(f"a plane takes three points of a path or more, got {len(path)}; train for longer.")
    away = _flat(path) - _flat(path[-1:])
    _, sizes, axes = np.linalg.svd(away, full_matrices=False)
    if sizes[0] == 0:
        raise InvalidInputError("the path does not move, so it has no directions; train with a higher learning rate.")
    # The sign of a principal direction means nothing; this one has the path start on the positive side.
    signs = np.where(axes[:2] @ away[0] < 0, -1.0, 1.0)
    shapes = [getattr(path[-1], group).shape for group in GROUPS]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    first, second = (
        Parameters(*(part.reshape(shape) for part, shape in zip(np.split(row, ends), shapes, strict=True)))
        for row in signs[:, None] * axes[:2]
    )
    return Directions(first=first, second=second)


def _flat(points: Sequence[Parameters]) -> FloatArray:
    return np.array([np.concatenate([np.ravel(getattr(each, group)) for group in GROUPS]) for each in points], float)


@dataclass(frozen=True, kw_only=True, eq=False)
class LossSlice:
    """Losses on a grid: ``losses[j, i]`` at ``first[i]`` along the first, ``second[j]`` along the second direction.

    >>> flat = LossSlice(first=np.array([-1.0, 0.0, 1.0]), second=np.array([0.0]), losses=np.array([[2.0, 0.5, 1.0]]))
    >>> flat.centre, flat.minimum
    (0.5, (0.0, 0.0, 0.5))
    """

    first: FloatArray
    second: FloatArray
    losses: FloatArray

    @property
    def centre(self) -> float:
        return float(self.losses[len(self.second) // 2, len(self.first) // 2])

    @property
    def minimum(self) -> tuple[float, float, float]:
        row, column = np.unravel_index(self.losses.argmin(), self.losses.shape)
        return float(self.first[column]), float(self.second[row]), float(self.losses[row, column])

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name).tolist() for name in ("first", "second", "losses")}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        return cls(**{name: np.asarray(fields[name], np.float64) for name in ("first", "second", "losses")})


def alignment_loss(engine: Engine[Any], data: TrainingData, settings: TrainingSettings | None = None) -> Loss:
    """1 - A of the data with the penalties of KAO, as a function of the parameters."""
    chosen = TrainingSettings() if settings is None else settings

    def loss(parameters: Parameters) -> float:
        K = centroid_kernel(engine, data.X, parameters.centroids, weights=parameters.weights, bias=parameters.bias)
        return 1 - alignment_and_slopes(K, data)[0] + embedding_penalty(parameters, chosen)

    return loss


def loss_slice(
    loss: Loss, parameters: Parameters, directions: Directions, *, reach: float = 1.0, n_points: int = 25
) -> LossSlice:
    """The loss on a square grid around a point, ``reach`` times each direction to each side.

    >>> centre = Parameters(np.ones((1, 1, 3)), np.ones((1, 1, 3)), np.ones((2, 1)))
    >>> found = loss_slice(lambda at: float(np.sum(at.bias**2)), centre, random_directions(centre), n_points=3)
    >>> found.losses.shape, found.centre
    ((3, 3), 3.0)
    """
    require_positive("reach", reach)
    odd = required_count("n_points", n_points) % 2 == 1 and n_points >= 3
    require(odd, "n_points", "an odd number of at least 3, so that the centre is one of them", n_points)
    # Not linspace, which may miss 0 by a rounding error.
    steps = reach * (np.arange(n_points) - n_points // 2) / (n_points // 2)
    losses = np.array([[loss(directions.moved(parameters, a, b)) for a in steps] for b in steps])
    return LossSlice(first=steps, second=steps.copy(), losses=losses)
