"""What one run of the study saw, as plain values, and the derivatives of losses and kernel entries that it measures."""

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
Gradients = Mapping[Group, FloatArray]


@dataclass(frozen=True, kw_only=True)
class GradientStatistics:
    """Statistics of the derivatives of a number by all ``n`` parameters of one group; ``norm`` is their length.

    >>> GradientStatistics(mean=0.0, std=2.0, mean_abs=1.5, norm=4.0, n=4).mean_square
    4.0
    """

    mean: float
    std: float
    mean_abs: float
    norm: float
    n: int

    @property
    def mean_square(self) -> float:
        """Mean square of a derivative: its variance over initialisations, where the mean vanishes."""
        return self.norm**2 / self.n


@dataclass(frozen=True, kw_only=True)
class Observation:
    """All that was seen of a model of one size with one start: first gradients, training, kernel and states.

    Parameters
    ----------
    model, seed : which model was watched, and with which seed.
    settings : those of the probe, with "n_layers", "n_features", "n_train" and "engine" as the data decided them.
    gradients : statistics of the derivatives of the loss for the first batch of KAO, for each group of parameters.
    fidelity_gradients : the same of single entries of the kernel, which decide how many shots a device would need.
    step_losses : the loss of every step, where the whole sample is one batch.
    trace : one value for each epoch by name: "loss", "alignment", "accuracy", "grad_norm_weights" and so on.
    kernel : "mean" and "variance" of fidelities between different samples, and what else was measured of states.
    scores : "first_batch_loss", "final_loss", "train_accuracy", "test_accuracy" and so on.
    landscapes : slices of the loss around the trained parameters, "random" and "path".

    Examples
    --------
    >>> seen = Observation(model="mcquack", seed=0, settings={"n_qubits": 4}, trace={"loss": (0.5, 0.4)})
    >>> Observation.from_json(seen.to_json()) == seen
    True
    """

    model: str
    seed: int
    settings: Mapping[str, Any]
    gradients: Mapping[Group, GradientStatistics] = field(default_factory=dict)
    fidelity_gradients: Mapping[Group, GradientStatistics] = field(default_factory=dict)
    step_losses: tuple[float, ...] = ()
    trace: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    kernel: Mapping[str, float] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    landscapes: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        statistics = {
            name: {group: GradientStatistics(**each) for group, each in fields[name].items()}
            for name in ("gradients", "fidelity_gradients")
        }
        # JSON has lists alone.
        settings = {name: tuple(x) if isinstance(x, list) else x for name, x in fields["settings"].items()}
        trace = {name: tuple(values) for name, values in fields["trace"].items()}
        step_losses = tuple(fields["step_losses"])
        return cls(**{**fields, **statistics, "settings": settings, "trace": trace, "step_losses": step_losses})


def gradient_statistics(gradients: Iterable[FloatArray]) -> GradientStatistics:
    """Statistics of one gradient, or of several of the same shape together.

    Mean, deviation and mean size are over all entries of all gradients; the norm is the root of the mean squared norm,
    so that its square divided by ``n`` is the mean square of an entry in either case.
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
    """Statistics for each group of parameters that the gradients have."""
    found = list(gradients)
    groups = [group for group in GROUPS if found and group in found[0]]
    return {group: gradient_statistics(each[group] for each in found) for group in groups}


def alignment_and_slopes(kernel: FloatArray, data: TrainingData) -> tuple[float, FloatArray]:
    """The alignment A of a kernel with the classes of its rows, and ∂A/∂K."""
    scores = class_scores(kernel, data.n_classes)
    slopes = alignment_gradient(scores, data.labels, row_weights=data.row_weights)
    alignment = target_alignment(scores, data.labels, row_weights=data.row_weights)
    return float(alignment), centroid_slopes(kernel, slopes)


def embedding_penalty(parameters: Parameters, settings: TrainingSettings) -> float:
    """λ_w‖w‖² + λ_b‖b‖², which KAO adds to its loss."""
    penalty = settings.reg_param_weights * np.sum(np.square(parameters.weights, dtype=np.float64))
    penalty += settings.reg_param_bias * np.sum(np.square(parameters.bias, dtype=np.float64))
    return float(penalty)


def loss_gradients(
    engine: Engine[Any], batch: TrainingData, parameters: Parameters, *, settings: TrainingSettings
) -> tuple[float, Gradients]:
    """The loss of KAO and the gradients that the first steps of training meet, without taking any step.

    It is 1 - A(K, K*) + λ_w‖w‖² + λ_b‖b‖², with its derivatives by weights and biases beside those of CO's loss by the
    centroids, which is 1 - A(K, K*) and what it costs to leave the feature range.
    """
    weights, bias = parameters.weights, parameters.bias
    samples, centroids = (engine.encode(rows, weights, bias) for rows in (batch.X, parameters.centroids))
    kernel = engine.fidelities(samples, centroids)
    if not kernel.any():
        raise InvalidInputError(
            "all fidelities with the centroids are smaller than the smallest number there is; "
            "take fewer qubits or layers, or init_small."
        )
    alignment, slopes = alignment_and_slopes(kernel, batch)
    by_embedding: Any = engine.pullback(samples, centroids, -slopes, wrt="embedding")
    by_centroids: Any = engine.pullback(samples, centroids, -slopes, wrt="centroids").centroids
    low, high = settings.feature_range
    outside = (parameters.centroids > high).astype(float) - (parameters.centroids < low)
    return 1 - alignment + embedding_penalty(parameters, settings), {
        "weights": by_embedding.weights + 2 * settings.reg_param_weights * weights,
        "bias": by_embedding.bias + 2 * settings.reg_param_bias * bias,
        "centroids": by_centroids + settings.reg_param_co * outside,
    }


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
        by_centroids: Any = engine.pullback(samples, centroids, chosen, wrt="centroids").centroids
        for entry in range(len(rows)):
            alone = np.zeros_like(chosen)
            alone[entry, entry] = 1
            found: Any = engine.pullback(samples, centroids, alone, wrt="embedding")
            yield {"weights": found.weights, "bias": found.bias, "centroids": by_centroids[entry : entry + 1]}
