"""The feature map counts, encodes and compares as the paper says."""

import copy
import dataclasses
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError, McQuackError
from mcquack.randomness import stream

# Features, classes and the number of parameters in the paper's table of results, all with 6 qubits and one repetition.
PAPER_COUNTS = {
    "Census": (14, 2, 136),
    "CoverT": (15, 2, 138),
    "DoH": (33, 2, 282),
    "EMNIST": (784, 2, 6284),
    "EMNIST10": (784, 10, 12556),
    "EMNIST4": (784, 4, 7852),
    "FMNIST": (784, 2, 6284),
    "FMNIST10": (784, 10, 12556),
    "FMNIST5": (784, 5, 8636),
    "Iris3": (4, 3, 48),
    "KDD": (42, 2, 336),
    "KDD10": (43, 10, 718),
    "KDD4": (43, 4, 460),
    "Manifold": (248, 2, 2008),
    "MNIST": (784, 2, 6284),
    "MNIST10": (784, 10, 12556),
    "MNIST4": (784, 4, 7852),
    "PM2": (256, 2, 2060),
    "PM4": (256, 4, 2572),
    "URL": (79, 2, 662),
}

sizes = st.integers(1, 9)
feature_maps = st.builds(
    FeatureMap,
    n_qubits=sizes,
    n_features=st.integers(1, 40),
    n_layers=sizes,
    final_entangler=st.booleans(),
    features_per_gate=st.sampled_from([1, 3]),
)


@given(feature_maps)
def test_gates_are_counted_without_making_them(feature_map: FeatureMap) -> None:
    assert feature_map.n_gates == len(feature_map.gates)


def test_in_short_it_is_a_line_of_its_sizes_and_printed_it_is_drawn() -> None:
    endless = FeatureMap(n_qubits=2, n_features=1, n_layers=10**9)
    assert repr(endless) == "<FeatureMap of 2 qubits, 1 feature, 4,000,000,000 gates, 12,000,000,000 parameters>"
    assert "┤ Rot(x0) ├" in str(FeatureMap(n_qubits=2, n_features=1, n_layers=1))


@pytest.mark.parametrize("dataset", PAPER_COUNTS)
def test_parameter_counts_are_the_papers_with_its_numbers_of_features(dataset: str) -> None:
    n_features, n_classes, n_parameters = PAPER_COUNTS[dataset]
    feature_map = FeatureMap.with_repetitions(n_qubits=6, n_features=n_features)
    assert feature_map.n_parameters(n_classes) == n_parameters


@given(feature_map=feature_maps, n_classes=sizes)
def test_counts_follow_from_the_shapes(feature_map: FeatureMap, n_classes: int) -> None:
    n, L, d = feature_map.n_qubits, feature_map.n_layers, feature_map.n_features
    assert feature_map.parameter_shape == (L, n, 3)
    assert feature_map.n_embedding_parameters == 6 * n * L
    assert feature_map.n_parameters(n_classes) == 6 * n * L + n_classes * d
    assert feature_map.dimension == 2**n


