"""Random feature maps, data and parameters that tests of engines and training start from."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from mcquack.arrays import FloatArray
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.randomness import stream


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """A circuit with parameters, samples (N, d) and centroids (M, d), and a weighting (N, M) of the kernel."""

    feature_map: Any  # a Circuit; in most tests that of the paper
    X: FloatArray
    centroids: FloatArray
    weights: FloatArray
    bias: FloatArray
    cotangent: FloatArray

    @property
    def arrays(self) -> list[FloatArray]:
        return [self.X, self.centroids, self.weights, self.bias, self.cotangent]


def random_problem(
    feature_map: Circuit, *, n_samples: int = 5, n_classes: int = 3, spread: float = 1.0, seed: int = 0
) -> Problem:
    """Normally distributed numbers throughout; parameters have the deviation ``spread``."""

    def normal(name: str, *shape: int) -> FloatArray:
        return stream(seed, "problem", name).normal(size=shape)

    return Problem(
        feature_map=feature_map,
        X=normal("X", n_samples, feature_map.n_features),
        centroids=normal("centroids", n_classes, feature_map.n_features),
        weights=spread * normal("weights", *feature_map.weights_shape),
        bias=spread * normal("bias", *feature_map.bias_shape),
        cotangent=normal("cotangent", n_samples, n_classes),
    )


@st.composite
def feature_maps(draw: st.DrawFn, max_qubits: int = 6, max_layers: int = 4) -> FeatureMap:
    """Of every kind: with and without last ring, one or three features for each gate, few or many features."""
    return FeatureMap(
        n_qubits=draw(st.integers(1, max_qubits)),
        n_features=draw(st.integers(1, 9)),
        n_layers=draw(st.integers(1, max_layers)),
        final_entangler=draw(st.booleans()),
        features_per_gate=draw(st.sampled_from([1, 3])),
    )


@st.composite
def problems(draw: st.DrawFn, max_qubits: int = 6, max_layers: int = 4, max_samples: int = 40) -> Problem:
    """More samples and classes than lie side by side in a block, among others."""
    return random_problem(
        draw(feature_maps(max_qubits=max_qubits, max_layers=max_layers)),
        n_samples=draw(st.integers(1, max_samples)),
        n_classes=draw(st.integers(1, 4) | st.just(18)),
        seed=draw(st.integers(0, 2**32 - 1)),
    )
