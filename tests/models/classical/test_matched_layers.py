"""The network is as close to its target as any, and never farther than the paper's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.circuits.feature_map import FeatureMap
from mcquack.models.classical.neural_network import matched_layers, perceptron_parameters

# Features, classes, and the parameters of McQuack and of the neural network in the paper's table of results.
PAPER = {
    "Census": (14, 2, 136, 137),
    "CoverT": (15, 2, 138, 143),
    "DoH": (33, 2, 282, 290),
    "EMNIST": (784, 2, 6284, 6304),
    "EMNIST10": (784, 10, 12556, 12840),
    "EMNIST4": (784, 4, 7852, 7914),
    "FMNIST": (784, 2, 6284, 6304),
    "FMNIST10": (784, 10, 12556, 12840),
    "FMNIST5": (784, 5, 8636, 8725),
    "Iris3": (4, 3, 48, 55),
    "KDD": (42, 2, 336, 343),
    "KDD10": (43, 10, 718, 736),
    "KDD4": (43, 4, 460, 460),
    "Manifold": (248, 2, 2008, 2016),
    "MNIST": (784, 2, 6284, 6304),
    "MNIST10": (784, 10, 12556, 12840),
    "MNIST4": (784, 4, 7852, 7914),
    "PM2": (256, 2, 2060, 2080),
    "PM4": (256, 4, 2572, 2634),
    "URL": (79, 2, 662, 664),
}


@pytest.mark.parametrize("dataset", PAPER)
def test_no_dataset_has_a_closer_network_in_the_paper(dataset: str) -> None:
    n_features, n_classes, mcquack, paper = PAPER[dataset]
    assert FeatureMap.with_repetitions(n_qubits=6, n_features=n_features).n_parameters(n_classes) == mcquack
    layers = matched_layers(n_features, n_classes, mcquack)
    assert mcquack <= perceptron_parameters(n_features, n_classes, layers) <= paper
    assert min(layers) >= n_classes


def test_the_papers_counts_are_those_of_two_hidden_layers() -> None:
    assert perceptron_parameters(14, 2, (7, 3)) == 137
    assert perceptron_parameters(43, 10, (11, 11)) == 736
    assert perceptron_parameters(784, 10, (16, 10)) == 12840


@given(d=st.integers(1, 20), o=st.integers(1, 8), target=st.integers(1, 150))
def test_no_pair_is_closer(d: int, o: int, target: int) -> None:
    narrowest = max(o, 2)
    if perceptron_parameters(d, o, (narrowest, narrowest)) > target:
        narrowest = 1
    widths = range(narrowest, 152)
    pairs = [(a, b) for a in widths for b in widths if perceptron_parameters(d, o, (a, b)) >= target]
    least = min(perceptron_parameters(d, o, pair) for pair in pairs)
    closest = [pair for pair in pairs if perceptron_parameters(d, o, pair) == least]
    layers = matched_layers(d, o, target)
    assert layers in closest
    assert abs(layers[0] - layers[1]) == min(abs(a - b) for a, b in closest)
