"""How fast a training curve comes down, and whether it stays there."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcquack.studies.trainability.analysis.oscillation import finite_curve

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
