"""The parameter shift for a few angles drawn by lot: the same gradient on average, at a fraction of the shots."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.checks import is_whole_number, require, required_count
from mcquack.errors import InvalidInputError
from mcquack.simulators.engine import E, Engine, FloatArray, Gradient, Wrt, checked_cotangent
from mcquack.simulators.ring.slopes import checked_wrt, gradient_by_angles
from mcquack.training.from_values import FromValues, Side, drawn_for
from mcquack.training.shifts import Shift, angle_slopes, live_angles


class StochasticShiftEngine(FromValues[E]):
    """An engine whose pullback shifts ``n_angles`` angles of each sample and centroid, drawn anew for every call.

    The mean over draws is the full parameter shift, which ``n_angles=None`` is in every draw. Each data point has
    angles of its own, dealt out like cards: a batch sees many more of them than all points with the same few would, and
    the shots are the same. The draw depends on the seed and on what is asked, so that the same call has the same one.
    """

    def __init__(self, engine: Engine[E], *, n_angles: int | None = 1, seed: int = 0) -> None:
        super().__init__(engine)
        require(is_whole_number(seed) and seed >= 0, "seed", "a whole number of at least 0", seed)
        self.seed = int(seed)
        self._angles = live_angles(engine.feature_map)
        self.n_angles = len(self._angles) if n_angles is None else required_count("n_angles", n_angles)
        if self.n_angles > len(self._angles):
            raise InvalidInputError(
                f"n_angles must be at most {len(self._angles)}, all angles of the circuit that matter, got {n_angles}."
            )

    def pullback(self, samples: E, centroids: E, cotangent: ArrayLike, *, wrt: Wrt) -> Gradient:
        """An unbiased estimate of the derivatives of Σ cotangent∘K."""
        checked_wrt(wrt)
        weighting = checked_cotangent(cotangent, samples, centroids)
        draw = drawn_for(self.seed, f"stochastic shift by {wrt}", samples, centroids)
        of_centroids = self._slopes(centroids, samples, weighting, draw, side="centroids")
        of_samples = of_centroids
        if wrt == "embedding":
            of_samples = self._slopes(samples, centroids, weighting, draw, side="samples")
        return gradient_by_angles(
            self.feature_map, samples, centroids, of_samples=of_samples, of_centroids=of_centroids, wrt=wrt
        )

    def kernels_per_pullback(self, wrt: Wrt) -> int:
        """Two for each angle that is drawn, and as many again where samples are shifted too."""
        return (4 if wrt == "embedding" else 2) * self.n_angles

    def _slopes(
        self, moved: E, others: E, weighting: FloatArray, draw: np.random.Generator, *, side: Side
    ) -> FloatArray:
        shifts = self._dealt(len(moved), draw)
        # Each angle of a data point is drawn with the chance 1 / factor.
        factor = len(self._angles) / self.n_angles
        return factor * angle_slopes(self.engine, moved, others, weighting, shifts, side=side)

    def _dealt(self, n_rows: int, draw: np.random.Generator) -> list[Shift]:
        """``n_angles`` different ones for each row, as evenly as can be over all of them."""
        deck = draw.permutation(len(self._angles))
        hands = deck[np.arange(n_rows * self.n_angles) % len(deck)]
        order = np.argsort(hands, kind="stable")
        owners: NDArray[np.intp] = order // self.n_angles
        dealt, starts = np.unique(hands[order], return_index=True)
        return [
            Shift(self._angles[angle], rows) for angle, rows in zip(dealt, np.split(owners, starts[1:]), strict=True)
        ]
