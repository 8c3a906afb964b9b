"""What one run of the study saw, as plain values: a row of the store and back."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

import numpy as np

from mcquack.arrays import FloatArray
from mcquack.errors import InvalidInputError
from mcquack.kernels.fidelity import centroid_slopes, class_scores
from mcquack.kernels.losses import alignment_gradient, target_alignment
from mcquack.simulators.engine import Engine
from mcquack.training.settings import TrainingSettings
from mcquack.training.state import Parameters, TrainingData

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


# Derivatives of the losses of a kernel model by its groups of parameters, and what they are like as a whole.

Gradients = Mapping[Group, FloatArray]


@dataclass(frozen=True, kw_only=True, eq=False)
class LossGradients:
    """The loss of KAO on a batch, its derivatives by weights and biases, and those of CO's loss by the centroids."""

    loss: float
    by_group: Gradients


def gradient_statistics(gradients: Iterable[FloatArray]) -> GradientStatistics:
    """Of one gradient, or of several of the same shape together.

    Mean, deviation and mean size are then over all entries of all gradients, the norm is the root of the mean
    squared norm: its square divided by ``n`` is the mean square of an entry in either case.
    """
    rows = np.stack([np.asarray(gradient, dtype=np.float64).reshape(-1) for gradient in gradients])
    if not np.isfinite(rows).all():
        raise InvalidInputError(
            "some derivatives are not finite numbers: take fewer qubits or layers, or smaller parameters."
        )
    return GradientStatistics(
        mean=float(rows.mean()),
        std=float(rows.std()),
        mean_abs=float(np.abs(rows).mean()),
        norm=float(np.sqrt(np.square(rows).sum(axis=1).mean())),
        n=rows.shape[1],
    )


def grouped_statistics(gradients: Iterable[Gradients]) -> dict[Group, GradientStatistics]:
    """Of each group of parameters that the gradients have."""
    found = list(gradients)
    groups = [group for group in GROUPS if found and group in found[0]]
    return {group: gradient_statistics(each[group] for each in found) for group in groups}


def embedding_penalty(parameters: Parameters, settings: TrainingSettings) -> float:
    """λ_w‖w‖² + λ_b‖b‖², which KAO adds to its loss."""
    penalty = settings.reg_param_weights * np.sum(np.square(parameters.weights, dtype=np.float64))
    penalty += settings.reg_param_bias * np.sum(np.square(parameters.bias, dtype=np.float64))
    return float(penalty)


def loss_gradients(
    engine: Engine[Any], batch: TrainingData, parameters: Parameters, *, settings: TrainingSettings
) -> LossGradients:
    """As the first steps of training meet them, but none is taken.

    KAO's loss is 1 - A(K, K*) + λ_w‖w‖² + λ_b‖b‖², CO's is 1 - A(K, K*) and what it costs to leave the feature range.
    """
    old = parameters
    samples = engine.encode(batch.X, old.weights, old.bias)
    centroids = engine.encode(old.centroids, old.weights, old.bias)
    kernel = engine.fidelities(samples, centroids)
    _require_some_fidelity(kernel)
    scores = class_scores(kernel, batch.n_classes, class_score=settings.class_score)
    slopes = alignment_gradient(scores, batch.labels, row_weights=batch.row_weights)
    cotangent = -centroid_slopes(kernel, slopes, class_score=settings.class_score)
    by_embedding = engine.pullback(samples, centroids, cotangent, wrt="embedding")
    by_centroids = engine.pullback(samples, centroids, cotangent, wrt="centroids").centroids
    assert by_embedding.weights is not None
    assert by_embedding.bias is not None
    assert by_centroids is not None
    low, high = settings.feature_range
    outside = (old.centroids > high).astype(float) - (old.centroids < low)
    alignment = target_alignment(scores, batch.labels, row_weights=batch.row_weights)
    return LossGradients(
        loss=float(1 - alignment + embedding_penalty(old, settings)),
        by_group={
            "weights": by_embedding.weights + 2 * settings.reg_param_weights * old.weights,
            "bias": by_embedding.bias + 2 * settings.reg_param_bias * old.bias,
            "centroids": by_centroids + settings.reg_param_co * outside,
        },
    )


def fidelity_gradients(
    engine: Engine[Any], batch: TrainingData, parameters: Parameters, *, n_entries: int
) -> Iterator[Gradients]:
    """Derivatives of single entries K[i, m], what a device would measure, for the first samples of the batch.

    Entry number e is that of sample e with centroid e modulo their number, so own and other classes both occur. By the
    centroids it is the derivative by the one that the entry is about.
    """
    weights, bias = parameters.weights, parameters.bias
    n_used = min(n_entries, len(batch.X))
    centroids = engine.encode(parameters.centroids, weights, bias)
    # Entries of different centroids share one derivative by these, of which each has a row of its own.
    for first in range(0, n_used, len(centroids)):
        rows = batch.X[first : min(first + len(centroids), n_used)]
        samples = engine.encode(rows, weights, bias)
        chosen = np.eye(len(rows), len(centroids))
        by_centroids = engine.pullback(samples, centroids, chosen, wrt="centroids").centroids
        assert by_centroids is not None
        for entry in range(len(rows)):
            alone = np.zeros_like(chosen)
            alone[entry, entry] = 1
            by_embedding = engine.pullback(samples, centroids, alone, wrt="embedding")
            assert by_embedding.weights is not None
            assert by_embedding.bias is not None
            yield {
                "weights": by_embedding.weights,
                "bias": by_embedding.bias,
                "centroids": by_centroids[entry : entry + 1],
            }


def _require_some_fidelity(kernel: FloatArray) -> None:
    """The alignment knows no scale, but where all fidelities are rounded to zero there is nothing left to align."""
    if not kernel.any():
        raise InvalidInputError(
            "all fidelities with the centroids are smaller than the smallest number there is; "
            "take fewer qubits or layers, or init_small."
        )
