"""How to train: the paper's hyperparameters under the paper's names."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mcquack.checks import is_number, is_whole_number, require, require_positive, required_count
from mcquack.errors import InvalidInputError
from mcquack.kernels.losses import Alignment, Loss, loss_of
from mcquack.randomness import stream

Optimizer = Literal["adam", "sgd"]
Steps = Literal["alternating", "joint"]
# Nobody needs more before the other half has its turn, and an epoch must come to an end.
MAX_PASSES = 1000


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """One value for each decision of the training loop; checks itself when made.

    An epoch is ``epochs_ka`` passes of kernel alignment (KAO), then ``epochs_co`` passes of centroid optimisation (CO).
    With joint steps it is ``epochs_ka`` passes in which every step moves the embedding and the centroids.
    """

    epochs_ka: int = 1
    epochs_co: int = 1
    lr_ka: float = 1e-2
    lr_co: float = 1e-2
    decay_rate: float = 1.0
    reg_param_weights: float = 0.0
    reg_param_bias: float = 0.0
    reg_param_co: float = 1e-3
    batch_size: int = 100
    optimizer: Optimizer = "adam"
    steps: Steps = "alternating"
    feature_range: tuple[float, float] = (0.0, 1.0)
    n_centroids_per_class: int = 1
    loss: Loss = field(default_factory=Alignment)
    seed: int = 0

    def __post_init__(self) -> None:
        check_settings(
            self,
            passes=("epochs_ka", "epochs_co"),
            rates=("lr_ka", "lr_co", "decay_rate"),
            penalties=("reg_param_weights", "reg_param_bias", "reg_param_co"),
        )
        require(self.steps in ("alternating", "joint"), "steps", '"alternating" or "joint"', self.steps)
        if self.steps == "joint" and self.epochs_ka == 0:
            raise InvalidInputError("epochs_ka is 0, and joint steps have no other passes; set it to 1.")
        if self.epochs_ka + self.epochs_co == 0:
            raise InvalidInputError("epochs_ka and epochs_co are both 0, which trains nothing; set one of them.")
        required_count("n_centroids_per_class", self.n_centroids_per_class)
        require(is_whole_number(self.seed) and self.seed >= 0, "seed", "a whole number of at least 0", self.seed)
        low, high = self.feature_range
        require(low < high, "feature_range", "an increasing pair", self.feature_range)
        object.__setattr__(self, "loss", loss_of(self.loss))

    @property
    def passes_co(self) -> int:
        """Passes in which the centroids move alone."""
        return self.epochs_co if self.steps == "alternating" else 0

    def learning_rates(self, epoch: int) -> tuple[float, float]:
        """(KAO, CO) in this epoch, counted from 0: decayed once per epoch."""
        factor = self.decay_rate**epoch
        return self.lr_ka * factor, self.lr_co * factor


def check_settings(settings: Any, *, passes: Sequence[str], rates: Sequence[str], penalties: Sequence[str]) -> None:
    """Refuses what no training takes, whatever the names of its settings are."""
    for name in passes:
        value = getattr(settings, name)
        whole = is_whole_number(value) and 0 <= value <= MAX_PASSES
        require(whole, name, f"a whole number from 0 to {MAX_PASSES}", value)
    for name in rates:
        require_positive(name, getattr(settings, name))
    for name in penalties:
        value = getattr(settings, name)
        require(is_number(value) and math.isfinite(value) and value >= 0, name, "a number of at least 0", value)
    required_count("batch_size", settings.batch_size)
    require(settings.optimizer in ("adam", "sgd"), "optimizer", '"adam" or "sgd"', settings.optimizer)


def epoch_orders(n_samples: int, epoch: int, settings: TrainingSettings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A permutation for each KAO pass (epochs_ka, N) and one for all CO passes (N,), from seed and epoch alone.

    Without passes of CO the latter is the samples' own order.
    """
    kao = np.empty((settings.epochs_ka, n_samples), dtype=np.int64)
    for inner in range(settings.epochs_ka):
        kao[inner] = sample_order(n_samples, settings, purpose=f"kao {epoch} {inner}")
    if not settings.passes_co:
        return kao, np.arange(n_samples, dtype=np.int64)
    return kao, sample_order(n_samples, settings, purpose=f"co {epoch}")


def sample_order(n_samples: int, settings: Any, *, purpose: str) -> NDArray[np.int64]:
    """A permutation for one pass over the samples; in a single batch it would decide nothing but rounding."""
    if n_samples <= settings.batch_size:
        return np.arange(n_samples, dtype=np.int64)
    return stream(settings.seed, purpose).permutation(n_samples)
