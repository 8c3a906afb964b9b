"""Data and starting points that the tests of training share."""

from typing import Any

import numpy as np
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from mcquack.circuits.feature_map import FeatureMap
from mcquack.randomness import stream
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training import Parameters, TrainingData, TrainingState
from mcquack.training.state import EpochSums, initial_log_beta

FloatArray = NDArray[np.floating]
FEATURE_MAP = FeatureMap(n_qubits=3, n_features=5, n_layers=2)


def clusters(*, n_samples: int = 45, n_classes: int = 3, weighted: bool = False, seed: int = 0) -> TrainingData:
    """One cluster in [0, 1]⁵ for each class."""
    rng = stream(seed, "clusters")
    labels = np.arange(n_samples) % n_classes
    middles = rng.uniform(0.1, 0.9, size=(n_classes, FEATURE_MAP.n_features))
    X = np.clip(middles[labels] + rng.normal(scale=0.1, size=(n_samples, FEATURE_MAP.n_features)), 0, 1)
    row_weights = rng.uniform(0, 2, size=n_samples) if weighted else np.ones(n_samples)
    return TrainingData(X, labels, row_weights, n_classes)


def start_of(
    data: TrainingData,
    *,
    k: int = 1,
    dtype: type = np.float64,
    spread: float = 1.0,
    seed: int = 0,
    loss: Any = "alignment",
) -> TrainingState:
    """Random parameters with k centroids per class; some of them lie outside the range of the data."""
    rng = stream(seed, "start")
    weights, bias = spread * rng.normal(size=(2, *FEATURE_MAP.parameter_shape))
    centroids = rng.uniform(-0.3, 1.3, size=(data.n_classes * k, FEATURE_MAP.n_features))
    groups = {"weights": weights, "bias": bias, "centroids": centroids}
    arrays: dict[str, FloatArray] = {name: array.astype(dtype) for name, array in groups.items()}
    return TrainingState.start(Parameters(**arrays, log_beta=initial_log_beta(loss, dtype)))


def engine_of(dtype: type = np.float64, n_threads: int | None = None) -> StatevectorEngine:
    return StatevectorEngine(FEATURE_MAP, dtype=dtype, n_threads=n_threads)


def copied(state: TrainingState) -> TrainingState:
    """The same state in other memory, as a checkpoint gives it back."""
    return TrainingState.from_tensors({name: tensor.copy() for name, tensor in state.to_tensors().items()})


def bits(state: TrainingState) -> dict[str, tuple[Any, ...]]:
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in state.to_tensors().items()}


def assert_close_epochs(left: EpochSums, right: EpochSums, error: float) -> None:
    """All that two epochs leave behind, number by number; not each finds the scores of its kernel."""
    other = right.state.to_tensors()
    for name, array in left.state.to_tensors().items():
        assert_allclose(array, other[name], rtol=0, atol=error, err_msg=name)
    names = ("loss_kao", "loss_co", "grad_norms", "kernel")
    values, expected = ([getattr(epoch, name) for name in names] for epoch in (left, right))
    for value, wanted in zip(flat(values), flat(expected), strict=True):
        assert (value is None) == (wanted is None)
        if value is not None:
            assert_allclose(value, wanted, rtol=0, atol=error)


def flat(values: Any) -> list[Any]:
    """Tuples and lists opened, arrays left whole."""
    if not isinstance(values, list | tuple):
        return [values]
    return [item for value in values for item in flat(value)]
