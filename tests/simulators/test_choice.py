"""Which engine a name means."""

from typing import Any

import pytest

from mcquack import McQuackClassifier
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.simulators.choice import engine_of
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.statevector import StatevectorEngine


@pytest.mark.parametrize(
    ("name", "n_qubits", "expected"),
    [
        ("auto", 1, "statevector"),
        ("auto", 20, "statevector"),
        ("auto", 21, "ring"),
        ("auto", 1000, "ring"),
        ("ring", 2, "ring"),
        ("statevector", 20, "statevector"),
    ],
)
def test_auto_takes_statevectors_as_long_as_they_fit(name: Any, n_qubits: int, expected: str) -> None:
    engine = engine_of(name, n_qubits)
    assert engine.name == expected
    engine.check(FeatureMap(n_qubits=n_qubits, n_features=4, n_layers=2))


def test_wider_circuits_than_any_engine_takes_are_refused_by_the_one_that_takes_most() -> None:
    with pytest.raises(InvalidInputError, match=r"ring.*100,000.*100001"):
        engine_of("auto", 100_001).check(FeatureMap(n_qubits=100_001, n_features=4, n_layers=1))


@pytest.mark.parametrize("engine", [StatevectorEngine(dtype="float64", n_threads=3), RingEngine(n_threads=3)])
def test_an_engine_is_itself(engine: Any) -> None:
    assert engine_of(engine, 6) is engine
    feature_map = FeatureMap(n_qubits=6, n_features=4, n_layers=2)
    bound: Any = engine_of(engine, 6).on(feature_map)
    assert bound.feature_map == feature_map
    assert (bound.n_threads, bound.dtype) == (3, engine.dtype)
    assert isinstance(bound, type(engine))


@pytest.mark.parametrize("name", ["Ring", "mps", "", None, 1, True, ["ring"], RingEngine])
def test_unknown_engines_are_refused_with_those_there_are(name: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"'auto'.*'statevector'.*'jax'"):
        engine_of(name, 6)
    with pytest.raises(InvalidInputError, match="engine"):
        McQuackClassifier(engine=name, epochs=1).fit([[0.0], [1.0]], [0, 1])
