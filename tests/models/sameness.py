"""What it means that two trainings came to the same end: every bit, but for the seconds they took."""

from typing import Any

from numpy.testing import assert_array_equal

from mcquack import FeatureMap, McQuackClassifier


def own_map(model: Any) -> FeatureMap:
    """Return the circuit of a fitted model, which is one of the paper's."""
    circuit = model.feature_map_
    assert isinstance(circuit, FeatureMap)
    return circuit


def timeless(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows without the one column that no seed decides."""
    return [{name: value for name, value in row.items() if name != "seconds"} for row in history]


def assert_same_model(left: McQuackClassifier, right: McQuackClassifier) -> None:
    """Equal in all that prediction depends on, to the last bit."""
    assert_array_equal(left.classes_, right.classes_, strict=True)
    for name in ("weights_", "bias_", "centroids_"):
        assert_array_equal(getattr(left, name), getattr(right, name), strict=True, err_msg=name)
    assert left.feature_map_ == right.feature_map_
    assert (left.scaler_ is None) == (right.scaler_ is None)
    if left.scaler_ is not None:
        assert_array_equal(left.scaler_.scale_, right.scaler_.scale_, strict=True)
        assert_array_equal(left.scaler_.min_, right.scaler_.min_, strict=True)


def assert_same_state(left: McQuackClassifier, right: McQuackClassifier) -> None:
    """Equal in all that further training depends on, to the last bit."""
    tensors = left.training_state_.to_tensors(), right.training_state_.to_tensors()
    assert tensors[0].keys() == tensors[1].keys()
    for name in tensors[0]:
        assert_array_equal(tensors[0][name], tensors[1][name], strict=True, err_msg=name)


def assert_same_training(left: McQuackClassifier, right: McQuackClassifier) -> None:
    """The same model, reached by the same epochs, in a state to go on from in the same way."""
    assert_same_model(left, right)
    assert_same_state(left, right)
    assert timeless(left.history_) == timeless(right.history_)
    assert (left.n_iter_, left.best_epoch_) == (right.n_iter_, right.best_epoch_)
