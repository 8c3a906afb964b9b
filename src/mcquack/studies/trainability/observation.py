"""What one run of the study saw, as plain values: a row of the store and back."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

Group = Literal["weights", "bias", "centroids"]
GROUPS: tuple[Group, ...] = ("weights", "bias", "centroids")


@dataclass(frozen=True, kw_only=True)
class GradientStatistics:
    """Of the derivatives of a loss by one group of parameters."""

    mean: float
    std: float  # over the parameters of the group
    mean_abs: float
    norm: float
    n: int

    @property
    def mean_square(self) -> float:
        """What the variance over initialisations is, where the mean vanishes."""
        return self.norm**2 / self.n


@dataclass(frozen=True, kw_only=True)
class Observation:
    """A model of one size with one start: its first gradients, how its training went, and what its kernel is like.

    ``settings`` are those of the design: "n_qubits", "n_layers", "init_small", "init_strategy", "regularised" and
    whatever else it varies. ``gradients`` are those of the loss for the first batch of KAO, ``fidelity_gradients``
    those of a single entry of the kernel, which decide how many shots a device would need. ``trace`` has one value for
    each epoch by name: "loss", "alignment", "accuracy", "grad_norm_weights" and so on. ``kernel`` has "mean" and
    "variance" of fidelities between different samples, and what else was measured of states.
    """

    model: str
    seed: int
    settings: Mapping[str, Any]
    gradients: Mapping[Group, GradientStatistics] = field(default_factory=dict)
    fidelity_gradients: Mapping[Group, GradientStatistics] = field(default_factory=dict)
    step_losses: tuple[float, ...] = ()
    trace: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    kernel: Mapping[str, float] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)  # "train_accuracy", "test_accuracy", "final_loss", …
    landscapes: Mapping[str, Any] = field(default_factory=dict)  # slices around the end: "random", and "path"

    def to_json(self) -> dict[str, Any]:
        """All fields as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """The observation that ``to_json`` wrote."""
        statistics = {
            name: {group: GradientStatistics(**each) for group, each in fields[name].items()}
            for name in ("gradients", "fidelity_gradients")
        }
        # JSON has lists alone.
        settings = {name: tuple(x) if isinstance(x, list) else x for name, x in fields["settings"].items()}
        trace = {name: tuple(values) for name, values in fields["trace"].items()}
        step_losses = tuple(fields["step_losses"])
        return cls(**{**fields, **statistics, "settings": settings, "trace": trace, "step_losses": step_losses})
