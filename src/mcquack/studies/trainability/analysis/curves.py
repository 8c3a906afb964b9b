"""How much a training curve goes up and down, in numbers without a unit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from mcquack.errors import InvalidInputError


@dataclass(frozen=True, kw_only=True)
class Oscillation:
    """Of a loss ℓ_0 … ℓ_T; all are 0 for a curve that never rises, but ``detour``, which is 1.

    None depends on the scale of the loss. Mini-batches differ, so a curve of single steps also oscillates with them;
    one value for each epoch does not.
    """

    rises: float
    """Share of the steps that go up."""
    uphill: float
    """Share of the whole way that leads up, R / (R + D) for rises R and descents D in total: 1/2 going nowhere."""
    detour: float | None
    """The whole way divided by the net descent, (R + D) / (D - R); None where the loss is not lower at the end."""
    turns: float
    """Share of the points between the ends at which the direction changes: 2/3 for pure noise, 1 for a zigzag."""
    amplitude: float
    """Root mean square distance from the closest curve that never rises, divided by the range max ℓ - min ℓ."""
    n_steps: int


def finite_curve(losses: Sequence[float | None]) -> NDArray[np.float64]:
    """The curve as an array, refused where it has less than two values or some that are no numbers."""
    if any(loss is None for loss in losses):
        raise InvalidInputError("the loss has epochs without a finite value; leave out runs that diverged, and say so.")
    curve = np.asarray(losses, np.float64)
    if curve.ndim != 1 or len(curve) < 2 or not np.isfinite(curve).all():
        raise InvalidInputError(f"a curve takes two finite losses or more, got an array of shape {curve.shape}.")
    return curve


def oscillation(losses: Sequence[float | None]) -> Oscillation:
    """Oscillation of a curve, one loss for each epoch (or step), the first one included."""
    curve = finite_curve(losses)
    steps = np.diff(curve)
    up, down = float(steps[steps > 0].sum()), float(-steps[steps < 0].sum())
    way = up + down
    return Oscillation(
        rises=float(np.mean(steps > 0)),
        uphill=up / way if way > 0 else 0.0,
        detour=way / (down - up) if down > up else None,
        turns=_turns(steps),
        amplitude=_amplitude(curve) if way > 0 else 0.0,
        n_steps=len(steps),
    )


def _turns(steps: NDArray[np.float64]) -> float:
    """A plateau belongs to the direction before it."""
    moving = np.sign(steps[steps != 0])
    return float(np.count_nonzero(moving[1:] != moving[:-1])) / (len(steps) - 1) if len(steps) > 1 else 0.0


def _amplitude(curve: NDArray[np.float64]) -> float:
    # Any smoother trend would call the steep start of a good training an oscillation.
    trend = isotonic_regression(curve, increasing=False)
    return float(np.sqrt(np.mean((curve - trend) ** 2)) / np.ptp(curve))


# How fast a training curve comes down, and whether it stays there.

_SETTLED = 0.9


@dataclass(frozen=True, kw_only=True)
class Convergence:
    """Of a loss ℓ_0 … ℓ_T; epochs are counted from ℓ_0 and interpolated.

    ``half_epochs`` and ``settled_epochs`` are those after which the loss first has made half and 90 % of its way down
    to its lowest value; ``relapse`` is the share of this way that it has gone back up in the end. All three are None
    where the loss never falls, and so has no such way.
    """

    first: float
    best: float
    last: float
    best_epoch: int
    half_epochs: float | None
    settled_epochs: float | None
    relapse: float | None

    @property
    def descent(self) -> float:
        """From the first to the lowest loss."""
        return self.first - self.best


def convergence(losses: Sequence[float | None]) -> Convergence:
    """Convergence of a curve, one loss for each epoch, the one before the first included where it is known."""
    curve = finite_curve(losses)
    first, last = float(curve[0]), float(curve[-1])
    best_epoch = int(curve.argmin())
    best = float(curve[best_epoch])
    descent = first - best
    return Convergence(
        first=first,
        best=best,
        last=last,
        best_epoch=best_epoch,
        half_epochs=_epochs_to(curve, first - 0.5 * descent) if descent > 0 else None,
        settled_epochs=_epochs_to(curve, first - _SETTLED * descent) if descent > 0 else None,
        relapse=(last - best) / descent if descent > 0 else None,
    )


def _epochs_to(curve: NDArray[np.float64], target: float) -> float:
    """Where the straight lines between the losses first reach the target."""
    after = int(np.argmax(curve <= target))
    before = after - 1
    return float(before + (curve[before] - target) / (curve[before] - curve[after]))