@given(
    n_qubits=sizes,
    n_features=st.integers(1, 100),
    n_repetitions=st.integers(1, 5),
    features_per_gate=st.sampled_from([1, 3]),
)
def test_repetitions_encode_every_feature_often_enough_with_as_few_layers_as_possible(
    n_qubits: int, n_features: int, n_repetitions: int, features_per_gate: Any
) -> None:
    feature_map = FeatureMap.with_repetitions(
        n_qubits=n_qubits,
        n_features=n_features,
        n_repetitions=n_repetitions,
        features_per_gate=features_per_gate,
        final_entangler=False,
    )
    per_layer = n_qubits * features_per_gate
    assert feature_map.n_layers == n_repetitions * math.ceil(n_features / per_layer)
    assert not feature_map.final_entangler
    counts = np.bincount(feature_map.feature_index[:, :, :features_per_gate].ravel(), minlength=n_features)
    assert counts.min() >= n_repetitions
    assert (feature_map.n_layers // n_repetitions - 1) * per_layer < n_features


@given(feature_map=feature_maps)
def test_gates_encode_the_features_in_turn(feature_map: FeatureMap) -> None:
    n, d = feature_map.n_qubits, feature_map.n_features
    index = feature_map.feature_index
    assert index.shape == feature_map.parameter_shape
    for layer, qubit, angle in np.ndindex(index.shape):
        gate = layer * n + qubit
        expected = gate if feature_map.features_per_gate == 1 else 3 * gate + angle
        assert index[layer, qubit, angle] == expected % d


@given(feature_map=feature_maps, seed=st.integers(0, 100))
def test_every_angle_is_weight_times_feature_plus_bias(feature_map: FeatureMap, seed: int) -> None:
    generator = stream(seed, "angles")
    X = generator.normal(size=(3, feature_map.n_features))
    weights, bias = generator.normal(size=(2, *feature_map.parameter_shape))
    angles = feature_map.angles(X, weights, bias)
    assert angles.shape == (3, *feature_map.parameter_shape)
    for sample, *gate in np.ndindex(angles.shape):
        at = tuple(gate)
        assert_allclose(angles[(sample, *at)], weights[at] * X[sample, feature_map.feature_index[at]] + bias[at])


def test_angles_keep_single_precision() -> None:
    feature_map = FeatureMap(n_qubits=2, n_features=3, n_layers=2)
    ones = np.ones(feature_map.parameter_shape, dtype=np.float32)
    assert feature_map.angles(np.ones((4, 3), dtype=np.float32), ones, ones).dtype == np.float32


@pytest.mark.parametrize("name", ["n_qubits", "n_features", "n_layers"])
@pytest.mark.parametrize("value", [0, -1, 1.0, 2.5, "3", None, True, math.nan, [2]])
def test_sizes_are_whole_numbers_of_at_least_one(name: str, value: Any) -> None:
    sizes: dict[str, Any] = {"n_qubits": 2, "n_features": 2, "n_layers": 2, name: value}
    with pytest.raises(InvalidInputError, match=name) as caught:
        FeatureMap(**sizes)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, McQuackError)


@pytest.mark.parametrize("value", [0, 2, 4, "1", None])
def test_a_gate_encodes_one_feature_or_three(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="features_per_gate"):
        FeatureMap(n_qubits=1, n_features=1, n_layers=1, features_per_gate=value)


def test_the_entangler_is_the_ring() -> None:
    line: Any = "line"
    with pytest.raises(InvalidInputError, match="entangler"):
        FeatureMap(n_qubits=1, n_features=1, n_layers=1, entangler=line)


@pytest.mark.parametrize("n_repetitions", [0, -3])
def test_repetitions_are_at_least_one(n_repetitions: int) -> None:
    with pytest.raises(InvalidInputError, match="n_repetitions"):
        FeatureMap.with_repetitions(n_qubits=2, n_features=2, n_repetitions=n_repetitions)


@pytest.mark.parametrize("name", ["n_qubits", "n_features"])
def test_repetitions_name_the_size_that_is_wrong(name: str) -> None:
    sizes: dict[str, Any] = {"n_qubits": 2, "n_features": 2, name: 0}
    with pytest.raises(InvalidInputError, match=name):
        FeatureMap.with_repetitions(**sizes)


def test_a_feature_map_does_not_change() -> None:
    feature_map = FeatureMap(n_qubits=2, n_features=3, n_layers=2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        feature_map.n_qubits = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        feature_map.feature_index[0, 0, 0] = 1
    assert feature_map.feature_index is feature_map.feature_index


@given(left=feature_maps, right=feature_maps)
def test_equality_and_hash_are_those_of_the_fields(left: FeatureMap, right: FeatureMap) -> None:
    assert (left == right) == (dataclasses.astuple(left) == dataclasses.astuple(right))
    twin = dataclasses.replace(left)
    _ = left.feature_index  # what is remembered on one side plays no part
    assert left == twin
    assert hash(left) == hash(twin)
    assert repr(left) == repr(twin)


@given(feature_map=feature_maps)
def test_copies_are_equal(feature_map: FeatureMap) -> None:
    _ = feature_map.feature_index
    for twin in (copy.copy(feature_map), copy.deepcopy(feature_map), pickle.loads(pickle.dumps(feature_map))):
        assert twin == feature_map
        assert_array_equal(twin.feature_index, feature_map.feature_index)


def test_a_feature_map_prints_as_its_picture() -> None:
    feature_map = FeatureMap(n_qubits=2, n_features=3, n_layers=2)
    assert str(feature_map) == feature_map.draw()
    assert "Rot(x0)" in str(feature_map)
