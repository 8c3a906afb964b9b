"""How to train: the paper's hyperparameters under the paper's names."""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from mcquack.checks import MOST
from mcquack.constraints import POSITIVE, Constraints, Custom, Number, OneOf, Optional, Whole, check_settings
from mcquack.errors import InvalidInputError
from mcquack.kernels.losses import Alignment, Loss, loss_of

Optimizer = Literal["adam", "sgd"]
AnyOptimizer = Literal["adam", "sgd", "adamw"]
Steps = Literal["alternating", "joint"]
Schedule = Literal["exponential", "cosine"]
# Nobody needs more before the other half has its turn, and an epoch must come to an end.
MAX_PASSES = 1000
PASSES = Whole(0, most=MAX_PASSES)


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """The hyperparameters that every training has, checked when they are made."""

    decay_rate: float = 1.0
    reg_param_weights: float = 0.0
    reg_param_bias: float = 0.0
    batch_size: int = 100
    seed: int = 0

    _constraints: ClassVar[Constraints] = {
        "decay_rate": POSITIVE,
        "reg_param_weights": Number(0),
        "reg_param_bias": Number(0),
        "batch_size": Whole(1),
        "seed": Whole(0),
    }

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.integer):  # whose products overflow: as int8, 3 times 50 is not 150
                object.__setattr__(self, name, int(value))
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class TrainingSettings(LoopSettings):
    """The hyperparameters of the training loop, checked when they are made.

    An epoch is ``epochs_ka`` passes of kernel alignment (KAO), then ``epochs_co`` passes of centroid optimisation (CO).
    With joint steps it is ``epochs_ka`` passes in which every step moves the embedding and the centroids. Learning
    rates are multiplied by ``decay_rate`` after each epoch, and with the schedule "cosine" they also follow the first
    half of a cosine within each round of ``epochs`` epochs. ``input_noise`` and ``feature_drop`` blur the samples of
    every pass, see :func:`blurred`.
    """

    epochs: int = 200

    epochs_ka: int = 1
    epochs_co: int = 1
    lr_ka: float = 1e-2
    lr_co: float = 1e-2
    reg_param_co: float = 1e-3
    optimizer: AnyOptimizer = "adam"
    schedule: Schedule = "exponential"
    input_noise: float = 0.0
    feature_drop: float = 0.0
    steps: Steps = "alternating"
    feature_range: tuple[float, float] = (0.0, 1.0)
    n_centroids_per_class: int = 1
    n_outputs: int | None = None  # of a linear head on the scores; None trains on the scores themselves
    loss: Loss = field(default_factory=Alignment)

    _constraints: ClassVar[Constraints] = {
        "epochs": Whole(0),
        "epochs_ka": PASSES,
        "epochs_co": PASSES,
        "lr_ka": POSITIVE,
        "lr_co": POSITIVE,
        "reg_param_co": Number(0),
        "optimizer": OneOf(*get_args(AnyOptimizer)),
        "schedule": OneOf(*get_args(Schedule)),
        "input_noise": Number(0),
        "feature_drop": Number(0, 1),
        "steps": OneOf(*get_args(Steps)),
        "feature_range": Custom("an increasing pair", lambda pair: pair[0] < pair[1]),
        "n_centroids_per_class": Whole(1, most=MOST["n_centroids_per_class"]),
        "n_outputs": Optional(Whole(1)),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        check_passes(self)
        object.__setattr__(self, "loss", loss_of(self.loss))

    @property
    def passes_co(self) -> int:
        """Passes in which the centroids move alone."""
        return self.epochs_co if self.steps == "alternating" else 0

    @property
    def is_blurred(self) -> bool:
        """Whether every pass sees samples of its own."""
        return self.input_noise > 0 or self.feature_drop > 0

    def learning_rates(self, epoch: int) -> tuple[float, float]:
        """(KAO, CO) in this epoch, counted from 0: decayed once per epoch."""
        factor = decayed(self.decay_rate, epoch)
        if self.schedule == "cosine":
            factor *= (1 + math.cos(math.pi * (epoch % max(1, self.epochs)) / max(1, self.epochs))) / 2
        return self.lr_ka * factor, self.lr_co * factor


def decayed(rate: float, epoch: int) -> float:
    """What learning rates are multiplied by after so many epochs; infinity where they have grown beyond all numbers."""
    try:
        return float(rate) ** int(epoch)
    except OverflowError:  # training then diverges, and says so
        return math.inf


def check_passes(settings: Any) -> None:
    """Raise InvalidInputError if an epoch has no pass over the samples; estimators have the same three settings."""
    if settings.steps == "joint" and settings.epochs_ka == 0:
        raise InvalidInputError("epochs_ka is 0, and joint steps have no other passes; set it to 1.")
    if settings.epochs_ka + settings.epochs_co == 0:
        raise InvalidInputError("epochs_ka and epochs_co are both 0, which trains nothing; set one of them.")
