"""Data that fit together, and states that tensors can hold."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mcquack.errors import InvalidInputError
from mcquack.training import TrainingData, TrainingSettings, TrainingState
from mcquack.training.compiled import CompiledEpochs
from tests.training.setups import bits, clusters, copied, engine_of, start_of

LABELS = np.array([0, 1, 0])


@pytest.mark.parametrize(
    ("X", "labels", "row_weights"),
    [
        (np.ones((2, 5)), LABELS, np.ones(3)),
        (np.ones((3, 5)), LABELS[:2], np.ones(3)),
        (np.ones((3, 5)), LABELS, np.ones(4)),
    ],
)
def test_samples_labels_and_weights_come_in_equal_numbers(
    X: np.ndarray, labels: np.ndarray, row_weights: np.ndarray
) -> None:
    with pytest.raises(InvalidInputError, match="do not match"):
        TrainingData(X, labels, row_weights, 2)


def test_training_needs_samples() -> None:
    with pytest.raises(InvalidInputError, match="at least one sample"):
        TrainingData(np.ones((0, 5)), LABELS[:0], np.ones(0), 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tensors_hold_the_whole_state(dtype: type) -> None:
    data = clusters()
    for state in (
        start_of(data, dtype=dtype),
        CompiledEpochs(engine_of(dtype), data, TrainingSettings())(start_of(data, dtype=dtype)).state,
    ):
        again = copied(state)
        assert bits(again) == bits(state)
        assert again.epoch == state.epoch
        assert isinstance(again.epoch, int)


def test_training_starts_without_memory() -> None:
    data = clusters()
    state = TrainingState.start(start_of(data).parameters)
    assert state.epoch == 0
    assert_array_equal(state.steps, [0, 0])
    for name in ("weights", "bias", "centroids"):
        for moment in getattr(state, f"{name}_moments"):
            assert moment.shape == getattr(state.parameters, name).shape
            assert not moment.any()
